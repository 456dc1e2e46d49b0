"""Edited copies of texts, to enlarge a corpus without making it strange.

A copy of a page drawn at random is, with these probabilities:
  .3  *touched*: every word is replaced with probability p by a word of another page, p drawn from 0 to .04
      (Jaccard similarity of 5-word shingles from 1 down to about .7: both sides of the threshold);
  .1  *rearranged*: two neighbouring blocks of 20 words change places;
  .6  *mixed*: half of its blocks of 40 words are taken from a second page, in turns (similarity about .3 to each: no
      near-duplicate, but text that stands elsewhere, as quotations and templates do).
Line breaks are kept. Everything follows from the seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

#: A word and the white space behind it: joining the pieces gives the text back.
_PIECE: Final = re.compile(r"\S+\s*")
_TOUCHED, _REARRANGED = 0.3, 0.4
_MOVED_WORDS, _MIXED_WORDS = 20, 40


def copies(texts: Sequence[str], seed: int) -> Iterator[str]:
    """Copies without end.

    >>> first = next(copies(["one two three four five six " * 30], seed=1))
    >>> first == next(copies(["one two three four five six " * 30], seed=1)), len(first.split())
    (True, 180)
    """
    draw = random.Random(seed)
    while True:
        words = _PIECE.findall(texts[int(draw.random() * len(texts))])
        other = _PIECE.findall(texts[int(draw.random() * len(texts))])
        kind = draw.random()
        if kind < _TOUCHED:
            _touch(words, other, draw)
        elif kind < _REARRANGED:
            at = int(draw.random() * max(1, len(words) - 2 * _MOVED_WORDS))
            middle, end = at + _MOVED_WORDS, at + 2 * _MOVED_WORDS
            words[at:end] = words[middle:end] + words[at:middle]
        else:
            words = _mix(words, other)
        yield "".join(words)


def _touch(words: list[str], other: Sequence[str], draw: random.Random) -> None:
    share = 0.04 * draw.random()
    for _ in range(round(share * len(words))):
        if other:
            words[int(draw.random() * len(words))] = other[int(draw.random() * len(other))]


def _mix(words: Sequence[str], other: Sequence[str]) -> list[str]:
    mixed: list[str] = []
    for number, start in enumerate(range(0, len(words), _MIXED_WORDS)):
        source = words if number % 2 == 0 else other
        mixed.extend(source[start : start + _MIXED_WORDS])
    return mixed
