"""Henzinger's tables and figures (2006, §3) over judged pairs: what each detector returns, how right, and why not.

Tables 2 and 5: the shares of correct, incorrect and undecided pairs among those returned, by site and by similarity (in
brackets the prefilled forms). Tables 3, 4, 6, 7: the reasons of correct and of undecided pairs. Figs. 2 and 4, Table 8:
term differences. Tables 9 and 10, Fig. 5: B-similarity against C-similarity. Tables 11 and 12, Figs. 6 and 7: the
threshold of the combined algorithm chosen on one half of Alg. B's pairs and tested on the other.

Where pairs stand for others (``Judged.weights``), numbers of pairs are of those that were judged, and every share,
mean, median and histogram is of the pairs they stand for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.evaluation.judged import LABELS, Judged
from neardup.evaluation.reasons import FORM, is_reason, reason_rows
from neardup.evaluation.scoring import Scores

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
#: A term difference beyond which a pair is looked at by itself (Table 8).
LARGE_DIFFERENCE: Final = 200
C_RANGES: Final = ((372, 375), (376, 378), (379, 381), (382, 384))
BITS: Final = 384
#: Alg. B's least B-similarity, and the stricter one it is compared with.
B_LEAST, B_STRICT = 2, 3
#: The share of correct pairs that the chosen threshold must still return.
KEPT_SHARE: Final = 0.80


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of each judged pair beside its label."""

    judged: Judged
    same_site: Flags
    b_similarity: Whole
    c_similarity: Whole
    term_difference: Whole
    #: The same without the terms that are images' URLs, where it was asked for; −1 elsewhere.
    text_difference: Whole

    def select(self, flags: Flags) -> Measured:
        """What is known of some of the pairs."""
        counts = (self.b_similarity, self.c_similarity, self.term_difference, self.text_difference)
        return Measured(self.judged.select(flags), self.same_site[flags], *(column[flags] for column in counts))


def returned(measured: Measured, scores: Scores) -> list[dict[str, Any]]:
    """Tables 2 and 5 for one detector: rows by site, then by quarters of its score."""
    rows = [("all", scores.accepted)]
    rows += [("same site", scores.accepted & measured.same_site)]
    rows += [("different sites", scores.accepted & ~measured.same_site)]
    values = np.unique(scores.score[scores.accepted])
    if len(values) > 6:
        values = np.unique(np.quantile(scores.score[scores.accepted], [0, 0.25, 0.5, 0.75]))
    for low, high in pairwise([*values.tolist(), np.inf]):
        name = f"score ≥ {low:.4g}" if high == np.inf else f"{high:.4g} > score ≥ {low:.4g}"
        rows.append((name, scores.accepted & (scores.score >= low) & (scores.score < high)))
    return [{"pairs of": name} | label_shares(measured.judged, flags) for name, flags in rows]


def label_shares(judged: Judged, flags: Flags) -> dict[str, Any]:
    """How many pairs, and the shares of their labels; forms are a part of the undecided.

    >>> judged = Judged(list("ab"), list("cd"), np.array([0, 2], np.int8), [None, "form"])
    >>> label_shares(judged, np.array([True, True]))
    {'pairs': 2, 'correct': 0.5, 'incorrect': 0.0, 'undecided': 0.5, 'forms': 0.5, 'precision with forms': 1.0}
    """
    row: dict[str, Any] = {"pairs": int(flags.sum())}
    if judged.weights is not None:
        row["stand for"] = round(_weight(judged, flags), 1)
    for name in LABELS:
        row[name] = _share_of(judged, judged.is_label(name), flags)
    forms = judged.is_label("undecided") & is_reason(judged.reason, FORM)
    row["forms"] = _share_of(judged, forms, flags)
    row["precision with forms"] = _share_of(judged, judged.is_label("correct") | forms, flags)
    return row


