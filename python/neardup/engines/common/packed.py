"""How numbers travel between engines, and through Spark, which knows neither unsigned numbers nor fixed-width rows: as
bytes.

A fingerprint, a set, a parity or a list of keys is one binary value, its 64-bit numbers one after another, little end
first; a single key is the signed number with the same bits. Nothing is copied on the way back but what is not aligned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.lazy import later
from neardup.methods import FixedWidth

pc = later("pyarrow.compute")

_LISTS = pa.large_list(pa.field("item", pa.uint64(), nullable=False))
#: Groups are handed on together until so many rows are at hand: a call of a kernel is worth its cost.
WORTH_A_CALL = 20_000


def rows_to_bytes(values: FixedWidth) -> pa.BinaryArray:
    """Rows of a fixed width, one value each.

    >>> bytes_to_rows(rows_to_bytes(np.array([[1, 2], [3, 4]], np.uint64)), 2).tolist()
    [[1, 2], [3, 4]]
    """
    width = 8 * values.shape[1]
    offsets = np.arange(len(values) + 1, dtype=np.int32) * np.int32(width)
    return _binary(offsets, np.ascontiguousarray(values, np.uint64))


def lists_to_bytes(lists: pa.LargeListArray) -> pa.BinaryArray:
    """Lists of any length, one value each.

    >>> bytes_to_lists(lists_to_bytes(pa.array([[1], [], [2, 3]], pa.large_list(pa.uint64())))).to_pylist()
    [[1], [], [2, 3]]
    """
    lengths = pc.list_value_length(lists).to_numpy()
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return _binary((8 * offsets).astype(np.int32), lists.flatten().to_numpy())


def bytes_to_rows(column: pa.BinaryArray, width: int) -> FixedWidth:
    """The rows again."""
    _, values = _unpacked(column)
    return values.reshape(len(column), width)


def bytes_to_lists(column: pa.BinaryArray) -> pa.LargeListArray:
    """The lists again."""
    offsets, values = _unpacked(column)
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values), type=_LISTS)


def _binary(offsets: npt.NDArray[np.int32], values: npt.NDArray[np.uint64]) -> pa.BinaryArray:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


def _unpacked(column: pa.BinaryArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Where each value begins, counted in numbers, and the numbers."""
    large = pa.types.is_large_binary(column.type)
    _, offset_buffer, data = column.buffers()
    kind: Any = np.int64 if large else np.int32
    if len(column) == 0:
        return np.zeros(1, np.int64), np.empty(0, np.uint64)
    offsets = np.frombuffer(offset_buffer, kind)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    start, stop = int(offsets[0]), int(offsets[-1])
    if stop == start:
        return (offsets - start) // 8, np.empty(0, np.uint64)
    values = np.frombuffer(data, np.uint8)[start:stop].view(np.uint64)
    return (offsets - start) // 8, values if values.flags.aligned else values.copy()


def whole_groups(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], worth: int = WORTH_A_CALL
) -> Iterator[pa.RecordBatch]:
    """The same rows, sorted by some columns already, cut only where these change: every group of equal ones is whole.

    >>> batches = pa.table({"key": [1, 1, 2, 2, 2, 3]}).to_batches(max_chunksize=2)
    >>> [batch["key"].to_pylist() for batch in whole_groups(batches, ["key"], worth=1)]
    [[1, 1], [2, 2, 2], [3]]
    """
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        if held and rows >= worth:
            cut = _first_of_another(batch, held[-1], names)
            if cut:
                held.append(batch.slice(0, cut))
            if cut < batch.num_rows:
                yield pa.concat_batches(held)
                held, rows = [], 0
                batch = batch.slice(cut)
            else:
                rows += batch.num_rows
                continue
        held.append(batch)
        rows += batch.num_rows
        if rows >= worth:
            # What is surely whole goes on at once.
            last = _last_group(batch, names)
            if last:
                held[-1] = batch.slice(0, last)
                yield pa.concat_batches(held)
                held, rows = [batch.slice(last)], batch.num_rows - last
    if held:
        yield pa.concat_batches(held)


def _first_of_another(batch: pa.RecordBatch, before: pa.RecordBatch, names: Sequence[str]) -> int:
    """How many rows at the beginning belong to the group that the batch before ended with."""
    same = np.ones(batch.num_rows, bool)
    for name in names:
        value = before.column(name)[before.num_rows - 1]
        same &= np.asarray(pc.equal(batch.column(name), value).fill_null(False))
    return int(batch.num_rows if same.all() else np.argmin(same))


def _last_group(batch: pa.RecordBatch, names: Sequence[str]) -> int:
    """Where the last group of a batch begins."""
    same = np.ones(batch.num_rows, bool)
    for name in names:
        same &= np.asarray(pc.equal(batch.column(name), batch.column(name)[batch.num_rows - 1]).fill_null(False))
    different = np.flatnonzero(~same)
    return int(different[-1]) + 1 if len(different) else 0
