"""Which terms of a page its site repeats: what stands on most of its other pages is no news.

Rule: of the site's pages outside the clusters of the pages under study up to ``SAMPLE`` are looked at, evenly spread
over the input. A stretch of ``STRETCH`` terms that at least half of them have (and two at least) is boilerplate, and so
is every term in it. With fewer than two such pages nothing is known. Near-duplicates are left out because they share
what is the page's own. Cost: reading the sample; O(terms).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.results.pages import RunPages
from neardup.results.texts import together
from neardup.text import read

#: Other pages of the site that are looked at.
SAMPLE: Final = 16
#: Terms in a stretch.
STRETCH: Final = 5
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)

#: The rule, for people.
RULE: Final = (
    f"stretches of {STRETCH} terms that at least half of up to {SAMPLE} other pages of the site have, "
    "near-duplicates of these two left out"
)

Mask = npt.NDArray[np.bool_]
Tokens = npt.NDArray[np.uint64]


def stretches(tokens: Tokens) -> Tokens:
    """A number for each stretch of ``STRETCH`` tokens, by its place.

    >>> len(stretches(np.arange(10, dtype=np.uint64))), len(stretches(np.arange(3, dtype=np.uint64)))
    (6, 0)
    """
    count = max(0, len(tokens) - STRETCH + 1)
    mixed = np.zeros(count, np.uint64)
    for at in range(STRETCH):
        mixed = (mixed ^ tokens[at : at + count]) * _FACTOR
        mixed ^= mixed >> np.uint64(29)
    return mixed


def boilerplate(tokens: Tokens, others: Sequence[Tokens]) -> Mask | None:
    """For each token whether the other pages repeat it; None where they are too few to tell.

    >>> menu, own = np.arange(100, 108, dtype=np.uint64), np.arange(20, dtype=np.uint64)
    >>> page, others = np.concatenate([menu, own]), [np.concatenate([menu, own + 50 * n]) for n in (1, 2, 3)]
    >>> mask = boilerplate(page, others)
    >>> int(mask.sum()), bool(mask[:8].all())
    (8, True)
    """
    if len(others) < 2:
        return None
    own = stretches(tokens)
    seen = np.zeros(len(own), np.int64)
    for other in others:
        seen += np.isin(own, stretches(other))
    repeated = np.flatnonzero(seen >= max(2, -(-len(others) // 2)))
    mask = np.zeros(len(tokens), bool)
    for at in range(STRETCH):
        mask[repeated + at] = True
    return mask


def site_samples(run: RunPages, records: Sequence[dict[str, Any]]) -> list[list[Tokens]]:
    """For each record the tokens of other pages of its site, read again; none where they cannot be read one by one."""
    clusters = pa.array(sorted({record["cluster"] for record in records}), pa.string())
    samples: dict[str, list[Tokens]] = {}
    for site in {record["site"] for record in records} - {None}:
        there = pc.and_(pc.equal(run.column("site"), site), pc.invert(pc.is_in(run.column("cluster"), clusters)))
        rows = np.flatnonzero(pc.fill_null(there, False).to_numpy(zero_copy_only=False))
        if len(rows) < 2:
            continue
        chosen = rows[np.linspace(0, len(rows) - 1, min(SAMPLE, len(rows))).round().astype(int)].tolist()
        texts = [page for page in run.texts(run.at(chosen), patient=False) if page is not None]
        if texts:
            tokens = read(together(texts), run.settings.reading).tokens
            samples[site] = [tokens[at].values.to_numpy() for at in range(len(tokens))]
    return [samples.get(record["site"], []) for record in records]
