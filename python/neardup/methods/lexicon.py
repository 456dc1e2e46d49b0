"""What is taken from a page depends on how frequent it is in the collection: I-Match, SPEX, rare chunks.

Idea: a term or chunk that many pages have says little, and one that only a single page has can match nothing; how many
pages have each is counted first (``statistics``), and what is frequent, or rare, is left out. Cost: the first pass over
the tokens, then one look-up a token; 8 bytes a signature or chunk that is kept.
"""

from __future__ import annotations

import math
from typing import ClassVar

from neardup import _native
from neardup.methods.base import NativeRows, NativeSets
from neardup.methods.registry import register
from neardup.methods.shared import SharesColumns, SharesRatio
from neardup.methods.statistics import CollectionStatistics
from neardup.record import record


@record(frozen=True, slots=True)
class LexiconSignatures:
    """Signatures of the full lexicon and of ``randomised`` others, of terms of a normalised idf from ``low`` to
    ``high``.

    I-Match signatures (Chowdhury et al. 2002), and of randomised lexicons (Kołcz et al. 2004). Idea: a lexicon holds
    the terms of middling frequency; a page's signature is one hash of the set of its terms in it. One differing lexicon
    term changes it, so further lexicons leave a random share of the terms out: a difference of d terms is forgiven by
    each with probability share^d. How frequent a term is, is told by its *normalised idf*, ln(N/df) / ln N: 0 for a
    term on every page, 1 for a term on one. Cost: a first pass (``statistics``), then one look-up a distinct term; 8
    bytes a lexicon.

    >>> import pyarrow as pa
    >>> from neardup.methods.statistics import collect_statistics
    >>> tokens = pa.array([[1, 2, 3, 9], [3, 2, 1, 7], [5, 6]], pa.large_list(pa.uint64()))
    >>> kind = LexiconSignatures(low=0.1, high=0.9, least=2, randomised=1, left_out=0.5)
    >>> signatures = kind.given(collect_statistics([tokens], [1])).compute(tokens)
    >>> bool(signatures[0, 0] == signatures[1, 0]), bool(signatures[0, 0] == signatures[2, 0])
    (True, False)
    """

    low: float
    high: float
    #: Lexicon terms below which a page has no signature.
    least: int
    randomised: int = 0
    left_out: float = 0.0

    @property
    def width(self) -> int:
        return self.randomised + 1

    @property
    def counted(self) -> int:
        return 1

    def given(self, statistics: CollectionStatistics) -> GivenSignatures:
        # nidf ≥ low means df ≤ N^(1 − low); rounding must not move a bound that is a whole number.
        pages = max(1, statistics.pages)
        most = math.floor(round(pages ** (1 - self.low), 9))
        fewest = math.ceil(round(pages ** (1 - self.high), 9))
        # Terms on one page are not listed: where they count, the lexicon is all but the frequent ones.
        unlisted = fewest <= 1
        bounds = (most + 1, 2**32 - 1) if unlisted else (fewest, most)
        table = _native.NumberTable(statistics.between(1, *bounds))
        return GivenSignatures(self.randomised, self.left_out, self.least, table, unlisted)


@record(frozen=True, slots=True, eq=False)
class GivenSignatures(NativeRows):
    """With the lexicon at hand: the terms of the table, or all but these."""

    native: ClassVar[str] = "signatures"
    randomised: int
    left_out: float
    least: int
    table: _native.NumberTable
    unlisted: bool

    @property
    def width(self) -> int:
        return self.randomised + 1


# I-Match: one signature of the terms of middling frequency (Chowdhury et al. 2002).
@register
@record(frozen=True)
class IMatch(SharesColumns):
    """Pages with the same set of terms whose normalised idf lies between ``low`` and ``high``.

    The normalised idf is ln(N/df) / ln N, counted over the collection in a first pass. A page with fewer than ``least``
    such terms matches only its copies.

    >>> IMatch().counted()
    (1,)
    """

    low: float = 0.2
    high: float = 0.8
    least: int = 4

    name: ClassVar[str] = "i-match"
    summary: ClassVar[str] = "the same set of terms of middling frequency"
    source: ClassVar[str] = "Chowdhury, Frieder, Grossman & McCabe 2002"
    cost: ClassVar[str] = "a first pass over the tokens, one look-up a term; 8 bytes a page"

    def __post_init__(self) -> None:
        self.check(0 <= self.low < self.high <= 1, "low and high are shares of the idf, low the lesser")
        self.check(self.least >= 1, "least must be at least 1")

    def fingerprint(self) -> LexiconSignatures:
        return LexiconSignatures(low=self.low, high=self.high, least=self.least)

    def width(self) -> int:
        return 1

    def needed(self) -> int:
        return 1


