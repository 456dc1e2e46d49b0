"""Rows of a result's tables by their number, read a row group at a time: a run of millions of pages is never held.

``pages.parquet`` has a row a page in input order, so a page's row is its place in the table, and a row group that holds
none of the wanted rows is not read. The last few groups stay in memory, for who looks at one row looks at those
beside it next. Cost: one row group's chosen columns for each group that is touched.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import FormatError

#: Bytes of row groups that stay in memory.
_HELD: Final = 256 << 20


class TableRows:
    """A Parquet file whose rows are asked for by number; may be shared by threads.

    >>> import tempfile
    >>> from neardup.sinks import write_table
    >>> path = Path(tempfile.mkdtemp()) / "pages.parquet"
    >>> write_table(pa.table({"id": ["a", "b", "c"], "kept": [True, False, True]}), path)
    >>> TableRows(path).take([2, 0], ["id"]).to_pylist()
    [{'id': 'c'}, {'id': 'a'}]
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        # One file, one position: readers take turns.
        self._reading = threading.Lock()
        self._held: OrderedDict[tuple[int, tuple[str, ...]], pa.Table] = OrderedDict()
        try:
            # Opened here, for pyarrow takes no path that is not UTF-8; and held: what is read later is this run's.
            self._opened = open(path, "rb")  # noqa: SIM115  (closed with this object)
            self._file = pq.ParquetFile(self._opened)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from None
        sizes = [self._file.metadata.row_group(group).num_rows for group in range(self._file.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def close(self) -> None:
        """Lets go of the file."""
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
            return self._file.schema_arrow.empty_table().select(list(columns))
        order = np.argsort(np.concatenate(places), kind="stable")
        return pa.concat_tables(parts).take(pa.array(order)).combine_chunks()

    def groups(self, columns: Sequence[str]) -> Iterator[tuple[int, pa.Table]]:
        """Some columns of the whole table, a group at a time, with the number of its first row."""
        for group in range(self._file.num_row_groups):
            yield int(self._starts[group]), self._group(group, tuple(columns))

    def column(self, name: str) -> pa.ChunkedArray:
        """One column whole; for numbers."""
        return self._read(lambda: self._file.read([name]).column(0))

    def codes(self, name: str) -> tuple[npt.NDArray[np.int32], list[str]]:
        """A column of words that repeat: for each row the number of its word, −1 where it has none, and the words.

        Parquet stores such columns by number already; they are read without making a text of each.
        """

        def read() -> pa.ChunkedArray:
            with open(self._path, "rb") as opened, pq.ParquetFile(opened, read_dictionary=[name]) as file:
                return file.read([name]).column(0)

        column = self._read(read)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        column = column.unify_dictionaries()
        if not column.num_chunks:
            return np.empty(0, np.int32), []
        numbers = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in column.chunks]
        return np.concatenate(numbers).astype(np.int32), column.chunk(0).dictionary.to_pylist()

    def _group(self, group: int, columns: tuple[str, ...]) -> pa.Table:
        with self._lock:
            found = self._held.get((group, columns))
            if found is not None:
                self._held.move_to_end((group, columns))
                return found
        table = self._read(lambda: self._file.read_row_group(group, list(columns)))
        with self._lock:
            self._held[group, columns] = table
            held = sum(one.nbytes for one in self._held.values())
            while held > _HELD and len(self._held) > 1:
                held -= self._held.popitem(last=False)[1].nbytes
        return table

    def _read(self, reading: Any) -> Any:
        with self._reading:
            try:
                return reading()
            except (pa.ArrowException, OSError) as error:
                raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> FormatError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
        return FormatError(f"the result is damaged: {reason}", where=str(self._path), hint="run dedup again")
