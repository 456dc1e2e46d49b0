"""How well classifiers of signals tell duplicates: the experiments of Huffman et al. 2007, §5.

Ten-fold cross-validation in which the pairs of one query never straddle folds, once for each of nine seeds (of the
folds and of the learner); what is told is the run of median F, by the pooled decisions of all folds, with the
quartiles. P, R and F are of the duplicates and say little without the share of duplicates, which is told beside them.
Pairs of equal URLs are left out, as in the paper; undecided pairs as well. Cost: folds × seeds trainings a set of
signals.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import InputError, UsageError
from neardup.evaluation.judged import Judged, Labels, read_judged
from neardup.signals.catalogue import BODIES, by_name, names_of
from neardup.signals.classifiers import Classifier, learn
from neardup.signals.classifiers.model import matrix
from neardup.signals.computing import told

FOLDS: Final = 10
SEEDS: Final = 9
#: The paper's two, whose mean F compares sets of signals.
PAPER: Final = ("rules", "tree")
#: The sums of groups of Table 3, and of ours.
SUMS: Final = ("F", "F+R", "F+R+RS", "F+R+RS+O+RO")

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


#: A query, if there is one, and two pages in the order of their names.
_Key = tuple[str | None, str, str]


def _keys(query: Sequence[str | None], a: Sequence[str], b: Sequence[str]) -> list[_Key]:
    return [(words, min(x, y), max(x, y)) for words, x, y in zip(query, a, b, strict=True)]


@dataclass(frozen=True)
class Labelled:
    """Pairs with signals, labels and queries."""

    table: pa.Table
    duplicate: Flags
    #: A number a query; pairs without one are queries of their own.
    query: npt.NDArray[np.int64]
    left_out: dict[str, int]

    @staticmethod
    def of(signals: pa.Table, judged: Judged) -> Labelled:
        """Joins a table of signals with judged pairs: by the names of the two pages in either order, and by the query
        where the judgement names one. A judgement without a query holds for the pair under every query; a pair without
        a query takes the label of its queries, if that is one label.

        A pair that was not judged, or not decided, is left out and counted; a judged pair without signals too. Two
        labels for one pair and query are an error: which of them holds, nobody can tell.
        """
        told(signals, "signals")
        place: dict[_Key, int] = {}
        for at, key in enumerate(_keys(judged.query, judged.a, judged.b)):
            before = place.setdefault(key, at)
            if judged.label[before] != judged.label[at]:
                query, one, other = key
                words = "" if query is None else f" for the query {query!r}"
                raise InputError(
                    f"the pair {one!r}, {other!r} has two labels{words}",
                    hint="give one: neardup judge report says on which pairs judges differ",
                )
        a, b = signals.column("a").to_pylist(), signals.column("b").to_pylist()
        keys = _keys(signals.column("query").to_pylist(), a, b)
        agreed: dict[tuple[str, str], int] = {}
        for (_, one, other), at in place.items():
            before = agreed.setdefault((one, other), at)
            if before >= 0 and judged.label[before] != judged.label[at]:
                agreed[one, other] = -1

        def judgement(query: str | None, one: str, other: str) -> int:
            otherwise = agreed.get((one, other), -1) if query is None else -1
            return place.get((query, one, other), place.get((None, one, other), otherwise))

        found = np.array([judgement(*key) for key in keys], np.int64)
        label = np.where(found >= 0, judged.label[found], -1)
        same = np.array([x == y for x, y in zip(a, b, strict=True)])
        kept = (label >= 0) & (label < 2) & ~same
        left_out = {
            "without label": int((label < 0).sum()),
            "undecided": int((label == 2).sum()),
            "a page with itself": int(same.sum()),
            "judged without signals": len(place) - len({at for at in found.tolist() if at >= 0}),
        }
        if not kept.any():
            raise InputError("no pair has both signals and a label", hint="are these labels of these pairs?")
        words = signals.column("query").to_pylist()
        names = [f"q{words[at]}" if words[at] is not None else f"p{at}" for at in np.flatnonzero(kept).tolist()]
        queries = np.unique(names, return_inverse=True)[1].astype(np.int64)
        return Labelled(signals.filter(pa.array(kept)), label[kept] == 0, queries, left_out)

    @staticmethod
    def read(
        signals: pa.Table, labels: str | os.PathLike[str], words: Labels | None = None, column: str = "label"
    ) -> Labelled:
        """Joins a table of signals with the labels of a file, which names queries as the table's pairs did."""
        return Labelled.of(
            signals, read_judged(labels, words or Labels(), column, told(signals, "signals")["query_field"])
        )

    def __len__(self) -> int:
        return len(self.duplicate)

    def available(self, groups: str) -> list[str]:
        """The signals of a sum of groups that the table has; of each group or name at least one must be there."""
        there = set(self.table.column_names)
        for part in groups.split("+"):
            if not there & set(names_of(part)):
                raise InputError(f"the table has no signal of {part.strip()}", hint="neardup signals can make them")
        return [name for name in names_of(groups) if name in there]

    def missing(self, groups: str) -> list[str]:
        """The signals of a sum of groups that the table has not."""
        return [name for name in names_of(groups) if name not in self.table.column_names]

    def default_groups(self) -> str:
        """The paper's groups that the table has; where gzip's window is too short for bodies, the compression distance
        with a wide one beside it, under its own name."""
        there = set(self.table.column_names)
        groups = [group for group in ("F", "R", "RS") if there & set(names_of(group))]
        wide = [f"{body}_wide_mcd" for body in BODIES if self.nulls(f"{body}_mcd") and f"{body}_wide_mcd" in there]
        if not groups:
            raise InputError("the table has no signal of the paper's groups", hint="name some with --groups")
        return "+".join([*groups, *wide])

    def nulls(self, name: str) -> int:
        """How many pairs a signal says nothing of; 0 if it is not in the table."""
        return int(self.table.column(name).null_count) if name in self.table.column_names else 0

    def summary(self) -> dict[str, Any]:
        """Pairs, duplicates, their share, queries."""
        return {
            "pairs": len(self),
            "duplicates": int(self.duplicate.sum()),
            "share": round(float(self.duplicate.mean()), 5),
            "queries": len(np.unique(self.query)),
            "left out": self.left_out,
        }


