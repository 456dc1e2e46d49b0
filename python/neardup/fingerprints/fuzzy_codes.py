"""Fuzzy fingerprinting (Stein 2005; Stein and Meyer zu Eissen 2006).

Idea: words fall into classes by their first letter. How much more or less frequent each class is on the page than in
the language (a reference profile, counted from text: ``profiles``) is told only as one of a few intervals, cut
differently by each scheme; a scheme's number is the code of all intervals. Pages that agree in a scheme are duplicates.
Cost: one look-up a word, and the page is read a second time for its text; 8 bytes a scheme."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup.fingerprints.base import FixedWidth, OfTerms
from neardup.fingerprints.profiles import load_profile


@dataclass(frozen=True, slots=True)
class FuzzyCodes(OfTerms):
    """A code for each of ``k`` schemes of ``intervals`` intervals against the profile of a language. Cuts lie around 0,
    the expected share: ``spread`` apart, each scheme's shifted by a ``k``-th of that. Classes below ``rarest`` do not
    count.

    >>> terms = pa.array([["some", "words"], ["words", "some"]], pa.large_list(pa.large_string()))
    >>> codes = FuzzyCodes(profile="en", k=3, intervals=2, spread=0.6, rarest=0.02).compute(terms)
    >>> codes.shape, bool((codes[0] == codes[1]).all())
    ((2, 3), True)
    """

    profile: str
    k: int
    intervals: int
    spread: float
    rarest: float

    @property
    def width(self) -> int:
        return self.k

    def schemes(self) -> list[list[float]]:
        """The cuts of each scheme.

        >>> FuzzyCodes("en", k=2, intervals=3, spread=0.5, rarest=0.0).schemes()
        [[-0.375, 0.125], [-0.125, 0.375]]
        """
        cuts = self.intervals - 1
        first = -self.spread * (cuts - 1) / 2
        shifts = [((scheme + 0.5) / self.k - 0.5) * self.spread for scheme in range(self.k)]
        return [[first + shift + cut * self.spread for cut in range(cuts)] for shift in shifts]

    def compute(self, terms: pa.LargeListArray) -> FixedWidth:
        classes = load_profile(self.profile).native()
        return classes.codes(terms, schemes=self.schemes(), rarest=self.rarest)
