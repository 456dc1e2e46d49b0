"""All fingerprints of a batch of pages: those of tokens; and those of terms, which are read only if asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from neardup.fingerprints import AnyFingerprint, ChunkSets, Fingerprint, FixedWidth, OfTerms, Statistical
from neardup.text import term_lists


def at_once(kinds: Sequence[AnyFingerprint]) -> tuple[Fingerprint | ChunkSets, ...]:
    """Those that a page alone decides."""
    return tuple(kind for kind in kinds if not isinstance(kind, Statistical))


def after_all(kinds: Sequence[AnyFingerprint]) -> tuple[Statistical, ...]:
    """Those that wait for statistics of the collection."""
    return tuple(kind for kind in kinds if isinstance(kind, Statistical))


def compute(
    kinds: Sequence[Fingerprint | ChunkSets], tokens: pa.LargeListArray, pages: pa.RecordBatch
) -> Iterator[FixedWidth | pa.LargeListArray]:
    """The fingerprints of the pages: rows of numbers, or lists."""
    terms = term_lists(pages) if any(isinstance(kind, OfTerms) for kind in kinds) else None
    for kind in kinds:
        yield kind.compute(terms if isinstance(kind, OfTerms) else tokens)
