"""Shingles, and min-values of them in groups (Broder et al. 1997; the lecture on MinHash).

Idea: every k consecutive tokens of a page are a shingle, and two pages are as alike as the sets of their shingles:
their Jaccard similarity J. For a random function the smallest value over the shingles agrees with probability J, and a
key made of several min-values with a power of that: keys are selective, and a few of them find nearly all similar
pairs. Cost: a multiplication a token and function, in registers; 8 bytes a key. The sets themselves take 8 bytes a
token.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from neardup.methods.base import Detector, NativeRows, NativeSets
from neardup.methods.planner import BandLayout, band_probability, plan_bands, supershingle_probability
from neardup.methods.registry import register
from neardup.methods.rules import AgreeingColumns, ExactJaccard, Keys, Rule, SingleColumns, SupershinglePairs
from neardup.methods.shared import SharesColumns
from neardup.record import record


@record(frozen=True, slots=True)
class ShingleSet(NativeSets):
    """The distinct shingles of ``k`` tokens, sorted.

    The set of a page's shingles: what Jaccard similarity is exactly about (Broder et al. 1997). Cost: about 5
    nanoseconds and 8 bytes a token; used for verifying candidates, not for finding them.

    >>> import pyarrow as pa
    >>> sets = ShingleSet(k=2).compute(pa.array([[1, 2, 1, 2]], pa.large_list(pa.uint64())))
    >>> len(sets[0])
    2
    """

    native: ClassVar[str] = "set"
    k: int
    rabin: bool = False


@record(frozen=True, slots=True)
class Supershingles(NativeRows):
    """``groups`` supershingles from ``m`` min-values over shingles of ``k`` tokens.

    Supershingles (Broder et al. 1997; Fetterly et al. 2003; Henzinger's Alg. B). Idea: every k consecutive tokens are a
    shingle; of m hash functions the minima over a page's shingles are taken, and groups of m/groups minima are hashed
    to one number each. Two pages of Jaccard similarity J agree in one supershingle with probability J^(m/groups). Cost:
    m multiplications a token, in registers; 48 bytes a page.

    >>> import pyarrow as pa
    >>> tokens = pa.array([list(range(20)), list(range(20))], pa.large_list(pa.uint64()))
    >>> values = Supershingles().compute(tokens)
    >>> values.shape, bool((values[0] == values[1]).all())
    ((2, 6), True)
    """

    native: ClassVar[str] = "keys"
    k: int = 8
    m: int = 84
    groups: int = 6
    rabin: bool = False

    @property
    def rows(self) -> int:
        """Min-values in one supershingle (the paper's l)."""
        return self.m // self.groups

    @property
    def width(self) -> int:
        return self.groups


@record(frozen=True, slots=True)
class Bands(NativeRows):
    """One key for each of ``bands`` bands of ``rows`` min-values over shingles of ``k`` tokens.

    Bands of min-values: locality-sensitive hashing for Jaccard similarity (the lecture; Leskovec et al.). Idea: bands ×
    rows min-values; pages that agree in all rows of one band share a key. A pair of Jaccard similarity J shares at
    least one with probability 1 − (1 − J^rows)^bands, the S-curve that ``neardup plan`` draws. Cost: bands × rows
    multiplications a token; 8 bytes a band.

    >>> Bands(k=5, bands=20, rows=6).width
    20
    """

    native: ClassVar[str] = "keys"
    k: int
    bands: int
    rows: int
    rabin: bool = False

    @property
    def width(self) -> int:
        return self.bands


# Alg. B: shingles, min-values, supershingles (Broder et al. as varied by Fetterly et al.; Henzinger 2006 §2).
@register
@record(frozen=True)
class Broder(Detector):
    """Near-duplicates agree in at least ``least`` of ``groups`` supershingles.

    Keys are the pairs of supershingles, so everyone in a bucket is B-similar to everyone else. P(accepted | Jaccard J)
    is the upper tail of a binomial: ``groups`` trials of probability J^(m/groups).

    >>> str(Broder()), str(Broder(least=3))
    ('broder', 'broder(least=3)')
    """

    k: int = 8
    m: int = 84
    groups: int = 6
    least: int = 2
    rabin: bool = False

    name: ClassVar[str] = "broder"
    summary: ClassVar[str] = "Alg. B: at least 2 of 6 supershingles agree"
    source: ClassVar[str] = "Henzinger 2006 §2; Broder et al. 1997; Fetterly et al. 2003"
    cost: ClassVar[str] = "m minima a token; 48 bytes and 15 keys a page"

    def __post_init__(self) -> None:
        self.check(self.k >= 1, "k must be at least 1")
        self.check(1 <= self.groups <= self.m and self.m % self.groups == 0, "m must be divisible by groups")
        self.check(1 <= self.least <= self.groups, "least must be between 1 and groups")

    def fingerprint(self) -> Supershingles:
        return Supershingles(k=self.k, m=self.m, groups=self.groups, rabin=self.rabin)

    def keys(self) -> Keys:
        supershingles = self.fingerprint()
        return SupershinglePairs(supershingles) if self.least >= 2 else SingleColumns(supershingles)

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("broder", self.keys(), AgreeingColumns(self.fingerprint(), self.least)),)

    def acceptance(self, similarity: float) -> float | None:
        return supershingle_probability(similarity, m=self.m, groups=self.groups, least=self.least)

    def as_used(self) -> tuple[str, str, str]:
        return (str(self.k), str(self.groups), f"κ = {self.least}")


# Supershingling: groups of min-values hashed together (Broder 1997, 2000).
@register
@record(frozen=True)
class Supershingling(SharesColumns):
    """Pages that share at least ``kappa`` of ``k`` supershingles.

    A supershingle is ``m``/``k`` min-values over ``n``-word chunks; one agrees with probability J^(m/k).

    >>> round(Supershingling().acceptance(0.9), 2)
    0.79
    """

    n: int = 8
    m: int = 84
    k: int = 6
    kappa: int = 1

    name: ClassVar[str] = "supershingling"
    summary: ClassVar[str] = "at least one of 6 supershingles agrees"
    source: ClassVar[str] = "Broder 1997, 2000; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "m multiplications a token; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check(1 <= self.k <= self.m <= 4096 and self.m % self.k == 0, "m must be divisible by k")
        self.check_kappa()

    def fingerprint(self) -> Supershingles:
        return Supershingles(k=self.n, m=self.m, groups=self.k)

    def one_agrees(self, similarity: float) -> float | None:
        return similarity ** (self.m // self.k)


# Megashingling: pairs of supershingles hashed together (Fetterly, Manasse & Najork 2003).
@register
@record(frozen=True)
class Megashingling(Detector):
    """Pages that share at least one megashingle: a pair of their ``groups`` supershingles.

    A supershingle is ``m``/``groups`` min-values over ``n``-word chunks. Two that agree make a megashingle that does,
    so this is Alg. B with two of its supershingles needed, found by one look-up each.

    >>> round(Megashingling().acceptance(0.9), 2)
    0.42
    """

    n: int = 8
    m: int = 84
    groups: int = 6

    name: ClassVar[str] = "megashingling"
    summary: ClassVar[str] = "at least one of 15 pairs of supershingles agrees"
    source: ClassVar[str] = "Fetterly, Manasse & Najork 2003; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "m multiplications a token; 48 bytes and 15 keys a page"

    def __post_init__(self) -> None:
        self.check(self.n >= 1, "n must be at least 1")
        self.check(
            2 <= self.groups <= self.m <= 4096 and self.m % self.groups == 0,
            "m must be divisible by groups, two or more",
        )

    def fingerprint(self) -> Supershingles:
        return Supershingles(k=self.n, m=self.m, groups=self.groups)

    def rules(self) -> tuple[Rule, ...]:
        kind = self.fingerprint()
        return (Rule(self.name, SupershinglePairs(kind), AgreeingColumns(kind, 2)),)

    def acceptance(self, similarity: float) -> float | None:
        return supershingle_probability(similarity, m=self.m, groups=self.groups, least=2)

    def as_used(self) -> tuple[str, str, str]:
        return (str(self.n), str(self.groups * (self.groups - 1) // 2), "κ = 1")


# MinHash with banded candidates, every candidate verified by its exact Jaccard similarity (the lecture).
@register
@record(frozen=True)
class MinHash(Detector):
    """Pairs whose sets of ``k``-token shingles have Jaccard similarity at least ``threshold``, exactly.

    Bands and rows are chosen so that a pair at the threshold is found with probability ``recall`` (and more above
    it); give ``bands`` and ``rows`` to choose them yourself. An accepted pair is never below the threshold.

    >>> MinHash(threshold=0.8).layout.recall >= 0.99
    True
    """

    k: int = 5
    threshold: float = 0.8
    recall: float = 0.99
    bands: int = 0
    rows: int = 0
    rabin: bool = False

    name: ClassVar[str] = "minhash"
    summary: ClassVar[str] = "exact Jaccard similarity of shingle sets, candidates by banded min-values"
    source: ClassVar[str] = "the lecture on MinHash; Broder 1997; Indyk & Motwani 1998"
    cost: ClassVar[str] = "bands × rows minima a token; 8 bytes a band and 8 a token until verified"

    def __post_init__(self) -> None:
        self.check(self.k >= 1, "k must be at least 1")
        self.check(0 < self.threshold <= 1, "threshold must be above 0 and at most 1")
        self.check(0 < self.recall < 1, "recall must be between 0 and 1")
        self.check(self.bands >= 0 and self.rows >= 0, "bands and rows must not be negative")
        self.check((self.bands > 0) == (self.rows > 0), "give both bands and rows, or neither")
        self.check(self.bands * self.rows <= 4096, "at most 4096 functions")
        # A recall that no layout reaches is told here, not when the input is about to be read.
        _ = self.layout

    @cached_property
    def layout(self) -> BandLayout:
        """The bands in use and what they promise."""
        if self.bands:
            return BandLayout(self.threshold, self.bands, self.rows)
        return plan_bands(self.threshold, self.recall)

    def rules(self) -> tuple[Rule, ...]:
        bands = Bands(k=self.k, bands=self.layout.bands, rows=self.layout.rows, rabin=self.rabin)
        return (Rule("minhash", SingleColumns(bands), ExactJaccard(ShingleSet(self.k, self.rabin), self.threshold)),)

    def acceptance(self, similarity: float) -> float | None:
        if similarity < self.threshold:
            return 0.0
        return band_probability(similarity, self.layout.bands, self.layout.rows)

    def as_used(self) -> tuple[str, str, str]:
        return (str(self.k), f"{self.layout.bands} bands", f"Jaccard ≥ {self.threshold:g}, exactly")
