"""All fingerprints of a batch of pages as columns, and which of them wait for statistics of the collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.engines.parts import LIST, fixed_width_column
from neardup.fingerprints import (
    AnyFingerprint,
    ChunkSets,
    Fingerprint,
    OfContent,
    Statistical,
)
from neardup.fingerprints.one_pass import Made
from neardup.plan import Given


def held(kinds: Sequence[AnyFingerprint]) -> tuple[bool, OfContent | None]:
    """What is held of pages until statistics are known: whether tokens, and for which fingerprint the streams of their
    content. Those of one detector agree in how streams are made."""
    waiting = after_all(kinds)
    streams = [kind for kind in waiting if isinstance(kind, OfContent)]
    return len(streams) < len(waiting), streams[0] if streams else None


def at_once(kinds: Sequence[AnyFingerprint]) -> tuple[Fingerprint | ChunkSets, ...]:
    """Those that a page alone decides."""
    return tuple(kind for kind in kinds if not isinstance(kind, Statistical))


def after_all(kinds: Sequence[AnyFingerprint]) -> tuple[Statistical, ...]:
    """Those that wait for statistics of the collection."""
    return tuple(kind for kind in kinds if isinstance(kind, Statistical))


def fingerprint_columns(
    kinds: Sequence[Fingerprint | ChunkSets], given: Given, made: Mapping[Fingerprint | ChunkSets, Made] | None = None
) -> Iterator[tuple[str, pa.Array]]:
    """The fingerprints of the pages as columns with their names, those that were made already as they are: rows of
    numbers, or sets and their parities."""
    for number, kind in enumerate(kinds):
        values = made[kind] if made is not None and kind in made else kind.compute(given.to(kind))
        if isinstance(values, np.ndarray):
            yield f"fingerprint_{number}", fixed_width_column(values)
            continue
        sets, parities = values if isinstance(values, tuple) else (values, _native.parities(values))
        yield f"{LIST}{number}", sets
        yield f"parity_{number}", parities
