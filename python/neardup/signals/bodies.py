"""The pages that pairs name, of one kind (fetched or rendered), read once and taken apart.

What has a fixed size (sketches, lists of top terms, own compressed sizes) is held in memory, about 2 kB a page; bodies,
texts and sets go to a temporary Arrow file that is mapped back, so that pages need not fit in memory. Only pages that
are named are kept. A page is named by its id, else by its URL, as everywhere; where an id repeats, by ``id#row``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.engines import Progress
from neardup.engines.local.identity import unique_ids
from neardup.errors import InputError
from neardup.methods.projections import Projection
from neardup.methods.shingles import ShingleSet, Supershingles
from neardup.signals.comparisons import SIMHASH_BITS
from neardup.signals.compression import METHODS, own_sizes
from neardup.signals.idf import Idf
from neardup.signals.tfidf import top_terms
from neardup.sources import Chunk, Source
from neardup.text import read
from neardup.workers import in_order

#: Terms in a shingle of main content, and block elements in a run of the layout.
MAIN_SHINGLE: Final = 3
LAYOUT_RUN: Final = 4

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Needs:
    """What is to be read off the pages for some signals of one kind of body."""

    body: str
    idf: Idf | None
    wanted: frozenset[str]

    def any_of(self, *signals: str) -> bool:
        """Whether one of these, named without the body, is wanted."""
        return any(f"{self.body}_{signal}" in self.wanted for signal in signals)

    @property
    def anatomy(self) -> bool:
        return self.any_of("main_jaccard", "layout_similarity", "same_canonical", "snippet_mcd")


@dataclass(frozen=True)
class Bodies:
    """The named pages of one kind. Columns have a row a page; ``rows_of`` finds the rows of names."""

    url: list[str | None]
    fixed: dict[str, npt.NDArray[Any]]
    strings: dict[str, list[str | None]]
    #: Mapped from the temporary file: content, text, main, layout.
    stored: pa.Table
    #: How many records could not be read.
    skipped: int
    _by_id: dict[str, int]
    _by_url: dict[str, int]

    def __len__(self) -> int:
        return len(self.url)

    def rows_of(self, names: Sequence[str]) -> Rows:
        """The row of each name, −1 where no page has it."""
        found = (self._by_id.get(name, self._by_url.get(name, -1)) for name in names)
        return np.fromiter(found, np.int64, len(names))

    def take(self, column: str, rows: Rows) -> pa.Array:
        """A stored column of some rows, in one piece."""
        taken = self.stored.column(column).take(pa.array(rows))
        return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken


def read_bodies(
    source: Source, names: Collection[str], needs: Needs, file: Path, threads: int, progress: Progress
) -> Bodies:
    """Reads the pages that ``names`` mean; the rest of the source passes by."""
    wanted = pa.array(sorted(_without_rows(names)), pa.string())
    ids: list[pa.RecordBatch] = []
    rows: list[npt.NDArray[np.int64]] = []
    before = 0
    urls: list[str | None] = []
    fixed: list[dict[str, npt.NDArray[Any]]] = []
    strings: list[dict[str, list[str | None]]] = []
    skipped = 0

    def work(chunk: Chunk) -> _Part:
        return _part(chunk, wanted, needs)

    progress.begin("reading", source.nbytes())
    try:
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, _STORED) as writer:
            for part in in_order(source.chunks(), work, threads):
                ids.append(part.ids)
                rows.append(part.rows + before)
                before += part.ids.num_rows
                urls += part.urls
                if part.urls:
                    fixed.append(part.fixed)
                    strings.append(part.strings)
                    writer.write_batch(part.stored)
                skipped += part.skipped
                progress.advance(part.ids.num_rows, part.nbytes)
    finally:
        progress.end()
    by_id: dict[str, int] = {}
    by_url: dict[str, int] = {}
    if urls:
        called = unique_ids(pa.Table.from_batches(ids))[0].take(pa.array(np.concatenate(rows)))
        by_id = {name: at for at, name in enumerate(called.to_pylist())}
        for at, url in enumerate(urls):
            if url is not None:
                by_url.setdefault(url, at)
    stored = pa.ipc.open_file(pa.memory_map(str(file))).read_all()
    joined = {name: np.concatenate([part[name] for part in fixed]) for name in (fixed[0] if fixed else ())}
    texts = {name: [value for part in strings for value in part[name]] for name in (strings[0] if strings else ())}
    return Bodies(urls, joined, texts, stored, skipped, by_id, by_url)


@dataclass(frozen=True, slots=True)
class _Part:
    """What one chunk of the source gave."""

    #: What names all pages: ``id``, ``source`` and ``record``.
    ids: pa.RecordBatch
    #: Which of them may be meant.
    rows: npt.NDArray[np.int64]
    urls: list[str | None]
    fixed: dict[str, npt.NDArray[Any]]
    strings: dict[str, list[str | None]]
    stored: pa.RecordBatch
    skipped: int
    nbytes: int


_SETS: Final = pa.large_list(pa.field("item", pa.uint64(), nullable=False))
_STORED: Final = pa.schema(
    [("content", pa.large_binary()), ("text", pa.large_string()), ("main", _SETS), ("layout", _SETS)]
)


def _part(chunk: Chunk, wanted: pa.StringArray, needs: Needs) -> _Part:
    loaded = chunk.load()
    pages = loaded.pages
    named = pc.or_(pc.is_in(_named(pages), wanted), pc.is_in(pages.column("url"), wanted))
    rows = np.flatnonzero(named.to_numpy(zero_copy_only=False))
    meant = pages.take(pa.array(rows))
    fixed, strings, stored = _measured(meant, needs)
    return _Part(
        pages.select(["id", "source", "record"]),
        rows,
        meant.column("url").to_pylist(),
        fixed,
        strings,
        stored,
        len(loaded.skipped),
        chunk.nbytes,
    )


def _named(pages: pa.RecordBatch) -> pa.StringArray:
    """A page's own id, else ``source#record``: its name, unless one in front of it has that."""
    made = pc.binary_join_element_wise(pages.column("source"), pc.cast(pages.column("record"), pa.string()), "#")
    return pc.coalesce(pages.column("id"), made)


