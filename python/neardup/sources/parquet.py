"""Parquet files: rows with an id, a URL, HTML or text, and a date, in columns of many possible types.

Row groups are read one at a time, in batches of about the usual number of bytes, and only the columns that
are needed; what a batch decodes to is known before it is read (``parquet_pages``). A row group that cannot be read is
named and passed; a file without its footer is an error at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import pyarrow as pa

from neardup import _native
from neardup.errors import InputError
from neardup.lazy import later
from neardup.page import BATCH_BYTES, Skipped
from neardup.sources.base import PAGE_BYTES, Chunk, Fields, Loaded, build_pages, only_skipped
from neardup.sources.files import Place, file_system
from neardup.sources.parquet_pages import Page, most_rows, pages_of

if TYPE_CHECKING:
    import pyarrow.parquet as pq

pc = later("pyarrow.compute")

_MOST_ROWS: Final = 8192
#: What the rows of a batch may decode to, unless a single one is more.
_MOST_BYTES: Final = 4 * BATCH_BYTES
#: A page of a column is unpacked whole: one of more bytes than so many pages of text may have is not.
_PAGES_OF_TEXT: Final = 8


class ParquetRows:
    """The pages of one Parquet file."""

    def __init__(self, place: Place, fields: Fields, longest: int = PAGE_BYTES) -> None:
        self.place, self.fields, self.longest = place, fields, longest

    def nbytes(self) -> int | None:
        return self.place.size()

    def check(self) -> None:
        """Raises ``InputError`` if the file is none, or a column is missing or of no use."""
        with self.open() as file:
            check_columns(file.schema_arrow, self.fields, self.place.name)

    def open(self, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
        """The file; the columns ``dictionaries`` (by their paths) as they are stored, a dictionary and places in it."""
        # It brings all file systems that Arrow knows along; most runs read no Parquet.
        import pyarrow.parquet as pq

        try:
            if self.place.is_local:
                return pq.ParquetFile(self.place.path, pre_buffer=False, read_dictionary=list(dictionaries))
            system, path = file_system(self.place.path)
            return pq.ParquetFile(system.open_input_file(path), read_dictionary=list(dictionaries))
        except FileNotFoundError:
            raise InputError("no such file", where=self.place.name) from None
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"cannot be read as Parquet: {error}", where=self.place.name) from None

    def chunks(self) -> Iterator[Chunk]:
        with self.open() as file:
            schema = file.schema_arrow
            check_columns(schema, self.fields, self.place.name)
            columns = [name for name in self.fields.names() if _kind(schema, name) is not None]
            total, counted, record = self.place.size() or 0, 0, 0
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                done = 0
                # The file's bytes are shared out by rows: that is what progress can know of columns.
                end = total * (group + 1) // file.num_row_groups
                try:
                    for batch in self.read_group(file, group, columns):
                        nbytes = (end - counted) * batch.num_rows // max(1, rows - done)
                        counted += nbytes
                        load = partial(convert, batch, self.fields, self.place.name, record + done, self.longest)
                        yield Chunk(nbytes, load, batch.nbytes)
                        done += batch.num_rows
                except (pa.ArrowException, OSError) as error:
                    text = str(error).splitlines()[0] if str(error) else type(error).__name__
                    reason = f"{rows - done} rows of row group {group} cannot be read: {text}"
                    yield only_skipped(end - counted, Skipped(self.place.name, f"record {record + done}", reason))
                    counted = end
                record += rows

    def read_group(self, file: pq.ParquetFile, group: int, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        """A row group in batches of about the usual number of bytes; some columns, or all."""
        rows = self._rows_a_batch(file, group, columns)
        for batch in file.iter_batches(batch_size=rows, row_groups=[group], columns=columns):
            yield from _split(batch)

    def _rows_a_batch(self, file: pq.ParquetFile, group: int, columns: list[str] | None) -> int:
        """How many rows of a group are read at a time, so that they decode to about the usual number of bytes."""
        metadata = file.metadata.row_group(group)
        rows = _rows_a_batch(metadata.num_rows, metadata.total_byte_size)
        chunks = [metadata.column(at) for at in range(metadata.num_columns)]
        wanted = [chunk for chunk in chunks if columns is None or _is_of(chunk.path_in_schema, columns)]
        pages: list[list[Page]] = []
        with self.place.open() as raw:
            for chunk in wanted:
                if chunk.physical_type != "BYTE_ARRAY":
                    continue
                try:
                    pages.append(list(pages_of(raw, chunk) if self.place.is_local else _guessed(raw, chunk)))
                except ValueError:
                    # Headers that nobody understands: let the reader say what is wrong, a row at a time.
                    return 1
                if (size := max((page.nbytes for page in pages[-1]), default=0)) > _PAGES_OF_TEXT * self.longest:
                    raise pa.ArrowInvalid(_native.too_long("a page of a column", size, _PAGES_OF_TEXT * self.longest))
                if most_rows(pages[-1:], rows, _MOST_BYTES) < rows and any(page.dictionary for page in pages[-1]):
                    longest = self._longest_repeated(group, chunk.path_in_schema)
                    pages[-1] = [replace(page, each=min(page.each, longest)) for page in pages[-1]]
        return most_rows(pages, rows, _MOST_BYTES)

    def _longest_repeated(self, group: int, path: str) -> int:
        """How long the longest value of a dictionary is."""
        with self.open([path]) as file:
            batch = next(file.iter_batches(batch_size=1, row_groups=[group], columns=[path]), None)
        column: Any = None if batch is None else column_of(batch, path)
        if column is None or not pa.types.is_dictionary(column.type):
            return 1 << 62
        return int(pc.max(pc.binary_length(column.dictionary)).as_py() or 0)


def _is_of(path: str, columns: Sequence[str]) -> bool:
    """Whether a column of the file is one of these, or inside of one."""
    return any(path == name or path.startswith(f"{name}.") for name in columns)


def _guessed(raw: BinaryIO, chunk: Any) -> Iterator[Page]:
    """What is known of a column's pages by the first of them, for elsewhere each costs a request: where that is a
    dictionary, any value may be the longest one."""
    first = next(pages_of(raw, chunk), None)
    if first is not None and first.dictionary:
        yield first
        yield Page(chunk.num_values, chunk.total_uncompressed_size, False, first.nbytes)
    elif first is not None:
        yield Page(chunk.num_values, chunk.total_uncompressed_size, False, first.each and chunk.total_uncompressed_size)


def pieces(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """A table in batches of about the usual number of bytes.

    >>> [batch.num_rows for batch in pieces(pa.table({"text": ["x" * 1_000_000] * 10}))]
    [8, 2]
    """
    for batch in table.to_batches(max_chunksize=_rows_a_batch(table.num_rows, table.nbytes)):
        yield from _split(batch)


def _rows_a_batch(rows: int, size: int) -> int:
    return max(1, min(_MOST_ROWS, BATCH_BYTES // max(1, size // max(1, rows))))


def _split(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Halves a batch until it is small: rows may be very unequal."""
    if batch.num_rows > 1 and batch.nbytes > 2 * BATCH_BYTES:
        half = batch.num_rows // 2
        yield from _split(batch.slice(0, half))
        yield from _split(batch.slice(half))
    elif batch.num_rows:
        yield batch


