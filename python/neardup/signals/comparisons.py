"""Signals of two bodies, one function each: what it is, its formula, its cost. Pairs come in batches.

A body is a row of the columns given, and a pair two places in them, ``a`` and ``b``. nan is what cannot be told.
Distances of addresses are in ``urls.py``, of top terms in ``tfidf.py``, of compressed sizes in ``compression.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.signals.compression import mcd, own_sizes, sizes

#: A snippet takes so many terms on either side of a word of the query (a passage is as long as what engines show of a
#: page), and at most so many in all (far more than they show). A wider window dilutes what stands beside the query's
#: words: docs/explanation/many-signals.md has the figures.
SNIPPET_WINDOW: Final = 12
SNIPPET_TERMS: Final = 1000
#: Bits of the projection that simhash distances compare.
SIMHASH_BITS: Final = 64

Numbers = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Places = npt.NDArray[np.uint32]


def same_title(a: str | None, b: str | None) -> float:
    """1 if two titles are equal, 0 if not; nan if neither page has one. Cost: one comparison.

    >>> same_title("T", "T"), same_title("T", None), same_title("", None)
    (1.0, 0.0, nan)
    """
    return float(a == b) if a or b else math.nan


def length_distance(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> Numbers:
    """|len A − len B| / max(len A, len B); 0 if both are empty (the paper's bld). Cost: one subtraction.

    >>> length_distance(np.array([0, 10]), np.array([0, 5])).tolist()
    [0.0, 0.5]
    """
    longer = np.maximum(np.maximum(a, b), 1)
    distance: Numbers = np.abs(a - b) / longer
    return distance


def simhash_distance(sketches: npt.NDArray[Any], tokens: Rows, a: Rows, b: Rows) -> Numbers:
    """How many of the 64 bits of Charikar's projections differ; nan if a page has no tokens. Cost: 8 bytes a page.

    >>> bits = np.array([[0b1011], [0b1001], [0]], np.uint64)
    >>> simhash_distance(bits, np.array([5, 5, 0]), np.array([0, 0]), np.array([1, 2])).tolist()
    [1.0, nan]
    """
    return SIMHASH_BITS - c_similarity(sketches, tokens, a, b)


def b_similarity(supershingles: npt.NDArray[Any], tokens: Rows, a: Rows, b: Rows) -> Numbers:
    """How many of Alg. B's 6 supershingles agree, place by place; nan if a page has no tokens. Cost: 48 bytes a page.

    >>> rows = np.array([[1, 2, 3, 4, 5, 6], [1, 9, 3, 9, 9, 9]], np.uint64)
    >>> b_similarity(rows, np.array([8, 8]), np.array([0]), np.array([1])).tolist()
    [2.0]
    """
    equal = _native.equal_columns(supershingles, a.astype(np.uint32), b.astype(np.uint32)).astype(np.float64)
    return np.where((tokens[a] > 0) & (tokens[b] > 0), equal, np.nan)


def c_similarity(sketches: npt.NDArray[Any], tokens: Rows, a: Rows, b: Rows) -> Numbers:
    """How many bits of two projections agree (Alg. C's have 384); nan if a page has no tokens. Cost: 48 bytes a page.

    >>> bits = np.array([[0b1011], [0b1001]], np.uint64)
    >>> c_similarity(bits, np.array([5, 5]), np.array([0]), np.array([1])).tolist()
    [63.0]
    """
    agreeing = _native.agreeing_bits(sketches, a.astype(np.uint32), b.astype(np.uint32)).astype(np.float64)
    return np.where((tokens[a] > 0) & (tokens[b] > 0), agreeing, np.nan)


def set_similarity(sets: pa.LargeListArray, a: Places, b: Places) -> Numbers:
    """|A ∩ B| / |A ∪ B| of sorted sets; nan if both are empty. Of the 3-term shingles of main contents it is
    ``main_jaccard``, of the runs of 4 block elements ``layout_similarity``. Cost: one merge of two sets.

    >>> sets = pa.array([[1, 2, 3], [2, 3, 4], []], pa.large_list(pa.field("item", pa.uint64(), nullable=False)))
    >>> set_similarity(sets, np.array([0, 0, 2], np.uint32), np.array([1, 2, 2], np.uint32)).tolist()
    [0.5, 0.0, nan]
    """
    likeness = _native.jaccard(sets, a, b)
    known = np.diff(np.asarray(sets.offsets)) > 0
    return np.where(known[a] | known[b], likeness, np.nan)


def snippet_mcd(texts: pa.LargeStringArray, a: Places, b: Places, queries: Sequence[str | None]) -> Numbers:
    """mcd of the text around the query's words, 12 terms on either side and at most 1,000 in all; nan without query, or
    if neither text has a word of it. Cost: one reading of each text for each query, one compression of both snippets.

    >>> texts = pa.array(["all about red apples", "all about red pears", "nothing of it"], pa.large_string())
    >>> first, second = np.array([0, 0, 2], np.uint32), np.array([0, 1, 2], np.uint32)
    >>> distance = snippet_mcd(texts, first, second, ["red", "red", "red"])
    >>> same, other, unknown = distance.tolist()
    >>> same == 0, 0 < other < 1, unknown
    (True, True, nan)
    """
    place: dict[tuple[int, str], int] = {}
    sides = []
    for side in (a, b):
        keys = zip(side.tolist(), queries, strict=True)
        sides.append(np.array([place.setdefault((page, words or ""), len(place)) for page, words in keys], np.uint32))
    pages = np.array([page for page, _ in place], np.uint32)
    words = pa.array([query for _, query in place], pa.string())
    cut = _native.snippets(texts, pages, words, window=SNIPPET_WINDOW, most=SNIPPET_TERMS)
    content = cut.cast(pa.large_binary())
    empty = np.asarray(pc.binary_length(content)) == 0
    own = own_sizes(content, "gzip")
    distance = mcd(sizes(content, sides[0], sides[1], "gzip"), own[sides[0]], own[sides[1]])
    distance[empty[sides[0]] & empty[sides[1]]] = np.nan
    return distance
