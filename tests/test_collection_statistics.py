"""Statistics of a collection: exact, the same however the pages come, and refused when damaged."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import shingles, token_lists
from neardup.errors import FormatError, NeardupError, UsageError
from neardup.methods.container import write_arrays
from neardup.methods.lexicon import LexiconSignatures, RareChunks, RepeatedChunks
from neardup.methods.shingles import ShingleSet
from neardup.methods.statistics import CollectionStatistics, StatisticsRound, collect_statistics, start_statistics

pages_of_tokens = st.lists(st.lists(st.integers(1, 8), max_size=25), max_size=10)


def frequencies(pages: list[list[int]], n: int) -> Counter[int]:
    """How many pages have each chunk, by definition; a chunk is named by the number the kernels give it."""
    counts: Counter[int] = Counter()
    for page in pages:
        if page:
            windows = [list(window) for window in shingles(page, n)]
            numbers = ShingleSet(n).compute(token_lists(windows)).flatten().to_pylist()
            counts.update(set(numbers))
    return counts


@given(pages_of_tokens, st.integers(1, 9))
def test_exactly_the_chunks_that_occur_twice_are_found(pages: list[list[int]], n: int) -> None:
    made = collect_statistics([token_lists(pages)], [n])
    expected = {chunk: count for chunk, count in frequencies(pages, n).items() if count > 1}
    chunks, counts = made.chunks[n]
    assert dict(zip(chunks.tolist(), counts.tolist(), strict=True)) == expected
    assert made.pages == len(pages)
    kept = RepeatedChunks(n).given(made).compute(token_lists(pages)).to_pylist()
    every = ShingleSet(n).compute(token_lists(pages)).to_pylist()
    assert kept == [[chunk for chunk in page if chunk in expected] for page in every]


@given(pages_of_tokens, st.integers(1, 4), st.integers(1, 5))
def test_rare_chunks_are_all_but_the_frequent(pages: list[list[int]], n: int, most: int) -> None:
    counts = frequencies(pages, n)
    made = collect_statistics([token_lists(pages)], [n])
    kept = RareChunks(n, most).given(made).compute(token_lists(pages)).to_pylist()
    every = ShingleSet(n).compute(token_lists(pages)).to_pylist()
    assert kept == [[chunk for chunk in page if counts[chunk] <= most] for page in every]


def in_partitions(pages: list[list[int]], lengths: list[int], parts: int, seed: int) -> CollectionStatistics:
    """As a cluster would do it: rounds travel, partitions count for themselves and are merged in any order."""
    dice = random.Random(seed)
    dealt: list[list[list[int]]] = [[] for _ in range(parts)]
    for page in pages:
        dealt[dice.randrange(parts)].append(page)
    step: StatisticsRound | CollectionStatistics = start_statistics(lengths, tokens=sum(map(len, pages)))
    while isinstance(step, StatisticsRound):
        rounds = [pickle.loads(pickle.dumps(step.fresh())) for _ in range(parts)]
        for own, share in zip(rounds, dealt, strict=True):
            for page in share:
                own.add(token_lists([page]))
        dice.shuffle(rounds)
        total = rounds[0]
        for other in rounds[1:]:
            total.merge(pickle.loads(pickle.dumps(other)))
        step = total.finish()
    return step


@given(pages_of_tokens, st.integers(1, 4), st.integers(0, 99))
def test_partitions_merge_to_the_whole_in_any_order(pages: list[list[int]], parts: int, seed: int) -> None:
    whole = collect_statistics([token_lists(pages)], [1, 3])
    merged = in_partitions(pages, [3, 1], parts, seed)
    assert merged.digest == whole.digest
    assert merged.pages == whole.pages == len(pages)


def test_the_size_of_the_counters_decides_nothing() -> None:
    dice = random.Random(4)
    pages = [[dice.randrange(1, 3000) for _ in range(200)] for _ in range(60)]
    pages += [page[:100] + [dice.randrange(1, 3000) for _ in range(100)] for page in pages[:20]]
    digests = set()
    for tokens in (0, 10**4, 10**6):
        step: StatisticsRound | CollectionStatistics = start_statistics([5], tokens=tokens)
        while isinstance(step, StatisticsRound):
            step.add(token_lists(pages))
            step = step.finish()
        digests.add(step.digest)
    assert len(digests) == 1


def test_rounds_that_do_not_belong_together_do_not_merge() -> None:
    with pytest.raises(UsageError, match="rounds of different passes"):
        start_statistics([2], tokens=10).merge(start_statistics([3], tokens=10))
    with pytest.raises(UsageError, match="at least one token"):
        start_statistics([0], tokens=10)


def test_statistics_come_back_from_a_file(tmp_path: Path) -> None:
    pages = token_lists([[1, 2, 3, 4], [2, 3, 4, 5], [9, 9]])
    made = collect_statistics([pages], [1, 2], hash="rabin")
    made.save(tmp_path / "statistics")
    loaded = CollectionStatistics.load(tmp_path / "statistics")
    assert (loaded.digest, loaded.pages, loaded.hash) == (made.digest, 3, "rabin")
    assert loaded.nbytes == made.nbytes
    assert made.digest != collect_statistics([pages], [1, 2]).digest
    assert made.digest != collect_statistics([pages], [1]).digest
    assert loaded.frequency(made.chunks[2][0], 2).tolist() == [2, 2]


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "statistics"
    collect_statistics([token_lists([[1, 2, 3, 4], [2, 3, 4, 5]])], [2]).save(file)
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            again = CollectionStatistics.load(file)
        except NeardupError:
            continue
        # Between arrays there are zeros that nothing reads.
        assert whole[place] == 0
        assert again.pages == 2
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(FormatError):
            CollectionStatistics.load(file)
    write_arrays(file, "something else", {}, {"a": np.arange(3, dtype=np.uint64)})
    with pytest.raises(FormatError, match="this holds something else, not collection statistics"):
        CollectionStatistics.load(file)


def test_a_lexicon_is_of_middling_terms() -> None:
    # Of 100 pages: term 1 on all, 2 on half, 3 on ten, 4 on two, and one of its own on each.
    pages = [[1] + [2] * (at % 2) + [3] * (at < 10) + [4] * (at < 2) + [1000 + at] for at in range(100)]
    made = collect_statistics([token_lists(pages)], [1])

    def same(low: float, high: float, a: int, b: int) -> bool:
        kind = LexiconSignatures(low=low, high=high, least=1)
        signatures = kind.given(made).compute(token_lists(pages))
        return bool(signatures[a, 0] == signatures[b, 0])

    # ln(100/df)/ln 100: 0 for term 1, .15 for 2, .5 for 3, .85 for 4, 1 for their own.
    assert same(0.1, 0.6, 0, 2)
    assert not same(0.1, 0.6, 0, 1)
    assert same(0.2, 0.6, 0, 1)
    assert not same(0.2, 0.9, 0, 2)
    assert not same(0.2, 1.0, 0, 1)
    # Pages without a term in the lexicon match nothing.
    assert not same(0.2, 0.6, 50, 51)