def reasons(measured: Measured, accepted: Flags, label: str) -> list[dict[str, Any]]:
    """Tables 3 and 6 (correct) or 4 and 7 (undecided): how many of the returned pairs have which reason."""
    judged = measured.judged
    of_label = accepted & judged.is_label(label)
    on_one_site = of_label & measured.same_site
    return [
        {
            "reason": reason,
            "pairs": int(flags.sum()),
            "share": _share_of(judged, flags, of_label),
            "same site": int((flags & on_one_site).sum()),
            "share on the same site": _share_of(judged, flags, on_one_site),
        }
        for reason, flags in reason_rows(judged.reason, of_label)
    ]


def term_differences(measured: Measured, accepted: Flags) -> dict[str, Any]:
    """Figs. 2 and 4 and Table 8 for one detector."""
    values = measured.term_difference[accepted]
    if not len(values):
        return {"pairs": 0}
    judged, weights = measured.judged, measured.judged.weight[accepted]
    small = values <= LARGE_DIFFERENCE
    histogram = np.bincount(values[small], weights[small])
    large = accepted & (measured.term_difference > LARGE_DIFFERENCE)
    text_large = large & (measured.text_difference > LARGE_DIFFERENCE)
    return {
        "pairs": len(values),
        "mean": _mean(values, weights),
        "median": _quantile(values, weights, 0.5),
        "share of 2": _share_of(judged, measured.term_difference == 2, accepted),
        "90 % are below": _quantile(values, weights, 0.9),
        "histogram": {str(value): _counted(count) for value, count in enumerate(histogram.tolist()) if count},
        "beyond": LARGE_DIFFERENCE,
        "labels beyond": {name: _counted(_weight(judged, large & judged.is_label(name))) for name in LABELS},
        "labels beyond, images left out": {
            name: _counted(_weight(judged, text_large & judged.is_label(name))) for name in LABELS
        },
    }


def correlation(measured: Measured) -> dict[str, Any]:
    """Tables 9 and 10 and Fig. 5: the two similarities against each other."""
    judged, b, c = measured.judged, measured.b_similarity, measured.c_similarity
    weight = judged.weight
    by_b, figure = [], {}
    for value in range(B_LEAST, 7):
        here = b == value
        mean = _mean(c[here], weight[here])
        by_b.append({"B-similarity": value, "pairs": int(here.sum()), "mean C-similarity": mean})
        levels, place = np.unique(c[here], return_inverse=True)
        counts = np.bincount(place, weight[here], len(levels)).tolist()
        figure[str(value)] = {str(level): _counted(count) for level, count in zip(levels, counts, strict=True)}
    by_c = []
    for low, high in C_RANGES:
        here = (c >= low) & (c <= high)
        mean = _mean(b[here], weight[here])
        by_c.append({"C-similarity": f"{low}–{high}", "pairs": int(here.sum()), "mean B-similarity": mean})
    b_similar, c_similar = b >= B_LEAST, c >= C_RANGES[0][0]
    return {
        "by B-similarity": by_b,
        "by C-similarity": by_c,
        "C-similarities by B-similarity": figure,
        "share of B-similar pairs that are C-similar": _share_of(judged, c_similar, b_similar),
        "share of C-similar pairs that are B-similar": _share_of(judged, b_similar, c_similar),
    }


