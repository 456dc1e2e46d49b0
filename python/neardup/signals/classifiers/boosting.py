"""Gradient boosting: many small trees whose values add up to a log-odds (Friedman 2001). Ours; the paper has none.

Trained by scikit-learn's histogram implementation, in which missing values have a side of their own at each split. Used
and printed here from its numbers alone. Cost: some hundred trees, a few comparisons each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.signals.classifiers.tree import LARGEST, Nodes

Numbers = npt.NDArray[np.float64]


#: What one tree, or the start, can add to the log-odds: far more than any that is learned adds.
_LARGEST_STEP: Final = 1e4


@dataclass(frozen=True)
class Boosting:
    """Trained trees; the score is the logistic function of their sum."""

    start: float
    trees: list[Nodes]

    def scores(self, values: Numbers) -> Numbers:
        total = np.full(len(values), self.start)
        for tree in self.trees:
            total += tree.value[tree.leaves(values)]
        scores: Numbers = 1.0 / (1.0 + np.exp(-np.clip(total, -500, 500)))
        return scores

    def accepts(self, values: Numbers) -> npt.NDArray[np.bool_]:
        accepted: npt.NDArray[np.bool_] = self.scores(values) > 0.5
        return accepted

    def text(self, names: Sequence[str]) -> str:
        """How often each signal is asked; so many trees say nothing one by one."""
        asked = np.zeros(len(names), np.int64)
        for tree in self.trees:
            asked += np.bincount(tree.feature[tree.feature >= 0], minlength=len(names))
        order = np.argsort(-asked, kind="stable")
        lines = [f"{len(self.trees)} trees; splits by signal:"]
        return "\n".join(lines + [f"  {asked[at]:>5}  {names[at]}" for at in order.tolist() if asked[at]])

    def parts(self) -> dict[str, Any]:
        return {"start": self.start, "trees": [tree.columns() for tree in self.trees]}

    @staticmethod
    def of(parts: Mapping[str, Any], names: Sequence[str]) -> Boosting:
        made = Boosting(float(parts["start"]), [Nodes.of(tree, len(names)) for tree in parts["trees"]])
        largest = max([abs(made.start), *(float(np.abs(tree.value).max()) for tree in made.trees)])
        if not largest <= _LARGEST_STEP:
            raise ValueError("a tree adds more to the log-odds than any that was learned")
        return made

    @staticmethod
    def from_library(fitted: Any) -> Boosting:
        """The numbers of a fitted ``HistGradientBoostingClassifier`` with two classes."""
        trees = []
        for (predictor,) in fitted._predictors:
            nodes = predictor.nodes
            leaf = nodes["is_leaf"].astype(bool)
            trees.append(
                Nodes(
                    np.where(leaf, -1, nodes["feature_idx"]).astype(np.int64),
                    np.where(leaf, 0.0, np.minimum(nodes["num_threshold"], LARGEST)).astype(np.float64),
                    np.where(leaf, 0, nodes["left"]).astype(np.int64),
                    np.where(leaf, 0, nodes["right"]).astype(np.int64),
                    nodes["missing_go_to_left"].astype(bool),
                    nodes["value"].astype(np.float64),
                )
            )
        return Boosting(float(np.ravel(fitted._baseline_prediction)[0]), trees)


def learn_boosting(values: Numbers, labels: npt.NDArray[np.bool_], seed: int) -> Boosting:
    """Trains 100 trees of at most 15 leaves by scikit-learn.

    >>> values = np.repeat([[0.0], [1.0]], 40, axis=0)
    >>> learn_boosting(values, values[:, 0] < 0.5, seed=0).accepts(np.array([[0.1], [0.9]])).tolist()
    [True, False]
    """
    if labels.all() or not labels.any():
        return Boosting(50.0 if labels.all() else -50.0, [])
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    learner = HistGradientBoostingClassifier(
        max_iter=100, max_leaf_nodes=15, min_samples_leaf=5, l2_regularization=1.0, early_stopping=False,
        random_state=seed,
    )  # fmt: skip
    # A signal that is always missing has no bins; as a constant it is never asked.
    values = np.where(np.isnan(values).all(axis=0), 0.0, values)
    # So few pairs are not worth sharing out: threads would mostly wait for each other.
    with threadpool_limits(1):
        fitted = learner.fit(values, labels.astype(int))
    return Boosting.from_library(fitted)
