"""Collections of any size and of odd shapes, for asking how the time grows: what they say does not matter.

Every page (but one-word pages) has 240 words of a made-up vocabulary in which few words are common, a URL on one of a
thousand sites, and an id. A collection of n pages is the first n lines of a larger one of the same kind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

WORDS: Final = 240
_SEED: Final = 7
_VOCABULARY: Final = 50_000
_SITES: Final = 1000
#: Pages that are made, and shuffled, together.
_BLOCK: Final = 5000

Words = npt.NDArray[np.int64]


def vocabulary() -> npt.NDArray[np.object_]:
    """Different words of two to five syllables, the common ones short.

    >>> words = vocabulary()
    >>> len(words) == len(set(words)), words[0]
    (True, 'baba')
    """
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    words = []
    for number in range(_VOCABULARY):
        parts = [syllables[number % 70], syllables[number // 70 % 70]]
        if number >= 70 * 70:
            parts.append(syllables[number // 4900])
        words.append("".join(parts))
    return np.array(words, dtype=object)


def _draw(random: np.random.Generator, *shape: int) -> Words:
    return (random.random(shape) ** 3 * _VOCABULARY).astype(np.int64)


def _ordinary(random: np.random.Generator) -> Words:
    """Half of the pages alone, half in families of 2 to 20 in which each page has about 2 % words of its own."""
    pages = _draw(random, _BLOCK, WORDS)
    at = 0
    while at < _BLOCK // 2:
        size = min(20, int(2 / (1 - random.random())))
        members = pages[at : at + size]
        own = random.random(members.shape) < 0.02
        pages[at : at + size] = np.where(own, members, members[0])
        at += size
    return pages[random.permutation(_BLOCK)]


def _one_cluster(random: np.random.Generator) -> Words:
    """One text; each page has two words of its own: any two pages have a similarity of about .84."""
    pages = np.tile(_draw(np.random.default_rng(_SEED), WORDS), (_BLOCK, 1))
    for _ in range(2):
        pages[np.arange(_BLOCK), random.integers(0, WORDS, _BLOCK)] = random.integers(0, _VOCABULARY, _BLOCK)
    return pages


def _template(random: np.random.Generator) -> Words:
    """The first half of every page is the same, the second its own: a similarity of about one third."""
    pages = _draw(random, _BLOCK, WORDS)
    pages[:, : WORDS // 2] = _draw(np.random.default_rng(_SEED), WORDS // 2)
    return pages


def _identical(_: np.random.Generator) -> Words:
    return np.tile(_draw(np.random.default_rng(_SEED), WORDS), (_BLOCK, 1))


def _all_different(random: np.random.Generator) -> Words:
    return _draw(random, _BLOCK, WORDS)


def _one_word(random: np.random.Generator) -> Words:
    return _draw(random, _BLOCK, 1)


#: Kind → a block of pages of it, and what it is.
KINDS: Final = {
    "ordinary": (_ordinary, "half alone, half in families of 2 to 20"),
    "one cluster": (_one_cluster, "one text, two words of each page its own"),
    "template": (_template, "half of each page is one template, half its own"),
    "identical": (_identical, "one and the same text"),
    "all different": (_all_different, "no two alike"),
    "one word": (_one_word, "pages of one word"),
}


def lines(kind: str, pages: int) -> Iterator[bytes]:
    """The pages of a collection as JSON lines.

    >>> first, second = lines("identical", 2)
    >>> json.loads(first)["text"] == json.loads(second)["text"], len(json.loads(first)["text"].split())
    (True, 240)
    """
    words, make = vocabulary(), KINDS[kind][0]
    random = np.random.default_rng([_SEED, len(kind)])
    for start in range(0, pages, _BLOCK):
        block = make(random)
        sites = random.integers(0, _SITES, _BLOCK)
        for number in range(min(_BLOCK, pages - start)):
            row = start + number
            page = {"id": str(row), "url": f"http://site{sites[number]}.example/{row}"}
            yield json.dumps(page | {"text": " ".join(words[block[number]])}).encode() + b"\n"


def prepare(folder: Path, kind: str, pages: int) -> Path:
    """The file of a collection, made if it is not there yet."""
    path = folder / f"{kind.replace(' ', '-')}-{pages}.jsonl"
    if not path.exists():
        print(f"  making {path.name}", flush=True)
        partial = path.with_name(path.name + ".partial")
        with open(partial, "wb") as file:
            file.writelines(lines(kind, pages))
        partial.rename(path)
    return path