def check_columns(schema: pa.Schema, fields: Fields, where: str) -> None:
    """Raises ``InputError`` if a named column is missing, all content is, or a type is of no use.

    >>> check_columns(pa.schema({"id": pa.int64(), "text": pa.string()}), Fields(), "a.parquet")
    """
    kinds = {name: kind for name in fields.names() if (kind := _kind(schema, name)) is not None}
    there = f"there are: {', '.join(_column_names(schema)[:20])}"
    for what, name in fields.changed().items():
        if name not in kinds:
            raise InputError(f"no column {name!r} for {what}", where=where, hint=there)
    if fields.html not in kinds and fields.text not in kinds:
        wanted = f"neither a column {fields.html!r} nor {fields.text!r}"
        raise InputError(
            wanted, where=where, hint=f"name the column of the content (--text-field, --html-field); {there}"
        )
    for name in fields.names():
        if schema.names.count(name) > 1:
            raise InputError(f"two columns are named {name!r}", where=where)
    for name in (fields.html, fields.text):
        if name in kinds and not _is_text(kind := kinds[name]) and not pa.types.is_null(kind):
            raise InputError(f"column {name!r} is {kind}, not text or bytes", where=where)
    for name in (fields.id, fields.url, fields.date):
        if name in kinds and pa.types.is_nested(kind := kinds[name]):
            raise InputError(f"column {name!r} is {kind}, not a single value", where=where)


def _column_names(schema: pa.Schema) -> list[str]:
    """All columns, and those inside of others."""
    waiting = [("", field) for field in schema]
    for prefix, field in waiting:
        if pa.types.is_struct(field.type):
            waiting += [(f"{prefix}{field.name}.", inner) for inner in field.type.fields]
    return [f"{prefix}{field.name}" for prefix, field in waiting]


def _way(schema: pa.Schema, name: str) -> list[int] | None:
    """The place of a column, or the places on the way to one inside of others; None where there is none."""
    if name in schema.names:
        return [schema.names.index(name)]
    outer, _, inner = name.partition(".")
    if not inner or outer not in schema.names:
        return None
    at = schema.names.index(outer)
    kind = schema.field(at).type
    rest = _way(pa.schema(kind.fields), inner) if pa.types.is_struct(kind) else None
    return None if rest is None else [at, *rest]


