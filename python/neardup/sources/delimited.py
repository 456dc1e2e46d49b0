"""CSV and TSV: a header line, then rows; a quoted field may hold line ends.

A kernel takes the rows that leave no doubt. Every other one is read patiently (``patience``): a quote that is never
closed would swallow everything up to the next one, so of a record that is wrong only the first line is given up, and
reading begins again at the second; at the latest when as many bytes were read as a page may have. Wrong rows are named
by line and skipped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.errors import InputError
from neardup.page import BATCH_BYTES, Skipped
from neardup.record import record
from neardup.sources.base import PAGE_BYTES, Chunk, Fields, Loaded, no_pages
from neardup.sources.files import Place
from neardup.sources.parquet import check_columns, convert
from neardup.sources.patience import PlainText, Row, give_up, open_to_the_end, read_record
from neardup.sources.unpack import Unpacked

_CHUNK_ROWS: Final = 8192


@record(frozen=True, slots=True)
class Run:
    """Good rows that follow each other: the number of the first one behind the header, their wanted columns, and of
    each the number of its line and where in ``data`` it stands."""

    first: int
    columns: list[pa.Array]
    lines: pa.Array
    starts: pa.Array
    ends: pa.Array
    data: bytes


@dataclass(slots=True)
class Group:
    """Rows that follow each other, good and wrong, and the file's header."""

    header: Row
    first: int
    nbytes: int = 0
    #: Bytes of its rows, and how many they are.
    size: int = 0
    count: int = 0
    runs: list[Run] = field(default_factory=list)
    #: Lines and reasons.
    wrong: list[tuple[int, str]] = field(default_factory=list)

    def add(self, rows: Run) -> None:
        """Adds good rows."""
        self.runs.append(rows)
        self.count += len(rows.lines)

    def raw(self, record: int) -> bytes:
        """A good row as it is stored, by its number behind the header."""
        run = self.runs[bisect_right(self.runs, record, key=lambda run: run.first) - 1]
        at = record - run.first
        return run.data[run.starts[at].as_py() : run.ends[at].as_py()]


