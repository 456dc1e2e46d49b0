"""Pages that are read and fingerprinted in one native pass give what reading and each fingerprint alone give."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import neardup.engines.local.run as local
from neardup import _native, dedup
from neardup.engines import Settings
from neardup.engines.common.page_columns import LIST, PageColumns, fingerprint_columns
from neardup.engines.local.reading import Collection
from neardup.engines.local.tables import Tables
from neardup.methods import ChunkSets, Fingerprint, parse
from neardup.methods.chunks import Winnowed
from neardup.methods.one_pass import OnePass, ReadPages, made_while_reading
from neardup.methods.projections import Projection, TermSketch
from neardup.methods.shingles import Bands, ShingleSet, Supershingles
from neardup.plan import Given
from neardup.sources.base import Chunk, Fields, Loaded
from neardup.sources.files import Place
from neardup.sources.jsonl import JsonLines
from neardup.sources.memory import texts
from neardup.text import Reading, read

_WORDS = [f"word{number}" for number in range(60)]
#: Two that want the same shingles, two that do not, one that is not native, and one twice as long as any page.
_KINDS: tuple[Fingerprint | ChunkSets, ...] = (
    Bands(k=5, bands=4, rows=3),
    ShingleSet(5),
    Supershingles(),
    Projection(bits=128),
    Projection(bits=64, k=3, rabin=True),
    ShingleSet(3, rabin=True),
    Winnowed(5, 4),
    ShingleSet(400),
)


def _pages() -> pa.RecordBatch:
    random = np.random.default_rng(5)
    made = [" ".join(random.choice(_WORDS, size)) for size in (0, 1, 4, 5, 30, 200)]
    page = {"html": f"<title>t</title><p>{made[4]}", "url": "http://a.example/"}
    return texts([*made, page, {"html": ""}]).batches[0]


@pytest.mark.parametrize("hash", ["fold", "rabin"])
@pytest.mark.parametrize("held", [True, False])
def test_one_pass_gives_what_each_step_gives(hash: str, held: bool) -> None:
    pages, reading = _pages(), Reading(hash=hash)  # type: ignore[arg-type]
    plain = read(pages, reading)
    first = OnePass(reading, _KINDS, held).of(pages)
    assert first.tokens is not None, "one kind is computed of tokens afterwards"
    assert first.tokens.equals(plain.tokens)
    assert pa.array(first.lengths).equals(pc.list_value_length(plain.tokens))
    assert first.title.equals(plain.title)
    assert first.site.equals(plain.site)
    assert (first.replaced == plain.replaced).all()
    assert (first.identity_high == plain.identity_high).all()
    assert (first.identity_low == plain.identity_low).all()
    given = Given(pages, reading, plain.tokens)
    alone = dict(fingerprint_columns(_KINDS, given))
    together = dict(fingerprint_columns(_KINDS, given, first.made))
    assert len(first.made) == len(_KINDS) - 1
    assert list(together) == list(alone)
    assert all(together[name].equals(alone[name]) for name in alone)


def test_tokens_nobody_asks_for_are_not_held() -> None:
    assert OnePass(Reading(), [Bands(5, 4, 3), ShingleSet(5)]).of(_pages()).tokens is None
    assert OnePass(Reading(), [ShingleSet(5)], held=True).of(_pages()).tokens is not None


def _same(one: ReadPages, other: ReadPages) -> bool:
    """All that reading told and made, but for the order of what was made."""
    arrays = ("lengths", "replaced", "identity_high", "identity_low")
    assert all((getattr(one, name) == getattr(other, name)).all() for name in arrays)
    assert one.title.equals(other.title)
    assert one.site.equals(other.site)
    assert (one.tokens is None) == (other.tokens is None)
    assert one.tokens is None or one.tokens.equals(other.tokens)
    for kind, made in one.made.items():
        also = other.made[kind]
        if isinstance(made, tuple):
            assert all(values.equals(same) for values, same in zip(made, also, strict=True))
        else:
            assert (made == also).all()
    return len(one.made) == len(other.made)


#: Lines of every kind: with and without id and URL, HTML, a mark of byte order, escapes, blank and broken ones.
_LINES = [
    json.dumps({"id": "a", "text": " ".join(_WORDS)}),
    json.dumps({"url": "http://www.a.example/x", "html": "<title>t</title><p>" + " ".join(_WORDS[:30])}),
    "",
    '{"id": "broken',
    json.dumps({"text": "\ufeffmark before \u00e9 \U0001f600 \ud83d half"}),
    json.dumps({"text": "", "date": "2006-08-06"}, ensure_ascii=False),
    '{"text": 5}',
    json.dumps({"id": 7, "text": "long " * 400_000}),
    json.dumps({"text": " ".join(_WORDS[::-1])}),
]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("held", [True, False])
def test_lines_that_are_read_on_the_way_give_what_loading_and_reading_give(
    ending: str, held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.sources.jsonl.BATCH_BYTES", 1 << 20)
    data = b"\xef\xbb\xbf" + "\n".join(_LINES * 3).encode()
    path = tmp_path / f"pages.jsonl{ending}"
    path.write_bytes(gzip.compress(data) if ending else data)
    one_pass = OnePass(Reading(), _KINDS, held)
    chunks = list(JsonLines(Place(str(path), path.name), Fields()).chunks())
    assert len(chunks) > 2
    pages = 0
    for chunk in chunks:
        assert chunk.read is not None
        loaded, (on_the_way, read) = chunk.load(), chunk.read(one_pass.task)
        assert (on_the_way.skipped, on_the_way.ignored) == (loaded.skipped, loaded.ignored)
        names = [name for name in loaded.pages.schema.names if name != "content"]
        assert on_the_way.pages.select(names).equals(loaded.pages.select(names))
        assert on_the_way.pages["content"].null_count == loaded.pages.num_rows
        assert _same(one_pass.read(read), one_pass.of(loaded.pages))
        pages += loaded.pages.num_rows
    assert pages == 18


#: Detectors that ask for tokens only, and those that look at the pages again.
_OF_TOKENS = ["minhash", "site-aware", "winnowing", "i-match"]
_OF_PAGES = ["shingle-paragraphs", "fuzzy-fingerprinting", "template-aware"]


def _file(folder: Path) -> Path:
    path = folder / "pages.jsonl"
    pages = [" ".join(_WORDS[start : start + 50]) for start in (0, 0, 1, 7)]
    path.write_text("".join(json.dumps({"text": text, "url": f"http://{text[:5]}.example/"}) + "\n" for text in pages))
    return path


@pytest.mark.parametrize("detector", [*_OF_TOKENS, *_OF_PAGES])
@pytest.mark.parametrize("keep", ["first", "most-linked"])
def test_a_run_is_the_same_whether_contents_are_held_or_not(
    detector: str, keep: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(columns: PageColumns, chunk: Chunk) -> tuple[Loaded, dict[str, pa.Array], int]:
        loaded = chunk.load()
        return loaded, *columns.of(loaded.pages)

    path, settings = _file(tmp_path), Settings(keep=keep)
    on_the_way = dedup(path, detector=detector, settings=settings)
    monkeypatch.setattr(PageColumns, "load", load)
    held = dedup(path, detector=detector, settings=settings)
    assert on_the_way.pages.equals(held.pages)
    assert on_the_way.pairs.equals(held.pairs)
    assert on_the_way.report["counts"] == held.report["counts"]


@pytest.mark.parametrize("detector", [*_OF_TOKENS, *_OF_PAGES])
def test_contents_are_held_only_where_pages_are_looked_at_again(detector: str, tmp_path: Path) -> None:
    path = _file(tmp_path)
    chunk = next(iter(JsonLines(Place(str(path), path.name), Fields()).chunks()))
    for settings in (Settings(), Settings(keep="most-linked")):
        loaded, *_ = PageColumns(parse(detector), settings).load(chunk)
        gone = detector in _OF_TOKENS and settings.keep == "first"
        assert loaded.pages["content"].null_count == (loaded.pages.num_rows if gone else 0)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Bands(5, bands=0, rows=3), "rows must be between"),
        (Projection(65), "multiple of 64"),
        (TermSketch(2048), "at most 1024"),
        (ShingleSet(0), "at least 1"),
        (Winnowed(5, 4), "no such kind"),
    ],
)
def test_kinds_that_make_no_sense_are_refused(kind: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.PageTask([kind], held=False)


@dataclass(frozen=True, slots=True)
class _Own(ShingleSet):
    """A fingerprint that builds on another, and computes something else."""

    def compute(self, lists: pa.LargeListArray, /) -> pa.LargeListArray:
        return lists


def test_a_fingerprint_that_computes_something_else_is_not_made_while_reading() -> None:
    assert made_while_reading(ShingleSet(5))
    assert not made_while_reading(_Own(5))


@pytest.mark.parametrize("detector", ["minhash", "template-aware", "i-match"])
def test_sets_are_let_go_of_when_pairs_are_found(detector: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are most of what is held, and writing tables needs memory too."""
    seen: list[list[str]] = []
    made = local.assemble

    def watched(collection: Collection, *given: Any) -> Tables:
        names = {name for part in collection.store._fresh for name in part.rows.schema.names}
        seen.append(sorted(name for name in names if name.startswith(LIST)))
        return made(collection, *given)

    monkeypatch.setattr(local, "assemble", watched)
    words = [" ".join(_WORDS[start : start + 40]) for start in (0, 0, 15)]
    local.run(texts(words), parse(detector))
    local.run(texts(words), parse(detector), certify=lambda *_: {})
    without, certified = seen
    assert not without
    assert certified, "whoever certifies looks at what was read"
