"""Rows of a result's tables by their number, read a row group at a time: a run of millions of pages is never held.

``pages.parquet`` has a row a page in input order, so a page's row is its place in the table, and a row group that holds
none of the wanted rows is not read. The last few groups stay in memory, for who looks at one row looks at those
beside it next. Cost: one row group's chosen columns for each group that is touched.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import FormatError
from neardup.lazy import later

if TYPE_CHECKING:
    import pyarrow.parquet as pq
else:
    pq = later("pyarrow.parquet")

#: Bytes of row groups that stay in memory.
_HELD: Final = 256 << 20


def parts_of(path: Path) -> list[Path]:
    """The files of a table: itself, or, where it is a folder as Spark writes it, its parts in order."""
    if not path.is_dir():
        return [path]
    parts = sorted(path.glob("part-*.parquet"))
    if not parts:
        raise FileNotFoundError(2, "it has no parts", str(path))
    return parts


def damaged(path: Path, error: Exception) -> FormatError:
    """What is said of a table that cannot be read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
    return FormatError(f"the result is damaged: {reason}", where=str(path), hint="run dedup again")


class TableRows:
    """A Parquet table whose rows are asked for by number, and rows in memory ``behind`` it; may be shared by threads.

    ``schema`` says what columns are, where the file has them in another type, as Spark writes numbers with a sign.

    >>> import tempfile
    >>> from neardup.sinks import write_table
    >>> path = Path(tempfile.mkdtemp()) / "pages.parquet"
    >>> write_table(pa.table({"id": ["a", "b", "c"], "kept": [True, False, True]}), path)
    >>> TableRows(path, behind=pa.table({"id": ["d"]})).take([3, 0], ["id"]).to_pylist()
    [{'id': 'd'}, {'id': 'a'}]
    """

    def __init__(self, path: Path | None, schema: pa.Schema | None = None, behind: pa.Table | None = None) -> None:
        self._path = path
        self._schema = schema
        self._behind = behind
        self._lock = threading.Lock()
        # One file, one position: readers take turns.
        self._reading = threading.Lock()
        self._held: OrderedDict[tuple[int, tuple[str, ...]], pa.Table] = OrderedDict()
        self._files: list[pq.ParquetFile] = []
        with ExitStack() as opened:
            try:
                for part in parts_of(path) if path is not None else ():
                    # Opened here, for pyarrow takes no path that is not UTF-8; held: what is read later is this run's.
                    self._files.append(pq.ParquetFile(opened.enter_context(open(part, "rb"))))
            except (pa.ArrowException, OSError) as error:
                raise self._damaged(error) from None
            # They are closed with this object.
            self._opened = opened.pop_all()
        #: Each row group: its file, its number there.
        self._groups = [(file, group) for file in self._files for group in range(file.num_row_groups)]
        sizes = [file.metadata.row_group(group).num_rows for file, group in self._groups]
        if behind is not None:
            sizes.append(behind.num_rows)
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def close(self) -> None:
        """Lets go of the files."""
        self._opened.close()

    def __del__(self) -> None:
        if hasattr(self, "_opened"):
            self._opened.close()

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
            return self._empty(columns)
        order = np.argsort(np.concatenate(places), kind="stable")
        return pa.concat_tables(parts).take(pa.array(order)).combine_chunks()

    def groups(self, columns: Sequence[str]) -> Iterator[tuple[int, pa.Table]]:
        """Some columns of the whole table, a group at a time, with the number of its first row."""
        for group in range(len(self._starts) - 1):
            yield int(self._starts[group]), self._group(group, tuple(columns))

    def column(self, name: str) -> pa.ChunkedArray:
        """One column whole; for numbers."""
        columns = [self._typed(self._read(partial(file.read, [name]))) for file in self._files]
        if self._behind is not None:
            columns.append(self._behind.select([name]))
        return pa.concat_tables(columns).column(0)

    def codes(self, name: str) -> tuple[npt.NDArray[np.int32], list[str]]:
        """A column of words that repeat: for each row the number of its word, −1 where it has none, and the words.

        Parquet stores such columns by number already; they are read without making a text of each.
        """

        def read() -> list[pa.Array]:
            chunks = []
            for part in parts_of(self._path) if self._path is not None else ():
                with open(part, "rb") as opened, pq.ParquetFile(opened, read_dictionary=[name]) as file:
                    chunks += file.read([name]).column(0).chunks
            return chunks

        chunks = self._read(read)
        if self._behind is not None:
            chunks += self._behind.column(name).chunks
        coded = [chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode() for chunk in chunks]
        if not coded:
            return np.empty(0, np.int32), []
        column = pa.chunked_array(coded).unify_dictionaries()
        numbers = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in column.chunks]
        return np.concatenate(numbers).astype(np.int32), column.chunk(0).dictionary.to_pylist()

    def _group(self, group: int, columns: tuple[str, ...]) -> pa.Table:
        if group == len(self._groups):
            assert self._behind is not None
            return self._behind.select(list(columns))
        with self._lock:
            found = self._held.get((group, columns))
            if found is not None:
                self._held.move_to_end((group, columns))
                return found
        file, number = self._groups[group]
        table = self._typed(self._read(lambda: file.read_row_group(number, list(columns))))
        with self._lock:
            self._held[group, columns] = table
            held = sum(one.nbytes for one in self._held.values())
            while held > _HELD and len(self._held) > 1:
                held -= self._held.popitem(last=False)[1].nbytes
        return table

    def _typed(self, table: pa.Table) -> pa.Table:
        if self._schema is None:
            return table
        return table.cast(pa.schema([self._schema.field(name) for name in table.column_names]))

    def _empty(self, columns: Sequence[str]) -> pa.Table:
        schema = self._schema or (self._files[0].schema_arrow if self._files else self._behind.schema)  # type: ignore[union-attr]
        return schema.empty_table().select(list(columns))

    def _read(self, reading: Any) -> Any:
        with self._reading:
            try:
                return reading()
            except (pa.ArrowException, OSError) as error:
                raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> FormatError:
        return damaged(self._path or Path("a table in memory"), error)
