"""Rows written out again: JSONL and CSV byte for byte, Parquet with its schema, codec and metadata."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import OutputError
from neardup.sinks.decisions import ADDED, Decision, Decisions
from neardup.sinks.packing import Writable, packed, stored_compression
from neardup.sources.delimited import Delimited, Group
from neardup.sources.jsonl import Block, JsonLines
from neardup.sources.parquet import ParquetRows, convert
from neardup.spreadsheet import as_text
from neardup.workers import in_order
from neardup.writing import replacing

_GROUP_BYTES: Final = 64 << 20

Piece = TypeVar("Piece")


def rewrite_jsonl(file: JsonLines, decisions: Decisions, target: Path, everything: bool, threads: int) -> None:
    """The lines of the kept pages as they are, or of all pages with fields added."""

    def read(block: Block) -> tuple[Block, list[int]]:
        return block, file.load(block).pages["record"].to_pylist()

    def chosen(block: Block, records: list[int], taken: Any) -> bytes:
        lines = block.data.split(b"\n")
        there = zip(records, taken, strict=True)
        if everything:
            out = [_with_fields(lines[record - block.first_line], one) for record, one in there]
        else:
            out = [lines[record - block.first_line] for record, kept in there if kept]
        return b"\n".join([*out, b""])

    blocks = (block for block in file.blocks() if block.skipped is None)
    out = packed(target, stored_compression(file.place), threads)
    _rewrite(blocks, read, decisions, chosen, _as_array(out) if file.is_array() else out, everything, threads)


class _Elements:
    """Writes lines as the elements of an array."""

    def __init__(self, out: Writable) -> None:
        self._out, self._between = out, b"[\n"

    def write(self, lines: bytes) -> None:
        if lines:
            # No element has a line end: the reader made blanks of them.
            self._out.write(self._between + lines.rstrip(b"\n").replace(b"\n", b",\n"))
            self._between = b",\n"

    def finish(self) -> None:
        self._out.write(b"[]\n" if self._between == b"[\n" else b"\n]\n")


@contextmanager
def _as_array(target: AbstractContextManager[Writable]) -> Iterator[_Elements]:
    with target as out:
        elements = _Elements(out)
        yield elements
        elements.finish()


def _rewrite(
    pieces: Iterable[Piece],
    read: Callable[[Piece], tuple[Piece, list[int]]],
    decisions: Decisions,
    chosen: Callable[[Piece, list[int], Any], bytes],
    target: AbstractContextManager[Writable],
    everything: bool,
    threads: int,
) -> None:
    """Pieces of a file are read and made anew by threads; decisions are taken and results written in order."""

    def decided() -> Generator[tuple[Piece, list[int], Any]]:
        with closing(in_order(pieces, read, threads)) as those:
            for piece, records in those:
                yield piece, records, (decisions.take if everything else decisions.take_kept)(len(records))

    with ExitStack() as stack:
        out = stack.enter_context(target)
        those = stack.enter_context(closing(decided()))
        for data in stack.enter_context(closing(in_order(those, lambda one: chosen(*one), threads))):
            out.write(data)


def _with_fields(line: bytes, decision: Decision) -> bytes:
    """The line with fields at the end of its object; what was there keeps its bytes."""
    added = decision.added()
    if b'"neardup_' in line:  # pages of an earlier run: their fields are replaced
        return json.dumps(json.loads(line) | added, ensure_ascii=False).encode("utf-8", "backslashreplace")
    fields = json.dumps(added, ensure_ascii=False)[1:]
    return line.rstrip()[:-1].rstrip() + b", " + fields.encode("utf-8", "backslashreplace")


def rewrite_delimited(file: Delimited, decisions: Decisions, target: Path, everything: bool, threads: int) -> None:
    """The rows of the kept pages as they are, or of all pages with columns added."""

    def read(numbered: tuple[int, Group]) -> tuple[tuple[int, Group], list[int]]:
        return numbered, file.load(numbered[1]).pages["record"].to_pylist()

    def chosen(numbered: tuple[int, Group], records: list[int], taken: Any) -> bytes:
        number, group = numbered
        there = zip(map(group.raw, records), taken, strict=True)
        if everything:
            out = [_with_columns(raw, one.texts(), file.delimiter) for raw, one in there]
        else:
            out = [_ended(raw) for raw, kept in there if kept]
        if number == 0:
            header = group.header.raw
            out.insert(0, _with_columns(header, ADDED.names, file.delimiter) if everything else _ended(header))
        return b"".join(out)

    groups = enumerate(file.groups())
    out = packed(target, stored_compression(file.place), threads)
    _rewrite(groups, read, decisions, chosen, out, everything, threads)


def _ended(raw: bytes) -> bytes:
    return raw if raw.endswith(b"\n") else raw + b"\n"


def _with_columns(raw: bytes, values: list[str], delimiter: str) -> bytes:
    end = b"\r\n" if raw.endswith(b"\r\n") else b"\n"
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="").writerow(map(as_text, values))
    return raw.rstrip(b"\r\n") + delimiter.encode() + text.getvalue().encode("utf-8", "replace") + end


def rewrite_parquet(file: ParquetRows, decisions: Decisions, target: Path, everything: bool) -> None:
    """The rows of the kept pages, or of all pages with columns added; codec and metadata stay."""
    with file.open() as parquet, replacing(target) as out:
        metadata, schema = parquet.metadata, parquet.schema_arrow
        for field in ADDED if everything else ():
            at = schema.get_field_index(field.name)
            schema = schema.append(field) if at < 0 else schema.set(at, field)
        codec: Any = "zstd"
        if metadata.num_row_groups and metadata.num_columns:
            codec = metadata.row_group(0).column(0).compression.lower()
        with pq.ParquetWriter(out, schema, compression="none" if codec == "uncompressed" else codec) as writer:
            first = 0
            for group in range(metadata.num_row_groups):
                _rewrite_group(file, parquet, group, first, decisions, writer, everything)
                first += metadata.row_group(group).num_rows


def _rewrite_group(
    file: ParquetRows,
    parquet: pq.ParquetFile,
    group: int,
    first: int,
    decisions: Decisions,
    writer: pq.ParquetWriter,
    everything: bool,
) -> None:
    held: list[pa.RecordBatch] = []
    done = size = 0
    try:
        for batch in file.read_group(parquet, group, None):
            pages = convert(batch, file.fields, file.place.name, first + done, file.longest).pages
            taken: list[Any] = (decisions.take if everything else decisions.take_kept)(pages.num_rows)
            at = [record - first - done for record in pages["record"].to_pylist() if record is not None]
            wanted = [(row, one) for row, one in zip(at, taken, strict=True) if everything or one]
            done += batch.num_rows
            if not wanted:
                continue
            rows = batch.take(pa.array([row for row, _ in wanted], pa.int64()))
            held.append(_with_arrays(rows, [one for _, one in wanted]) if everything else rows)
            size += rows.nbytes
            if size >= _GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(held))
                held, size = [], 0
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, not the Parquet data
        _check_same_damage(file, parquet, group, done, error)
    if held:
        writer.write_table(pa.Table.from_batches(held))


def _with_arrays(rows: pa.RecordBatch, decisions: list[Decision]) -> pa.RecordBatch:
    for field in ADDED:
        values = pa.array([one.added()[field.name] for one in decisions], field.type)
        at = rows.schema.get_field_index(field.name)
        rows = rows.append_column(field, values) if at < 0 else rows.set_column(at, field, values)
    return rows


def _check_same_damage(file: ParquetRows, parquet: pq.ParquetFile, group: int, done: int, error: Exception) -> None:
    """Goes on if the pages behind the damage were not read the first time either."""
    columns = [name for name in file.fields.names() if name in parquet.schema_arrow.names]
    readable = 0
    try:
        for batch in file.read_group(parquet, group, columns):
            readable += batch.num_rows
    except (pa.ArrowException, OSError):
        pass
    if readable != done:
        raise OutputError(
            f"row group {group} cannot be copied: {str(error).splitlines()[0]}",
            where=file.place.name,
            hint="a column that holds no page is damaged: leave it out of the file",
        ) from error
