"""Sets of chunks, selected by what the tokens are or where they stand (Potthast & Stein 2008, Table 1).

Idea: a chunk is n consecutive words. Pages share a ratio of their chunks, or so many of a number of them, if they are
near-duplicates; the methods differ in which chunks they keep. A selection that looks at a chunk and its neighbours only
keeps the same ones on every page that has them; one that looks at places, or draws at random, does not. Cost: one pass
over the tokens; 8 bytes a chunk that is kept.
"""

from __future__ import annotations

from typing import ClassVar

from neardup.methods.base import NativeSets
from neardup.methods.registry import register
from neardup.methods.shared import SharesNumbers, SharesRatio
from neardup.methods.shingles import ShingleSet
from neardup.record import record


# All word n-grams as chunks: what every selection is a part of (Potthast & Stein §2).
@register
@record(frozen=True)
class WordChunks(SharesRatio):
    """Pages whose sets of ``n``-word chunks share ``ratio`` of their union.

    All chunks, nothing selected: the exact answer that the other chunk methods approximate.

    >>> str(WordChunks(n=3))
    'word-chunks(n=3)'
    """

    n: int = 5
    ratio: float = 0.5

    name: ClassVar[str] = "word-chunks"
    summary: ClassVar[str] = "all word n-grams: shared chunks of the union at least 0.5"
    source: ClassVar[str] = "Potthast & Stein 2008 §2; Broder et al. 1997"
    cost: ClassVar[str] = "8 bytes a token; keys about half of the chunks"

    def __post_init__(self) -> None:
        self.check_ratio()

    def fingerprint(self) -> ShingleSet:
        return ShingleSet(k=self.n)


@record(frozen=True, slots=True)
class SmallestShingles(NativeSets):
    """The ``k`` smallest windows of ``n`` tokens.

    Shingling by the k smallest (Broder 1997, 2000). Idea: the k chunks with the smallest numbers. The k smallest of the
    union of two pages are a random sample of it, and the share of them that both have estimates the Jaccard similarity
    without bias. One order serves for all k. Cost: O(tokens) and a sort; 8·k bytes a page.

    >>> import pyarrow as pa
    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> len(SmallestShingles(n=5, k=10).compute(tokens)[0])
    10
    """

    native: ClassVar[str] = "smallest windows"
    n: int
    k: int


# Shingling: the k smallest chunks (Broder 1997, 2000).
@register
@record(frozen=True)
class Shingling(SharesNumbers):
    """Pages that share ``kappa`` of the ``k`` smallest ``n``-word chunks of each.

    A share of κ/k among the k smallest of each stands for a Jaccard similarity of κ/(2k − κ): 0.5 with the defaults.

    >>> round(Shingling().least_ratio(), 2)
    0.5
    """

    n: int = 5
    k: int = 128
    kappa: int = 85

    name: ClassVar[str] = "shingling"
    summary: ClassVar[str] = "the 128 smallest word n-grams: at least 85 shared"
    source: ClassVar[str] = "Broder 1997, 2000; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "O(tokens) and a sort; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check_numbers()

    def fingerprint(self) -> SmallestShingles:
        return SmallestShingles(n=self.n, k=self.k)


@record(frozen=True, slots=True)
class RandomChunks(NativeSets):
    """``k`` of the windows of ``n`` tokens.

    Chunks at random (Potthast & Stein, Table 1: "misc."). Idea: k of the page's distinct chunks, drawn by a generator
    that the page's own tokens seed. Two pages draw independently: of c chunks that they share c·(k/C)² are expected on
    both, C being how many each has. Kept as a yardstick for the others. Cost: O(tokens); 8·k bytes a page.

    >>> import pyarrow as pa
    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> len(RandomChunks(n=5, k=10).compute(tokens)[0])
    10
    """

    native: ClassVar[str] = "random windows"
    n: int
    k: int


