"""What travels between engines as bytes comes back as it was; groups of rows are never cut."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup.engines.common.packed import (
    bytes_to_lists,
    bytes_to_rows,
    lists_to_bytes,
    rows_to_bytes,
    whole_groups,
)

NUMBERS = st.integers(0, 2**64 - 1)


@given(st.lists(st.lists(NUMBERS, max_size=5), max_size=12), st.integers(0, 12), st.integers(0, 12))
def test_lists_and_their_slices_come_back(lists: list[list[int]], start: int, length: int) -> None:
    packed = lists_to_bytes(pa.array(lists, pa.large_list(pa.uint64())))
    assert bytes_to_lists(packed).to_pylist() == lists
    assert bytes_to_lists(packed.slice(start, length)).to_pylist() == lists[start : start + length]


@given(st.integers(1, 4), st.integers(0, 9), st.integers(0, 9))
def test_rows_and_their_slices_come_back(width: int, count: int, start: int) -> None:
    rows = np.arange(width * count, dtype=np.uint64).reshape(count, width) * np.uint64(2**59 + 7)
    packed = rows_to_bytes(rows)
    assert np.array_equal(bytes_to_rows(packed, width), rows)
    assert np.array_equal(bytes_to_rows(packed.slice(start), width), rows[start:])


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "a", "b"])), max_size=40),
    st.integers(1, 7),
    st.integers(1, 12),
)
def test_groups_stay_whole_however_batches_are_cut(rows: list[tuple[int, str]], cut: int, worth: int) -> None:
    rows = sorted(rows)
    table = pa.table({"key": [key for key, _ in rows], "site": [site for _, site in rows]})
    given_batches = table.to_batches(max_chunksize=cut) if rows else []
    found = list(whole_groups(given_batches, ["key", "site"], worth))
    assert [tuple(row.values()) for batch in found for row in batch.to_pylist()] == rows
    ends = [tuple(batch.to_pylist()[-1].values()) for batch in found]
    starts = [tuple(batch.to_pylist()[0].values()) for batch in found]
    assert all(before != after for before, after in zip(ends, starts[1:], strict=False))
    # What is at hand goes on as soon as it is worth a call and known to be whole.
    assert all(batch.num_rows for batch in found)
