"""Records that could not be read, held as columns: a block of lines may have a million of them, for a few reasons.

Sources and engines hand them on as a sequence of ``Skipped``; what is held of each are some bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final, overload

import pyarrow as pa

from neardup.lazy import later
from neardup.page import Skipped

pc = later("pyarrow.compute")

#: As they are stored; sources and reasons repeat.
SKIPPED: Final = pa.schema(
    [
        pa.field("source", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("position", pa.string(), nullable=False),
        pa.field("reason", pa.dictionary(pa.int32(), pa.string()), nullable=False),
    ]
)
#: How many are named where there is no room for all.
NAMED: Final = 1000
#: Kinds of reasons that are counted apart; further ones are counted together.
_KINDS: Final = 100
OTHER_KINDS: Final = "other reasons"
#: Where a whole file could not be read.
WHOLE_FILE: Final = "whole file"

_NUMBER: Final = re.compile(r"\d[\d,]*")


class SkippedRecords(Sequence[Skipped]):
    """Skipped records in input order; the same as a list of them, in less memory.

    >>> SkippedRecords.of([Skipped("a.csv", "line 3", "1 field, not 2")])[0].describe()
    'a.csv, line 3: 1 field, not 2'
    """

    __slots__ = ("table",)

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    @classmethod
    def of(cls, *several: Sequence[Skipped]) -> SkippedRecords:
        """Some sequences of them as one."""
        tables = [each.table if isinstance(each, SkippedRecords) else _table(each) for each in several if len(each)]
        return cls(pa.concat_tables([SKIPPED.empty_table(), *tables]))

    @classmethod
    def of_lines(
        cls, source: str, unit: str, numbers: pa.Array, places: pa.Array, reasons: Sequence[str]
    ) -> SkippedRecords:
        """Lines of one file: what they are called, their numbers from 1, and of each the place of its reason.

        >>> lines = SkippedRecords.of_lines("a", "line", pa.array([4, 9]), pa.array([0, 0]), ["not a JSON object"])
        >>> lines[1].describe()
        'a, line 9: not a JSON object'
        """
        columns = [
            pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), len(numbers)), pa.array([source])),
            pc.binary_join_element_wise(unit, numbers.cast(pa.string()), " "),
            pa.DictionaryArray.from_arrays(places.cast(pa.int32()), pa.array(reasons, pa.string())),
        ]
        return cls(pa.Table.from_arrays(columns, schema=SKIPPED))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @overload
    def __getitem__(self, at: int) -> Skipped: ...
    @overload
    def __getitem__(self, at: slice) -> SkippedRecords: ...
    def __getitem__(self, at: int | slice) -> Skipped | SkippedRecords:
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            assert step == 1, "a stretch of them"
            return SkippedRecords(self.table.slice(start, max(0, stop - start)))
        (row,) = self.table.slice(range(len(self))[at], 1).to_pylist()
        return Skipped(**row)

    def __iter__(self) -> Iterator[Skipped]:
        for batch in self.table.to_batches(max_chunksize=1 << 14):
            for row in batch.to_pylist():
                yield Skipped(**row)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))

    @property
    def nbytes(self) -> int:
        """About the bytes they take."""
        return int(self.table.nbytes)

    def by_source(self) -> Iterator[tuple[str, int, int]]:
        """Each file they are of, how many of it there are, and the place of the first; a file may come again."""
        before = 0
        for chunk in self.table.column("source").chunks:
            for at, count in _counted(chunk):
                yield chunk.dictionary[at].as_py(), count, before + int(pc.index(chunk.indices, at).as_py())
            before += len(chunk)

    def kinds(self) -> dict[str, int]:
        """How many there are of each kind of reason.

        >>> SkippedRecords.of([Skipped("a", "line 1", "1 field, not 2"), Skipped("a", "line 2", "3 fields, not 2"),
        ...     Skipped("a", "line 3", "9 fields, not 2")]).kinds()
        {'N field, not N': 1, 'N fields, not N': 2}
        """
        counted: Counter[str] = Counter()
        for chunk in self.table.column("reason").chunks:
            for at, count in _counted(chunk):
                counted[_NUMBER.sub("N", chunk.dictionary[at].as_py())] += count
        return add_kinds({}, counted)


def _counted(column: pa.DictionaryArray) -> list[tuple[int, int]]:
    """The places in its dictionary that a column uses, and how often."""
    return [(entry["values"], entry["counts"]) for entry in column.indices.value_counts().to_pylist()]


def add_kinds(kinds: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    """Both together; of many kinds the later ones are counted as others.

    >>> add_kinds({"a": 1}, {"b": 2, "a": 3})
    {'a': 4, 'b': 2}
    """
    both = dict(kinds)
    for kind, count in more.items():
        name = kind if kind in both or len(both) < _KINDS else OTHER_KINDS
        both[name] = both.get(name, 0) + count
    return both


def _table(entries: Sequence[Skipped]) -> pa.Table:
    return pa.Table.from_pylist([asdict(entry) for entry in entries], SKIPPED)


def named(skipped: Sequence[Skipped]) -> list[dict[str, str]]:
    """The first of them as ``run.json`` names them.

    >>> named([Skipped("a.csv", "line 3", "1 field, not 2")])
    [{'source': 'a.csv', 'position': 'line 3', 'reason': '1 field, not 2'}]
    """
    return [asdict(entry) for entry in skipped[:NAMED]]
