"""What the user should know beside the numbers, the same from every engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from neardup.engines.common.accepted import AcceptedPairs, RuleCounts
from neardup.methods import Detector
from neardup.plan import Plan
from neardup.sources.skipped import NAMED

#: Of so many different pages or more, at least this share should stay: a crawl that repeats itself more than this is
#: rare, and a detector that something all pages share leads astray is not.
_MANY: Final = 1000
_FEW_STAY: Final = 0.1


def collection_warnings(
    counts: dict[str, int],
    accepted: AcceptedPairs,
    rules: Sequence[RuleCounts],
    detector: Detector,
    no_sites: bool,
) -> list[str]:
    """The warnings of a run, from what it counted.

    >>> from neardup.methods import parse
    >>> counts = {"failed_files": 0, "skipped": 2, "repeated_ids": 0, "identity_sets": 9, "kept": 9}
    >>> collection_warnings(counts, AcceptedPairs(5, True, "all", 0), [], parse("minhash"), True)
    ["records that could not be read: 2; 'skipped' names them"]
    """
    said = []
    if counts["failed_files"]:
        said.append(f"files of which no record could be read: {counts['failed_files']:,}; 'failed_files' names them")
    if counts["skipped"]:
        names = "names them" if counts["skipped"] <= NAMED else f"names the first {NAMED:,} of them"
        said.append(f"records that could not be read: {counts['skipped']:,}; 'skipped' {names}")
    if counts["repeated_ids"]:
        said.append(f"ids that occurred before and became id#row: {counts['repeated_ids']:,}")
    if accepted.forest:
        said.append(f"of {accepted.in_words()} accepted pairs only the spanning forest is held; see --max-pairs")
    hot = [rule for rule in rules if rule.unscored]
    if hot:
        said.append(
            f"{sum(rule.hot_buckets for rule in hot):,} keys are shared by so many pages that not all their pairs "
            "were scored; the pages that stay and the clusters are exact, and cohesion and diameter are told only of "
            "clusters whose pairs were"
        )
    if counts["identity_sets"] >= _MANY and counts["kept"] < _FEW_STAY * counts["identity_sets"]:
        exact = Plan(detector).verifies_exactly
        said.append(
            f"of {counts['identity_sets']:,} different pages only {counts['kept']:,} stay; look at some pairs "
            f"(report.html, neardup explain) before you rely on it{'' if exact else ', or try --detector minhash'}"
        )
    if no_sites and Plan(detector).looks_at_sites:
        said.append("no page has a URL, so all count as on different sites; consider --detector minhash")
    if no_sites and detector.counts_blocks():
        said.append(
            "no page has a URL, so nothing is known of what the pages of a site share, and structure alone tells "
            "the main text; say where URLs are (--url-field, --base-url)"
        )
    return said