def combined_threshold(measured: Measured, seed: int = 0) -> dict[str, Any] | None:
    """Tables 11 and 12, Figs. 6 and 7; None where Alg. B returns too few pairs for two halves.

    On a random half of Alg. B's pairs the largest C-similarity is taken at which at least 80 % of that half's correct
    pairs are still returned; precision and that share (R) are then told of the other half.
    """
    b_similar = np.flatnonzero(measured.b_similarity >= B_LEAST)
    if len(b_similar) < 20:
        return None
    drawn = np.random.default_rng(seed).permutation(b_similar)
    first, second = np.sort(drawn[: len(drawn) // 2]), np.sort(drawn[len(drawn) // 2 :])
    curve = [_at(measured, first, threshold) for threshold in range(BITS + 1)]
    enough = [row["threshold"] for row in curve if row["R"] is not None and row["R"] >= KEPT_SHARE]
    if not enough:
        return None
    chosen = max(enough)
    near = [row for row in curve if abs(row["threshold"] - chosen) <= 4]
    tested = []
    for name, flags in (("all", None), ("same site", True), ("different sites", False)):
        pairs = second if flags is None else second[measured.same_site[second] == flags]
        row = _at(measured, pairs, chosen)
        mask = np.zeros(len(measured.judged), bool)
        mask[pairs[measured.c_similarity[pairs] >= chosen]] = True
        tested.append({"pairs of": name, "R": row["R"]} | label_shares(measured.judged, mask))
    strict = np.zeros(len(measured.judged), bool)
    strict[second[measured.b_similarity[second] >= B_STRICT]] = True
    return {
        "chosen on": len(first),
        "tested on": len(second),
        "threshold": chosen,
        "near the threshold": near,
        "tested": tested,
        f"B-similarity ≥ {B_STRICT} on the same pairs": label_shares(measured.judged, strict),
        "curve": curve,
    }


def _at(measured: Measured, pairs: Whole, threshold: int) -> dict[str, Any]:
    """Precision and R of some of Alg. B's pairs at a C-similarity threshold."""
    weight = measured.judged.weight[pairs]
    correct = measured.judged.is_label("correct")[pairs]
    kept = measured.c_similarity[pairs] >= threshold
    hits = float(weight[correct & kept].sum())
    return {
        "threshold": threshold,
        "pairs": int(kept.sum()),
        "precision": _share(hits, float(weight[kept].sum())),
        "R": _share(hits, float(weight[correct].sum())),
    }


def half_and_half(measured: Measured, score: Numbers, seed: int = 0) -> dict[str, Any] | None:
    """For any score: the largest threshold that returns 80 % of one half's correct pairs, tested on the other half."""
    correct, weight = measured.judged.is_label("correct"), measured.judged.weight
    drawn = np.random.default_rng(seed).permutation(len(correct))
    first, second = drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]
    positive = first[correct[first]]
    if not len(positive):
        return None
    positive = positive[np.argsort(-score[positive], kind="stable")]
    returned_so_far = np.cumsum(weight[positive])
    enough = int(np.searchsorted(returned_so_far, KEPT_SHARE * returned_so_far[-1] * (1 - 1e-12)))
    threshold = float(score[positive[enough]])
    if threshold <= 0:
        return {"threshold": None, "precision": None, "recall": None}
    kept, right = score[second] >= threshold, correct[second]
    hits, of_kept, of_right = (float(weight[second][flags].sum()) for flags in (kept & right, kept, right))
    return {
        "threshold": round(threshold, 6),
        "precision": _share(hits, of_kept),
        "recall": _share(hits, of_right),
    }


def _weight(judged: Judged, flags: Flags) -> float:
    return float(judged.weight[flags].sum())


def _share_of(judged: Judged, hits: Flags, base: Flags) -> float | None:
    """The share of hits among the pairs of the base, by what they weigh."""
    return _share(_weight(judged, hits & base), _weight(judged, base))


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def _counted(weight: float) -> int | float:
    """Pairs are whole; what some of them stand for need not be."""
    return int(weight) if weight == int(weight) else round(weight, 2)


def _mean(values: Whole, weights: Numbers) -> float | None:
    return round(float(np.average(values, weights=weights)), 2) if len(values) else None


def _quantile(values: Whole, weights: Numbers, share: float) -> float:
    """As numpy's where all weigh the same; else the smallest value that this share of the weight does not exceed."""
    if len(np.unique(weights)) == 1:
        return float(np.quantile(values, share))
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(weights[order])
    return float(values[order][int(np.searchsorted(up_to, share * up_to[-1] * (1 - 1e-12)))])
