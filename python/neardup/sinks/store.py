"""The store of page texts (``texts.parquet``): every page as it was read, to be found again by its row
(``neardup.results.texts``).

Parquet is seekable: row groups hold about a megabyte each, so one page costs one small group to read and unpack, and
tools that read Parquet can search it. Written from a second reading of the input, in its order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from neardup.page import PAGES
from neardup.sinks.results import write_groups

FILE: Final = "texts.parquet"
STORE: Final = pa.schema([pa.field("row", pa.uint64(), nullable=False), *PAGES])
_GROUP_BYTES: Final = 1 << 20


def write_store(batches: Iterable[pa.RecordBatch], path: str | os.PathLike[str]) -> None:
    """Writes the pages of batches (schema ``neardup.page.PAGES``), numbered in their order.

    >>> import pathlib, tempfile
    >>> from neardup.sources.memory import texts
    >>> import pyarrow.parquet as pq
    >>> path = pathlib.Path(tempfile.mkdtemp()) / FILE
    >>> write_store(texts(["one", "two"]).batches, path)
    >>> pq.read_table(path)["content"].to_pylist()
    [b'one', b'two']
    """
    write_groups(STORE, _groups(batches), path)


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    row = 0
    for batch in batches:
        lengths = np.diff(np.frombuffer(batch.column("content").buffers()[1], np.int64))
        ends = np.cumsum(lengths[batch.column("content").offset :][: batch.num_rows]) if batch.num_rows else lengths
        start = 0
        while start < batch.num_rows:
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + _GROUP_BYTES, "right")))
            cut = batch.slice(start, stop - start)
            rows = pa.array(np.arange(row, row + cut.num_rows, dtype=np.uint64))
            yield pa.Table.from_arrays([rows, *cut.columns], schema=STORE)
            row, start = row + cut.num_rows, start + cut.num_rows
