"""I-Match signatures (Chowdhury et al. 2002), and of randomised lexicons (Kołcz et al. 2004).

Idea: a lexicon holds the terms of middling frequency; a page's signature is one hash of the set of its terms in it. One
differing lexicon term changes it, so further lexicons leave a random share of the terms out: a difference of d terms is
forgiven by each with probability share^d. How frequent a term is, is told by its *normalised idf*, ln(N/df) / ln N: 0
for a term on every page, 1 for a term on one. Cost: a first pass (``statistics``), then one look-up a distinct term; 8
bytes a lexicon."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import FixedWidth
from neardup.fingerprints.statistics import CollectionStatistics


@dataclass(frozen=True, slots=True)
class LexiconSignatures:
    """Signatures of the full lexicon and of ``randomised`` others, of terms of a normalised idf from ``low`` to
    ``high``.

    >>> from neardup.fingerprints.statistics import collect_statistics
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
        if fewest <= 1:
            # Terms on one page are not listed: then the lexicon is all but the frequent ones.
            frequent = statistics.between(1, most + 1, 2**32 - 1)
            return GivenSignatures(self, _native.NumberTable(frequent), unlisted=True)
        return GivenSignatures(self, _native.NumberTable(statistics.between(1, fewest, most)), unlisted=False)


@dataclass(frozen=True, slots=True, eq=False)
class GivenSignatures:
    """With the lexicon at hand: listed terms, or all but the listed ones."""

    kind: LexiconSignatures
    terms: _native.NumberTable
    unlisted: bool

    @property
    def width(self) -> int:
        return self.kind.width

    def compute(self, tokens: pa.LargeListArray) -> FixedWidth:
        return _native.lexicon_signatures(
            tokens,
            self.terms,
            unlisted=self.unlisted,
            randomised=self.kind.randomised,
            left_out=self.kind.left_out,
            least=self.kind.least,
        )