# Random selection of chunks (Potthast & Stein, Table 1).
@register
@record(frozen=True)
class RandomSelection(SharesNumbers):
    """Pages that share ``kappa`` of the ``k`` chunks that each draws at random.

    Pages draw independently, so few of the chunks they share are drawn on both: a yardstick, not a recommendation.

    >>> str(RandomSelection(k=50, kappa=2))
    'random-chunks(k=50,kappa=2)'
    """

    n: int = 5
    k: int = 100
    kappa: int = 5

    name: ClassVar[str] = "random-chunks"
    summary: ClassVar[str] = "100 word n-grams drawn at random: at least 5 shared"
    source: ClassVar[str] = "Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "O(tokens); 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check_numbers()

    def fingerprint(self) -> RandomChunks:
        return RandomChunks(n=self.n, k=self.k)


@record(frozen=True, slots=True)
class SlidingWindow(NativeSets):
    """The windows of ``n`` tokens at places 0, ``m``, 2·``m`` …

    One of a sliding window (Potthast & Stein, Table 1: "misc."). Idea: the chunks that start at every m-th word. An
    inserted word shifts all behind it, so pages share what stands before the first change and little more. Kept as a
    yardstick for the others. Cost: O(tokens); 8/m bytes a token.

    >>> import pyarrow as pa
    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> len(SlidingWindow(n=5, m=10).compute(tokens)[0])
    3
    """

    native: ClassVar[str] = "stepping windows"
    n: int
    m: int


# One of a sliding window: the chunks at every m-th word (Potthast & Stein, Table 1).
@register
@record(frozen=True)
class OneOfSlidingWindow(SharesRatio):
    """Pages whose ``n``-word chunks at every ``m``-th word share ``ratio`` of their union.

    An inserted word shifts all chunks behind it: a yardstick, not a recommendation.

    >>> str(OneOfSlidingWindow(m=1))
    'sliding-window(m=1)'
    """

    n: int = 5
    m: int = 5
    ratio: float = 0.5

    name: ClassVar[str] = "sliding-window"
    summary: ClassVar[str] = "the word n-grams at every 5th word: at least 0.5 shared"
    source: ClassVar[str] = "Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "O(tokens); 8/m bytes a token"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "m"))

    def fingerprint(self) -> SlidingWindow:
        return SlidingWindow(n=self.n, m=self.m)


@record(frozen=True, slots=True)
class Winnowed(NativeSets):
    """The smallest of every ``w`` consecutive windows of ``n`` tokens.

    Winnowing (Schleimer, Wilkerson and Aiken 2003). Idea: of every w consecutive chunks of n tokens the smallest is
    selected. A run of w + n − 1 tokens that two pages have in common always shares a number; of random chunks a share
    of 2/(w + 1) is selected. Cost: O(tokens); 16/(w + 1) bytes a token.

    >>> import pyarrow as pa
    >>> tokens = pa.array([list(range(1, 31))], pa.large_list(pa.uint64()))
    >>> len(Winnowed(n=5, w=26).compute(tokens)[0]), len(Winnowed(n=5, w=1).compute(tokens)[0])
    (1, 26)
    """

    native: ClassVar[str] = "winnowed"
    n: int
    w: int


# Winnowing: the smallest chunk of every window (Schleimer et al. 2003).
@register
@record(frozen=True)
class Winnowing(SharesRatio):
    """Pages whose winnowed ``n``-word chunks share ``ratio`` of their union.

    Of every ``w`` consecutive chunks the smallest is selected; a common run of ``w`` + ``n`` − 1 words always shares
    one.

    >>> str(Winnowing(n=8, w=20))
    'winnowing(n=8,w=20)'
    """

    n: int = 5
    w: int = 10
    ratio: float = 0.5

    name: ClassVar[str] = "winnowing"
    summary: ClassVar[str] = "the smallest word n-gram of every 10: at least 0.5 shared"
    source: ClassVar[str] = "Schleimer, Wilkerson & Aiken 2003"
    cost: ClassVar[str] = "O(tokens); 16/(w + 1) bytes a token"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "w"))

    def fingerprint(self) -> Winnowed:
        return Winnowed(n=self.n, w=self.w)


