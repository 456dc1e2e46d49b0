"""Sets of chunks that are selected by letters: anchors, and windows of bytes (Manber 1994; Heintze 1996).

Idea: which chunks are kept is decided by the text of the words, which a token hides: by what a word begins with, or by
the bytes themselves. Cost: one look a word or byte, and the page is read a second time for its text; 8 bytes a chunk
that is kept.
"""

from __future__ import annotations

from typing import ClassVar

from neardup.methods.base import NativeSets, OfTerms
from neardup.methods.registry import register
from neardup.methods.shared import SharesRatio
from neardup.record import record


@record(frozen=True, slots=True)
class PrefixAnchors(NativeSets, OfTerms):
    """The windows of ``n`` words that begin with one of ``prefixes`` (joined by "+"); without any, with one in
    ``every`` of the prefixes of ``letters`` letters.

    Prefix anchors (Manber 1994). Idea: of all windows of n words those whose first word begins with a particular
    prefix. Which prefixes: given ones, or one in ``every`` of all prefixes of so many letters, chosen by a hash, so
    that no language must be known. Cost: O(words), and the page is read a second time for its text; 8 bytes a selected
    window.

    >>> import pyarrow as pa
    >>> terms = pa.array([["the", "cat", "then", "sat"]], pa.large_list(pa.large_string()))
    >>> len(PrefixAnchors(n=2, prefixes="th+ca").compute(terms)[0])
    3
    """

    native: ClassVar[str] = "prefixes"
    n: int
    prefixes: str = ""
    letters: int = 2
    every: int = 8


# Prefix anchors, Manber's: chunks that begin with a particular prefix (Manber 1994).
@register
@record(frozen=True)
class PrefixAnchor(SharesRatio):
    """Pages whose ``n``-word chunks that begin with an anchor share ``ratio`` of their union.

    Anchors are ``prefixes``, joined by "+"; or, without any, one in ``every`` of the prefixes of ``letters`` letters,
    by hash.

    >>> str(PrefixAnchor(prefixes="th+re"))
    'prefix-anchor(prefixes=th+re)'
    """

    n: int = 5
    prefixes: str = ""
    letters: int = 2
    every: int = 4
    ratio: float = 0.5

    name: ClassVar[str] = "prefix-anchor"
    summary: ClassVar[str] = "word n-grams that begin with one of some prefixes: at least 0.5 shared"
    source: ClassVar[str] = "Manber 1994; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "one look a word, and reading pages twice; 8 bytes an anchor"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "letters", "every"))
        self.check("" not in self.prefixes.split("+")[1:], "prefixes are joined by one +, none of them empty")

    def fingerprint(self) -> PrefixAnchors:
        return PrefixAnchors(n=self.n, prefixes=self.prefixes, letters=self.letters, every=self.every)


@record(frozen=True, slots=True)
class RarePrefixes(NativeSets, OfTerms):
    """The windows of ``n`` words whose first ``letters`` letters at most ``most`` words of the page begin with.

    Prefix anchors that are rare on the page (Heintze 1996). Idea: of all windows of n words those that begin with a
    prefix which is infrequent on this page: at most ``most`` of its words begin so. Rare beginnings are found in few
    other pages, and a page decides alone which they are. Cost: O(words), and the page is read a second time for its
    text; 8 bytes a selected window.

    >>> import pyarrow as pa
    >>> terms = pa.array([["the", "cat", "then", "sat"]], pa.large_list(pa.large_string()))
    >>> len(RarePrefixes(n=2, letters=2, most=1).compute(terms)[0])
    1
    """

    native: ClassVar[str] = "rare prefixes"
    n: int
    letters: int
    most: int


# Prefix anchors, Heintze's: chunks that begin with a prefix which is infrequent on the page (Heintze 1996).
@register
@record(frozen=True)
class RarePrefixAnchor(SharesRatio):
    """Pages whose ``n``-word chunks that begin with a rare prefix share ``ratio`` of their union.

    A prefix of ``letters`` letters is rare if at most ``most`` words of the page begin with it.

    >>> str(RarePrefixAnchor(most=2))
    'rare-prefix-anchor(most=2)'
    """

    n: int = 5
    letters: int = 3
    most: int = 1
    ratio: float = 0.5

    name: ClassVar[str] = "rare-prefix-anchor"
    summary: ClassVar[str] = "word n-grams that begin with a prefix rare on the page: at least 0.5 shared"
    source: ClassVar[str] = "Heintze 1996; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "one look a word, and reading pages twice; 8 bytes an anchor"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "letters", "most"))

    def fingerprint(self) -> RarePrefixes:
        return RarePrefixes(n=self.n, letters=self.letters, most=self.most)


@record(frozen=True, slots=True)
class ByteBreakpoints(NativeSets, OfTerms):
    """The substrings of ``n`` bytes whose hash is 0 mod ``m``.

    Hashed breakpoints by bytes (Manber 1994). Idea: of all substrings of n bytes of the page's text (its terms with one
    space between two) those whose hash ends in a zero byte: one in 256. Cost: O(bytes), and the page is read a second
    time for its text; 8/256 bytes a byte of text.

    >>> import pyarrow as pa
    >>> terms = pa.array([["some", "words"]], pa.large_list(pa.large_string()))
    >>> len(ByteBreakpoints(n=4, m=1).compute(terms)[0])
    7
    """

    native: ClassVar[str] = "byte windows"
    n: int
    m: int


# Hashed breakpoints, Manber's byte rule: substrings whose hash ends in a zero byte (Manber 1994).
@register
@record(frozen=True)
class ManberBreakpoints(SharesRatio):
    """Pages whose selected substrings of ``n`` bytes share ``ratio`` of their union.

    Selected are those whose hash is 0 mod ``m``. Of a short text it may be none: such a page matches only its copies.

    >>> str(ManberBreakpoints(m=64))
    'byte-breakpoints(m=64)'
    """

    n: int = 50
    m: int = 256
    ratio: float = 0.5

    name: ClassVar[str] = "byte-breakpoints"
    summary: ClassVar[str] = "50-byte substrings whose hash ends in a zero byte: at least 0.5 shared"
    source: ClassVar[str] = "Manber 1994; Potthast & Stein 2008, Table 1"
    cost: ClassVar[str] = "one hash a byte, and reading pages twice; 8 bytes in m bytes"

    def __post_init__(self) -> None:
        self.check_ratio(lengths=("n", "m"))

    def fingerprint(self) -> ByteBreakpoints:
        return ByteBreakpoints(n=self.n, m=self.m)

    def chunk_length(self) -> str:
        return f"{self.n} bytes"
