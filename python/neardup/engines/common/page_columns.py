"""All fingerprints of a batch of pages: those of tokens; and those of terms, of content or of the pages themselves, for
which pages are read once more, only if asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.engines.common.page_columns import LIST, fixed_width_column
from neardup.methods import AnyFingerprint, ChunkSets, Fingerprint, OfContent, OfPages, OfTerms, Statistical
from neardup.methods.one_pass import Made
from neardup.text import Reading, content_streams, read, term_lists


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


class Given:
    """What the fingerprints of a batch are computed of: tokens; and terms, content or the pages themselves, for which
    the pages are read once more when the first fingerprint asks for it.

    >>> from neardup.methods.shingles import ShingleSet
    >>> from neardup.sources.memory import texts
    >>> given = Given(texts(["a few words"]).batches[0])
    >>> len(given.to(ShingleSet(2))[0]), given.terms.to_pylist()
    (3, [['a', 'few', 'words']])
    """

    def __init__(
        self, pages: pa.RecordBatch | None, reading: Reading = Reading(), tokens: pa.LargeListArray | None = None
    ) -> None:
        self._pages = pages
        self._reading = reading
        self._tokens = tokens
        self._streams: dict[object, pa.LargeListArray] = {}

    @property
    def pages(self) -> pa.RecordBatch:
        """The pages; there unless only their tokens are known."""
        assert self._pages is not None, "a fingerprint that asks for more than tokens is asked for with pages"
        return self._pages

    @cached_property
    def tokens(self) -> pa.LargeListArray:
        return self._tokens if self._tokens is not None else read(self.pages, self._reading).tokens

    @cached_property
    def terms(self) -> pa.LargeListArray:
        return term_lists(self.pages)

    def streams(self, kind: OfContent) -> pa.LargeListArray:
        """The streams of the content as this fingerprint wants them; others that want the same share them."""
        ideas = kind.content.ideas
        if ideas not in self._streams:
            self._streams[ideas] = content_streams(self.pages, self._reading, ideas)
        return self._streams[ideas]

    def to(self, kind: AnyFingerprint) -> pa.LargeListArray | pa.RecordBatch:
        """What this fingerprint is computed of."""
        if isinstance(kind, OfPages):
            return self.pages
        if isinstance(kind, OfContent):
            return self.streams(kind)
        return self.terms if isinstance(kind, OfTerms) else self.tokens


def beyond_tokens(kinds: Sequence[AnyFingerprint]) -> bool:
    """Whether tokens alone are not enough for some of them."""
    return any(isinstance(kind, OfTerms | OfPages | OfContent) for kind in kinds)


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