@record(frozen=True, slots=True)
class BreakpointChunks(NativeSets):
    """The stretches between words whose hash is 0 mod ``n``.

    Hashed-breakpoint chunks (Brin, Davis and Garcia-Molina 1995). Idea: a chunk ends at every word whose hash is 0 mod
    n, so chunks have n words on average and do not overlap. A changed word changes the chunk it stands in, and none
    behind the next breakpoint. Cost: O(tokens); 8/n bytes a token.

    >>> import pyarrow as pa
    >>> tokens = pa.array([[1, 2, 3]], pa.large_list(pa.uint64()))
    >>> len(BreakpointChunks(n=1).compute(tokens)[0])
    3
    """

    native: ClassVar[str] = "stretches"
    n: int


# Hashed-breakpoint chunking (Brin et al. 1995): the best of Potthast & Stein's experiments.
@register
@record(frozen=True)
class HashedBreakpointChunks(SharesRatio):
    """Pages whose stretches between breakpoint words share ``ratio`` of their union.

    A word is a breakpoint if its hash is 0 mod ``n``, so chunks have ``n`` words on average.

    >>> str(HashedBreakpointChunks(ratio=0.7))
    'breakpoint-chunks(ratio=0.7)'
    """

    n: int = 5
    ratio: float = 0.5

    name: ClassVar[str] = "breakpoint-chunks"
    summary: ClassVar[str] = "stretches between hashed breakpoint words: at least 0.5 shared"
    source: ClassVar[str] = "Brin, Davis & Garcia-Molina 1995; Potthast & Stein 2008 §3"
    cost: ClassVar[str] = "one hash a token; 8 bytes in n tokens"

    def __post_init__(self) -> None:
        self.check_ratio()

    def fingerprint(self) -> BreakpointChunks:
        return BreakpointChunks(n=self.n)

    def chunk_length(self) -> str:
        return f"{self.n} on average"


@record(frozen=True, slots=True)
class WordBreakpoints(NativeSets):
    """The windows of ``n`` words that end in a word whose hash is 0 mod ``m``.

    Hashed breakpoints by words (Brin, Davis and Garcia-Molina 1995, as a selection). Idea: of all windows of n words
    those whose last word's hash is 0 mod m: one in m, the same on every page that has them. Cost: O(tokens); 8/m bytes
    a token.

    >>> import pyarrow as pa
    >>> tokens = pa.array([[1, 2, 3]], pa.large_list(pa.uint64()))
    >>> len(WordBreakpoints(n=2, m=1).compute(tokens)[0])
    2
    """

    native: ClassVar[str] = "ending windows"
    n: int
    m: int


# Hashed breakpoints, Brin's word rule, as a selection of n-grams (Potthast & Stein, Table 1).
@register
@record(frozen=True)
class BrinBreakpoints(SharesRatio):
    """Pages whose ``n``-word chunks that end in a breakpoint word share ``ratio`` of their union.

    One word in ``m`` is a breakpoint: its hash is 0 mod ``m``.

    >>> str(BrinBreakpoints())
    'word-breakpoints'
    """

    n: int = 5
    m: int = 4
    ratio: float = 0.5

    name: ClassVar[str] = "word-breakpoints"
    summary: ClassVar[str] = "word n-grams whose last word's hash is 0 mod 4: at least 0.5 shared"
    source: ClassVar[str] = "Brin, Davis & Garcia-Molina 1995; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "one hash a token; 8 bytes in m tokens"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "m"))

    def fingerprint(self) -> WordBreakpoints:
        return WordBreakpoints(n=self.n, m=self.m)
