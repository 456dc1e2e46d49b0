"""Rows of a result's tables by their number, read a row group at a time: a run of millions of pages is never held.

``pages.parquet`` has a row a page in input order, so a page's row is its place in the table, and a row group that holds
none of the wanted rows is not read. The last few groups stay in memory, for who looks at one row looks at those
beside it next. Cost: one row group's chosen columns for each group that is touched.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.lazy import later
from neardup.sinks.sealed import CheckedFile, damaged

if TYPE_CHECKING:
    import pyarrow.parquet as pq
else:
    pq = later("pyarrow.parquet")

#: Bytes of row groups that stay in memory.
_CACHE_BYTES: Final = 256 << 20
_T = TypeVar("_T")


class StoredTable:
    """A table in Parquet files, opened once: what is read later is the same, even if another took its place. Its
    columns have the types of ``schema``, where the files have others, as Spark writes numbers with a sign."""

    def __init__(self, files: Sequence[IO[bytes] | CheckedFile], path: Path, schema: pa.Schema | None = None) -> None:
        # They are closed with this object.
        self._files = list(files)
        self._path = path
        # One file, one position: readers take turns.
        self._turn = threading.Lock()
        self.parts: list[pq.ParquetFile] = self.read(lambda: [pq.ParquetFile(file) for file in self._files])
        self.schema: pa.Schema = self.parts[0].schema_arrow if schema is None else schema
        for part in self.parts:
            absent = [name for name in self.schema.names if name not in part.schema_arrow.names]
            if absent:
                raise damaged(path, f"it has no column {absent[0]}")

    def __del__(self) -> None:
        for file in getattr(self, "_files", ()):
            file.close()

    def read(self, reading: Callable[[], _T]) -> _T:
        """What a reading of the files gives, one at a time."""
        with self._turn:
            try:
                return reading()
            # Of damage that no checksum is kept of, pyarrow may say anything.
            except (pa.ArrowException, OSError, ValueError, KeyError) as error:
                raise damaged(self._path, error) from None

    def columns(self, names: Sequence[str], part: pq.ParquetFile, group: int | None = None) -> pa.Table:
        """Some columns of a part, or of one row group of it."""
        schema = pa.schema([self.schema.field(name) for name in names])

        def reading() -> pa.Table:
            table = part.read(list(names)) if group is None else part.read_row_group(group, list(names))
            return table.select(list(names)).cast(schema)

        return self.read(reading)

    def whole(self) -> pa.Table:
        """All of it."""
        tables = [self.columns(self.schema.names, part) for part in self.parts]
        return pa.concat_tables(tables).combine_chunks()

    def coded(self, name: str) -> list[pa.Array]:
        """A column of texts as dictionaries, as Parquet stores those that repeat."""

        def reading() -> list[pa.Array]:
            files = [pq.ParquetFile(file, read_dictionary=[name]) for file in self._files]
            return [chunk for file in files for chunk in file.read([name]).column(0).chunks]

        return self.read(reading)


class TableRows:
    """Rows by number: those of a stored table, and behind them rows in memory; may be shared by threads.

    >>> import tempfile
    >>> from neardup.sinks import write_table
    >>> path = Path(tempfile.mkdtemp()) / "pages.parquet"
    >>> write_table(pa.table({"id": ["a", "b", "c"], "kept": [True, False, True]}), path)
    >>> stored = StoredTable([open(path, "rb")], path)
    >>> TableRows(stored, pa.table({"id": ["d"]})).take([3, 0], ["id"]).to_pylist()
    [{'id': 'd'}, {'id': 'a'}]
    """

    def __init__(self, stored: StoredTable | None, behind: pa.Table | None = None) -> None:
        assert stored is not None or behind is not None
        self._stored = stored
        self._behind = behind
        self._lock = threading.Lock()
        self._cache: OrderedDict[tuple[int, tuple[str, ...]], pa.Table] = OrderedDict()
        #: Each row group: its file, its number there.
        self._groups = [
            (part, group) for part in (stored.parts if stored else ()) for group in range(part.num_row_groups)
        ]
        sizes = [part.metadata.row_group(group).num_rows for part, group in self._groups]
        if behind is not None:
            sizes.append(behind.num_rows)
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def followed_by(self, behind: pa.Table) -> TableRows:
        """The same rows and further ones behind them."""
        if self._behind is not None:
            behind = pa.concat_tables([self._behind, behind])
        return TableRows(self._stored, behind)

    def whole(self) -> pa.Table:
        """All rows as a table."""
        if self._stored is None:
            assert self._behind is not None
            return self._behind
        table = self._stored.whole()
        return table if self._behind is None else pa.concat_tables([table, self._behind])

    def take(self, rows: Sequence[int] | npt.NDArray[np.integer[Any]], columns: Sequence[str]) -> pa.Table:
        """The rows with these numbers, in the order asked for."""
        wanted = np.asarray(rows, np.int64)
        if len(wanted) and (wanted.min() < 0 or wanted.max() >= len(self)):
            raise IndexError("no such row")
        groups = np.searchsorted(self._starts, wanted, side="right") - 1
        parts, places = [], []
        for group in np.unique(groups).tolist():
            here = np.flatnonzero(groups == group)
            parts.append(self._group(group, tuple(columns)).take(pa.array(wanted[here] - self._starts[group])))
            places.append(here)
        if not parts:
            return self._schema.empty_table().select(list(columns))
        order = np.argsort(np.concatenate(places), kind="stable")
        return pa.concat_tables(parts).take(pa.array(order)).combine_chunks()

    def groups(self, columns: Sequence[str]) -> Iterator[tuple[int, pa.Table]]:
        """Some columns of the whole table, a group at a time, with the number of its first row."""
        for group in range(len(self._starts) - 1):
            yield int(self._starts[group]), self._group(group, tuple(columns))

    def column(self, name: str) -> pa.ChunkedArray:
        """One column whole; for numbers."""
        stored = self._stored
        columns = [stored.columns([name], part) for part in stored.parts] if stored is not None else []
        if self._behind is not None:
            columns.append(self._behind.select([name]))
        return pa.concat_tables(columns).column(0)

    def codes(self, name: str) -> tuple[npt.NDArray[np.int32], list[str]]:
        """A column of words that repeat: for each row the number of its word, −1 where it has none, and the words.

        Parquet stores such columns by number already; they are read without making a text of each.
        """
        chunks = self._stored.coded(name) if self._stored else []
        if self._behind is not None:
            chunks += self._behind.column(name).chunks
        coded = [chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode() for chunk in chunks]
        if not coded:
            return np.empty(0, np.int32), []
        column = pa.chunked_array(coded).unify_dictionaries()
        numbers = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in column.chunks]
        return np.concatenate(numbers).astype(np.int32), column.chunk(0).dictionary.to_pylist()

    @property
    def _schema(self) -> pa.Schema:
        return self._stored.schema if self._stored is not None else self._behind.schema  # type: ignore[union-attr]

    def _group(self, group: int, columns: tuple[str, ...]) -> pa.Table:
        if group == len(self._groups):
            assert self._behind is not None
            return self._behind.select(list(columns))
        with self._lock:
            table = self._cache.get((group, columns))
            if table is not None:
                self._cache.move_to_end((group, columns))
                return table
        assert self._stored is not None
        part, number = self._groups[group]
        table = self._stored.columns(columns, part, number)
        with self._lock:
            self._cache[group, columns] = table
            size = sum(one.nbytes for one in self._cache.values())
            while size > _CACHE_BYTES and len(self._cache) > 1:
                size -= self._cache.popitem(last=False)[1].nbytes
        return table