class Delimited:
    """The pages of one CSV or TSV file, plain or compressed."""

    def __init__(self, place: Place, fields: Fields, delimiter: str, longest: int = PAGE_BYTES) -> None:
        self.place, self.fields, self.delimiter, self.longest = place, fields, delimiter, longest

    def nbytes(self) -> int | None:
        return self.place.size()

    def check(self) -> None:
        """Raises ``InputError`` if the file has no header or a column is missing."""
        if self.place.once is None and (names := self._names()):
            self._check_names(names)

    def _check_names(self, names: list[str]) -> None:
        check_columns(pa.schema([(name, pa.string()) for name in names]), self.fields, self.place.name)

    def _names(self) -> list[str]:
        with self.place.open() as raw:
            header = self._header(PlainText(Unpacked(raw)))
            return [] if header is None else header.values

    def _header(self, text: PlainText) -> Row | None:
        header = read_record(text, self.delimiter, longest=self.longest)
        if header is None:
            return None
        reason = "NUL bytes: is it UTF-16?" if "\0" in "".join(header.values) else header.wrong
        if reason is not None:
            where = self.place.name
            raise InputError(f"no header that can be read: {reason}", where=where, hint="write it as UTF-8")
        return header

    def chunks(self) -> Iterator[Chunk]:
        for group in self.groups():
            yield Chunk(group.nbytes, partial(self.load, group), group.size)

    def groups(self) -> Iterator[Group]:
        """The rows in groups of about a batch; where they are cut depends on the rows alone."""
        with self.place.open() as raw:
            unpacked = Unpacked(raw)
            text = PlainText(unpacked)
            header = self._header(text)
            if header is None:
                return
            self._check_names(header.values)
            group, counted = Group(header, 0), 0
            while self._add_rows(group, text):
                if group.size >= BATCH_BYTES or group.count >= _CHUNK_ROWS:
                    group.nbytes = unpacked.taken - counted
                    counted = unpacked.taken
                    yield group
                    group = Group(header, group.first + group.count)
            if group.count or unpacked.taken > counted:
                group.nbytes = unpacked.taken - counted
                yield group

    def _add_rows(self, group: Group, text: PlainText) -> bool:
        """Adds rows that come next, or reads on; False at the end."""
        names, at = group.header.values, text.at
        form = {"delimiter": self.delimiter, "width": len(names), "most_records": _CHUNK_ROWS - group.count}
        most = BATCH_BYTES - group.size
        *columns, starts, ends, lines = text.advance(wanted=self._wanted(names), most_bytes=most, **form)
        # A line end does not count.
        long = np.flatnonzero(ends.to_numpy() - starts.to_numpy() - 1 > self.longest)
        if len(long):
            text.at, text.line = starts[first := int(long[0])].as_py(), lines[first].as_py()
            starts, ends, lines, *columns = (array.slice(0, first) for array in (starts, ends, lines, *columns))
        group.size += text.at - at
        if len(lines):
            group.add(Run(group.first + group.count, columns, lines, starts, ends, text.data))
        if len(long):
            self._add_row(group, give_up(text, self.longest))
        if len(lines) or len(long):
            return True
        if text.stop == "odd":
            at = text.at
            wrong = text.pass_wrong_rows(most_bytes=min(most, self.longest), **form)
            group.size += text.at - at
            group.wrong += wrong
            group.count += len(wrong)
            if wrong:
                return True
        elif text.held <= self.longest:
            if text.read_on():
                return True
            if text.stop == "open" and text.hole is None:
                self._add_row(group, open_to_the_end(text, self.delimiter, len(names)))
                return True
        else:
            self._add_row(group, give_up(text, self.longest))
            return True
        row = read_record(text, self.delimiter, len(names), self.longest)
        if row is None:
            return False
        self._add_row(group, row)
        return True

    def _add_row(self, group: Group, row: Row) -> None:
        if row.wrong is not None:
            group.wrong.append((row.line, row.wrong))
        else:
            values = [row.values[at] or None for at in self._wanted(group.header.values)]
            columns = [pa.array([value], pa.large_string()) for value in values]
            line, start, end = (pa.array([place]) for place in (row.line, 0, len(row.raw)))
            group.runs.append(Run(group.first + group.count, columns, line, start, end, row.raw))
        group.size += len(row.raw)
        group.count += 1

    def _wanted(self, names: list[str]) -> list[int]:
        return [at for at, name in enumerate(names) if name in self.fields.names()]

    def load(self, group: Group) -> Loaded:
        """The pages of a group; a page's ``record`` is the row's number behind the header, from 0.

        An empty field is no value: CSV has no other way to say so.
        """
        name, runs, wrong = self.place.name, group.runs, list(group.wrong)
        pages, names = no_pages(), [group.header.values[at] for at in self._wanted(group.header.values)]
        if runs:
            batch = pa.concat_batches([pa.RecordBatch.from_arrays(run.columns, names) for run in runs])
            numbers = np.concatenate([np.arange(run.first, run.first + len(run.lines)) for run in runs])
            lines = np.concatenate([run.lines.to_numpy() for run in runs])
            loaded = convert(batch, self.fields, name, 0, self.longest)
            at = [int(entry.position.removeprefix("record ")) for entry in loaded.skipped]
            wrong += zip(lines[at].tolist(), (entry.reason for entry in loaded.skipped), strict=True)
            pages = loaded.pages
            records: Any = pa.array(numbers[pages["record"].to_numpy()], pa.int64())
            place = pages.schema.get_field_index("record")
            pages = pages.set_column(place, pages.schema.field(place), records)
        return Loaded(pages, [Skipped(name, f"line {line}", reason) for line, reason in sorted(wrong)])
