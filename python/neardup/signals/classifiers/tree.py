"""A decision tree over signals, as the paper's J48 (a C4.5): entropy, binary splits, missing values sent down the side
that was better in training.

Trained by scikit-learn, which learns for each split where missing values go; a signal that was never missing in
training goes, when missing, where most pairs went. Used and printed here from its numbers alone. Cost: one comparison
a level.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

#: The threshold that every value is below: a split of what is there from what is missing.
LARGEST: Final = sys.float_info.max


@dataclass(frozen=True)
class Nodes:
    """A binary tree as columns: node 0 is the root; ``feature`` is −1 at a leaf; children come after their parent."""

    feature: Places
    threshold: Numbers
    left: Places
    right: Places
    missing_left: npt.NDArray[np.bool_]
    value: Numbers

    def __post_init__(self) -> None:
        count = len(self.feature)
        columns = (self.threshold, self.left, self.right, self.missing_left, self.value)
        if count == 0 or any(len(column) != count for column in columns):
            raise ValueError("a tree needs columns of one length")
        inner = np.flatnonzero(self.feature >= 0)
        # Children that come later cannot make a circle.
        for child in (self.left[inner], self.right[inner]):
            if np.any(child <= inner) or np.any(child >= count):
                raise ValueError("a node's child is no later node")

    def leaves(self, values: Numbers) -> Places:
        """The leaf that each row ends in."""
        at = np.zeros(len(values), np.int64)
        under_way = np.flatnonzero(self.feature[at] >= 0)
        while len(under_way):
            node = at[under_way]
            value = values[under_way, self.feature[node]]
            with np.errstate(invalid="ignore"):
                goes_left = np.where(np.isnan(value), self.missing_left[node], value <= self.threshold[node])
            at[under_way] = np.where(goes_left, self.left[node], self.right[node])
            under_way = under_way[self.feature[at[under_way]] >= 0]
        return at

    def columns(self) -> dict[str, list[Any]]:
        names = ("feature", "threshold", "left", "right", "missing_left", "value")
        return {name: getattr(self, name).tolist() for name in names}

    @staticmethod
    def of(columns: Mapping[str, Any], features: int) -> Nodes:
        """Nodes from what a file says, checked."""
        nodes = Nodes(
            np.array(columns["feature"], np.int64),
            np.array(columns["threshold"], np.float64),
            np.array(columns["left"], np.int64),
            np.array(columns["right"], np.int64),
            np.array(columns["missing_left"], bool),
            np.array(columns["value"], np.float64),
        )
        if np.any(nodes.feature >= features):
            raise ValueError("a node asks for a signal that is not there")
        if not (np.isfinite(nodes.threshold).all() and np.isfinite(nodes.value).all()):
            raise ValueError("a threshold or a value is no number")
        return nodes


@dataclass(frozen=True)
class Tree:
    """A trained tree; ``value`` of a node is the share of duplicates among the pairs that reached it."""

    nodes: Nodes
    #: Pairs of the training set that reached each node.
    pairs: Places

    def scores(self, values: Numbers) -> Numbers:
        # The library compares in single precision; so must we, or a value at a threshold could go the other way.
        single = values.astype(np.float32).astype(np.float64)
        return self.nodes.value[self.nodes.leaves(single)]

    def accepts(self, values: Numbers) -> npt.NDArray[np.bool_]:
        accepted: npt.NDArray[np.bool_] = self.scores(values) > 0.5
        return accepted

    def text(self, names: Sequence[str]) -> str:
        return "\n".join(self._lines(0, "", names))

    def _lines(self, root: int, indent: str, names: Sequence[str]) -> Iterator[str]:
        nodes = self.nodes
        waiting = [(root, indent, "")]
        while waiting:
            node, indent, condition = waiting.pop()
            if nodes.feature[node] < 0:
                verdict = "duplicate" if nodes.value[node] > 0.5 else "not"
                yield f"{indent}{condition}{verdict}  ({self.pairs[node]:,} pairs, {nodes.value[node]:.2f})"
                continue
            if condition:
                yield f"{indent}{condition.rstrip(': ')}:"
                indent += "  "
            name, threshold = names[nodes.feature[node]], f"{nodes.threshold[node]:.4g}"
            or_missing = " or missing"
            left = f"{name} ≤ {threshold}{or_missing if nodes.missing_left[node] else ''}: "
            right = f"{name} > {threshold}{'' if nodes.missing_left[node] else or_missing}: "
            if nodes.threshold[node] >= LARGEST:
                left, right = f"{name} is there: ", f"{name} is missing: "
            waiting.append((int(nodes.right[node]), indent, right))
            waiting.append((int(nodes.left[node]), indent, left))

    def parts(self) -> dict[str, Any]:
        return {"nodes": self.nodes.columns(), "pairs": self.pairs.tolist()}

    @staticmethod
    def of(parts: Mapping[str, Any], names: Sequence[str]) -> Tree:
        nodes, pairs = Nodes.of(parts["nodes"], len(names)), np.array(parts["pairs"], np.int64)
        if len(pairs) != len(nodes.feature):
            raise ValueError("a tree needs columns of one length")
        if np.any((nodes.value < 0) | (nodes.value > 1)):
            raise ValueError("a share of duplicates lies between 0 and 1")
        return Tree(nodes, pairs)

    @staticmethod
    def from_library(fitted: Any) -> Tree:
        """The numbers of a fitted ``DecisionTreeClassifier`` with classes 0 and 1 (or one class alone)."""
        tree = fitted.tree_
        shares = tree.value[:, 0, :]
        classes = fitted.classes_.tolist()
        positive = shares[:, classes.index(1)] if 1 in classes else np.zeros(len(shares))
        inner = tree.children_left >= 0
        nodes = Nodes(
            np.where(inner, tree.feature, -1).astype(np.int64),
            np.where(inner, np.minimum(tree.threshold, LARGEST), 0.0),
            np.where(inner, tree.children_left, 0).astype(np.int64),
            np.where(inner, tree.children_right, 0).astype(np.int64),
            tree.missing_go_to_left.astype(bool),
            (positive / shares.sum(axis=1)).astype(np.float64),
        )
        return Tree(nodes, tree.n_node_samples.astype(np.int64))


def learn_tree(values: Numbers, labels: npt.NDArray[np.bool_], seed: int) -> Tree:
    """Trains a tree by scikit-learn; leaves of at least 2 pairs, at most 8 levels. A split stays if it saves more bits
    than it takes to say its threshold, ½·log₂ n.

    >>> tree = learn_tree(np.array([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]]), np.arange(6) < 3, seed=0)
    >>> tree.accepts(np.array([[0.15], [0.95]])).tolist()
    [True, False]
    """
    from sklearn.tree import DecisionTreeClassifier

    pruning = 0.5 * math.log2(max(len(labels), 2)) / max(len(labels), 1)
    fitted = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=2, max_depth=8, ccp_alpha=pruning, random_state=seed
    ).fit(values, labels.astype(int))
    return Tree.from_library(fitted)
