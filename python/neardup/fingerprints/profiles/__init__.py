"""Reference profiles of languages for fuzzy fingerprinting: how often words begin with each letter.

A profile is counted from text and stored as JSON beside this file, with its origin: whose text, how many pages and
words, and a digest of the counts. Classes are letters, or for scripts of very many characters numbers that characters
are hashed to. ``make_profile`` counts one from pages of your own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.errors import FormatError, UsageError

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


@dataclass(frozen=True, slots=True)
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
