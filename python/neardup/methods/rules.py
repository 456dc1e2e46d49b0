"""A rule: which keys make two pages meet, of which pairs it speaks, and what a pair must show to be accepted.

This is Potthast & Stein's chunk index read as data. A detector is a union of rules. What a rule means stands in the
core (``rules`` of ``neardup-core``), to which each class here says itself in the core's text form; nobody but the plan
of a detector (``neardup.plan``) asks which class it is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.record import record

if TYPE_CHECKING:
    from neardup.methods.base import AnyFingerprint, FixedWidth
    from neardup.methods.minima import PackedMinima
    from neardup.methods.projections import Projection, TermSketch
    from neardup.methods.shingles import Supershingles

Predicate = Literal["any", "same-site", "different-site"]


class Places(Protocol):
    """Where a plan holds fingerprints."""

    def column(self, kind: AnyFingerprint) -> int: ...

    def set(self, kind: AnyFingerprint) -> int: ...


@record(frozen=True, slots=True)
class SupershinglePairs:
    """Keys: all pairs of supershingles, so pages that share one key agree in two supershingles."""

    fingerprint: Supershingles
    words: ClassVar[str] = "pairs of supershingles"

    def text(self, places: Places) -> str:
        return f"pairs({places.column(self.fingerprint)})"

    def of(self, values: FixedWidth) -> FixedWidth:
        return _native.pairs_of_keys(values)


@record(frozen=True, slots=True)
class SingleColumns:
    """Keys: each column of the fingerprint as it is."""

    fingerprint: AnyFingerprint
    words: ClassVar[str] = "numbers"

    def text(self, places: Places) -> str:
        return f"columns({places.column(self.fingerprint)})"

    def of(self, values: FixedWidth) -> FixedWidth:
        return values


@record(frozen=True, slots=True)
class Pieces:
    """Keys: the sketch cut into ``pieces`` pieces; fewer differing bits than pieces always share one."""

    fingerprint: Projection
    pieces: int

    @property
    def words(self) -> str:
        return f"pieces of {self.fingerprint.bits // self.pieces} bits"

    def text(self, places: Places) -> str:
        return f"pieces({places.column(self.fingerprint)},{self.pieces})"

    def of(self, values: FixedWidth) -> FixedWidth:
        return _native.pieces(values, self.pieces)


@record(frozen=True, slots=True)
class ColumnGroups:
    """Keys: hashes of ``groups`` groups of columns; fewer differing columns than groups always share one."""

    fingerprint: AnyFingerprint
    groups: int
    words: ClassVar[str] = "groups of numbers"

    def text(self, places: Places) -> str:
        return f"groups({places.column(self.fingerprint)},{self.groups})"

    def of(self, values: FixedWidth) -> FixedWidth:
        return _native.group_columns(values, self.groups)


@record(frozen=True, slots=True)
class RarestChunks:
    """Keys: of each page's chunk set the rarest ones, so many that sets with a ratio of ``least`` share one."""

    fingerprint: AnyFingerprint
    least: float
    words: ClassVar[str] = "chunks (the rarest are keys)"

    def text(self, places: Places) -> str:
        return f"sets({places.set(self.fingerprint)})"


Keys = SupershinglePairs | SingleColumns | Pieces | ColumnGroups | RarestChunks


@record(frozen=True, slots=True)
class AgreeingColumns:
    """Accepted: at least ``least`` columns agree (κ; over supershingles, B-similarity)."""

    fingerprint: AnyFingerprint
    least: int

    @property
    def words(self) -> str:
        return "supershingles that agree" if hasattr(self.fingerprint, "groups") else "numbers that agree"

    def text(self, places: Places) -> str:
        return f"columns({places.column(self.fingerprint)},{self.least})"


@record(frozen=True, slots=True)
class AgreeingLanes:
    """Accepted: at least ``least`` of the lanes of a b-bit signature agree."""

    fingerprint: PackedMinima | TermSketch
    least: int
    words: ClassVar[str] = "lanes that agree"

    def text(self, places: Places) -> str:
        kind = self.fingerprint
        return f"lanes({places.column(kind)},{kind.bits},{kind.m},{self.least})"


@record(frozen=True, slots=True)
class AgreeingBits:
    """Accepted: at least ``least`` bits agree (C-similarity), and the lanes that confirm it, where there are any."""

    fingerprint: Projection
    least: int
    confirmed: AgreeingLanes | None = None
    words: ClassVar[str] = "bits that agree"

    def text(self, places: Places) -> str:
        beside = "" if self.confirmed is None else f"+{self.confirmed.text(places)}"
        return f"bits({places.column(self.fingerprint)},{self.least}){beside}"


