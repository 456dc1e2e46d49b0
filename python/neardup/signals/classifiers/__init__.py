"""Classifiers of pairs: a decision tree and a rule learner, as in the paper, and gradient boosting."""

from __future__ import annotations

from neardup.signals.classifiers.learners import LEARNERS, learn
from neardup.signals.classifiers.model import Classifier, load_classifier, save_classifier

__all__ = ["LEARNERS", "Classifier", "learn", "load_classifier", "save_classifier"]
