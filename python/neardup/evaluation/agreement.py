"""How far judges agree: percent, Cohen's and Fleiss' kappa, and each judge against the final label.

Cohen's kappa (1960) of two judges is (p − e) / (1 − e), p being the share of pairs on which they agree and e the share
on which they would if each kept to the labels they usually give. Fleiss' (1971) is the same for any number of judges,
with the labels of all of them pooled; pairs may have different numbers of judges if every pair has two. By class it
tells of each label whether people give it together. Huffman et al. (2007, §4) tell agreement by final label, and
precision and recall of the first, the second, … person who looked at each pair. Cost: O(labels given).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt


def cohen(first: Sequence[str], second: Sequence[str]) -> float | None:
    """Cohen's kappa of two judges over the same pairs; None where chance alone would have them agree on all.

    >>> round(cohen(list("ccii"), list("ccic")), 3)
    0.5
    """
    count = len(first)
    if count == 0:
        return None
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / count
    usual, other = Counter(first), Counter(second)
    chance = sum(usual[label] * other[label] for label in usual) / count**2
    return None if chance >= 1 else (agreed - chance) / (1 - chance)


def fleiss(counts: npt.ArrayLike) -> float | None:
    """Fleiss' kappa of how often each pair (row) got each label (column); every row has two judges or more.

    >>> round(fleiss([[2, 0], [0, 2], [1, 1]]), 3)
    0.333
    """
    table = np.asarray(counts, np.float64)
    if not len(table):
        return None
    judges = table.sum(axis=1)
    agreed = float((((table**2).sum(axis=1) - judges) / (judges * (judges - 1))).mean())
    chance = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    return None if chance >= 1 - 1e-12 else (agreed - chance) / (1 - chance)


def fleiss_by_class(counts: npt.ArrayLike) -> list[float | None]:
    """Fleiss' kappa of each label against all others.

    >>> fleiss_by_class([[2, 0, 0], [0, 1, 1]])
    [1.0, -0.3333333333333333, -0.3333333333333333]
    """
    table = np.asarray(counts, np.float64)
    if not len(table):
        return [None] * (table.shape[1] if table.ndim == 2 else 0)
    others = table.sum(axis=1, keepdims=True) - table
    return [fleiss(np.stack([table[:, at], others[:, at]], axis=1)) for at in range(table.shape[1])]


def agreement(
    said: Mapping[int, Sequence[tuple[str, str]]], final: Mapping[int, str], labels: Sequence[str]
) -> dict[str, Any]:
    """All measures, from what (judge, label) was said of each pair, and the final labels.

    >>> said = {0: [("ada", "c"), ("bob", "c")], 1: [("ada", "c"), ("bob", "i")]}
    >>> told = agreement(said, {0: "c", 1: "i"}, ["c", "i"])
    >>> told["full"], told["by class"][1]
    ({'pairs': 2, 'agree': 1, 'share': 0.5}, {'label': 'i', 'pairs': 1, 'agree': 0, 'share': 0.0, 'kappa': -0.3333})
    """
    several = {pair: given for pair, given in said.items() if len(given) > 1}
    table = np.array([[sum(label == one for _, label in given) for one in labels] for given in several.values()])
    table = table.reshape(len(several), len(labels))
    unanimous = {pair for pair, given in several.items() if len({label for _, label in given}) == 1}
    by_class = []
    for label, kappa in zip(labels, fleiss_by_class(table), strict=True):
        of_class = [pair for pair in several if final.get(pair) == label]
        by_class.append(
            {"label": label} | _share(sum(p in unanimous for p in of_class), len(of_class)) | {"kappa": _rounded(kappa)}
        )
    return {
        "full": _share(len(unanimous), len(several)),
        "fleiss": _rounded(fleiss(table)),
        "by class": by_class,
        "cohen": _pairwise(said, labels),
    }


def _pairwise(said: Mapping[int, Sequence[tuple[str, str]]], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Every two judges; and label by label, that one against all others: the pairs to which either gave it, the share
    of them to which both did.
    """
    judges = sorted({judge for given in said.values() for judge, _ in given})
    rows = []
    for first, second in combinations(judges, 2):
        both = [dict(given) for given in said.values() if {first, second} <= {judge for judge, _ in given}]
        if both:
            ours, theirs = [one[first] for one in both], [one[second] for one in both]
            agreed = sum(a == b for a, b in zip(ours, theirs, strict=True))
            told = _share(agreed, len(both)) | {"kappa": _rounded(cohen(ours, theirs))}
            by_class = [_of_class(label, ours, theirs) for label in labels]
            rows.append({"judges": f"{first}, {second}"} | told | {"by class": by_class})
    return rows


def _of_class(label: str, ours: Sequence[str], theirs: Sequence[str]) -> dict[str, Any]:
    first, second = ([str(one == label) for one in given] for given in (ours, theirs))
    given = [(a == label, b == label) for a, b in zip(ours, theirs, strict=True)]
    told = _share(sum(a and b for a, b in given), sum(a or b for a, b in given))
    return {"label": label} | told | {"kappa": _rounded(cohen(first, second))}


def against_final(
    said: Mapping[int, Sequence[tuple[str, str]]], final: Mapping[int, str], positive: str = "correct"
) -> list[dict[str, Any]]:
    """Precision, recall and F of each judge, and of whoever came first, second, …, the final label being the truth.

    >>> said = {0: [("ada", "correct")], 1: [("ada", "correct"), ("bob", "incorrect")]}
    >>> [(row["judge"], row["precision"], row["recall"]) for row in against_final(said, {0: "correct", 1: "incorrect"})]
    [('ada', 0.5, 1.0), ('bob', None, None), ('first', 0.5, 1.0), ('second', None, None)]
    """
    by_judge: dict[str, list[tuple[str, str]]] = {}
    by_place: dict[str, list[tuple[str, str]]] = {}
    for pair, given in said.items():
        if pair in final:
            for place, (judge, label) in enumerate(given):
                by_judge.setdefault(judge, []).append((label, final[pair]))
                by_place.setdefault(_ordinal(place), []).append((label, final[pair]))
    return [_quality(name, got, positive, "person") for name, got in sorted(by_judge.items())] + [
        _quality(name, got, positive, "place") for name, got in by_place.items()
    ]


def _quality(name: str, got: list[tuple[str, str]], positive: str, kind: str) -> dict[str, Any]:
    hits = sum(label == positive == truth for label, truth in got)
    given = sum(label == positive for label, _ in got)
    true = sum(truth == positive for _, truth in got)
    precision, recall = (hits / whole if whole else None for whole in (given, true))
    f = 2 * hits / (given + true) if given + true else None
    right = sum(label == truth for label, truth in got)
    return {
        "judge": name, "kind": kind, "pairs": len(got), "as final": _rounded(right / len(got)),
        "precision": _rounded(precision), "recall": _rounded(recall), "f": _rounded(f),
    }  # fmt: skip


def _ordinal(place: int) -> str:
    return ("first", "second", "third", "fourth", "fifth")[place] if place < 5 else f"{place + 1}th"


def _share(part: int, whole: int) -> dict[str, Any]:
    return {"pairs": whole, "agree": part, "share": _rounded(part / whole) if whole else None}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
