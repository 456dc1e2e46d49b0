"""Precision, recall, F, ROC and AUC of decisions and scores against labels, with 95 % intervals.

Undecided pairs count in the denominator of precision, as in Henzinger 2006, and nowhere else. Pairs count as much as
they weigh. The intervals of precision, recall and F are those of ``pair_shares.py``: exact where pairs are independent,
conservative bounds where they weigh differently or have pages in common. AUC is the probability that a correct pair
scores above an incorrect one, ties counting half; its interval is a bootstrap over the same units (pairs, pages,
queries), in which the side that could be worse has one unit more that scores as badly as can be. Cost: O(pairs) a
resample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.evaluation.intervals import CONFIDENCE, NOTHING, Share
from neardup.evaluation.judged import Judged
from neardup.evaluation.pair_shares import PairUnits

RESAMPLES: Final = 500
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_TAILS: Final = (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE))


def quality(
    judged: Judged, score: Numbers, accepted: Flags, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Any]:
    """Every measure of one detector, each as estimate, low and high, and how the intervals were made.

    >>> judged = Judged(list("abcd"), list("efgh"), np.array([0, 0, 1, 2], np.int8))
    >>> told = quality(judged, np.array([0.9, 0.4, 0.5, 0.8]), np.array([True, False, False, True]), resamples=50)
    >>> told["precision"]["estimate"], told["recall"]["estimate"], told["auc"]["estimate"]
    (0.5, 0.5, 0.5)
    """
    units = PairUnits.of(judged)
    correct = judged.is_label("correct")
    hits = accepted & correct
    ranking = _Ranking.of(judged, score, units)
    draws = np.array([_of_resample(w, accepted, correct, ranking) for w in units.resamples(resamples, seed)])
    columns = draws.T if len(draws) else np.empty((5, 0))
    # Where pairs are independent the bound is exact, and percentiles would only make it worse.
    of_shares = columns if units.resampled else np.empty((5, 0))
    precision = _widened(units.share(hits, accepted), of_shares[0])
    recall = _widened(units.share(hits, correct), of_shares[1])
    f = _widened(_f_of(units.share(hits, accepted | correct), precision, recall), of_shares[2])
    area = ranking.auc(units.weight)
    auc = NOTHING if np.isnan(area) else _widened(Share(area, area, area, len(judged)), *columns[3:])
    if not len(draws):
        auc = replace(auc, low=None, high=None)
    measures = {"precision": precision, "recall": recall, "f": f, "auc": auc}
    return {name: _ends(share) for name, share in measures.items()} | {
        "intervals": units.how,
        "accepted": int(accepted.sum()),
        "correct": int(hits.sum()),
        "incorrect": int((accepted & judged.is_label("incorrect")).sum()),
        "undecided": int((accepted & judged.is_label("undecided")).sum()),
    }


def _of_resample(weight: Numbers, accepted: Flags, correct: Flags, ranking: _Ranking) -> tuple[float, ...]:
    """Precision, recall, F, and AUC at its worst and at its best; not a number where there is nothing to divide by."""
    hits, of_accepted, of_correct = (float(weight[flags].sum()) for flags in (accepted & correct, accepted, correct))
    return (
        _share(hits, of_accepted),
        _share(hits, of_correct),
        _share(2 * hits, of_accepted + of_correct),
        ranking.auc(weight, worse=1),
        ranking.auc(weight, worse=-1),
    )


def _f_of(share: Share, precision: Share, recall: Share) -> Share:
    """F by the share of hits among pairs that are accepted or correct, no narrower than what the parts make of it."""
    if share.estimate is None or share.low is None or share.high is None:
        return share
    low, high = (2 * bound / (1 + bound) for bound in (share.low, share.high))
    # A part of which nothing is known could be anything.
    low = min(low, _harmonic(precision.low or 0.0, recall.low or 0.0))
    high = max(high, _harmonic(*(1.0 if part.high is None else part.high for part in (precision, recall))))
    return Share(2 * share.estimate / (1 + share.estimate), low, high, share.count)


def _harmonic(first: float, second: float) -> float:
    return 2 * first * second / (first + second) if first + second > 0 else 0.0


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Scores as levels, for areas under the curve with any weights of the pairs."""

    levels: npt.NDArray[np.int64]
    correct: Flags
    incorrect: Flags
    #: What a correct and an incorrect unit that was not drawn may weigh.
    more: tuple[float, float]

    @staticmethod
    def of(judged: Judged, score: Numbers, units: PairUnits) -> _Ranking:
        # Below and above all scores there is a level for the unit that was not drawn.
        levels = np.unique(score, return_inverse=True)[1].astype(np.int64) + 1
        correct, incorrect = judged.is_label("correct"), judged.is_label("incorrect")
        return _Ranking(levels, correct, incorrect, (units.heaviest(correct), units.heaviest(incorrect)))

    def auc(self, weight: Numbers, worse: int = 0) -> float:
        """The area; with one more correct unit below all others and one more incorrect above (``worse`` 1), or the
        other way round (−1)."""
        count = int(self.levels.max(initial=0)) + 2
        positive, negative = (
            np.bincount(self.levels[flags], weight[flags], count) for flags in (self.correct, self.incorrect)
        )
        if worse and positive.any() and negative.any():
            positive[0 if worse > 0 else -1] += self.more[0]
            negative[-1 if worse > 0 else 0] += self.more[1]
        below = np.cumsum(negative) - negative
        return _share(float((positive * (below + negative / 2)).sum()), float(positive.sum() * negative.sum()))


def roc(judged: Judged, score: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """False positive rate, true positive rate and threshold at each distinct score, from strict to lax.

    >>> judged = Judged(list("ab"), list("cd"), np.array([0, 1], np.int8))
    >>> [values.tolist() for values in roc(judged, np.array([0.9, 0.4]))]
    [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [inf, 0.9, 0.4]]
    """
    correct, incorrect = judged.is_label("correct"), judged.is_label("incorrect")
    thresholds, levels = np.unique(score[correct | incorrect], return_inverse=True)
    rates = []
    for flags in (incorrect, correct):
        weights = np.where(flags, judged.weight, 0.0)[correct | incorrect]
        above = np.cumsum(np.bincount(levels, weights, len(thresholds))[::-1])
        rates.append(np.concatenate([[0.0], above / max(weights.sum(), np.finfo(float).tiny)]))
    return rates[0], rates[1], np.concatenate([[np.inf], thresholds[::-1]])


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")


def _widened(share: Share, worst: Numbers, best: Numbers | None = None) -> Share:
    """The share, its bounds no narrower than the percentiles of resamples. A resample with nothing to take the share of
    says that it could be anything: it counts as 0 below and as 1 above."""
    if share.low is None or share.high is None or not len(worst):
        return share
    below = float(np.percentile(np.nan_to_num(worst, nan=0.0), _TAILS[0]))
    above = float(np.percentile(np.nan_to_num(worst if best is None else best, nan=1.0), _TAILS[1]))
    return replace(share, low=min(share.low, below), high=max(share.high, above))


def _ends(share: Share) -> dict[str, float | None]:
    values = {"estimate": share.estimate, "low": share.low, "high": share.high}
    return {name: None if value is None else round(value, 4) for name, value in values.items()}