def _without_rows(names: Collection[str]) -> set[str]:
    """The names, and the ids that names with a row in them may stand for.

    >>> sorted(_without_rows(["x#17", "y"]))
    ['x', 'x#17', 'y']
    """
    found = set(names)
    for name in names:
        while "#" in name:
            name = name.rpartition("#")[0]
            found.add(name)
    return found


def _measured(
    pages: pa.RecordBatch, needs: Needs
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, list[str | None]], pa.RecordBatch]:
    content = pages.column("content")
    found = read(pages)
    tokens = found.tokens
    count = pages.num_rows
    fixed: dict[str, npt.NDArray[Any]] = {
        "length": np.asarray(pc.binary_length(content), np.int64).reshape(count),
        "tokens": np.diff(np.asarray(tokens.offsets)).astype(np.int64),
        "simhash": Projection(bits=SIMHASH_BITS).compute(tokens),
    }
    strings: dict[str, list[str | None]] = {"title": found.title.to_pylist()}
    if needs.any_of("tfidf_distance") and needs.idf is not None:
        fixed["top"], fixed["top_count"] = top_terms(tokens, needs.idf)
    for method, signal in METHODS.items():
        if needs.any_of(signal):
            fixed[method] = own_sizes(content, method)
    if needs.any_of("b_similarity"):
        fixed["b"] = Supershingles().compute(tokens)
    if needs.any_of("c_similarity"):
        fixed["c"] = Projection().compute(tokens)
    text, main, layout = pa.nulls(count, pa.large_string()), _no_sets(count), _no_sets(count)
    if needs.anatomy:
        columns = (pages.column(name) for name in ("content", "html", "charset", "url"))
        text, tags, main_tokens, canonical = _native.anatomy(*columns)
        main = ShingleSet(MAIN_SHINGLE).compute(main_tokens)
        layout = ShingleSet(LAYOUT_RUN).compute(tags)
        strings["canonical"] = canonical.to_pylist()
    stored = pa.RecordBatch.from_arrays(
        [content, text, main.cast(_SETS), layout.cast(_SETS)], schema=_STORED
    )  # fmt: skip
    return fixed, strings, stored


def _no_sets(count: int) -> pa.LargeListArray:
    return pa.LargeListArray.from_arrays(np.zeros(count + 1, np.int64), pa.array([], pa.uint64()))


def require(rows: Rows, names: Sequence[str], where: str) -> None:
    """Raises if a name means no page."""
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        raise InputError(
            f"no page has the id or URL {names[int(missing[0])]!r} ({len(missing):,} names are unknown)",
            where=where,
            hint="are these the right pages?",
        )


def blocks(sizes: npt.NDArray[np.int64], most: int, most_pairs: int) -> Iterator[slice]:
    """Cuts pairs, in order, into runs whose bodies take at most ``most`` bytes together; at least one pair each.

    >>> list(blocks(np.array([5, 5, 20, 1]), 10, 100))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    start, total = 0, 0
    for at, size in enumerate(sizes.tolist()):
        if at > start and (total + size > most or at - start >= most_pairs):
            yield slice(start, at)
            start, total = at, 0
        total += size
    if start < len(sizes):
        yield slice(start, len(sizes))