def folds_of(query: npt.NDArray[np.int64], duplicate: Flags, seed: int, folds: int = FOLDS) -> npt.NDArray[np.int64]:
    """A fold for each pair, by its query; queries with many duplicates are dealt out first: all folds have some.

    >>> folds = folds_of(np.array([0, 0, 1, 2, 3, 3]), np.array([1, 0, 1, 0, 0, 0], bool), seed=1, folds=2)
    >>> bool(folds[0] == folds[1]), bool(folds[0] != folds[2])
    (True, True)
    """
    count = int(query.max()) + 1
    duplicates = np.bincount(query, duplicate, count)
    order = np.random.default_rng(seed).permutation(count)
    order = order[np.argsort(-duplicates[order], kind="stable")]
    fold = np.empty(count, np.int64)
    fold[order] = np.arange(count) % folds
    return fold[query]


def precision_recall_f(accepted: Flags, duplicate: Flags) -> tuple[float, float, float]:
    """P, R and F of decisions; 0 where nothing is accepted or there.

    >>> precision_recall_f(np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool))
    (0.5, 0.5, 0.5)
    """
    right = int((accepted & duplicate).sum())
    if right == 0:
        return 0.0, 0.0, 0.0
    precision, recall = right / int(accepted.sum()), right / int(duplicate.sum())
    return precision, recall, 2 * precision * recall / (precision + recall)


def check_seeds(seeds: int) -> None:
    """Raises unless one of so many runs is the median one."""
    if seeds < 1 or seeds % 2 == 0:
        raise UsageError(f"{seeds} seeds have no run of median F", hint=f"give an odd number, as the paper's {SEEDS}")