@record(frozen=True, slots=True)
class SharedRatio:
    """Accepted: of the chunks in either set at least ``least`` are in both, counted exactly."""

    fingerprint: AnyFingerprint
    least: float
    words: ClassVar[str] = "ratio of shared chunks"

    def text(self, places: Places) -> str:
        return f"sets({places.set(self.fingerprint)},{self.least})"


@record(frozen=True, slots=True)
class SharedOfLarger:
    """Accepted: of the chunks of the larger set at least ``least`` are in both, counted exactly."""

    fingerprint: AnyFingerprint
    least: float
    words: ClassVar[str] = "share of the larger page's paragraphs"

    def text(self, places: Places) -> str:
        return f"larger-sets({places.set(self.fingerprint)},{self.least})"


@record(frozen=True, slots=True)
class ExactJaccard:
    """Accepted: the Jaccard similarity of the sets, computed exactly, is at least ``least``."""

    fingerprint: AnyFingerprint
    least: float
    words: ClassVar[str] = "Jaccard similarity of shingles"

    def text(self, places: Places) -> str:
        return f"sets({places.set(self.fingerprint)},{self.least})"


#: Those that compare sets.
OfSets = SharedRatio | SharedOfLarger | ExactJaccard


def least_jaccard(verify: OfSets) -> float:
    """The Jaccard similarity that no accepted pair falls below.

    >>> from neardup.methods.shingles import ShingleSet
    >>> round(least_jaccard(SharedOfLarger(ShingleSet(5), 0.9)), 3), least_jaccard(ExactJaccard(ShingleSet(5), 0.8))
    (0.818, 0.8)
    """
    # Two sets of one size; of two sizes it is higher.
    return verify.least / (2 - verify.least) if isinstance(verify, SharedOfLarger) else verify.least


Verify = AgreeingColumns | AgreeingBits | AgreeingLanes | OfSets


def confirming(verify: Verify) -> AgreeingLanes | None:
    """The second thing that a pair must show, if there is one."""
    return verify.confirmed if isinstance(verify, AgreeingBits) else None


def evidence(verify: Verify) -> tuple[AnyFingerprint, ...]:
    """The fingerprints that pairs are verified by.

    >>> from neardup.methods.projections import Projection, TermSketch
    >>> evidence(AgreeingBits(Projection(), 372, AgreeingLanes(TermSketch(), 192)))
    (Projection(bits=384, k=1, rabin=False), TermSketch(bins=256))
    """
    second = confirming(verify)
    return (verify.fingerprint,) if second is None else (verify.fingerprint, second.fingerprint)


@record(frozen=True, slots=True)
class Logistic:
    """From a similarity to a probability: a logistic curve, one half at ``middle``.

    >>> curve = Logistic(middle=0.9, steepness=50.0)
    >>> round(float(curve.of(np.array([0.9]))[0]), 3), round(curve.similarity(0.9), 3)
    (0.5, 0.944)
    """

    middle: float
    steepness: float
    #: Probabilities between these two are too near to one half to be sure.
    undecided: ClassVar[tuple[float, float]] = (0.2, 0.8)

    def of(self, similarity: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The probabilities of similarities."""
        made: npt.NDArray[np.float64] = 1 / (1 + np.exp(-self.steepness * (similarity - self.middle)))
        return made

    def similarity(self, probability: float) -> float:
        """The similarity that has a probability."""
        return self.middle + math.log(probability / (1 - probability)) / self.steepness


@record(frozen=True, slots=True)
class Rule:
    """One way for two pages to be near-duplicates."""

    name: str
    keys: Keys
    verify: Verify
    predicate: Predicate = "any"
    #: The score of a pair is the probability that belongs to what was measured, where this is known.
    calibration: Logistic | None = None

    def text(self, places: Places) -> str:
        """The rule as the core reads it."""
        return f"{self.keys.text(places)} {self.predicate} {self.verify.text(places)}"

    def fingerprints(self) -> tuple[AnyFingerprint, ...]:
        """What must be computed of every page for this rule.

        >>> from neardup.methods.projections import Projection
        >>> rule = Rule("c", Pieces(Projection(), 12), AgreeingBits(Projection(), 372))
        >>> rule.fingerprints()
        (Projection(bits=384, k=1, rabin=False),)
        """
        return tuple(dict.fromkeys((self.keys.fingerprint, *evidence(self.verify))))
