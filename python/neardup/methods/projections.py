"""Projections of the term vector on random directions (Charikar 2002; Datar et al. 2004; Henzinger 2006).

Idea: a page is the vector of its term frequencies. On which side of a random plane it lies, or in which interval of a
random line it falls, agrees on two pages the more probably the smaller the angle, or the distance, between them. Cost:
a sign or an addition a token and direction; a bit a plane, or 8 bytes a code.
"""

from __future__ import annotations

import math
from typing import ClassVar

from neardup import _native
from neardup.methods.base import Detector, NativeRows
from neardup.methods.registry import register
from neardup.methods.rules import AgreeingBits, AgreeingLanes, Pieces, Rule
from neardup.methods.shared import SharesColumns
from neardup.record import record


@record(frozen=True, slots=True)
class Projection(NativeRows):
    """``bits`` bits over tokens, or over shingles of ``k`` tokens.

    Random projections (Charikar 2002; Henzinger's Alg. C). Idea: every token stands for b signs; they are added up over
    the page, and bit i says whether sum i is positive. The share of bits on which two pages agree follows 1 − θ/π, θ
    the angle between their term-frequency vectors. Cost: b signs a token, added in bit-sliced counters; b/8 bytes a
    page. Over shingles (k > 1) it answers the paper's open question.

    >>> import pyarrow as pa
    >>> tokens = pa.array([[1, 2, 3], [3, 2, 1]], pa.large_list(pa.uint64()))
    >>> sketch = Projection(bits=64).compute(tokens)
    >>> sketch.shape, bool((sketch[0] == sketch[1]).all())
    ((2, 1), True)
    """

    native: ClassVar[str] = "bits"
    bits: int = 384
    k: int = 1
    rabin: bool = False

    @property
    def width(self) -> int:
        return self.bits // 64


@record(frozen=True, slots=True)
class TermSketch(NativeRows):
    """A bit for each of ``bins`` bins of the distinct tokens.

    How many of their single terms two pages share, told by a bit for each of some bins (Li, Owen and Zhang 2012;
    Shrivastava 2017; Li and König 2010). Idea: one hash function deals the distinct tokens into bins, each bin keeps
    its smallest, an empty one borrows; of each a bit is kept. Two bins agree with probability (1 + J)/2, J the Jaccard
    similarity of the terms. It confirms what Alg. C says, which a few terms that fill two pages decide alone. Error:
    with 256 bins the told J has a standard deviation of .055 at J = .5. Cost: O(tokens + bins); 32 bytes a page.

    >>> import pyarrow as pa
    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> TermSketch().compute(tokens).shape, TermSketch().needed(0.5)
    ((1, 4), 192)
    """

    native: ClassVar[str] = "terms"
    bins: int = 256
    #: Lanes are of one bit.
    bits: ClassVar[int] = 1

    @property
    def m(self) -> int:
        """Lanes."""
        return self.bins

    @property
    def width(self) -> int:
        return self.bins // 64

    def needed(self, similarity: float) -> int:
        """How many bins agree on average where terms are as similar as this."""
        return math.ceil(self.bins * (1 + similarity) / 2 - 1e-9)

    def similarity(self, agreeing: int) -> float:
        """The similarity that so many bins tell; below 0 by chance only."""
        return 2 * agreeing / self.bins - 1