def _kind(schema: pa.Schema, name: str) -> pa.DataType | None:
    """The type of a column, or of one inside of others; None where there is none.

    >>> _kind(pa.schema({"meta": pa.struct({"url": pa.string()})}), "meta.url")
    DataType(string)
    """
    way = _way(schema, name)
    if way is None:
        return None
    kind = schema.field(way[0]).type
    for at in way[1:]:
        kind = kind.field(at).type
    return kind


def column_of(rows: pa.RecordBatch | pa.Table, name: str) -> Any:
    """A column, or one inside of others; None where there is none.

    >>> column_of(pa.table({"meta": [{"url": "a"}, None]}), "meta.url").to_pylist()
    ['a', None]
    """
    way = _way(rows.schema, name)
    if way is None:
        return None
    column: Any = rows.column(way[0])
    return pc.struct_field(column, way[1:]) if way[1:] else column


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return _is_string(kind) or _is_binary(kind)


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind))


def convert(batch: pa.RecordBatch, fields: Fields, source: str, first: int, longest: int = PAGE_BYTES) -> Loaded:
    """The pages of a batch of rows; ``first`` is the number of its first row in the file.

    >>> batch = pa.RecordBatch.from_pydict({"id": [7, 8], "text": ["hello", None]})
    >>> loaded = convert(batch, Fields(), "a.parquet", 10)
    >>> loaded.pages["id"].to_pylist(), [entry.describe() for entry in loaded.skipped]
    (['7'], ['a.parquet, record 11: no html or text'])
    """
    html, html_charset = _content(batch, fields.html)
    text, text_charset = _content(batch, fields.text)
    content: Any = pc.coalesce(html, text)
    is_html = pc.is_valid(html)
    long = pc.fill_null(pc.greater(pc.binary_length(content), pa.scalar(longest)), False)
    good = pc.and_not(pc.is_valid(content), long)
    columns: dict[str, Any] = {
        "id": _text(batch, fields.id),
        "url": _text(batch, fields.url),
        "content": content,
        "html": is_html,
        "charset": pc.if_else(is_html, html_charset, text_charset),
        "date": _date(batch, fields.date),
        "record": pa.array(range(first, first + batch.num_rows), pa.int64()),
    }
    skipped = []
    if not pc.all(good).as_py():
        for at, (fine, too_long) in enumerate(zip(good.to_pylist(), long.to_pylist(), strict=True)):
            if not fine:
                length = pc.binary_length(content[at]).as_py() if too_long else 0
                reason = _native.too_long("a value", length, longest) if too_long else "no html or text"
                skipped.append(Skipped(source, f"record {first + at}", reason))
        columns = {name: pc.filter(column, good) for name, column in columns.items()}
    rows = batch.num_rows - len(skipped)
    return Loaded(build_pages(columns, source, rows), skipped)


def _content(batch: pa.RecordBatch, name: str) -> tuple[Any, Any]:
    """A content column as bytes, and the charset its type says: text is decoded already, bytes are not."""
    column = _column(batch, name)
    if column is None or pa.types.is_null(column.type):
        return pa.nulls(batch.num_rows, pa.large_binary()), pa.scalar(None, pa.string())
    charset = pa.scalar("utf-8" if _is_string(column.type) else None, pa.string())
    if _is_string(column.type):
        column = column.cast(pa.large_string())
    return column.cast(pa.large_binary()), charset


def _text(batch: pa.RecordBatch, name: str) -> Any:
    """A column as text, whatever its type: numbers as written, bytes as UTF-8 or else hexadecimal."""
    column = _column(batch, name)
    if column is None or pa.types.is_null(column.type):
        return pa.nulls(batch.num_rows, pa.string())
    if _is_binary(column.type) or pa.types.is_fixed_size_binary(column.type):
        return pa.array([None if value is None else _readable(value) for value in column.to_pylist()], pa.string())
    return column.cast(pa.string())


def _readable(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()


def _date(batch: pa.RecordBatch, name: str) -> Any:
    """A date column as ISO text; times with a zone in UTC."""
    column = _column(batch, name)
    if column is None or not pa.types.is_timestamp(column.type):
        return _text(batch, name)
    zone = "Z" if column.type.tz else ""
    return pc.strftime(column.cast(pa.timestamp("s"), safe=False), format=f"%Y-%m-%dT%H:%M:%S{zone}")


def _column(batch: pa.RecordBatch, name: str) -> Any:
    column = column_of(batch, name)
    return column.dictionary_decode() if column is not None and pa.types.is_dictionary(column.type) else column
