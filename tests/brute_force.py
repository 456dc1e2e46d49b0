"""Definitions written out, all pairs looked at: what the tests hold the fast paths against.

Nothing here uses keys, buckets or union-find. B-similarity is counted on the min-values themselves, C-similarity on
unpacked bits, Jaccard similarity on sets of tuples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.methods.minima import Minima
from neardup.methods.projections import Projection, TermSketch
from neardup.sources.memory import texts
from neardup.text import PageTokens, read

Pairs = set[tuple[int, int]]


def read_all(pages: Sequence[str | Mapping[str, Any]]) -> PageTokens:
    """All pages read in one batch, however many."""
    batches = [chunk.load().pages for chunk in texts(pages).chunks()]
    return read(pa.Table.from_batches(batches).combine_chunks().to_batches()[0])


def token_lists(rows: Sequence[Sequence[int]] | npt.NDArray[np.uint64]) -> pa.LargeListArray:
    """Lists of tokens as the kernels take them; a matrix is one list a row."""
    if isinstance(rows, np.ndarray):
        count, length = rows.shape
        offsets = np.arange(count + 1, dtype=np.int64) * length
        return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(rows.reshape(-1)))
    return pa.array(rows, pa.large_list(pa.uint64()))


@dataclass(frozen=True)
class BruteForce:
    """Every similarity of every pair of some pages, by definition."""

    pages: Sequence[str | Mapping[str, Any]]

    @cached_property
    def read(self) -> PageTokens:
        return read_all(self.pages)

    @cached_property
    def tokens(self) -> list[tuple[int, ...]]:
        return [tuple(tokens) for tokens in self.read.tokens.to_pylist()]

    @cached_property
    def identity(self) -> list[int]:
        """For each page the first with the same tokens; an empty page has none but itself."""
        first: dict[tuple[int, ...], int] = {}
        return [first.setdefault(tokens, row) if tokens else row for row, tokens in enumerate(self.tokens)]

    @cached_property
    def compared(self) -> list[int]:
        """The first member of each identity set that is long enough to be compared."""
        return [row for row, first in enumerate(self.identity) if row == first and len(self.tokens[row]) >= 8]

    @cached_property
    def sites(self) -> list[set[str | None]]:
        """The sites of all members of the identity set that begins at each page; None is "no site"."""
        sites: list[set[str | None]] = [set() for _ in self.identity]
        for first, site in zip(self.identity, self.read.site.to_pylist(), strict=True):
            sites[first].add(site)
        return sites

    @cached_property
    def b_similarity(self) -> npt.NDArray[np.int64]:
        """Groups of 14 of the 84 min-values that agree as a whole."""
        groups = Minima(8, 84).compute(self.read.tokens).reshape(-1, 6, 14)
        return np.stack([(groups == own).all(axis=2).sum(axis=1) for own in groups])

    @cached_property
    def bits(self) -> npt.NDArray[np.uint8]:
        sketches = Projection(384).compute(self.read.tokens)
        return np.unpackbits(sketches.view(np.uint8), axis=1, bitorder="little")

    @cached_property
    def c_similarity(self) -> npt.NDArray[np.int64]:
        return np.stack([(self.bits == own).sum(axis=1) for own in self.bits])

    def shares_a_piece(self, a: int, b: int, pieces: int = 12) -> bool:
        """Whether some piece of 384 / pieces bits (a whole number) is the same in both."""
        differs = self.bits[a] != self.bits[b]
        return not bool(differs.reshape(pieces, -1).any(axis=1).all())

    @cached_property
    def terms_agreeing(self) -> npt.NDArray[np.int64]:
        """Bits of the 256 of the sketch of terms that agree."""
        bits = np.unpackbits(TermSketch().compute(self.read.tokens).view(np.uint8), axis=1)
        return np.stack([(bits == own).sum(axis=1) for own in bits])

    def on_one_site(self, a: int, b: int) -> bool:
        """Some copy of the one and some copy of the other are on the same known site."""
        return bool((self.sites[a] & self.sites[b]) - {None})

    @cached_property
    def units(self) -> list[int]:
        """For each page the first with the same tokens on the same site; those without a site are on one."""
        first: dict[tuple[int, str | None], int] = {}
        sites = self.read.site.to_pylist()
        return [first.setdefault((self.identity[row], sites[row]), row) for row in range(len(sites))]

    @cached_property
    def compared_units(self) -> list[int]:
        """The first member of each unit that is long enough to be compared."""
        return [row for row, first in enumerate(self.units) if row == first and len(self.tokens[row]) >= 8]

    def same_site(self, a: int, b: int) -> bool:
        """Whether two pages are on the same known site, whatever copies there are of them."""
        one, other = (self.read.site[row].as_py() for row in (a, b))
        return one is not None and one == other

    def between_units(self) -> Pairs:
        """All pairs of units that do not have the same tokens."""
        pairs = combinations(self.compared_units, 2)
        return {(a, b) for a, b in pairs if self.identity[a] != self.identity[b]}

    def broder(self, least: int = 2) -> Pairs:
        return {pair for pair in combinations(self.compared, 2) if self.b_similarity[pair] >= least}

    def charikar(self, t: int = 372, terms: int = 192) -> Pairs:
        """All pairs that agree in t bits, and in so many of the bits that tell the similarity of terms; candidate
        generation may leave out some of those beyond its promise."""
        alike = {pair for pair in combinations(self.compared, 2) if self.c_similarity[pair] >= t}
        return {pair for pair in alike if self.terms_agreeing[pair] >= terms}

    def combined(self, t: int = 355) -> Pairs:
        return {pair for pair in self.broder() if self.c_similarity[pair] >= t}

    def jaccard(self, k: int = 5) -> dict[tuple[int, int], float]:
        """The Jaccard similarity of every pair that shares a shingle."""
        sets = {row: shingles(self.tokens[row], k) for row in self.compared}
        return {
            (a, b): len(sets[a] & sets[b]) / len(sets[a] | sets[b])
            for a, b in combinations(self.compared, 2)
            if not sets[a].isdisjoint(sets[b])
        }


def shingles(tokens: Sequence[int], k: int) -> set[tuple[int, ...]]:
    """The set of windows of k tokens; a shorter page is one window."""
    return {tuple(tokens[start : start + k]) for start in range(max(1, len(tokens) - k + 1))}


def pairs_of(table: pa.Table) -> Pairs:
    """The pairs of a run, as rows."""
    return set(zip(table["row_a"].to_pylist(), table["row_b"].to_pylist(), strict=True))
