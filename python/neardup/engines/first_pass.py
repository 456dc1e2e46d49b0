"""The first pass: statistics of the collection, for the detectors that ask for them, and the fingerprints that wait for
them.

Pages were read and their tokens are at hand (in memory, or in the scratch folder), so a pass costs no reading. Counted
are the first members of identity sets, of enough tokens to be compared: pages with the same tokens are one page for all
that follows. Statistics that were frozen earlier take the place of the pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.detectors import Detector
from neardup.engines.collect import Collection
from neardup.engines.fingerprinting import after_all
from neardup.engines.settings import Settings
from neardup.engines.workers import in_order
from neardup.errors import UsageError
from neardup.fingerprints import CollectionStatistics, StatisticsRound, start_statistics


def prepare(
    collection: Collection, detector: Detector, settings: Settings, given: CollectionStatistics | None = None
) -> CollectionStatistics | None:
    """Gives the collection the fingerprints that need statistics, and returns these; None where none are needed."""
    waiting = after_all(detector.fingerprints())
    if not waiting:
        return None
    statistics = given or count(collection, detector.counted(), settings)
    for kind in waiting:
        work = kind.given(statistics).compute
        computed = in_order(collection.token_batches(), work, settings.workers)
        collection.add_fingerprint(kind, list(computed))
    return statistics


def count(collection: Collection, lengths: tuple[int, ...], settings: Settings) -> CollectionStatistics:
    """The pass itself: every round over all pages, with all threads."""
    counted = _counted(collection, settings.reading.min_tokens)
    tokens = int(collection.column("tokens").to_numpy()[counted].sum())
    step: StatisticsRound | CollectionStatistics = start_statistics(lengths, tokens=tokens, hash=settings.reading.hash)
    while isinstance(step, StatisticsRound):
        for _ in in_order(collection.chosen_tokens(counted), step.add, settings.workers):
            pass
        step = step.finish()
    return step


def told(statistics: CollectionStatistics | None) -> dict[str, Any] | None:
    """What ``run.json`` says of statistics."""
    if statistics is None:
        return None
    repeated = {str(length): len(chunks) for length, (chunks, _) in sorted(statistics.chunks.items())}
    return {"digest": statistics.digest, "pages": statistics.pages, "chunks": repeated}


def frozen(settings: Settings) -> CollectionStatistics | None:
    """The statistics that the settings name; looked at before anything is read."""
    if settings.statistics is None:
        return None
    loaded = CollectionStatistics.load(settings.statistics)
    if loaded.hash != settings.reading.hash:
        raise UsageError(
            f"the statistics are of tokens by {loaded.hash!r}, this run has {settings.reading.hash!r}",
            where=settings.statistics,
            hint=f"run with --token-hash {loaded.hash}, or make statistics of such tokens",
        )
    return loaded


def _counted(collection: Collection, min_tokens: int) -> npt.NDArray[np.bool_]:
    tokens = collection.column("tokens").to_numpy()
    identity = _native.identity_sets(*collection.identity, tokens == 0)
    first = identity == np.arange(len(identity), dtype=np.uint32)
    counted: npt.NDArray[np.bool_] = first & (tokens >= min_tokens)
    return counted
