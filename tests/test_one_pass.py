"""Pages that are read and fingerprinted in one native pass give what reading and each fingerprint alone give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from neardup import _native
from neardup.detectors import parse
from neardup.engines import local
from neardup.engines.collect import Collection
from neardup.engines.fingerprinting import Given, fingerprint_columns, read_pages
from neardup.engines.outcome import Tables
from neardup.engines.parts import LIST
from neardup.fingerprints import Bands, ChunkSets, Fingerprint, Projection, ShingleSet, Supershingles, Winnowed
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
    first = read_pages(pages, reading, _KINDS, held)
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
    assert read_pages(_pages(), Reading(), [Bands(5, 4, 3), ShingleSet(5)], held=False).tokens is None
    assert read_pages(_pages(), Reading(), [ShingleSet(5)], held=True).tokens is not None


@pytest.mark.parametrize(
    "kind", [("keys", 5, 2, 3, False), ("bits", 1, 65, 0, False), ("set", 0, 0, 0, False), ("x", 1, 1, 1, False)]
)
def test_kinds_that_make_no_sense_are_refused(kind: tuple[str, int, int, int, bool]) -> None:
    pages = _pages()
    content, html, charset, url = (pages.column(name) for name in ("content", "html", "charset", "url"))
    with pytest.raises(ValueError, match=r"no such kind|at least 1"):
        _native.fingerprint_pages(content, html, charset, url, [kind], held=False)


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