# Alg. C: random projections (Charikar 2002; Henzinger 2006 §2, §3.3).
@register
@record(frozen=True)
class Charikar(Detector):
    """Near-duplicates agree in at least ``t`` of ``bits`` bits, and share terms.

    Candidates share one of ``pieces`` pieces of the bits: every pair with fewer than ``pieces`` differing bits does,
    so with the paper's 12 pieces all pairs with up to 11 differences are found and some at exactly 12 may be missed.
    ``pieces=13`` finds all pairs at t = 372, at the price of shorter pieces and more candidates.

    The bits weigh a term by how often it occurs: unrelated pages agree in nearly all of them where every fifth word
    of both is the same. So the Jaccard similarity of their single terms must be at least ``terms``, as a sketch of 256
    bits tells it, with a standard deviation of .055. ``terms=0`` is the algorithm of the paper.

    >>> str(Charikar(t=370, pieces=15))
    'charikar(t=370,pieces=15)'
    """

    bits: int = 384
    t: int = 372
    pieces: int = 12
    k: int = 1
    terms: float = 0.5

    name: ClassVar[str] = "charikar"
    summary: ClassVar[str] = "Alg. C: at least 372 of 384 projection bits agree, and half of the terms are shared"
    source: ClassVar[str] = "Henzinger 2006 §2, §3.3; Charikar 2002"
    cost: ClassVar[str] = "b sign sums a token, bit-sliced; 80 bytes and 12 keys a page"

    def __post_init__(self) -> None:
        self.check(self.bits >= 64 and self.bits % 64 == 0, "bits must be a multiple of 64")
        self.check(0 < self.t <= self.bits, "t must be between 1 and bits")
        self.check(self.bits // 32 <= self.pieces <= self.bits, "pieces must be between bits/32 and bits")
        self.check(self.k >= 1, "k must be at least 1")
        self.check(0 <= self.terms <= 1, "terms must be between 0 and 1")

    def fingerprint(self) -> Projection:
        return Projection(bits=self.bits, k=self.k)

    def rules(self) -> tuple[Rule, ...]:
        sketch = self.fingerprint()
        shared = AgreeingLanes(TermSketch(), TermSketch().needed(self.terms)) if self.terms > 0 else None
        return (Rule("charikar", Pieces(sketch, self.pieces), AgreeingBits(sketch, self.t, shared)),)

    def as_used(self) -> tuple[str, str, str]:
        return ("|d|" if self.k == 1 else str(self.k), f"{self.bits} bits", f"{self.t} bits agree")


# Alg. C over shingles: the question that Henzinger 2006 leaves open.
@register
@record(frozen=True)
class CharikarShingles(Detector):
    """Near-duplicates agree in at least ``t`` of ``bits`` bits, projected from shingles of ``n`` tokens.

    The order of words counts, and one changed word changes ``n`` shingles: at the same similarity of wording fewer bits
    agree than over tokens. Pairs with fewer than ``pieces`` differing bits are all found, of the others most. As with
    ``charikar``, the Jaccard similarity of the single terms must be at least ``terms``; 0 does not ask for it.

    >>> str(CharikarShingles(n=3))
    'charikar-shingles(n=3)'
    """

    n: int = 5
    bits: int = 384
    t: int = 355
    pieces: int = 16
    terms: float = 0.5

    name: ClassVar[str] = "charikar-shingles"
    summary: ClassVar[str] = (
        "Alg. C over shingles: at least 355 of 384 projection bits agree, and half of the terms are shared"
    )
    source: ClassVar[str] = "Charikar 2002; Henzinger 2006 §5, as an open question"
    cost: ClassVar[str] = "b sign sums a token, bit-sliced; 80 bytes and 16 keys a page"

    def __post_init__(self) -> None:
        self.over_shingles()

    def over_shingles(self) -> Charikar:
        return Charikar(bits=self.bits, t=self.t, pieces=self.pieces, k=self.n, terms=self.terms)

    def rules(self) -> tuple[Rule, ...]:
        return self.over_shingles().rules()

    def as_used(self) -> tuple[str, str, str]:
        return (str(self.n), f"{self.bits} bits", f"{self.t} bits agree")


@record(frozen=True, slots=True)
class ProjectionCodes(NativeRows):
    """``k`` codes of ``projections`` products each, cut into intervals of ``interval``; 0 takes signs.

    Locality-sensitive hashing of the term vector (Datar et al. 2004; Charikar 2002). Idea: the page's term frequencies,
    scaled to length 1, are multiplied with random normal vectors. p-stable hashing cuts the products into intervals of
    a width; random hyperplanes take their signs. Several results make one code, and a few codes are the fingerprint:
    near vectors share one. Cost: codes × projections additions a token, exact in whole numbers; 8 bytes a code.

    >>> import pyarrow as pa
    >>> tokens = pa.array([[1, 2, 3], [3, 1, 2]], pa.large_list(pa.uint64()))
    >>> codes = ProjectionCodes(k=4, projections=8, interval=0.5).compute(tokens)
    >>> codes.shape, bool((codes[0] == codes[1]).all())
    ((2, 4), True)
    """

    native: ClassVar[str] = "projection codes"
    k: int
    projections: int
    interval: float = 0.0

    @property
    def width(self) -> int:
        return self.k


# Locality-sensitive hashing by random hyperplanes (Charikar 2002).
@register
@record(frozen=True)
class Hyperplanes(SharesColumns):
    """Pages that share at least ``kappa`` of ``k`` codes of ``r`` signs.

    A sign says on which side of a random plane the term-frequency vector lies; one agrees with probability 1 − θ/π.

    >>> Hyperplanes().acceptance(1.0), round(Hyperplanes().acceptance(0.9), 2)
    (1.0, 0.07)
    """

    k: int = 10
    r: int = 32
    kappa: int = 1

    name: ClassVar[str] = "hyperplane-lsh"
    summary: ClassVar[str] = "at least one of 10 codes of 32 hyperplane sides agrees"
    source: ClassVar[str] = "Charikar 2002; Potthast & Stein 2008 §2.2"
    cost: ClassVar[str] = "k·r additions a distinct token; 8·k bytes a page"
    measure: ClassVar[str] = "cosine similarity of term frequencies"

    def __post_init__(self) -> None:
        self.check(1 <= self.r <= 1024, "r must be between 1 and 1024")
        self.check_kappa()

    def fingerprint(self) -> ProjectionCodes:
        return ProjectionCodes(k=self.k, projections=self.r)

    def one_agrees(self, similarity: float) -> float | None:
        return float((1 - math.acos(min(1.0, max(-1.0, similarity))) / math.pi) ** self.r)


# Locality-sensitive hashing by p-stable distributions (Datar et al. 2004).
@register
@record(frozen=True)
class PStable(SharesColumns):
    """Pages that share at least ``kappa`` of ``k`` codes of ``r`` projections in intervals of ``w``.

    The page is its term-frequency vector, scaled to length 1; the closer two are, the likelier they share an interval.

    >>> PStable().acceptance(1.0), PStable().acceptance(0.9) > PStable().acceptance(0.5)
    (1.0, True)
    """

    k: int = 10
    r: int = 12
    w: float = 1.0
    kappa: int = 1

    name: ClassVar[str] = "p-stable-lsh"
    summary: ClassVar[str] = "at least one of 10 codes of projections in intervals agrees"
    source: ClassVar[str] = "Datar, Immorlica, Indyk & Mirrokni 2004; Potthast & Stein 2008 §2.2"
    cost: ClassVar[str] = "k·r additions a distinct token; 8·k bytes a page"
    measure: ClassVar[str] = "cosine similarity of term frequencies"

    def __post_init__(self) -> None:
        self.check(1 <= self.r <= 1024, "r must be between 1 and 1024")
        self.check(0 < self.w <= 100, "w must be above 0 and at most 100")
        self.check_kappa()

    def fingerprint(self) -> ProjectionCodes:
        return ProjectionCodes(k=self.k, projections=self.r, interval=self.w)

    def one_agrees(self, similarity: float) -> float | None:
        distance = math.sqrt(max(0.0, 2 - 2 * similarity))
        return min(1.0, _native.interval_probability(distance, self.w) ** self.r)
