"""The chunk index μ over every method: what a query finds is what comparing with every page finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import token_lists
from neardup import _native
from neardup.errors import FormatError, NeardupError, UsageError
from neardup.methods import OfContent, Statistical, detectors, parse
from neardup.methods.chunk_index import ChunkIndex
from neardup.methods.statistics import collect_statistics
from neardup.plan import Given
from neardup.sources.memory import texts

numbers = st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 20), max_size=15), max_size=9)


def naive(pages: list[list[int]], query: list[int], kappa: int, ratio: float) -> dict[int, int]:
    asked, found = set(query), {}
    for page, own in enumerate(map(set, pages)):
        shared = len(asked & own)
        if shared >= kappa and shared / len(asked | own) >= ratio:
            found[page] = shared
    return found


@given(numbers, numbers, st.integers(1, 4), st.floats(0, 1), st.integers(0, 9))
def test_a_query_finds_what_looking_at_every_page_finds(
    pages: list[list[int]], queries: list[list[int]], kappa: int, ratio: float, cut: int
) -> None:
    index = ChunkIndex.build([token_lists(pages[:cut]), token_lists(pages[cut:])])
    found = index.query(token_lists(queries), kappa=kappa, ratio=ratio, threads=2)
    for at, query in enumerate(queries):
        rows, shared = found.of(at)
        assert rows.tolist() == sorted(rows.tolist())
        assert dict(zip(rows.tolist(), shared.tolist(), strict=True)) == naive(pages, query, kappa, ratio)
    assert len(index) == len(pages)
    assert index.sizes.tolist() == [len(set(page)) for page in pages]
    assert index.entries == sum(len(set(page)) for page in pages)


@pytest.mark.parametrize("name", sorted(set(detectors()) - {"exact"}))
def test_every_method_goes_in(name: str, web_pages: list[dict[str, Any]]) -> None:
    (batch,) = texts(web_pages[:60]).batches
    pages = Given(batch)
    kind: Any = parse(name).rules()[0].keys.fingerprint
    if isinstance(kind, Statistical):
        counted = _native.stream_cells(pages.streams(kind)) if isinstance(kind, OfContent) else pages.tokens
        kind = kind.given(collect_statistics([counted], [kind.counted]))
    values = kind.compute(pages.to(kind))
    index = ChunkIndex.build([values])
    sets = [set(row) for row in (values.to_pylist() if isinstance(values, pa.Array) else values.tolist())]
    found = index.query(values)
    for page, own in enumerate(sets):
        rows, shared = found.of(page)
        assert dict(zip(rows.tolist(), shared.tolist(), strict=True)) == naive(
            [list(of) for of in sets], list(own), 1, 0
        )
        if own:
            number = min(own)
            assert index.postlist(number).tolist() == [at for at, other in enumerate(sets) if number in other]


def test_an_index_is_used_where_it_lies(tmp_path: Path) -> None:
    rows = np.random.default_rng(5).integers(0, 50, (500, 8), dtype=np.uint64)
    index = ChunkIndex.build([rows[:200], rows[200:]])
    index.save(tmp_path / "mu")
    for verify in (True, False):
        loaded = ChunkIndex.load(tmp_path / "mu", verify=verify)
        assert isinstance(loaded.numbers.base, np.memmap | np.ndarray)
        assert not loaded.numbers.flags.owndata
        assert loaded.nbytes == index.nbytes
        one, other = index.query(rows[:20], kappa=3), loaded.query(rows[:20], kappa=3)
        assert one.pages.tolist() == other.pages.tolist()
        assert one.shared.tolist() == other.shared.tolist()
    # 8 bytes a number, 4 for its place, 4 an entry, 4 a page, and the directory.
    distinct = len(np.unique(rows))
    least = 12 * distinct + 4 * index.entries + 4 * len(rows)
    assert least <= index.nbytes <= least + 2 * distinct + 64


def test_a_damaged_index_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mu"
    ChunkIndex.build([token_lists([[1, 2, 3], [2, 3, 4], []])]).save(file)
    whole = file.read_bytes()
    refused = 0
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            ChunkIndex.load(file)
        except FormatError:
            refused += 1
        else:
            assert whole[place] == 0
    assert refused > 300
    for length in range(0, len(whole), 7):
        file.write_bytes(whole[:length])
        with pytest.raises(NeardupError):
            ChunkIndex.load(file)
    with pytest.raises(FormatError, match="cannot read"):
        ChunkIndex.load(tmp_path / "none")


def test_a_query_that_makes_no_sense_says_so() -> None:
    index = ChunkIndex.build([token_lists([[1, 2, 3]])])
    with pytest.raises(UsageError, match="kappa must be at least 1"):
        index.query(token_lists([[1]]), kappa=0)
    with pytest.raises(UsageError, match="ratio between 0 and 1"):
        index.query(token_lists([[1]]), ratio=1.5)
    assert len(ChunkIndex.build([])) == 0
    assert ChunkIndex.build([]).query(token_lists([[1]])).pages.tolist() == []
