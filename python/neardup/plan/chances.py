"""What theory promises: the probability that a detector accepts a pair, given how alike the two truly are.

Supershingles and bands follow from the Jaccard similarity at their own shingle length, projections from the angle
between the pages' term frequencies; the random choices of the two are independent, so a rule that asks for both
multiplies. Of a rule whose keys or test are of another kind nothing is predicted, and that is said (None).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.methods import Detector, Rule
from neardup.methods.planner import band_probability, binomial_tail
from neardup.methods.projections import Projection
from neardup.methods.rules import AgreeingBits, AgreeingColumns, ExactJaccard, Pieces, SingleColumns, SupershinglePairs
from neardup.methods.shingles import Bands, ShingleSet, Supershingles

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Alike:
    """How alike pairs truly are: Jaccard similarity by shingle length, and the cosine of term frequencies."""

    jaccard: dict[int, Numbers]
    cosine: Numbers
    same_site: npt.NDArray[np.bool_]


def shingle_lengths(detector: Detector) -> set[int]:
    """The shingle lengths at which similarities are needed to predict.

    >>> from neardup.methods import parse
    >>> sorted(shingle_lengths(parse("combined"))), sorted(shingle_lengths(parse("minhash")))
    ([8], [5])
    """
    lengths = set()
    for rule in detector.rules():
        for fingerprint in rule.fingerprints():
            if isinstance(fingerprint, Supershingles | Bands) or (
                isinstance(fingerprint, ShingleSet) and isinstance(rule.verify, ExactJaccard)
            ):
                lengths.add(fingerprint.k)
    return lengths


def predicted(detector: Detector, alike: Alike) -> Numbers | None:
    """For each pair the probability that it is accepted, or None where theory does not speak of this detector.

    >>> import numpy as np
    >>> from neardup.methods import parse
    >>> pair = Alike({8: np.array([0.9])}, np.array([0.99]), np.array([False]))
    >>> predicted(parse("broder"), pair).round(3).tolist()
    [0.415]
    """
    missed = np.ones(len(alike.same_site))
    for rule in detector.rules():
        chance = _of_rule(rule, alike)
        if chance is None:
            return None
        if rule.predicate != "any":
            chance = np.where(alike.same_site == (rule.predicate == "same-site"), chance, 0.0)
        # A pair is accepted by one rule or another; where both may, the better of the two is what is sure.
        missed = np.minimum(missed, 1 - chance)
    return 1 - missed


def _of_rule(rule: Rule, alike: Alike) -> Numbers | None:
    met = _meet(rule, alike)
    verify: object = rule.verify
    if met is None:
        return None
    if isinstance(verify, AgreeingColumns):
        return met  # the keys of such rules are the columns themselves
    if isinstance(verify, ExactJaccard):
        of = verify.fingerprint
        jaccard = alike.jaccard.get(of.k) if isinstance(of, ShingleSet) else None
        return None if jaccard is None else met * (jaccard >= verify.least)
    if isinstance(verify, AgreeingBits):
        bits = _bits(verify.fingerprint, verify.least, alike)
        return None if bits is None else met * bits
    return None


def _meet(rule: Rule, alike: Alike) -> Numbers | None:
    """The probability that the two share a key."""
    keys: object = rule.keys
    if isinstance(keys, Pieces):
        # With fewer differing bits than pieces one piece is always shared; beyond, nothing simple holds.
        allowed = keys.fingerprint.bits - rule.verify.least if isinstance(rule.verify, AgreeingBits) else keys.pieces
        return np.ones(len(alike.cosine)) if allowed <= keys.pieces else None
    if not isinstance(keys, SingleColumns | SupershinglePairs):
        return None
    fingerprint = keys.fingerprint
    if isinstance(fingerprint, Bands):
        jaccard = alike.jaccard.get(fingerprint.k)
        if jaccard is None:
            return None
        return np.array([band_probability(value, fingerprint.bands, fingerprint.rows) for value in jaccard])
    if isinstance(fingerprint, Supershingles):
        jaccard = alike.jaccard.get(fingerprint.k)
        if jaccard is None:
            return None
        least = 2 if isinstance(keys, SupershinglePairs) else 1
        if isinstance(rule.verify, AgreeingColumns):
            least = max(least, rule.verify.least)
        return _by_value(jaccard**fingerprint.rows, fingerprint.groups, least)
    return None


def _bits(projection: Projection, least: int, alike: Alike) -> Numbers | None:
    if projection.k != 1:
        return None
    agreement = 1 - np.arccos(np.clip(alike.cosine, -1, 1)) / np.pi
    return _by_value(agreement, projection.bits, least)


def _by_value(probability: Numbers, trials: int, least: int) -> Numbers:
    """The binomial tail of each, computed once a value to four digits."""
    values, place = np.unique(np.round(probability, 4), return_inverse=True)
    return np.array([binomial_tail(trials, float(value), least) for value in values])[place]
