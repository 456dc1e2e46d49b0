"""Measures of labelled pairs that weigh documents, not pairs: recall and specificity, with intervals over services."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pairs:
    """Labelled pairs by the ids of their pages; each belongs to a document, each document to a service."""

    a: list[str]
    b: list[str]
    same: Flags
    document: npt.NDArray[np.str_]
    service: npt.NDArray[np.str_]
    #: Jaccard similarity of the whole pages' text, where the data tell it.
    whole: Numbers

    def __len__(self) -> int:
        return len(self.a)

    def choose(self, flags: Flags) -> Pairs:
        at = np.flatnonzero(flags)
        return Pairs(
            [self.a[i] for i in at],
            [self.b[i] for i in at],
            self.same[at],
            self.document[at],
            self.service[at],
            self.whole[at],
        )


def rates(pairs: Pairs, accepted: Flags) -> tuple[float, float]:
    """(recall, specificity), each the mean over documents of the share within the document.

    >>> names = np.array(["x", "x", "y"])
    >>> some = Pairs(["1"] * 3, ["2"] * 3, np.array([True, True, True]), names, names, np.ones(3))
    >>> rates(some, np.array([True, False, True]))[0]
    0.75
    """
    return _mean(pairs, accepted, True), 1 - _mean(pairs, accepted, False)


def _by_document(pairs: Pairs, accepted: Flags, same: bool) -> tuple[Numbers, npt.NDArray[np.str_]]:
    at = np.flatnonzero(pairs.same == same)
    names, place = np.unique(pairs.document[at], return_inverse=True)
    share = np.bincount(place, accepted[at]) / np.maximum(np.bincount(place), 1)
    service = np.empty(len(names), pairs.service.dtype)
    service[place] = pairs.service[at]
    return share, service


def _mean(pairs: Pairs, accepted: Flags, same: bool) -> float:
    share, _ = _by_document(pairs, accepted, same)
    return float(share.mean()) if len(share) else float("nan")


def interval(pairs: Pairs, accepted: Flags, same: bool, *, resamples: int = 1000, seed: int = 1) -> tuple[float, float]:
    """95 % of the resamples of services give a mean between these: of recall, or of specificity."""
    share, service = _by_document(pairs, accepted, same)
    share = share if same else 1 - share
    names, place = np.unique(service, return_inverse=True)
    total, count = np.bincount(place, share), np.bincount(place)
    drawn = np.random.default_rng(seed).integers(len(names), size=(resamples, len(names)))
    means = total[drawn].sum(axis=1) / count[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def f1(pairs: Pairs, accepted: Flags) -> float:
    """Over pairs, as the other tools' figures are."""
    true = float((accepted & pairs.same).sum())
    return 2 * true / float(accepted.sum() + pairs.same.sum())


def best_threshold(pairs: Pairs, similarity: Numbers, candidates: Numbers) -> float:
    """The threshold with the highest recall + specificity; of several the one in their middle."""
    worth = np.array([sum(rates(pairs, similarity >= least)) for least in candidates])
    best = np.flatnonzero(worth >= worth.max() - 1e-12)
    return float(candidates[best[len(best) // 2]])


def folds(pairs: Pairs, count: int = 5, seed: int = 3) -> npt.NDArray[np.int64]:
    """A fold for every pair; the pairs of a service are in one."""
    names, place = np.unique(pairs.service, return_inverse=True)
    of_service = np.random.default_rng(seed).permutation(len(names)) % count
    chosen: npt.NDArray[np.int64] = of_service[place]
    return chosen


def weights(pairs: Pairs) -> Numbers:
    """Of each pair, so that both labels weigh the same, and among them all documents."""
    weight = np.zeros(len(pairs))
    for same in (True, False):
        at = np.flatnonzero(pairs.same == same)
        _, place = np.unique(pairs.document[at], return_inverse=True)
        weight[at] = (1 / np.bincount(place))[place]
        weight[at] /= max(weight[at].sum(), 1e-12)
    return weight


#: Where the best curve is looked for: its middle, its steepness, and the share of labels that say nothing.
MIDDLES: Final = np.round(np.arange(0.85, 0.99, 0.005), 3)
STEEPNESSES: Final = np.array([10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 130, 160, 200], float)
LAPSES: Final = np.array([0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12])


def fit_logistic(pairs: Pairs, similarity: Numbers) -> tuple[float, float, float]:
    """(middle, steepness, lapse) of the curve that makes the labels most likely; both labels have the same weight, and
    among them all documents.

    Some labels are wrong whatever the similarity (the page changed, the label did not); a logistic curve alone would be
    flattened by them until it says nothing. So a label is taken to be drawn anew, by a coin, in a share of cases
    (*lapse*), and the curve is fitted to the rest. The best of a grid: three numbers, no local optimum.
    """
    edges = np.linspace(0.795, 1.0, 206)
    middles_of_bins = (edges[:-1] + edges[1:]) / 2
    weight = weights(pairs)
    # Below .8 nothing is measured: the lowest bin.
    place = np.clip(np.digitize(similarity, edges) - 1, 0, len(middles_of_bins) - 1)
    total = [np.bincount(place[at], weight[at], len(middles_of_bins)) for at in (~pairs.same, pairs.same)]
    best = (np.inf, 0.0, 0.0, 0.0)
    for middle in MIDDLES:
        for steepness in STEEPNESSES:
            curve = 1 / (1 + np.exp(-steepness * (middles_of_bins - middle)))
            for lapse in LAPSES:
                told = np.clip(lapse / 2 + (1 - lapse) * curve, 1e-9, 1 - 1e-9)
                loss = -float((total[1] * np.log(told) + total[0] * np.log(1 - told)).sum())
                best = min(best, (loss, float(middle), float(steepness), float(lapse)))
    return best[1:]


def calibration(pairs: Pairs, probability: Numbers, edges: tuple[float, ...]) -> list[tuple[str, int, float, float]]:
    """For each stretch of probabilities: how many pairs, the mean probability, and the share that is the same; every
    document with the same weight and both labels with the same."""
    weight = weights(pairs)
    rows = []
    for low, high in pairwise(edges):
        inside = (probability >= low) & ((probability < high) | (high == edges[-1]))
        if inside.any():
            w = weight[inside]
            expected = float((w * probability[inside]).sum() / w.sum())
            rows.append(
                (f"{low:g}–{high:g}", int(inside.sum()), expected, float((w * pairs.same[inside]).sum() / w.sum()))
            )
    return rows


def off(pairs: Pairs, probability: Numbers, edges: tuple[float, ...]) -> float:
    """How far the probabilities are from the shares on average, over the stretches (expected calibration error)."""
    weight = weights(pairs)
    gaps = 0.0
    for low, high in pairwise(edges):
        inside = (probability >= low) & ((probability < high) | (high == edges[-1]))
        gaps += abs(float((weight[inside] * (probability[inside] - pairs.same[inside])).sum()))
    return gaps / float(weight.sum())
