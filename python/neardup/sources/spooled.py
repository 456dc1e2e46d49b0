"""Pages that are given one after another: held in memory up to a limit, and all of them in a file beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import overload

import pyarrow as pa

from neardup.page import PAGES


class Room:
    """Takes batches of pages; of more than ``most`` bytes all go to a file, which must not be there yet.

    >>> import tempfile
    >>> from neardup.sources.memory import texts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     room = Room(Path(folder, "pages"), 100)
    ...     for batch in [*texts(["one"]).batches, *texts(["two" * 100]).batches]:
    ...         room.append(batch)
    ...     [batch.num_rows for batch in room.batches()], Path(folder, "pages").exists()
    ([1, 1], True)
    """

    def __init__(self, path: Path, most: int) -> None:
        self._path, self._most = path, most
        self._held: list[pa.RecordBatch] = []
        self._size = 0
        self._writer: pa.ipc.RecordBatchFileWriter | None = None

    def append(self, batch: pa.RecordBatch) -> None:
        """Takes the next batch."""
        if self._writer is not None:
            self._writer.write_batch(batch)
            return
        self._held.append(batch)
        self._size += batch.nbytes
        if self._size > self._most:
            self._writer = pa.ipc.new_file(str(self._path), PAGES)
            for held in self._held:
                self._writer.write_batch(held)
            self._held = []

    def batches(self) -> Sequence[pa.RecordBatch]:
        """All of them, in order; no more are taken."""
        if self._writer is None:
            return self._held
        self._writer.close()
        return _InFile(self._path)


class _InFile(Sequence[pa.RecordBatch]):
    """Batches in a file, each read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        with pa.OSFile(self._path) as file, pa.ipc.open_file(file) as reader:
            self._count = int(reader.num_record_batches)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> pa.RecordBatch: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[pa.RecordBatch]: ...
    def __getitem__(self, at: int | slice) -> pa.RecordBatch | Sequence[pa.RecordBatch]:
        if isinstance(at, slice):
            return [self[number] for number in range(self._count)[at]]
        number = range(self._count)[at]
        with pa.OSFile(self._path) as file, pa.ipc.open_file(file) as reader:
            return reader.get_batch(number)