# I-Match with randomised lexicons (Kołcz, Chowdhury & Alspector 2004).
@register
@record(frozen=True)
class RandomisedIMatch(SharesColumns):
    """Pages with the same I-Match signature in at least ``kappa`` of ``k`` lexicons.

    The first lexicon is I-Match's; each other leaves out a share ``left_out`` of its terms, so that it forgives a
    difference of d terms with probability left_out^d.

    >>> str(RandomisedIMatch(k=5))
    'randomised-i-match(k=5)'
    """

    k: int = 10
    left_out: float = 0.33
    low: float = 0.2
    high: float = 0.8
    least: int = 4
    kappa: int = 1

    name: ClassVar[str] = "randomised-i-match"
    summary: ClassVar[str] = "the same terms of middling frequency in one of 10 randomised lexicons"
    source: ClassVar[str] = "Kołcz, Chowdhury & Alspector 2004"
    cost: ClassVar[str] = "a first pass over the tokens, k coins a term; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check(0 <= self.low < self.high <= 1, "low and high are shares of the idf, low the lesser")
        self.check(self.least >= 1, "least must be at least 1")
        self.check(0 < self.left_out < 1, "left_out must be between 0 and 1")
        self.check_kappa(64)

    def fingerprint(self) -> LexiconSignatures:
        return LexiconSignatures(
            low=self.low, high=self.high, least=self.least, randomised=self.k - 1, left_out=self.left_out
        )


@record(frozen=True, slots=True)
class RepeatedChunks:
    """The windows of ``n`` tokens that at least two pages of the collection have.

    SPEX (Bernstein and Zobel 2004): the chunks that occur on several pages. Idea: a chunk that one page only has can
    match nothing; what is left is a small part of a collection. Which chunks repeat is found in a first pass, level by
    level (``statistics``), lossless and, after the last count, exact. Cost: the pass, then one look-up a token; 8 bytes
    a repeated chunk.

    >>> import pyarrow as pa
    >>> from neardup.methods.statistics import collect_statistics
    >>> tokens = pa.array([[1, 2, 3, 4], [9, 1, 2, 3]], pa.large_list(pa.uint64()))
    >>> [len(kept) for kept in RepeatedChunks(n=2).given(collect_statistics([tokens], [2])).compute(tokens)]
    [2, 2]
    """

    n: int

    @property
    def counted(self) -> int:
        return self.n

    def given(self, statistics: CollectionStatistics) -> MemberChunks:
        return MemberChunks(self.n, statistics.table(self.n), inside=True)


@record(frozen=True, slots=True, eq=False)
class MemberChunks(NativeSets):
    """The windows of ``n`` tokens inside, or outside, a table of the collection."""

    native: ClassVar[str] = "member windows"
    n: int
    table: _native.NumberTable
    inside: bool


# SPEX: the chunks that occur on several pages (Bernstein & Zobel 2004).
@register
@record(frozen=True)
class Spex(SharesRatio):
    """Pages whose ``n``-word chunks that other pages have too share ``ratio`` of their union.

    A first pass finds exactly the chunks that at least two pages (identity sets) have. What a page has alone is not
    counted at all, so the ratio must be higher than elsewhere: pages that share a template share most of what is left.

    >>> Spex().counted()
    (8,)
    """

    n: int = 8
    ratio: float = 0.8

    name: ClassVar[str] = "spex"
    summary: ClassVar[str] = "word n-grams that at least two pages have: at least 0.8 shared"
    source: ClassVar[str] = "Bernstein & Zobel 2004"
    cost: ClassVar[str] = "a first pass of several rounds over the tokens; 8 bytes a repeated chunk"

    def __post_init__(self) -> None:
        self.check_ratio()

    def fingerprint(self) -> RepeatedChunks:
        return RepeatedChunks(n=self.n)


@record(frozen=True, slots=True)
class RareChunks:
    """The windows of ``n`` tokens that at most ``most`` pages of the collection have.

    Rare chunks (Heintze 1996): the chunks that few pages have. Idea: what is on many pages is boilerplate and says
    nothing; a chunk that few pages have ties just these together. "Once in the collection", as the taxonomy puts it,
    can match only a page from outside; within one, few must mean two and more. Cost: a first pass (``statistics``),
    then one look-up a token; 8 bytes a rare chunk.

    >>> from neardup.methods.statistics import collect_statistics
    >>> import pyarrow as pa
    >>> tokens = pa.array([[1, 2, 3], [1, 2, 4], [1, 2, 5]], pa.large_list(pa.uint64()))
    >>> [len(kept) for kept in RareChunks(n=2, most=2).given(collect_statistics([tokens], [2])).compute(tokens)]
    [1, 1, 1]
    """

    n: int
    most: int

    @property
    def counted(self) -> int:
        return self.n

    def given(self, statistics: CollectionStatistics) -> MemberChunks:
        frequent = statistics.between(self.n, self.most + 1, 2**32 - 1)
        return MemberChunks(self.n, _native.NumberTable(frequent), inside=False)


# Rare chunks: those that few pages have (Heintze 1996).
@register
@record(frozen=True)
class RareChunkSelection(SharesRatio):
    """Pages whose ``n``-word chunks that at most ``most`` pages have share ``ratio`` of their union.

    ``most=1``, a chunk that occurs once, can match only pages from outside the collection.

    >>> RareChunkSelection(n=4).counted()
    (4,)
    """

    n: int = 5
    most: int = 10
    ratio: float = 0.5

    name: ClassVar[str] = "rare-chunks"
    summary: ClassVar[str] = "word n-grams that at most 10 pages have: at least 0.5 shared"
    source: ClassVar[str] = "Heintze 1996; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "a first pass of several rounds over the tokens; 8 bytes a rare chunk"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "most"))

    def fingerprint(self) -> RareChunks:
        return RareChunks(n=self.n, most=self.most)
