"""The three learners by name: ``tree`` (the paper's J48), ``rules`` (its Jrip), ``boosting`` (ours)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from neardup.errors import MissingExtra, UsageError
from neardup.signals.classifiers.boosting import learn_boosting
from neardup.signals.classifiers.model import Parts
from neardup.signals.classifiers.rules import learn_rules
from neardup.signals.classifiers.tree import learn_tree

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: What each learner is called, what it needs to be told (values, labels, names, seed), and what it gives.
LEARNERS: Final[dict[str, Callable[[Numbers, Flags, Sequence[str], int], Parts]]] = {
    "tree": lambda values, labels, names, seed: learn_tree(values, labels, seed),
    "rules": learn_rules,
    "boosting": lambda values, labels, names, seed: learn_boosting(values, labels, seed),
}


def require_learners() -> None:
    """Raises ``MissingExtra`` unless scikit-learn is there; asked before the work, not after it."""
    try:
        import sklearn  # noqa: F401  (only whether it is there)
    except ImportError:
        raise MissingExtra(
            "training needs scikit-learn, which is not installed", hint="pip install 'neardup[signals]'"
        ) from None


def learn(kind: str, values: Numbers, labels: Flags, names: Sequence[str], seed: int = 0) -> Parts:
    """Trains a classifier on rows of signals (nan: missing) and labels.

    >>> values = np.array([[0.0], [0.1], [0.1], [0.8], [0.9], [0.9]])
    >>> learn("rules", values, values[:, 0] < 0.5, ["fetched_mcd"]).accepts(np.array([[0.05], [0.85]])).tolist()
    [True, False]
    """
    if kind not in LEARNERS:
        raise UsageError(f"there is no learner {kind!r}", hint=f"one of {', '.join(LEARNERS)}")
    if kind != "rules":
        require_learners()
    return LEARNERS[kind](values, labels, names, seed)
