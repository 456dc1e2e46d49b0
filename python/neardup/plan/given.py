"""What the fingerprints of a batch of pages are computed of: their tokens; and their terms, their content or the pages
themselves, for which pages are read once more, only if asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from neardup.methods import AnyFingerprint, OfContent, OfPages, OfTerms, Statistical
from neardup.methods.statistics import CollectionStatistics
from neardup.text import Reading, content_streams, read, term_lists


class Given:
    """What the fingerprints of a batch are computed of; each fingerprint is made once, however many detectors ask for
    it.

    >>> from neardup.methods.shingles import ShingleSet
    >>> from neardup.sources.memory import texts
    >>> given = Given(texts(["a few words"]).batches[0])
    >>> len(given.to(ShingleSet(2))[0]), given.terms.to_pylist()
    (3, [['a', 'few', 'words']])
    >>> given.value(ShingleSet(2)) is given.value(ShingleSet(2))
    True
    """

    def __init__(
        self, pages: pa.RecordBatch | None, reading: Reading = Reading(), tokens: pa.LargeListArray | None = None
    ) -> None:
        self._pages = pages
        self._reading = reading
        self._tokens = tokens
        self._streams: dict[object, pa.LargeListArray] = {}
        self._values: dict[tuple[AnyFingerprint, str | None], Any] = {}

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

    def value(self, kind: AnyFingerprint, statistics: CollectionStatistics | None = None) -> Any:
        """A fingerprint of the batch: rows of numbers, or sets. One that waits for statistics has them here."""
        waits = isinstance(kind, Statistical)
        assert statistics is not None or not waits, "a fingerprint that needs statistics is asked for with them"
        key = (kind, statistics.digest if waits and statistics is not None else None)
        if key not in self._values:
            ready: Any = kind.given(statistics) if waits else kind  # type: ignore[union-attr,arg-type]
            self._values[key] = ready.compute(self.to(kind))
        return self._values[key]


def beyond_tokens(kinds: Sequence[AnyFingerprint]) -> bool:
    """Whether tokens alone are not enough for some of them."""
    return any(isinstance(kind, OfTerms | OfPages | OfContent) for kind in kinds)
