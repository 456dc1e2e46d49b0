"""How many pairs a run accepted, and which of them it holds: what its tables can be asked, and what they cannot.

Pairs in hot keys may be left unscored, or accepted and not recorded, where that changes no page and no cluster; and of
very many pairs only the spanning forest is held. Whatever counts pairs, or looks at the degrees of pages, must know: a
number of some of the pairs is not that of all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from neardup.errors import UsageError
from neardup.record import record

ALL: Final = "all"
FOREST: Final = "spanning forest"


@record(frozen=True, slots=True)
class RuleCounts:
    """What one rule did."""

    rule: str
    #: Pairs that share a key and were not rejected at a glance.
    candidates: int
    accepted: int
    #: Pages in the fullest bucket of a key.
    largest_bucket: int
    #: Buckets too full for all their pairs to be verified; see ``Settings.hot_beyond``.
    hot_buckets: int
    #: An upper bound of the accepted pairs in hot buckets that are not among the pairs. They would change
    #: neither the pages that stay nor the clusters.
    unscored: int
    #: Accepted pairs whose probability is too near to one half to be sure; None where scores are no probabilities.
    undecided: int | None
    #: Accepted pairs in hot buckets that are not among the pairs, for there were too many.
    unrecorded: int = 0


@record(frozen=True, slots=True)
class AcceptedPairs:
    """The accepted pairs of a run.

    >>> AcceptedPairs(1_999, False, FOREST, 1_999_000).in_words()
    'at least 1,999'
    >>> AcceptedPairs(435, True, ALL, 435).in_words()
    '435'
    >>> AcceptedPairs(0, True, ALL, 0, with_earlier=12).in_words()
    '0 between pages of this run and 12 with pages of earlier runs'
    """

    #: So many pairs are known to be accepted.
    in_all: int
    #: Whether these are all.
    exact: bool
    #: Which of them the table of pairs holds.
    held: str
    #: No more than these can be.
    at_most: int
    #: Beside all these, those with pages of earlier runs; None if the run was against none, or nobody looked.
    with_earlier: int | None = None

    @staticmethod
    def of(recorded: int, rules: Sequence[RuleCounts], counted_again: bool, most_held: int) -> AcceptedPairs:
        """From the pairs that were recorded, and what each rule left out. Where a rule may count pairs that another one
        counts too, or pairs of earlier pages (``counted_again``), only those that were recorded are sure. Of more than
        ``most_held`` only the spanning forest is held."""
        unscored, unrecorded = sum(rule.unscored for rule in rules), sum(rule.unrecorded for rule in rules)
        apart = len(rules) == 1 and not counted_again
        in_all = recorded + (unrecorded if apart else 0)
        held = ALL
        if recorded > most_held:
            held = FOREST
        elif unscored or unrecorded:
            held = f"all scored; at most {unscored:,} pairs in hot keys were not scored"
            held += f", and {unrecorded:,} accepted ones are not held" if unrecorded else ""
        exact = not unscored and (apart or not unrecorded)
        return AcceptedPairs(in_all, exact, held, recorded + unrecorded + unscored)

    @staticmethod
    def of_report(report: Mapping[str, Any], against: int | None = None) -> AcceptedPairs:
        """As a ``run.json`` has it, beside the rows of ``against.parquet``."""
        pairs = report["pairs"]
        in_all, complete = int(pairs.get("in_all", 0)), pairs["held"] == ALL
        exact, at_most = pairs.get("exact", complete), pairs.get("at_most", in_all)
        return AcceptedPairs(in_all, exact, pairs["held"], at_most, against if report.get("against") else None)

    @property
    def complete(self) -> bool:
        """Whether the table of pairs holds all of them."""
        return self.held == ALL

    @property
    def forest(self) -> bool:
        """Whether it holds the spanning forest alone."""
        return self.held == FOREST

    def counts(self) -> list[tuple[str, str]]:
        """Each number, with *at least* where it may be more, and of which pairs it is if it is not of all."""
        sure = "" if self.exact else "at least "
        own = f"{sure}{self.in_all:,}"
        if self.with_earlier is None:
            return [(own, "")]
        return [(own, " between pages of this run"), (f"{sure}{self.with_earlier:,}", " with pages of earlier runs")]

    def in_words(self) -> str:
        """The same as one text."""
        return " and ".join(number + pairs for number, pairs in self.counts())

    def to_json(self) -> dict[str, Any]:
        return {"in_all": self.in_all, "exact": self.exact, "held": self.held, "at_most": self.at_most}


def require_all_pairs(report: Mapping[str, Any], where: str, what: str) -> None:
    """Refuses a run that does not hold all its accepted pairs, and says how to make one that does.

    >>> counts = {"pages": 2000}
    >>> pairs = AcceptedPairs(1_999, False, FOREST, 1_999_000).to_json()
    >>> require_all_pairs({"pairs": pairs, "counts": counts}, "run", "The graph")
    Traceback (most recent call last):
    neardup.errors.UsageError: The graph needs all accepted pairs; of at least 1,999 the run holds: spanning forest \
(run): run neardup dedup again with --max-pairs 1000
    """
    accepted = AcceptedPairs.of_report(report)
    if not accepted.complete:
        pages = max(int(report["counts"]["pages"]), 1)
        # A key that more pages share than make so many pairs would be hot again.
        largest = max((rule["largest_bucket"] for rule in report.get("rules", [])), default=0)
        most = max(accepted.at_most, largest * largest // 2)
        raise UsageError(
            f"{what} needs all accepted pairs; of {accepted.in_words()} the run holds: {accepted.held}",
            where=where,
            hint=f"run neardup dedup again with --max-pairs {-(-most // pages)}",
        )
