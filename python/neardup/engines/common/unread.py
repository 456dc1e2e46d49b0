"""What of the input was not read, as ``run.json`` names it: records, files of which no record could be read, and files
that were left out of folders.

All are counted, the first thousand of each are named, and where there are more, a file beside ``run.json`` names all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain, islice
from typing import Any, Final

import pyarrow as pa

from neardup.engines.common.tables import Groups
from neardup.engines.common.tally import Tally
from neardup.errors import InputError
from neardup.lazy import later
from neardup.page import Skipped
from neardup.record import record
from neardup.sinks import ROW_GROUP_ROWS
from neardup.sources.skipped import NAMED, SKIPPED, WHOLE_FILE, SkippedRecords

pc = later("pyarrow.compute")

#: The file that names all of them.
FILE: Final = "skipped.parquet"


@record(frozen=True, slots=True)
class Unread:
    """The first of each, and how many there are. ``failed`` are files of which no record could be read, ``left`` files
    of folders that were left out."""

    records: list[Skipped]
    failed: list[Skipped]
    left: list[Skipped]
    failed_files: int
    left_files: int

    def to_json(self, tally: Tally) -> dict[str, Any]:
        """What ``run.json`` says of it."""
        return {
            "failed_files": [asdict(entry) for entry in self.failed],
            "left_out_files": [asdict(entry) for entry in self.left],
            "skipped": [asdict(entry) for entry in self.records],
            "skipped_reasons": by_count(tally.reasons),
            "tolerated": tally.tolerated,
        }

    def is_more_than_named(self, tally: Tally) -> bool:
        """Whether there is more than is named."""
        return tally.skipped > len(self.records) or self.left_files > len(self.left)

    def counts(self) -> dict[str, int]:
        """What is counted of it beside records."""
        return {"failed_files": self.failed_files, "left_out_files": self.left_files}


def strict_error(first: Skipped) -> InputError:
    """The end of a run that skips nothing, at the first record that cannot be read."""
    return InputError(
        f"a record cannot be read: {first.reason}",
        where=f"{first.source}, {first.position}",
        hint="mend it, or run without --strict to skip such records",
    )


def no_pages_error(tally: Tally, first: Skipped | None, otherwise: str) -> InputError:
    """The end of a run without any page, and why there is none: the ``first`` record that was skipped, if one was, the
    kinds of records that are no pages, or what may be wrong ``otherwise``."""
    hint = otherwise
    if first is not None:
        hint = f"records that could not be read: {tally.skipped:,}, the first: {first.describe()}"
    elif tally.ignored:
        kinds = ", ".join(f"{count} {kind}" for kind, count in tally.ignored.items())
        hint = f"it holds only records that are no pages: {kinds}"
    return InputError("no pages were found in the input", hint=hint)


class Failing:
    """Files with records that could not be read, and none that could.

    >>> failing = Failing()
    >>> failing.add(SkippedRecords.of([Skipped("a", "line 1", "no"), Skipped("b", "line 1", "no")]))
    >>> failing.have_pages(pa.array(["b"]))
    >>> [entry.describe() for entry in failing.files()]
    ['a, whole file: no record could be read; its only record, line 1: no']
    """

    def __init__(self) -> None:
        self._files: dict[str, tuple[int, Skipped]] = {}

    def add(self, skipped: SkippedRecords) -> None:
        """Takes records that could not be read."""
        for source, count, first in skipped.by_source():
            before = self._files.get(source)
            self._files[source] = (count, skipped[first]) if before is None else (before[0] + count, before[1])

    def have_pages(self, sources: pa.Array) -> None:
        """Says that there are pages of these files, the records of which were all added."""
        if self._files:
            for source in pc.unique(sources).to_pylist():
                self._files.pop(source, None)

    def __len__(self) -> int:
        return len(self._files)

    def files(self) -> list[Skipped]:
        """The first of them."""
        return [_failed(source, *counted) for source, counted in islice(self._files.items(), NAMED)]


def unread_of(skipped: Iterable[SkippedRecords], sources: Iterable[pa.Array], left: Sequence[Skipped]) -> Unread:
    """What was not read: the records that were skipped, in order, the sources of all pages, and files left out."""
    records: list[Skipped] = []
    failing = Failing()
    for some in skipped:
        records += some[: NAMED - len(records)]
        failing.add(some)
    for column in sources if failing else ():
        failing.have_pages(column)
    return Unread(records, failing.files(), list(left[:NAMED]), len(failing), len(left))


def _failed(source: str, count: int, first: Skipped) -> Skipped:
    """A file of which no record could be read."""
    if count == 1 and first.position == WHOLE_FILE:
        return first
    which = "its only record" if count == 1 else f"the first of its {count:,} records"
    return Skipped(source, WHOLE_FILE, f"no record could be read; {which}, {first.position}: {first.reason}")


def by_count(kinds: dict[str, int]) -> dict[str, int]:
    """The most frequent kinds first.

    >>> by_count({"a": 1, "b": 2})
    {'b': 2, 'a': 1}
    """
    return dict(sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0])))


def all_of(skipped: Iterable[SkippedRecords], left: Sequence[Skipped]) -> Groups:
    """All of them as a table, in groups: records in input order, then the files that were left out."""
    schema = pa.schema([field.with_type(pa.string()) for field in SKIPPED])

    def groups() -> Iterator[pa.Table]:
        for some in chain(skipped, [SkippedRecords.of(left)]):
            for start in range(0, len(some), ROW_GROUP_ROWS):
                yield some.table.slice(start, ROW_GROUP_ROWS).cast(schema)

    return Groups(schema, groups)
