"""The first pass: statistics of the collection, for the detectors that ask for them, and the fingerprints that wait for
them.

Pages were read and their tokens are at hand (in memory, or in the scratch folder), so a pass costs no reading. Counted
are the first members of units (identity sets; where the detector looks at sites, one a site) of enough tokens to be
compared: they are one page for all that follows. Statistics that were frozen earlier take the place of the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.page_columns import after_all
from neardup.engines.common.settings import Settings
from neardup.engines.common.statistics import MOST_ADDRESSES, counted_things
from neardup.engines.local.identity import units_of
from neardup.engines.local.reading import Collection
from neardup.engines.local.store import loaded
from neardup.methods import Detector, OfContent, OverSets
from neardup.methods.statistics import CollectionStatistics, StatisticsRound, start_statistics
from neardup.workers import in_order


def prepare(
    collection: Collection, detector: Detector, settings: Settings, frozen: CollectionStatistics | None = None
) -> CollectionStatistics | None:
    """Gives the collection the fingerprints that need statistics, and returns these; None where none are needed."""
    waiting = after_all(detector.fingerprints())
    if not waiting:
        return None
    statistics = frozen or count(collection, detector, settings)
    for kind in sorted(waiting, key=lambda kind: isinstance(kind, OverSets)):
        batches: Iterable[pa.LargeListArray]
        work: Callable[[pa.LargeListArray], Any]
        if isinstance(kind, OverSets) and kind.sets in waiting:
            batches, work = loaded(collection.sets(kind.sets).sets), kind.of_sets
        else:
            batches = collection.stream_batches() if isinstance(kind, OfContent) else collection.token_batches()
            work = kind.given(statistics).compute
        # What is made of a batch takes several times its memory on the way.
        beside = 0 if settings.memory else 2
        collection.add_fingerprint(kind, in_order(batches, work, settings.batches_at_once, waiting=beside))
    return statistics


def count(collection: Collection, detector: Detector, settings: Settings) -> CollectionStatistics:
    """The pass itself: every round over all pages, with all threads; over chunks of tokens, or over blocks."""
    counted = _counted(collection, detector, settings.reading.min_tokens)
    blocks = detector.counts_blocks()
    if blocks:
        counted, things = _different_pages(collection, counted, settings.batches_at_once)
    else:
        things = int(collection.column("tokens").to_numpy()[counted].sum())
    step: StatisticsRound | CollectionStatistics = start_statistics(
        detector.counted(), tokens=things, hash=counted_things(detector, settings.reading)
    )
    while isinstance(step, StatisticsRound):
        for _ in in_order(_lists(collection, counted, blocks), step.add, settings.batches_at_once):
            pass
        step = step.finish()
    return step


def _lists(collection: Collection, counted: npt.NDArray[np.bool_], blocks: bool) -> Iterator[pa.LargeListArray]:
    if not blocks:
        return collection.chosen_tokens(counted)
    return map(_native.stream_cells, collection.chosen_streams(counted))


def _different_pages(
    collection: Collection, counted: npt.NDArray[np.bool_], workers: int
) -> tuple[npt.NDArray[np.bool_], int]:
    """Of the counted pages, those that are different pages of their site: the copies of a page, fetched again or under
    another address, must not make its text look like something that many pages share. And how many stretches of blocks
    all pages have; far fewer than tokens."""

    def labels_and_cells(
        streams: pa.LargeListArray,
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], int]:
        return *_native.stream_labels(streams), len(_native.stream_cells(streams).flatten())

    parts = list(in_order(collection.stream_batches(), labels_and_cells, workers))
    titles, addresses = (np.concatenate([labels[at] for labels in parts]) for at in (0, 1))
    rows = np.flatnonzero(counted & (titles != 0))
    different = np.zeros(len(titles), bool)
    different[rows[first_of_each_page(titles[rows], addresses[rows])]] = True
    return different, sum(cells for _, _, cells in parts)


def first_of_each_page(
    titles: npt.NDArray[np.uint64], addresses: npt.NDArray[np.uint64], most: int = MOST_ADDRESSES
) -> npt.NDArray[np.intp]:
    """The places of the first pages of each name, ascending. Pages under one title are one page, wherever they were
    found; unless that title is found at more than ``most`` addresses: then it names no page (but a site, or a kind of
    page), and the address does.

    >>> titles, addresses = np.array([[7, 7, 8, 8, 8, 8], [1, 2, 1, 2, 3, 3]], np.uint64)
    >>> first_of_each_page(titles, addresses, most=2).tolist()
    [0, 2, 3, 4]
    """
    both = np.stack([titles, addresses], axis=1)
    pairs, place = np.unique(both, axis=0, return_inverse=True)
    # Pairs are in the order of their titles: how many addresses each title has, for each pair.
    _, title_of_pair, count = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)
    crowded = count[title_of_pair] > most
    named = np.where(crowded, len(count) + np.arange(len(pairs)), title_of_pair)[place.reshape(-1)]
    return np.sort(np.unique(named, return_index=True)[1])


def _counted(collection: Collection, detector: Detector, min_tokens: int) -> npt.NDArray[np.bool_]:
    tokens = collection.column("tokens").to_numpy()
    identity = _native.identity_sets(*collection.identity, tokens == 0)
    first = units_of(collection.column("site"), identity, detector) == np.arange(len(identity), dtype=np.uint32)
    counted: npt.NDArray[np.bool_] = first & (tokens >= min_tokens)
    return counted
