"""RIPPER, a rule learner (Cohen, Fast Effective Rule Induction, 1995), as the paper's Jrip.

Rules for the rarer class, "duplicate if … and …", are learned one at a time. A rule is *grown* on two thirds of the
pairs by adding the condition of highest information gain (FOIL's) until no other pair passes, then *pruned* on the
last third by taking conditions off its end as long as (p − n) / (p + n) gets better. Rules are added until the
description of rules and exceptions is 64 bits longer than the shortest one met, or a rule is wrong more often than
right. Twice, each rule is then *optimised*: it is compared with one grown anew and with one grown on from it, and the
one with the shortest description stays; last, rules that lengthen the description go. A missing signal passes no
condition. Cost: O(signals · pairs) a condition, the orders of all signals being computed once.

Own code, because the kept Python implementations cut numbers into a dozen bins and know no missing values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
#: Signal, "<=" or ">=", threshold.
Condition = tuple[str, str, float]
#: The same with the place of the signal.
_Test = tuple[int, str, float]

#: Bits by which a description may be longer than the shortest one met.
_ALLOWANCE: Final = 64.0
_OPTIMISATIONS: Final = 2
#: Duplicates that a rule must cover while it grows.
_LEAST: Final = 2
_MOST_RULES: Final = 50
_SIGNS: Final = {"<=": "≤", ">=": "≥"}


@dataclass(frozen=True)
class Rules:
    """Trained rules; a pair that passes all conditions of one is a duplicate."""

    rules: list[list[Condition]]
    #: Share of duplicates among the training pairs that each rule is the first to cover, and among the rest.
    shares: list[float]
    otherwise: float
    signals: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        if len(self.shares) != len(self.rules):
            raise ValueError("every rule needs its share")
        if not self.signals:
            names = dict.fromkeys(name for rule in self.rules for name, _, _ in rule)
            object.__setattr__(self, "signals", tuple(names))
        for rule in self.rules:
            for name, sign, threshold in rule:
                if sign not in _SIGNS or name not in self.signals or not math.isfinite(threshold):
                    raise ValueError(f"{name} {sign} {threshold} is no condition")

    def scores(self, values: Numbers) -> Numbers:
        scores = np.full(len(values), self.otherwise)
        free = np.ones(len(values), bool)
        for rule, share in zip(self.rules, self.shares, strict=True):
            passed = free & _passes(values, self._tests(rule))
            scores[passed] = share
            free &= ~passed
        return scores

    def accepts(self, values: Numbers) -> Flags:
        accepted = np.zeros(len(values), bool)
        for rule in self.rules:
            accepted |= _passes(values, self._tests(rule))
        return accepted

    def _tests(self, rule: list[Condition]) -> list[_Test]:
        return [(list(self.signals).index(name), sign, threshold) for name, sign, threshold in rule]

    def text(self, names: Sequence[str]) -> str:
        lines = []
        for rule, share in zip(self.rules, self.shares, strict=True):
            conditions = " and ".join(f"{name} {_SIGNS[sign]} {threshold:.4g}" for name, sign, threshold in rule)
            lines.append(f"duplicate if {conditions}  ({_share(share)} of such pairs in training)")
        return "\n".join([*lines, f"else not  ({_share(self.otherwise)})"])

    def parts(self) -> dict[str, Any]:
        return {
            "rules": [[list(condition) for condition in rule] for rule in self.rules],
            "shares": self.shares,
            "otherwise": self.otherwise,
        }

    @staticmethod
    def of(parts: Mapping[str, Any], names: Sequence[str]) -> Rules:
        rules = [[(str(name), str(sign), float(value)) for name, sign, value in rule] for rule in parts["rules"]]
        shares, otherwise = [float(share) for share in parts["shares"]], float(parts["otherwise"])
        if not all(0 <= share <= 1 for share in (*shares, otherwise)):
            raise ValueError("a share of duplicates lies between 0 and 1")
        if not all(math.isfinite(value) for rule in rules for _, _, value in rule):
            raise ValueError("a threshold is no number")
        return Rules(rules, shares, otherwise, tuple(names))


def _share(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


def learn_rules(values: Numbers, labels: Flags, names: Sequence[str], seed: int = 0) -> Rules:
    """Trains rules.

    >>> values = np.array([[0.0, 1.0]] * 9 + [[0.0, 0.0]] * 9 + [[1.0, 1.0]] * 9)
    >>> print(learn_rules(values, np.arange(27) < 9, ["distance", "same"]).text([]))
    duplicate if same ≥ 1 and distance ≤ 0  (1.00 of such pairs in training)
    else not  (.00)
    """
    rules = _Ripper(values, labels, np.random.default_rng(seed)).learn() if labels.any() else []
    free, shares = np.ones(len(labels), bool), []
    for rule in rules:
        passed = free & _passes(values, rule)
        shares.append(_mean(labels[passed]))
        free &= ~passed
    named = [[(names[place], sign, threshold) for place, sign, threshold in rule] for rule in rules]
    return Rules(named, shares, _mean(labels[free]), tuple(names))


def _mean(labels: Flags) -> float:
    return float(labels.mean()) if len(labels) else 0.0


def _passes(values: Numbers, rule: Sequence[_Test]) -> Flags:
    passed = np.ones(len(values), bool)
    for place, sign, threshold in rule:
        column = values[:, place]
        with np.errstate(invalid="ignore"):
            passed &= column <= threshold if sign == "<=" else column >= threshold
    return passed


class _Ripper:
    """One training: the pairs, the order of each signal, and the steps of the algorithm."""

    def __init__(self, values: Numbers, labels: Flags, generator: np.random.Generator) -> None:
        self.values, self.labels, self.generator = values, labels, generator
        # Missing values come last in an order and are cut off it.
        self.orders = [
            np.argsort(column, kind="stable")[: len(column) - int(np.isnan(column).sum())] for column in values.T
        ]
        #: Conditions that could be chosen, for the length of a description.
        self.possible = 2 * sum(len(np.unique(column[~np.isnan(column)])) for column in values.T)
        self.positives_share = float(labels.mean())

    def learn(self) -> list[list[_Test]]:
        rules = self._cover([])
        for _ in range(_OPTIMISATIONS):
            rules = self._optimise(rules)
            rules = self._cover(rules)
        return self._shortest(rules)

    def _cover(self, rules: list[list[_Test]]) -> list[list[_Test]]:
        """Adds rules until nothing is left that is worth one."""
        rules = list(rules)
        shortest = self._description(rules)
        while len(rules) < _MOST_RULES:
            rest = ~self._covered(rules)
            if not (self.labels & rest).any():
                break
            growing, pruning = self._halves(rest)
            rule = self._grow([], growing)
            rule = self._prune(rule, pruning)
            if not rule:
                break
            passed = _passes(self.values, rule) & pruning
            right = int((self.labels & passed).sum())
            if right * 2 < int(passed.sum()) or not (_passes(self.values, rule) & rest & self.labels).any():
                break
            rules.append(rule)
            length = self._description(rules)
            if length > shortest + _ALLOWANCE:
                rules.pop()
                break
            shortest = min(shortest, length)
        return rules

    def _optimise(self, rules: list[list[_Test]]) -> list[list[_Test]]:
        rules = list(rules)
        for at, rule in enumerate(rules):
            others = rules[:at] + rules[at + 1 :]
            rest = ~self._covered(others)
            if not (self.labels & rest).any():
                continue
            growing, pruning = self._halves(rest)
            anew = self._prune_for_all(self._grow([], growing), pruning)
            revised = self._prune_for_all(self._grow(list(rule), growing), pruning)
            candidates = [candidate for candidate in (rule, anew, revised) if candidate]
            rules[at] = min(candidates, key=lambda candidate: self._description([*others, candidate]))
        return rules

    def _shortest(self, rules: list[list[_Test]]) -> list[list[_Test]]:
        """Takes out rules without which the description is shorter, last ones first."""
        for at in reversed(range(len(rules))):
            without = rules[:at] + rules[at + 1 :]
            if self._description(without) < self._description(rules):
                rules = without
        return rules

    def _covered(self, rules: list[list[_Test]]) -> Flags:
        covered = np.zeros(len(self.labels), bool)
        for rule in rules:
            covered |= _passes(self.values, rule)
        return covered

    def _halves(self, among: Flags) -> tuple[Flags, Flags]:
        """Two thirds to grow on and a third to prune on, of both classes alike."""
        growing = np.zeros(len(among), bool)
        for label in (True, False):
            places = self.generator.permutation(np.flatnonzero(among & (self.labels == label)))
            growing[places[: math.ceil(len(places) * 2 / 3)]] = True
        return growing, among & ~growing

    def _grow(self, rule: list[_Test], growing: Flags) -> list[_Test]:
        inside = growing & _passes(self.values, rule)
        while (inside & ~self.labels).any():
            best = self._best_condition(inside)
            if best is None:
                break
            rule = [*rule, best]
            inside &= _passes(self.values, [best])
        return rule

    def _best_condition(self, inside: Flags) -> _Test | None:
        """The condition with the highest gain p · (log₂ p/(p+n) − log₂ P/(P+N)) over the pairs inside."""
        right = int((inside & self.labels).sum())
        if right == 0:
            return None
        before = math.log2(right / int(inside.sum()))
        best: tuple[float, _Test] | None = None
        for place, order in enumerate(self.orders):
            order = order[inside[order]]
            if not len(order):
                continue
            column, labels = self.values[order, place], self.labels[order]
            ends = np.flatnonzero(np.append(column[1:] != column[:-1], True))
            if len(ends) < 2 and len(order) == int(inside.sum()):
                continue
            hits, counts = np.cumsum(labels)[ends], ends + 1
            starts = np.append(0, ends[:-1] + 1)
            hits_above, counts_above = hits[-1] - np.append(0, hits[:-1]), counts[-1] - starts
            for sign, p, all_of, at in (("<=", hits, counts, ends), (">=", hits_above, counts_above, starts)):
                with np.errstate(divide="ignore", invalid="ignore"):
                    gain = np.where(p >= _LEAST, p * (np.log2(p / all_of) - before), -np.inf)
                top = int(np.argmax(gain))
                if gain[top] > 1e-9 and (best is None or gain[top] > best[0]):
                    best = (float(gain[top]), (place, sign, float(column[at[top]])))
        return None if best is None else best[1]

    def _prune(self, rule: list[_Test], pruning: Flags) -> list[_Test]:
        """The beginning of the rule with the highest (p − n) / (p + n) on the pruning third; shorter ones first."""

        def worth(length: int) -> float:
            passed = pruning & _passes(self.values, rule[:length])
            right, count = int((passed & self.labels).sum()), int(passed.sum())
            return (2 * right - count) / count if count else -1.0

        return rule[: max(range(1, len(rule) + 1), key=worth)] if rule else rule

    def _prune_for_all(self, rule: list[_Test], pruning: Flags) -> list[_Test]:
        """The beginning of the rule with which most pairs of the pruning third are told right."""

        def right(length: int) -> int:
            passed = pruning & _passes(self.values, rule[:length])
            return int((passed == self.labels)[pruning].sum())

        return rule[: max(range(1, len(rule) + 1), key=right)] if rule else rule

    def _description(self, rules: list[list[_Test]]) -> float:
        """Bits that the rules and the pairs they tell wrong take."""
        bits = sum(_rule_bits(len(rule), self.possible) for rule in rules)
        covered = self._covered(rules)
        false_positives = int((covered & ~self.labels).sum())
        false_negatives = int((~covered & self.labels).sum())
        inside, outside = int(covered.sum()), int((~covered).sum())
        return bits + _exception_bits(inside, outside, false_positives, false_negatives, self.positives_share)


def _subset_bits(count: int, chosen: int, share: float) -> float:
    """Bits that say which ``chosen`` of ``count`` things are meant, each expected with this probability."""
    if not 0 < share < 1:
        share = min(max(share, 1e-12), 1 - 1e-12)
    return -chosen * math.log2(share) - (count - chosen) * math.log2(1 - share)


def _rule_bits(conditions: int, possible: int) -> float:
    """Half the bits of a rule, for its conditions could come in another order (Cohen 1995, §3.3)."""
    if conditions == 0 or possible == 0:
        return 0.0
    possible = max(possible, conditions + 1)
    return 0.5 * (math.log2(conditions) + _subset_bits(possible, conditions, conditions / possible))


def _exception_bits(inside: int, outside: int, wrong_inside: int, wrong_outside: int, share: float) -> float:
    """Bits that say which pairs are told wrong (Quinlan 1995): errors are expected in the proportion of the classes."""
    bits = math.log2(inside + outside + 1)
    wrong = wrong_inside + wrong_outside
    if inside > outside:
        bits += _subset_bits(inside, wrong_inside, share * wrong / inside)
        return bits + (_subset_bits(outside, wrong_outside, wrong_outside / outside) if outside else 0.0)
    bits += _subset_bits(inside, wrong_inside, wrong_inside / inside) if inside else 0.0
    return bits + (_subset_bits(outside, wrong_outside, (1 - share) * wrong / outside) if outside else 0.0)
