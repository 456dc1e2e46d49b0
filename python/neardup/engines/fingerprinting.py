"""All fingerprints of a batch of pages: those of tokens; and those of terms, of content or of the pages themselves, for
which pages are read once more, only if asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.engines.parts import LIST, fixed_width_column
from neardup.fingerprints import AnyFingerprint, ChunkSets, Fingerprint, OfContent, OfPages, OfTerms, Statistical
from neardup.text import Reading, content_streams, term_lists


def held(kinds: Sequence[AnyFingerprint]) -> tuple[bool, bool]:
    """Of what pages are held until statistics are known: tokens, streams of their content."""
    streams = [isinstance(kind, OfContent) for kind in after_all(kinds)]
    return not all(streams), any(streams)


def at_once(kinds: Sequence[AnyFingerprint]) -> tuple[Fingerprint | ChunkSets, ...]:
    """Those that a page alone decides."""
    return tuple(kind for kind in kinds if not isinstance(kind, Statistical))


def after_all(kinds: Sequence[AnyFingerprint]) -> tuple[Statistical, ...]:
    """Those that wait for statistics of the collection."""
    return tuple(kind for kind in kinds if isinstance(kind, Statistical))


def fingerprint_columns(
    kinds: Sequence[Fingerprint | ChunkSets],
    tokens: pa.LargeListArray,
    pages: pa.RecordBatch,
    reading: Reading = Reading(),
) -> Iterator[tuple[str, pa.Array]]:
    """The fingerprints of the pages as columns with their names: rows of numbers, or sets and their parities."""
    terms = term_lists(pages) if any(isinstance(kind, OfTerms) for kind in kinds) else None
    streams = streams_of(kinds, pages, reading)
    for number, kind in enumerate(kinds):
        if isinstance(kind, OfPages):
            values = kind.compute(pages)
        elif isinstance(kind, OfContent):
            values = kind.compute(streams)
        else:
            values = kind.compute(terms if isinstance(kind, OfTerms) else tokens)
        if isinstance(values, np.ndarray):
            yield f"fingerprint_{number}", fixed_width_column(values)
        else:
            yield f"{LIST}{number}", values
            yield f"parity_{number}", _native.parities(values)


def streams_of(kinds: Sequence[AnyFingerprint], pages: pa.RecordBatch, reading: Reading) -> pa.LargeListArray | None:
    """The streams that fingerprints of content are computed of; None where there is no such fingerprint. Those of one
    detector agree in how streams are made."""
    ideas = {kind.content.ideas for kind in kinds if isinstance(kind, OfContent)}
    if not ideas:
        return None
    (chosen,) = ideas
    return content_streams(pages, reading, chosen)
