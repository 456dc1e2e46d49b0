"""Tf-idf distance over the top terms of two pages (Huffman et al. 2007 §3.2.1).

A page's list holds its 100 terms of highest tf · ln(N/df), ties in the order of the terms' hashes. A term at places i
and j of the two lists (from 1) weighs 1 / (ln(i + e − 1) · ln(j + e − 1)), one that is missing from either 0; the
distance is 1 minus the sum of weights over what the longer list would sum up to with itself. So what moves at the top
counts most. df comes from an idf table of a collection; a term that was not seen there counts as seen once. Cost: the
lists one sort of the page's tokens, a pair 10,000 comparisons of numbers, all in batches.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.signals.idf import Idf

#: Terms in a list.
TOP: Final = 100
#: Pairs that are compared at a time: their table of comparisons takes 20 MB.
_BLOCK: Final = 2048

Tokens = npt.NDArray[np.uint64]


def top_terms(tokens: pa.LargeListArray, idf: Idf, top: int = TOP) -> tuple[Tokens, npt.NDArray[np.int64]]:
    """Of each page its tokens of highest tf-idf, best first, in rows of ``top``, and how many there are.

    >>> pages = pa.array([[7, 7, 8], []], pa.large_list(pa.uint64()))
    >>> rows, counts = top_terms(pages, Idf.of({7: 1, 8: 1}, pages=10), top=3)
    >>> rows[0, :2].tolist(), counts.tolist()
    ([7, 8], [2, 0])
    """
    count = len(tokens)
    lengths = np.diff(np.asarray(tokens.offsets))
    page = np.repeat(np.arange(count), lengths)
    values = np.asarray(tokens.flatten())
    order = np.lexsort((values, page))
    page, values = page[order], values[order]
    first = np.ones(len(values), bool)
    first[1:] = (values[1:] != values[:-1]) | (page[1:] != page[:-1])
    starts = np.flatnonzero(first)
    frequency = np.diff(np.append(starts, len(values)))
    page, values = page[starts], values[starts]
    weight = frequency * idf.weights(values)
    order = np.lexsort((values, -weight, page))
    page, values = page[order], values[order]
    terms = np.bincount(page, minlength=count)
    place = np.arange(len(page)) - np.repeat(np.cumsum(terms) - terms, terms)
    kept = place < top
    rows = np.zeros((count, top), np.uint64)
    rows[page[kept], place[kept]] = values[kept]
    return rows, np.minimum(terms, top)


def _place_weights(top: int) -> npt.NDArray[np.float64]:
    weights: npt.NDArray[np.float64] = 1.0 / np.log(np.arange(1, top + 1) + math.e - 1)
    return weights


def tfidf_distance(
    rows_a: Tokens, counts_a: npt.NDArray[np.int64], rows_b: Tokens, counts_b: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """The distance of each pair of lists; nan if both are empty.

    >>> rows = np.array([[1, 2, 3], [1, 3, 2], [4, 0, 0]], np.uint64)
    >>> counts = np.array([3, 3, 1])
    >>> distance = tfidf_distance(rows[[0, 0, 0]], counts[[0, 0, 0]], rows, counts)
    >>> [round(float(one), 3) for one in distance]
    [0.0, 0.007, 1.0]
    """
    top = rows_a.shape[1]
    weights = _place_weights(top)
    whole = np.concatenate([[0.0], np.cumsum(weights * weights)])
    found = np.empty(len(rows_a))
    for start in range(0, len(rows_a), _BLOCK):
        part = slice(start, start + _BLOCK)
        inside_a = np.arange(top) < counts_a[part, None]
        inside_b = np.arange(top) < counts_b[part, None]
        equal = rows_a[part][:, :, None] == rows_b[part][:, None, :]
        equal &= inside_a[:, :, None] & inside_b[:, None, :]
        found[part] = np.einsum("nij,i,j->n", equal, weights, weights, optimize=["einsum_path", (0, 1), (0, 1)])
    longer = whole[np.maximum(counts_a, counts_b)]
    with np.errstate(invalid="ignore", divide="ignore"):
        # The last digits depend on how many pairs are compared at a time.
        distance = np.round(np.clip(1.0 - found / longer, 0.0, 1.0), 12)
    return np.where(longer > 0, distance, np.nan)