def cross_validate(
    labelled: Labelled,
    names: Sequence[str],
    kind: str,
    *,
    folds: int = FOLDS,
    seeds: int = SEEDS,
    only: Flags | None = None,
) -> dict[str, Any]:
    """P, R and F of the run of median F over seeds, the quartiles of F, and the scores of that run.

    ``only`` takes some of the pairs, those for which a signal is there.
    """
    values, duplicate, query = matrix(labelled.table, names), labelled.duplicate, labelled.query
    if only is not None:
        values, duplicate, query = values[only], duplicate[only], np.unique(query[only], return_inverse=True)[1]
    check_seeds(seeds)
    runs = []
    for seed in range(seeds):
        fold = folds_of(query, duplicate, seed, folds)
        accepted, scores = np.zeros(len(duplicate), bool), np.zeros(len(duplicate))
        for number in range(folds):
            test = fold == number
            if not test.any() or test.all():
                continue
            parts = learn(kind, values[~test], duplicate[~test], list(names), seed)
            accepted[test], scores[test] = parts.accepts(values[test]), parts.scores(values[test])
        runs.append((precision_recall_f(accepted, duplicate), scores))
    runs.sort(key=lambda run: run[0][2])
    (precision, recall, f), scores = runs[len(runs) // 2]
    low, high = np.percentile([run[0][2] for run in runs], [25, 75])
    return {
        "P": precision, "R": recall, "F": f, "low": float(low), "high": float(high),
        "pairs": len(duplicate), "duplicates": int(duplicate.sum()), "scores": scores, "labels": duplicate,
    }  # fmt: skip


def _row(what: str, found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A row of a table: each learner's P, R, F in per cent, and the mean F of the paper's two."""
    row: dict[str, Any] = {"signals": what}
    for kind, told_of in found.items():
        row[kind] = {name: round(100 * told_of[name], 1) for name in ("P", "R", "F", "low", "high")}
    known = [row[kind]["F"] for kind in PAPER if kind in row]
    row["F"] = round(sum(known) / len(known), 1) if known else None
    row["pairs"] = next(iter(found.values()))["pairs"]
    return row


class Run(Protocol):
    """Runs experiments, as ``map`` does: one after another, or in several processes."""

    def __call__(self, work: Callable[[str], dict[str, Any]], items: Sequence[str], /) -> Iterable[dict[str, Any]]: ...


@dataclass(frozen=True)
class Effort:
    """How much is trained, and how."""

    folds: int = FOLDS
    seeds: int = SEEDS
    kinds: Sequence[str] = (*PAPER, "boosting")
    run: Run = map

    def of_paper(self) -> Effort:
        """With the paper's two learners only."""
        return replace(self, kinds=PAPER)


def experiment(labelled: Labelled, groups: str, effort: Effort = Effort(), only: Flags | None = None) -> dict[str, Any]:
    """A row for a sum of groups (or names of signals), with the median run of each learner."""
    names = labelled.available(groups)
    without = labelled.missing(groups)
    found = {
        kind: cross_validate(labelled, names, kind, folds=effort.folds, seeds=effort.seeds, only=only)
        for kind in effort.kinds
    }
    return _row(groups, found) | {"without": without, "runs": found}


def experiments(labelled: Labelled, sums: Sequence[str], effort: Effort) -> list[dict[str, Any]]:
    """A row for each sum of groups."""
    return list(effort.run(partial(_one, labelled, replace(effort, run=map)), sums))


def _one(labelled: Labelled, effort: Effort, groups: str) -> dict[str, Any]:
    return experiment(labelled, groups, effort)


def _alone(labelled: Labelled, effort: Effort, name: str) -> dict[str, Any]:
    return experiment(labelled, name, effort, np.asarray(labelled.table.column(name).combine_chunks().is_valid()))


def table_2(labelled: Labelled, effort: Effort) -> list[dict[str, Any]]:
    """Each signal alone, over the pairs for which it is there; best first."""
    names = []
    for name in by_name():
        if name in labelled.table.column_names:
            there = np.asarray(labelled.table.column(name).combine_chunks().is_valid())
            if labelled.duplicate[there].any() and len(np.unique(labelled.query[there])) > 1:
                names.append(name)
    rows = effort.run(partial(_alone, labelled, replace(effort.of_paper(), run=map)), names)
    return sorted(rows, key=lambda row: -(row["F"] or 0.0))


def table_3(labelled: Labelled, effort: Effort, sums: Sequence[str] = SUMS) -> list[dict[str, Any]]:
    """Similarity hash and tf-idf distance alone, then the sums of groups, over all pairs."""
    single = ("fetched_simhash_distance", "fetched_tfidf_distance")
    there = [name for name in single if name in labelled.table.column_names]
    return experiments(labelled, [*there, *possible(labelled, sums)], effort)


def table_4(labelled: Labelled, effort: Effort, sums: Sequence[str] = SUMS) -> list[dict[str, Any]]:
    """Each sum of groups with snippets of fetched bodies added; beside the same row of Table 3."""
    if "fetched_snippet_mcd" not in labelled.table.column_names:
        return []
    return experiments(labelled, [f"{what}+FS" for what in possible(labelled, sums)], effort.of_paper())


def possible(labelled: Labelled, sums: Sequence[str]) -> list[str]:
    """Those sums of which every group has a signal in the table."""
    have = set(labelled.table.column_names)
    return [what for what in sums if all(have & set(names_of(group)) for group in what.split("+"))]


def figure_3(labelled: Labelled, effort: Effort, *, without_mcd: bool = False) -> list[dict[str, Any]]:
    """The paper's signals added one after another in the order of their cost, with the quartiles of F.

    ``without_mcd`` leaves out the compression of whole bodies, the dearest of what is computed.
    """
    there = [signal for signal in by_name().values() if signal.name in labelled.table.column_names]
    dear = {"fetched_mcd", "rendered_mcd"} if without_mcd else set()
    paper = [signal for signal in there if signal.group in ("F", "L", "R", "RS") and signal.name not in dear]
    paper.sort(key=lambda signal: signal.rank)
    names = [signal.name for signal in paper]
    # Same domain and same title alone say next to nothing: the paper adds them together.
    first = 2 if names[:1] == ["same_domain"] else 1
    rows = experiments(labelled, ["+".join(names[:end]) for end in range(first, len(names) + 1)], effort.of_paper())
    added = [" + ".join(names[:first]), *names[first:]]
    return [row | {"added": name} for row, name in zip(rows, added, strict=True)]


def precision_recall(scores: Numbers, duplicate: Flags) -> tuple[list[float], list[float]]:
    """Recall and precision at each distinct score, from strict to lax (Fig. 2).

    >>> precision_recall(np.array([0.9, 0.8, 0.1]), np.array([True, False, True]))
    ([0.5, 0.5, 1.0], [1.0, 0.5, 0.6666666666666666])
    """
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(duplicate[order])
    last = np.append(np.diff(scores[order]) != 0, True)
    recall, precision = right / max(int(duplicate.sum()), 1), right / np.arange(1, len(order) + 1)
    return recall[last].tolist(), precision[last].tolist()


def f_contour(f: float) -> tuple[list[float], list[float]]:
    """Recall and precision of all that has the same F, P = F·R / (2R − F): the dotted line of Fig. 2.

    >>> recall, precision = f_contour(0.5)
    >>> round(recall[0], 3), round(precision[0], 3), recall[-1], round(precision[-1], 3)
    (0.333, 1.0, 1.0, 0.333)
    """
    recall = np.linspace(f / (2 - f), 1.0, 50)
    return recall.tolist(), (f * recall / (2 * recall - f)).tolist()


def train(labelled: Labelled, groups: str, kind: str, seed: int = 0) -> Classifier:
    """A classifier of all labelled pairs."""
    names = labelled.available(groups)
    parts = learn(kind, matrix(labelled.table, names), labelled.duplicate, names, seed)
    about = told(labelled.table)
    made = {"groups": groups, "without": labelled.missing(groups), "seed": seed}
    return Classifier(kind, names, parts, about["idf"], made | labelled.summary())


def measured(classifier: Classifier, labelled: Labelled) -> dict[str, Any]:
    """P, R and F of a classifier on other pairs (Table 5, a held-out half), its scores and its decisions."""
    scores, accepted = classifier.classify(labelled.table)
    precision, recall, f = precision_recall_f(accepted, labelled.duplicate)
    return {"P": precision, "R": recall, "F": f, "pairs": len(labelled), "duplicates": int(labelled.duplicate.sum()),
            "scores": scores, "labels": labelled.duplicate, "accepted": accepted}  # fmt: skip


def held_out(learned: Labelled, groups: str, kind: str, tested: Labelled, seeds: int = SEEDS) -> dict[str, Any]:
    """Learned on all of one set, measured on another: the run of median F over seeds of the learner, with the
    quartiles, and the 95 % interval of that run's F over queries."""
    runs = sorted(
        (measured(train(learned, groups, kind, seed), tested) for seed in range(seeds)), key=lambda run: run["F"]
    )
    check_seeds(seeds)
    median = runs[len(runs) // 2]
    low, high = np.percentile([run["F"] for run in runs], [25, 75])
    interval = f_interval(median["accepted"], tested.duplicate, tested.query)
    return median | {"low": float(low), "high": float(high), "interval": interval}


def f_interval(
    accepted: Flags, duplicate: Flags, query: npt.NDArray[np.int64], *, rounds: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """The 95 % interval of F if other queries of the same kind had been asked: percentiles over queries drawn anew,
    for the pairs of one query are right or wrong together (the bootstrap of Efron 1979).

    >>> accepted, duplicate = np.array([1, 1, 0, 0] * 50, bool), np.array([1, 0, 1, 0] * 50, bool)
    >>> low, high = f_interval(accepted, duplicate, np.arange(200))
    >>> 0.35 < low < 0.5 < high < 0.65
    True
    """
    right, told_of, true = (
        np.bincount(query, flags, int(query.max()) + 1) for flags in (accepted & duplicate, accepted, duplicate)
    )
    drawn = np.random.default_rng(seed).integers(0, len(right), (rounds, len(right)))
    both = told_of[drawn].sum(axis=1) + true[drawn].sum(axis=1)
    f = 2 * right[drawn].sum(axis=1) / np.maximum(both, 1)
    low, high = np.percentile(f, [2.5, 97.5])
    return float(low), float(high)
