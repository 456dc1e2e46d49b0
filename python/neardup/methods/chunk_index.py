"""The chunk index μ: from a number to the pages whose fingerprints have it (Potthast & Stein §1).

Idea: one structure for every method. Fingerprints of fixed size (rows) and of any size (sets) go in alike; a query
gives, for one page or a batch, the pages that share at least κ numbers with it, or a ratio of the union, with how many
they share. Postlists are sorted arrays behind a directory over the highest bits; a saved index is used where it lies.
Cost: 8 bytes a distinct number, 4 for its place, 4 an entry and 4 a page; a query costs the length of its postlists.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.errors import FormatError, UsageError
from neardup.methods.container import read_arrays, write_arrays

KIND: Final = "chunk index"
_NAMES: Final = ("numbers", "directory", "starts", "pages", "sizes")
#: Fingerprints of a batch of pages: rows (``FixedWidth``), or lists of numbers (``pa.LargeListArray``).
Values = Any


@dataclass(frozen=True, slots=True)
class Found:
    """Answers to a batch: those of query i are at ``offsets[i]`` to ``offsets[i + 1]``, pages ascending."""

    offsets: npt.NDArray[np.int64]
    #: Pages, by the order in which they went in.
    pages: npt.NDArray[np.uint32]
    #: How many numbers each shares with the query.
    shared: npt.NDArray[np.uint32]

    def of(self, query: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """The pages and shared numbers of one query."""
        place = slice(int(self.offsets[query]), int(self.offsets[query + 1]))
        return self.pages[place], self.shared[place]


class ChunkIndex:
    """An index over the fingerprints of pages 0, 1, 2 …

    >>> index = ChunkIndex.build([np.array([[1, 2, 3], [1, 2, 9], [7, 8, 9]], np.uint64)])
    >>> found = index.query(np.array([[1, 2, 3]], np.uint64), kappa=2)
    >>> found.pages.tolist(), found.shared.tolist()
    ([0, 1], [3, 2])
    >>> index.postlist(9).tolist(), len(index), index.nbytes
    ([1, 2], 3, 140)
    """

    def __init__(self, arrays: dict[str, npt.NDArray[Any]], *, check: bool = False) -> None:
        self._held = {name: arrays[name] for name in _NAMES}
        self._postings = _native.Postings(*self._held.values(), check=check)

    @staticmethod
    def build(batches: Iterable[Values]) -> ChunkIndex:
        """The index of all pages of all batches; one that holds no number is a page all the same."""
        lists = [_lists(batch) for batch in batches]
        try:
            return ChunkIndex(dict(zip(_NAMES, _native.build_postings(lists), strict=True)))
        except ValueError as error:
            raise UsageError(f"no index can be built: {error}", hint="cut the collection into several") from None

    def __len__(self) -> int:
        """How many pages there are."""
        return len(self._held["sizes"])

    @property
    def numbers(self) -> npt.NDArray[np.uint64]:
        """The distinct numbers, ascending."""
        return self._held["numbers"]

    @property
    def sizes(self) -> npt.NDArray[np.uint32]:
        """How many distinct numbers each page has."""
        return self._held["sizes"]

    @property
    def entries(self) -> int:
        """How many (number, page) entries there are."""
        return len(self._held["pages"])

    @property
    def nbytes(self) -> int:
        """What the index takes, in memory or on disk."""
        return sum(array.nbytes for array in self._held.values())

    def postlist(self, number: int) -> npt.NDArray[np.uint32]:
        """μ(number): the pages that have it."""
        return self._postings.postlist(number)

    def query(self, values: Values, *, kappa: int = 1, ratio: float = 0.0, threads: int = 0) -> Found:
        """The pages that share at least ``kappa`` numbers with each query, and ``ratio`` of the union of both."""
        if kappa < 1 or not 0 <= ratio <= 1:
            raise UsageError("kappa must be at least 1 and ratio between 0 and 1", hint="kappa=2, or ratio=0.5")
        return Found(*self._postings.query(_lists(values), least=kappa, ratio=ratio, threads=threads))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index to a file."""
        write_arrays(path, KIND, {}, self._held)

    @staticmethod
    def load(path: str | os.PathLike[str], *, verify: bool = True) -> ChunkIndex:
        """An index from a file, mapped: nothing is copied. With ``verify`` all of it is read once, for its checksums
        and for what its parts must be to each other.
        """
        _, arrays = read_arrays(path, KIND, verify=verify)
        try:
            return ChunkIndex(arrays, check=verify)
        except (KeyError, TypeError, ValueError):
            raise FormatError("the index is damaged", where=os.fspath(path), hint="build it again") from None


def _lists(values: Values) -> pa.LargeListArray:
    if not isinstance(values, np.ndarray):
        return values
    rows, width = values.shape
    offsets = pa.array(np.arange(rows + 1, dtype=np.int64) * width)
    return pa.LargeListArray.from_arrays(offsets, pa.array(np.ascontiguousarray(values).reshape(-1)))
