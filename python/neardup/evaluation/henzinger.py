"""Henzinger's tables and figures (2006, §3) over judged pairs: what each detector returns, how right, and why not.

Tables 2 and 5: the shares of correct, incorrect and undecided pairs among those returned, by site and by similarity (in
brackets the prefilled forms). Tables 3, 4, 6, 7: the reasons of correct and of undecided pairs. Figs. 2 and 4, Table 8:
term differences. Tables 9 and 10, Fig. 5: B-similarity against C-similarity. Tables 11 and 12, Figs. 6 and 7: the
threshold of the combined algorithm chosen on one half of Alg. B's pairs and tested on the other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.evaluation.judged import LABELS, Judged
from neardup.evaluation.scoring import Scores

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
#: The reason by which prefilled, erasable forms are known.
FORM: Final = "form"
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
    count = int(flags.sum())
    told: dict[str, Any] = {"pairs": count}
    for name in LABELS:
        told[name] = _share(int((flags & judged.is_label(name)).sum()), count)
    forms = _reasons(judged, flags & judged.is_label("undecided"))[FORM]
    told["forms"] = _share(forms, count)
    told["precision with forms"] = _share(int((flags & judged.is_label("correct")).sum()) + forms, count)
    return told


def reasons(measured: Measured, accepted: Flags, label: str) -> list[dict[str, Any]]:
    """Tables 3 and 6 (correct) or 4 and 7 (undecided): how many of the returned pairs have which reason."""
    of_label = accepted & measured.judged.is_label(label)
    everywhere = _reasons(measured.judged, of_label)
    on_one_site = _reasons(measured.judged, of_label & measured.same_site)
    return [
        {
            "reason": reason,
            "pairs": count,
            "share": _share(count, everywhere.total()),
            "same site": on_one_site[reason],
            "share on the same site": _share(on_one_site[reason], on_one_site.total()),
        }
        for reason, count in everywhere.most_common()
    ]


def _reasons(judged: Judged, flags: Flags) -> Counter[str]:
    if not any(judged.reason):
        return Counter()
    return Counter(judged.reason[at] or "not given" for at in np.flatnonzero(flags).tolist())


def term_differences(measured: Measured, accepted: Flags) -> dict[str, Any]:
    """Figs. 2 and 4 and Table 8 for one detector."""
    values = measured.term_difference[accepted]
    if not len(values):
        return {"pairs": 0}
    small = values[values <= LARGE_DIFFERENCE]
    large = accepted & (measured.term_difference > LARGE_DIFFERENCE)
    text_large = large & (measured.text_difference > LARGE_DIFFERENCE)
    return {
        "pairs": len(values),
        "mean": round(float(values.mean()), 2),
        "median": float(np.median(values)),
        "share of 2": _share(int((values == 2).sum()), len(values)),
        "90 % are below": float(np.quantile(values, 0.9)),
        "histogram": {str(value): int(count) for value, count in enumerate(np.bincount(small)) if count},
        "beyond": LARGE_DIFFERENCE,
        "labels beyond": {name: int((large & measured.judged.is_label(name)).sum()) for name in LABELS},
        "labels beyond, images left out": {
            name: int((text_large & measured.judged.is_label(name)).sum()) for name in LABELS
        },
    }


def correlation(measured: Measured) -> dict[str, Any]:
    """Tables 9 and 10 and Fig. 5: the two similarities against each other."""
    b, c = measured.b_similarity, measured.c_similarity
    by_b, figure = [], {}
    for value in range(B_LEAST, 7):
        chosen = c[b == value]
        by_b.append({"B-similarity": value, "pairs": len(chosen), "mean C-similarity": _mean(chosen)})
        levels, counts = np.unique(chosen, return_counts=True)
        figure[str(value)] = {str(level): int(count) for level, count in zip(levels, counts, strict=True)}
    by_c = []
    for low, high in C_RANGES:
        chosen = b[(c >= low) & (c <= high)]
        by_c.append({"C-similarity": f"{low}–{high}", "pairs": len(chosen), "mean B-similarity": _mean(chosen)})
    b_similar, c_similar = b >= B_LEAST, c >= C_RANGES[0][0]
    return {
        "by B-similarity": by_b,
        "by C-similarity": by_c,
        "C-similarities by B-similarity": figure,
        "share of B-similar pairs that are C-similar": _share(int((b_similar & c_similar).sum()), int(b_similar.sum())),
        "share of C-similar pairs that are B-similar": _share(int((b_similar & c_similar).sum()), int(c_similar.sum())),
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
    correct = measured.judged.is_label("correct")[pairs]
    kept = measured.c_similarity[pairs] >= threshold
    hits = int((correct & kept).sum())
    return {
        "threshold": threshold,
        "pairs": int(kept.sum()),
        "precision": _share(hits, int(kept.sum())),
        "R": _share(hits, int(correct.sum())),
    }


def half_and_half(measured: Measured, score: Numbers, seed: int = 0) -> dict[str, Any] | None:
    """For any score: the largest threshold that returns 80 % of one half's correct pairs, tested on the other half."""
    correct = measured.judged.is_label("correct")
    drawn = np.random.default_rng(seed).permutation(len(correct))
    first, second = drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]
    positive = np.sort(score[first][correct[first]])[::-1]
    if not len(positive):
        return None
    threshold = float(positive[int(np.ceil(KEPT_SHARE * len(positive))) - 1])
    if threshold <= 0:
        return {"threshold": None, "precision": None, "recall": None}
    kept = score[second] >= threshold
    hits = int((kept & correct[second]).sum())
    return {
        "threshold": round(threshold, 6),
        "precision": _share(hits, int(kept.sum())),
        "recall": _share(hits, int(correct[second].sum())),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _mean(values: Whole) -> float | None:
    return round(float(values.mean()), 2) if len(values) else None
