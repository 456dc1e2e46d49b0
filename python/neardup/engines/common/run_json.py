"""What ``run.json`` says of a run, whichever engine it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from neardup import _native
from neardup.engines.common.accepted import AcceptedPairs, RuleCounts
from neardup.engines.common.earlier import described_runs
from neardup.engines.common.settings import Settings
from neardup.engines.common.statistics import described_statistics
from neardup.engines.common.tally import Tally
from neardup.engines.common.unread import Unread
from neardup.engines.common.warnings import collection_warnings
from neardup.methods import Detector
from neardup.methods.statistics import CollectionStatistics
from neardup.record import record
from neardup.version import VERSION


@record(frozen=True, slots=True)
class PageCounts:
    """What an engine counts of its tables."""

    pages: int
    #: Pages without tokens, and with too few of them to be compared.
    empty: int
    short: int
    identity_sets: int
    clusters: int
    #: Pages in clusters.
    clustered: int
    kept: int
    repeated_ids: int
    #: Pages without a date, where the newest are kept.
    undated: int


@record(frozen=True)
class RunFacts:
    """All that is to be said of a run."""

    engine: str
    detector: Detector
    settings: Settings
    #: The limit of hot keys that was kept to.
    hot: int
    statistics: CollectionStatistics | None
    #: Names and files of the earlier runs it was against.
    against: Sequence[tuple[str, Path]]
    pages: PageCounts
    rules: Sequence[RuleCounts]
    accepted: AcceptedPairs
    tally: Tally
    unread: Unread
    #: Whether no page has a site.
    no_sites: bool

    def counts(self) -> dict[str, int]:
        """How many there are of everything."""
        pages, tally = self.pages, self.tally
        return {
            "pages": pages.pages,
            "empty": pages.empty,
            "short": pages.short,
            "identity_sets": pages.identity_sets,
            "identical": pages.pages - pages.identity_sets,
            "pairs": self.accepted.in_all,
            "clusters": pages.clusters,
            "clustered": pages.clustered,
            "kept": pages.kept,
            "removed": pages.pages - pages.kept,
            "repeated_ids": pages.repeated_ids,
            "wrong_charset": tally.replaced,
            "skipped": tally.skipped,
            "ignored": sum(tally.ignored.values()),
            "undated": pages.undated,
            **self.unread.counts(),
        }

    def to_json(self) -> dict[str, Any]:
        """As ``run.json`` has it, but for the stages, and what the job adds."""
        counts = self.counts()
        return {
            "format": _native.FORMAT_VERSION,
            "neardup": VERSION,
            "engine": self.engine,
            "detector": str(self.detector),
            "by_default": False,
            "parameters": self.detector.parameters(),
            "settings": asdict(self.settings) | {"hot": self.hot},
            "statistics": described_statistics(self.statistics),
            "against": described_runs(self.against),
            "counts": counts,
            "kinds": asdict(self.tally.kinds),
            "ignored": self.tally.ignored,
            "rules": [asdict(rule) for rule in self.rules],
            "pairs": self.accepted.to_json(),
            "warnings": collection_warnings(counts, self.accepted, self.rules, self.detector, self.no_sites),
            **self.unread.to_json(self.tally),
            "bytes": self.tally.nbytes,
            "stages": [],
        }
