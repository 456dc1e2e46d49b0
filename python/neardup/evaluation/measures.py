"""Precision, recall, F, ROC and AUC of decisions and scores against labels, with bootstrap intervals.

Undecided pairs count in the denominator of precision, as in Henzinger 2006, and nowhere else. The bootstrap resamples
pairs, or whole queries where pairs have one (pairs of one query are not independent), and takes percentiles. AUC is the
probability that a correct pair scores above an incorrect one, ties counting half. Cost: O(pairs) a resample.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.evaluation.judged import Judged

RESAMPLES: Final = 500
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def quality(
    judged: Judged, score: Numbers, accepted: Flags, *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Any]:
    """Every measure of one detector, each as estimate, low and high.

    >>> judged = Judged(list("abcd"), list("efgh"), np.array([0, 0, 1, 2], np.int8))
    >>> told = quality(judged, np.array([0.9, 0.4, 0.5, 0.8]), np.array([True, False, False, True]), resamples=50)
    >>> told["precision"]["estimate"], told["recall"]["estimate"], told["auc"]["estimate"]
    (0.5, 0.5, 0.5)
    """
    correct, incorrect = judged.is_label("correct"), judged.is_label("incorrect")
    order = np.argsort(score, kind="stable")
    levels = np.unique(score, return_inverse=True)[1][order]

    def all_of(weight: Numbers) -> Numbers:
        hits = float(weight[accepted & correct].sum())
        precision = _share(hits, float(weight[accepted].sum()))
        recall = _share(hits, float(weight[correct].sum()))
        f = 2 * precision * recall / (precision + recall) if precision + recall > 0 else np.nan * precision
        sorted_weight = weight[order]
        return np.array([precision, recall, f, _auc(levels, sorted_weight, correct[order], incorrect[order])])

    estimate = all_of(np.ones(len(judged)))
    draws = np.array([all_of(weight) for weight in _weights(judged, resamples, seed)])
    told: dict[str, Any] = {}
    for at, name in enumerate(("precision", "recall", "f", "auc")):
        told[name] = _interval(float(estimate[at]), draws[:, at] if len(draws) else np.empty(0))
    return told | {
        "accepted": int(accepted.sum()),
        "correct": int((accepted & correct).sum()),
        "incorrect": int((accepted & incorrect).sum()),
        "undecided": int((accepted & judged.is_label("undecided")).sum()),
    }


def roc(judged: Judged, score: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """False positive rate, true positive rate and threshold at each distinct score, from strict to lax.

    >>> judged = Judged(list("ab"), list("cd"), np.array([0, 1], np.int8))
    >>> [values.tolist() for values in roc(judged, np.array([0.9, 0.4]))]
    [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [inf, 0.9, 0.4]]
    """
    correct, incorrect = judged.is_label("correct"), judged.is_label("incorrect")
    thresholds = np.unique(score[correct | incorrect])[::-1]
    rates = []
    for flags in (incorrect, correct):
        values = np.sort(score[flags])
        above = len(values) - np.searchsorted(values, thresholds, side="left")
        rates.append(np.concatenate([[0.0], above / max(len(values), 1)]))
    return rates[0], rates[1], np.concatenate([[np.inf], thresholds])


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")


def _auc(levels: npt.NDArray[np.int64], weight: Numbers, correct: Flags, incorrect: Flags) -> float:
    """By weighted ranks, given pairs in the order of their scores."""
    count = int(levels[-1]) + 1 if len(levels) else 0
    positive = np.bincount(levels, weight * correct, count)
    negative = np.bincount(levels, weight * incorrect, count)
    below = np.cumsum(negative) - negative
    total = float(positive.sum() * negative.sum())
    return _share(float((positive * (below + negative / 2)).sum()), total)


def _weights(judged: Judged, resamples: int, seed: int) -> Iterator[Numbers]:
    """How often each pair (or query) is drawn, resample by resample."""
    generator = np.random.default_rng(seed)
    names = [f"q{query}" if query is not None else f"p{at}" for at, query in enumerate(judged.query)]
    group = np.unique(names, return_inverse=True)[1] if names else np.arange(len(judged))
    count = int(group.max()) + 1 if len(group) else 0
    for _ in range(resamples):
        yield np.bincount(generator.integers(0, count, count), minlength=count)[group].astype(np.float64)


def _interval(estimate: float, draws: Numbers) -> dict[str, float | None]:
    known = draws[~np.isnan(draws)]
    low, high = np.percentile(known, [2.5, 97.5]) if len(known) else (np.nan, np.nan)
    values = {"estimate": estimate, "low": float(low), "high": float(high)}
    return {name: None if np.isnan(value) else round(value, 4) for name, value in values.items()}
