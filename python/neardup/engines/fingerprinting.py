"""All fingerprints of a batch of pages: those of tokens; and those of terms or pages, read only if asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.engines.parts import LIST, fixed_width_column
from neardup.fingerprints import AnyFingerprint, ChunkSets, Fingerprint, OfPages, OfTerms, Statistical
from neardup.text import term_lists


def at_once(kinds: Sequence[AnyFingerprint]) -> tuple[Fingerprint | ChunkSets, ...]:
    """Those that a page alone decides."""
    return tuple(kind for kind in kinds if not isinstance(kind, Statistical))


def after_all(kinds: Sequence[AnyFingerprint]) -> tuple[Statistical, ...]:
    """Those that wait for statistics of the collection."""
    return tuple(kind for kind in kinds if isinstance(kind, Statistical))


def fingerprint_columns(
    kinds: Sequence[Fingerprint | ChunkSets], tokens: pa.LargeListArray, pages: pa.RecordBatch
) -> Iterator[tuple[str, pa.Array]]:
    """The fingerprints of the pages as columns with their names: rows of numbers, or sets and their parities."""
    terms = term_lists(pages) if any(isinstance(kind, OfTerms) for kind in kinds) else None
    for number, kind in enumerate(kinds):
        given = terms if isinstance(kind, OfTerms) else pages if isinstance(kind, OfPages) else tokens
        values = kind.compute(given)
        if isinstance(values, np.ndarray):
            yield f"fingerprint_{number}", fixed_width_column(values)
        else:
            yield f"{LIST}{number}", values
            yield f"parity_{number}", _native.parities(values)
