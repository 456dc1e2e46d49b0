"""Measures of labelled pairs that weigh documents, not pairs: recall and specificity, with intervals over services."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

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


def fit_logistic(pairs: Pairs, similarity: Numbers, *, steps: int = 60) -> tuple[float, float]:
    """(middle, steepness) of the logistic curve that fits the labels best, every document with the same weight and both
    labels with the same; Newton's method with a slight pull to finite steepness."""
    weight = np.zeros(len(pairs))
    for same in (True, False):
        at = np.flatnonzero(pairs.same == same)
        _, place = np.unique(pairs.document[at], return_inverse=True)
        weight[at] = (1 / np.bincount(place))[place]
        weight[at] /= weight[at].sum()
    x = np.stack([np.ones(len(pairs)), similarity - 0.9], axis=1)
    beta = np.array([0.0, 20.0])
    pull = np.diag([0.0, 1e-6])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -40, 40)))
        gradient = x.T @ (weight * (p - pairs.same)) + pull @ beta
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + pull
        beta = beta - np.clip(np.linalg.solve(hessian, gradient), -20, 20)
    return float(0.9 - beta[0] / beta[1]), float(beta[1])


def calibration(pairs: Pairs, probability: Numbers, edges: tuple[float, ...]) -> list[tuple[str, int, float, float]]:
    """For each stretch of probabilities: how many pairs, the mean probability, and the share that is the same; every
    document with the same weight and both labels with the same."""
    weight = np.zeros(len(pairs))
    for same in (True, False):
        at = np.flatnonzero(pairs.same == same)
        _, place = np.unique(pairs.document[at], return_inverse=True)
        weight[at] = (1 / np.bincount(place))[place]
        weight[at] /= weight[at].sum()
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
