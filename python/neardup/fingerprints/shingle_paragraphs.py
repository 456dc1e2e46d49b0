"""Shingle paragraphs (Pereira, Baeza-Yates and Ziviani 2006, Definition 1).

Idea: the page's visible text, white space collapsed, cut into sentences (up to a period, or 150 characters), three to a
paragraph, without overlap; one or two left over make a last, shorter one. A page of at most 450 characters has none.
Cost: O(characters), and the page is read a second time for its text; 8 bytes a paragraph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.fingerprints.base import OfPages


@dataclass(frozen=True, slots=True)
class ShingleParagraphs:
    """Paragraphs of ``sentences`` sentences of at most ``sentence`` characters, of pages ``longer_than`` so many."""

    sentence: int = 150
    sentences: int = 3
    longer_than: int = 450

    def lists(self, pages: pa.RecordBatch) -> tuple[pa.LargeListArray, npt.NDArray[np.uint32]]:
        """The numbers of each page's paragraphs, in order, and how many characters its text has.

        >>> from neardup.sources.memory import texts
        >>> lists, characters = ShingleParagraphs().lists(texts(["A sentence. " * 50, "Too short."]).batches[0])
        >>> [len(paragraphs) for paragraphs in lists], characters.tolist()
        ([17, 0], [599, 10])
        """
        return _native.page_paragraphs(
            *(pages.column(name) for name in ("content", "html", "charset", "url")),
            sentence=self.sentence,
            sentences=self.sentences,
            longer_than=self.longer_than,
        )


@dataclass(frozen=True, slots=True)
class CountedParagraphs(OfPages):
    """The same as a set in which the second, third … of equal paragraphs are numbers of their own.

    >>> from neardup.sources.memory import texts
    >>> pages = texts(["A sentence. " * 50]).batches[0]
    >>> len(CountedParagraphs(ShingleParagraphs()).compute(pages)[0])
    17
    """

    paragraphs: ShingleParagraphs

    def compute(self, pages: pa.RecordBatch) -> pa.LargeListArray:
        return _native.counted_paragraphs(self.paragraphs.lists(pages)[0])
