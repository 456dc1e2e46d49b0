"""Statistics of a collection, as any engine asks for them: what they are of, whether they suit a detector, what is said
of them."""

from __future__ import annotations

from typing import Any, Final

from neardup.engines.common.settings import Settings
from neardup.errors import UsageError
from neardup.methods import Detector
from neardup.methods.statistics import BLOCKS, CollectionStatistics
from neardup.text import Reading

#: A title that more addresses of a site have than this does not name a page.
MOST_ADDRESSES: Final = 8


def counted_things(detector: Detector, reading: Reading) -> str:
    """What the numbers in statistics are of: blocks by a site rule, or tokens by a hash."""
    return f"{BLOCKS}, {reading.site}" if detector.counts_blocks() else reading.hash


def described_statistics(statistics: CollectionStatistics | None) -> dict[str, Any] | None:
    """What ``run.json`` says of statistics."""
    if statistics is None:
        return None
    repeated = {str(length): len(chunks) for length, (chunks, _) in sorted(statistics.chunks.items())}
    return {"digest": statistics.digest, "pages": statistics.pages, "chunks": repeated}


def frozen(settings: Settings, detector: Detector) -> CollectionStatistics | None:
    """The statistics that the settings name; looked at before anything is read."""
    if settings.statistics is None:
        return None
    loaded = CollectionStatistics.load(settings.statistics)
    check(loaded, detector, settings.reading, settings.statistics)
    return loaded


def suits(statistics: CollectionStatistics, detector: Detector, reading: Reading) -> bool:
    """Whether statistics are of what the detector counts."""
    return (
        statistics.chunks.keys() >= set(detector.counted())
        and detector.counts_blocks() == statistics.of_blocks
        and statistics.hash == counted_things(detector, reading)
    )


def check(statistics: CollectionStatistics, detector: Detector, reading: Reading, where: str | None = None) -> None:
    """Refuses statistics that are not of what the detector counts."""
    if not detector.counted():
        return
    if detector.counts_blocks() != statistics.of_blocks:
        raise UsageError(
            f"the statistics are not such as {detector.name!r} needs",
            where=where,
            hint=f"make them with neardup statistics --detector {detector.name}",
        )
    things = counted_things(detector, reading)
    if statistics.hash != things:
        raise UsageError(
            f"the statistics are of tokens by {statistics.hash!r}, this run has {things!r}",
            where=where,
            hint=f"run with --token-hash {statistics.hash}, or make statistics of such tokens",
        )
