"""Texts whose Jaccard similarity is known exactly, and collections with planted clusters.

A text here is a list of tokens that are all different (made-up words of letters only, one term each under any
sensible tokenizer), so its n − k + 1 shingles of k tokens are all different too. Then sharing can be counted:

- two texts with a common beginning and own endings of p and q tokens share s shingles of s + p + q: any
  fraction s/u can be had;
- e tokens replaced at least k apart, and at least k − 1 from both ends, change exactly e·k shingles.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from itertools import islice
from typing import Final

from neardup.errors import UsageError
from neardup.testing.dice import Dice

_CONSONANTS: Final = "bdfghjklmnprstvz"
_VOWELS: Final = "aeio"
_SYLLABLES: Final = tuple(consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS)


@dataclass(frozen=True, slots=True)
class TokenPair:
    """Two texts and the exact Jaccard similarity of their shingle sets.

    >>> TokenPair(["a", "b"], ["a", "b"], Fraction(1)).jaccard
    Fraction(1, 1)
    """

    a: list[str]
    b: list[str]
    jaccard: Fraction


@dataclass(frozen=True, slots=True)
class Collection:
    """Texts in random order, the cluster of each, and its exact Jaccard similarity to its cluster's centre.

    A centre is itself in the collection, with similarity 1. Texts of different clusters share no token.
    """

    texts: list[list[str]]
    clusters: list[int]
    to_centre: list[Fraction]


def shingle_jaccard(a: Sequence[Hashable], b: Sequence[Hashable], k: int = 8) -> Fraction:
    """The Jaccard similarity of two texts' sets of k-token shingles; 0 where both are shorter than k.

    >>> shingle_jaccard("abcde", "abcdx", k=2)
    Fraction(3, 5)
    """
    one = {tuple(a[start : start + k]) for start in range(len(a) - k + 1)}
    other = {tuple(b[start : start + k]) for start in range(len(b) - k + 1)}
    union = len(one | other)
    return Fraction(len(one & other), union) if union else Fraction(0)


def made_up_words(count: int, dice: Dice) -> list[str]:
    """Different pronounceable words of letters only.

    >>> len(set(made_up_words(1000, Dice(3)))), made_up_words(1, Dice(3))[0].isalpha()
    (1000, True)
    """
    words: dict[str, None] = {}
    while len(words) < count:
        # Five syllables of 64: 2^30 words.
        words["".join([dice.pick(_SYLLABLES) for _ in range(5)])] = None
    return list(words)


def pair_of_jaccard(jaccard: float, *, k: int = 8, union: int = 1000, seed: int | str = 0) -> TokenPair:
    """Two texts whose shingle sets have the Jaccard similarity nearest to the one asked for.

    The two have ``union`` shingles together, and the similarity is a whole number of them over ``union``.

    >>> pair = pair_of_jaccard(0.8, k=8, union=500)
    >>> pair.jaccard, shingle_jaccard(pair.a, pair.b, k=8) == pair.jaccard
    (Fraction(4, 5), True)
    """
    if not 0 <= jaccard <= 1 or k < 1 or union < 2:
        raise UsageError(
            f"no pair with Jaccard {jaccard}, k={k}, union={union}",
            hint="the similarity is from 0 to 1, k at least 1, the union at least 2 shingles",
        )
    dice = Dice(seed, "pair")
    shared = int(jaccard * union + 0.5)
    own = union - shared
    # Without a shared shingle there is no common beginning, and each text needs k − 1 tokens to start with.
    common = shared + k - 1 if shared else 0
    start = 0 if shared else k - 1
    tail_a, tail_b = start + own // 2, start + own - own // 2
    words = made_up_words(common + tail_a + tail_b, dice)
    beginning = words[:common]
    return TokenPair(
        beginning + words[common : common + tail_a],
        beginning + words[common + tail_a :],
        Fraction(shared, union),
    )


def replace_tokens(tokens: Sequence[str], edits: int, *, k: int = 8, seed: int | str = 0) -> TokenPair:
    """The text and a copy in which so many single tokens, spread over it, are replaced by new words.

    The tokens must all be different. Each edit then changes exactly k shingles, and with n shingles in all
    the similarity is (n − k·edits) / (n + k·edits).

    >>> text = made_up_words(207, Dice(3))
    >>> pair = replace_tokens(text, 5, k=8)
    >>> pair.jaccard, shingle_jaccard(pair.a, pair.b, k=8) == pair.jaccard
    (Fraction(2, 3), True)
    """
    if len(set(tokens)) != len(tokens):
        raise UsageError("a token occurs twice", hint="make the text with made_up_words")
    dice, known = Dice(seed, "edits"), set(tokens)
    new: list[str] = []
    while len(new) < edits:
        new = [word for word in made_up_words(len(new) + edits, dice) if word not in known]
    return _replaced(list(tokens), new[:edits], k, dice)


def _replaced(tokens: list[str], new: list[str], k: int, dice: Dice) -> TokenPair:
    """The text and a copy with the new words, which it does not have, at random places well apart."""
    shingles, edits = len(tokens) - k + 1, len(new)
    # Places from k − 1 to n − 1 lie in k shingles each, and places k apart are never in the same one. So many
    # starting points are left when the gaps of k are taken out.
    free = shingles - k * edits + 1
    if k < 1 or free < 1:
        raise UsageError(
            f"{edits} separate edits with k={k} do not fit into {len(tokens)} tokens",
            hint=f"such a text has at least {max(k, 1) * (edits + 1) - 1} tokens",
        )
    copy = list(tokens)
    for number, place in enumerate(sorted(dice.below(free) for _ in range(edits))):
        copy[k - 1 + place + number * k] = new[number]
    changed = k * edits
    return TokenPair(tokens, copy, Fraction(shingles - changed, shingles + changed))


def planted_clusters(
    texts: int = 1000,
    *,
    clusters: int = 100,
    edits: int = 1,
    k: int = 8,
    shingles: int = 200,
    seed: int | str = 0,
) -> Collection:
    """Texts in clusters of Zipf sizes (the r-th largest has about 1/r of the largest's), in random order.

    Each text but its cluster's centre has so many ``edits`` of its own (see ``replace_tokens``); with n
    shingles its similarity to the centre is (n − k·edits)/(n + k·edits).

    >>> some = planted_clusters(50, clusters=10)
    >>> len(some.texts), len(set(some.clusters)), sorted(set(some.to_centre))
    (50, 10, [Fraction(12, 13), Fraction(1, 1)])
    """
    if edits < 0 or shingles < 1 or k < 1:
        raise UsageError(f"edits={edits}, shingles={shingles}, k={k}", hint="the last two are at least 1")
    if not 1 <= clusters <= texts:
        raise UsageError(f"{texts} texts cannot form {clusters} clusters", hint="give one text a cluster or more")
    entries: list[tuple[list[str], int, Fraction]] = []
    length = shingles + k - 1
    # Words are dealt out once over the whole collection, so that no two clusters share one.
    words = iter(made_up_words(length * clusters + edits * (texts - clusters), Dice(seed, "words")))
    dice = Dice(seed, "edits")
    for cluster, size in enumerate(zipf_sizes(texts, clusters)):
        centre = list(islice(words, length))
        entries.append((centre, cluster, Fraction(1)))
        for _ in range(1, size):
            pair = _replaced(centre, list(islice(words, edits)), k, dice)
            entries.append((pair.b, cluster, pair.jaccard))
    ordered = Dice(seed, "order").shuffled(entries)
    return Collection(
        texts=[text for text, _, _ in ordered],
        clusters=[cluster for _, cluster, _ in ordered],
        to_centre=[similarity for _, _, similarity in ordered],
    )


def zipf_sizes(total: int, parts: int) -> list[int]:
    """The total divided into parts of at least 1, the r-th about 1/r of the first, in falling order.

    >>> zipf_sizes(30, 5), sum(zipf_sizes(1000, 37))
    ([12, 7, 5, 3, 3], 1000)
    """
    if not 1 <= parts <= total:
        raise UsageError(f"{total} cannot be divided into {parts} parts", hint="give at least one to each part")
    spare = total - parts
    # Whole numbers throughout: shares in proportion to 1/rank, the remainder one by one from the top.
    scale = 1 << 40
    weights = [scale // rank for rank in range(1, parts + 1)]
    whole = sum(weights)
    sizes = [1 + spare * weight // whole for weight in weights]
    for rank in range(total - sum(sizes)):
        sizes[rank % parts] += 1
    return sizes


def html_page(tokens: Sequence[str], title: str = "") -> str:
    """A page that shows the tokens and, where there is no title, nothing else.

    >>> html_page(["one", "two"]).count("one two")
    1
    """
    head = f"<title>{escape(title, quote=False)}</title>" if title else ""
    text = escape(" ".join(tokens), quote=False)
    return f"<!DOCTYPE html>\n<html>\n<head>{head}</head>\n<body>\n<p>{text}</p>\n</body>\n</html>\n"
