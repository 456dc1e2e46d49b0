"""What ``run.json`` says of a run, and what it warns of, whichever engine it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from neardup import _native
from neardup.engines.common.accepted import AcceptedPairs, RuleCounts
from neardup.engines.common.earlier import described_runs
from neardup.engines.common.settings import Settings
from neardup.engines.common.statistics import described_statistics
from neardup.engines.common.tally import Tally
from neardup.engines.common.unread import Unread
from neardup.methods import Detector
from neardup.methods.statistics import CollectionStatistics
from neardup.plan import Plan
from neardup.record import record
from neardup.sources.skipped import NAMED
from neardup.version import VERSION

#: From this many different pages on, at least this share should be kept: a crawl that repeats itself more than this is
#: rare, and a detector that something all pages share leads astray is not.
_MANY: Final = 1000
_FEW_STAY: Final = 0.1


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


def collection_warnings(
    counts: dict[str, int],
    accepted: AcceptedPairs,
    rules: Sequence[RuleCounts],
    detector: Detector,
    no_sites: bool,
) -> list[str]:
    """What the user should know beside the numbers of a run.

    >>> from neardup.methods import parse
    >>> counts = {"failed_files": 0, "skipped": 2, "repeated_ids": 0, "identity_sets": 9, "kept": 9}
    >>> collection_warnings(counts, AcceptedPairs(5, True, "all", 0), [], parse("minhash"), True)
    ["records that could not be read: 2; 'skipped' names them"]
    """
    warnings = []
    if counts["failed_files"]:
        warnings.append(
            f"files of which no record could be read: {counts['failed_files']:,}; 'failed_files' names them"
        )
    if counts["skipped"]:
        names = "names them" if counts["skipped"] <= NAMED else f"names the first {NAMED:,} of them"
        warnings.append(f"records that could not be read: {counts['skipped']:,}; 'skipped' {names}")
    if counts["repeated_ids"]:
        warnings.append(f"ids that occurred before and became id#row: {counts['repeated_ids']:,}")
    if accepted.forest:
        warnings.append(f"of {accepted.in_words()} accepted pairs only the spanning forest is held; see --max-pairs")
    hot = [rule for rule in rules if rule.unscored]
    if hot:
        warnings.append(
            f"{sum(rule.hot_buckets for rule in hot):,} keys are shared by so many pages that not all their pairs "
            "were scored; the pages that stay and the clusters are exact, and cohesion and diameter are told only of "
            "clusters whose pairs were"
        )
    if counts["identity_sets"] >= _MANY and counts["kept"] < _FEW_STAY * counts["identity_sets"]:
        exact = Plan(detector).verifies_exactly
        warnings.append(
            f"of {counts['identity_sets']:,} different pages only {counts['kept']:,} stay; look at some pairs "
            f"(report.html, neardup explain) before you rely on it{'' if exact else ', or try --detector minhash'}"
        )
    if no_sites and Plan(detector).looks_at_sites:
        warnings.append("no page has a URL, so all count as on different sites; consider --detector minhash")
    if no_sites and detector.counts_blocks():
        warnings.append(
            "no page has a URL, so nothing is known of what the pages of a site share, and structure alone tells "
            "the main text; say where URLs are (--url-field, --base-url)"
        )
    return warnings
