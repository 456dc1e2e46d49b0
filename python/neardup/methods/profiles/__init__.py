"""Reference profiles of languages for fuzzy fingerprinting: how often words begin with each letter.

A profile is counted from text and stored as JSON beside this file, with its origin: whose text, how many pages and
words, and a digest of the counts. Classes are letters, or for scripts of very many characters numbers that characters
are hashed to. ``make_profile`` counts one from pages of your own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.errors import FormatError, UsageError
from neardup.methods.base import NativeRows, OfTerms
from neardup.methods.registry import register
from neardup.methods.shared import SharesColumns
from neardup.record import record

_FOLDER: Final = Path(__file__).parent
#: The letters of each class, by the kind of script; a character that none names is hashed to one of them.
_DIGITS: Final = "0123456789"
ALPHABETS: Final[dict[str, tuple[str, ...]]] = {
    "latin": (
        "aàáâãäåā", "b", "cçč", "d", "eèéêëē", "f", "g", "h", "iìíîï", "j", "k", "l", "m", "nñ", "oòóôõöø", "p", "q",
        "r", "sšß", "t", "uùúûü", "v", "w", "x", "yÿ", "zž", _DIGITS,
    ),
    "cyrillic": (*"абвгдежзийклмнопрстуфхцчшщэюя", _DIGITS),
    # Characters are hashed to 32 classes.
    "hashed": ("",) * 32,
}  # fmt: skip


@record(frozen=True, slots=True)
class Profile:
    """What is expected of a language, and where that was counted."""

    language: str
    #: Whose text, under what terms.
    origin: str
    pages: int
    words: int
    #: The characters of each class, and its share of the words.
    classes: tuple[tuple[str, float], ...]

    def native(self) -> _native.PrefixProfile:
        """The same for the kernels; made once for each profile."""
        return _native_profile(self)

    def to_json(self) -> dict[str, Any]:
        return {
            "language": self.language,
            "origin": self.origin,
            "pages": self.pages,
            "words": self.words,
            "classes": [[letters, share] for letters, share in self.classes],
        }


@cache
def _native_profile(profile: Profile) -> _native.PrefixProfile:
    return _native.PrefixProfile([(letters, share) for letters, share in profile.classes])


def languages() -> tuple[str, ...]:
    """The languages there are profiles of.

    >>> "en" in languages()
    True
    """
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


@cache
def load_profile(language: str) -> Profile:
    """The profile of a language.

    >>> sum(share for _, share in load_profile("en").classes) > 0.999
    True
    """
    if language not in languages():
        raise UsageError(f"there is no profile of {language!r}", hint=f"one of {', '.join(languages())}")
    place = _FOLDER / f"{language}.json"
    try:
        told = json.loads(place.read_text(encoding="utf-8"))
        classes = tuple((str(letters), float(share)) for letters, share in told["classes"])
        return Profile(language, str(told["origin"]), int(told["pages"]), int(told["words"]), classes)
    except (OSError, ValueError, KeyError, TypeError):
        raise FormatError("the profile is damaged", where=str(place), hint="install neardup again") from None


def make_profile(
    language: str, origin: str, batches: Iterable[pa.LargeListArray], alphabet: Sequence[str] = ALPHABETS["latin"]
) -> Profile:
    """Counts a profile from the terms of pages.

    >>> terms = pa.array([["an", "apple", "bears", "fruit"]], pa.large_list(pa.large_string()))
    >>> made = make_profile("xx", "a sentence", [terms])
    >>> made.words, made.classes[0]
    (4, ('aàáâãäåā', 0.5))
    """
    counter = _native.PrefixProfile([(letters, 0.0) for letters in alphabet])
    counts = np.zeros(len(alphabet), np.int64)
    pages = 0
    for batch in batches:
        counts += counter.counts(batch).sum(axis=0, dtype=np.int64)
        pages += len(batch)
    words = int(counts.sum())
    if not words:
        raise UsageError("a profile needs words to be counted from", hint="give pages that have some")
    # Six digits say more than any text does.
    shares = [round(float(count) / words, 6) for count in counts]
    return Profile(language, origin, pages, words, tuple(zip(alphabet, shares, strict=True)))


@record(frozen=True, slots=True)
class FuzzyCodes(NativeRows, OfTerms):
    """A code for each of ``k`` schemes of ``intervals`` intervals against the profile of a language. Cuts lie around 0,
    the expected share: ``spread`` apart, each scheme's shifted by a ``k``-th of that. Classes below ``rarest`` do not
    count.

    Fuzzy fingerprinting (Stein 2005; Stein and Meyer zu Eissen 2006). Idea: words fall into classes by their first
    letter. How much more or less frequent each class is on the page than in the language (a reference profile, counted
    from text: ``profiles``) is told only as one of a few intervals, cut differently by each scheme; a scheme's number
    is the code of all intervals. Pages that agree in a scheme are duplicates. Cost: one look-up a word, and the page is
    read a second time for its text; 8 bytes a scheme.

    >>> terms = pa.array([["some", "words"], ["words", "some"]], pa.large_list(pa.large_string()))
    >>> codes = FuzzyCodes(profile="en", k=3, intervals=2, spread=0.6, rarest=0.02).compute(terms)
    >>> codes.shape, bool((codes[0] == codes[1]).all())
    ((2, 3), True)
    """

    native: ClassVar[str] = "deviations"
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

    @property
    def classes(self) -> _native.PrefixProfile:
        """What is expected of the language."""
        return load_profile(self.profile).native()


# Fuzzy fingerprinting: deviation from what words of the language begin with (Stein 2005).
@register
@record(frozen=True)
class FuzzyFingerprinting(SharesColumns):
    """Pages that agree in at least ``kappa`` of ``k`` fuzzification schemes.

    Words are classed by their first letter. The deviation of each class from the ``profile`` of the language is told as
    one of ``intervals`` intervals, cut ``spread`` apart; classes below the share ``rarest`` are left out. Cost of a
    page's other words is none: what they say is not looked at, so pages of one topic and style may be taken for
    duplicates.

    >>> str(FuzzyFingerprinting(profile="de"))
    'fuzzy-fingerprinting(profile=de)'
    """

    profile: str = "en"
    k: int = 3
    intervals: int = 2
    spread: float = 0.6
    rarest: float = 0.02
    kappa: int = 1

    name: ClassVar[str] = "fuzzy-fingerprinting"
    summary: ClassVar[str] = "the same deviation of first letters from the language, in one of 3 schemes"
    source: ClassVar[str] = "Stein 2005; Stein & Meyer zu Eissen 2006; Potthast & Stein 2008 §2.2"
    cost: ClassVar[str] = "one look-up a word, and reading pages twice; 8·k bytes a page"

    def __post_init__(self) -> None:
        self.check(self.profile in languages(), f"profile is one of {', '.join(languages())}")
        self.check(2 <= self.intervals <= 16, "intervals must be between 2 and 16")
        self.check(0 < self.spread <= 10, "spread must be above 0 and at most 10")
        self.check(0 <= self.rarest < 1, "rarest is a share below 1")
        self.check_kappa(64)

    def fingerprint(self) -> FuzzyCodes:
        return FuzzyCodes(
            profile=self.profile, k=self.k, intervals=self.intervals, spread=self.spread, rarest=self.rarest
        )
