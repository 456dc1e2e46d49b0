"""Shingle paragraphs: pages with the same paragraphs of three sentences, or a share of them (Pereira et al. 2006).

Idea: text that was copied keeps its sentences, whatever their order; so the text is cut at its periods into paragraphs
of three sentences, and these are compared as sets that count repetitions. Cost: one hash a sentence, and the page is
read a second time for its text; 8 bytes a paragraph.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.methods.base import Detector, NativeSets, OfPages
from neardup.methods.registry import register
from neardup.methods.rules import RarestChunks, Rule, SharedOfLarger, least_jaccard
from neardup.record import record


@record(frozen=True, slots=True)
class ShingleParagraphs:
    """Paragraphs of ``sentences`` sentences of at most ``sentence`` characters, of pages ``longer_than`` so many.

    Shingle paragraphs (Pereira, Baeza-Yates and Ziviani 2006, Definition 1). Idea: the page's visible text, white space
    collapsed, cut into sentences (up to a period, or 150 characters), three to a paragraph, without overlap; one or two
    left over make a last, shorter one. A page of at most 450 characters has none. Cost: O(characters), and the page is
    read a second time for its text; 8 bytes a paragraph.
    """

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


class _Repetitions(NativeSets):
    """Lists as sets in which the second, third … of equal numbers are numbers of their own."""

    __slots__ = ()
    native: ClassVar[str] = "repetitions"


_REPETITIONS: Final = _Repetitions()


@record(frozen=True, slots=True)
class CountedParagraphs(OfPages):
    """The same as a set in which the second, third … of equal paragraphs are numbers of their own.

    >>> from neardup.sources.memory import texts
    >>> pages = texts(["A sentence. " * 50]).batches[0]
    >>> len(CountedParagraphs(ShingleParagraphs()).compute(pages)[0])
    17
    """

    paragraphs: ShingleParagraphs

    def compute(self, pages: pa.RecordBatch) -> pa.LargeListArray:
        return _REPETITIONS.compute(self.paragraphs.lists(pages)[0])


@register
@record(frozen=True)
class ShingleParagraphing(Detector):
    """Pages that share ``share`` of the paragraphs of the one that has more of them, repetitions counted.

    With a share of 1 they have the same paragraphs in any order: the duplicates of the paper; its near-duplicates are
    those at 0.9, 0.7 and 0.5. Pages of at most ``longer_than`` characters match only their copies. `neardup study` also
    has the paper's own rule, which takes some pages that repeat a paragraph for duplicates of others that do not.

    >>> str(ShingleParagraphing(share=0.9))
    'shingle-paragraphs(share=0.9)'
    """

    share: float = 1.0
    sentence: int = 150
    sentences: int = 3
    longer_than: int = 450

    name: ClassVar[str] = "shingle-paragraphs"
    summary: ClassVar[str] = "paragraphs of three sentences: all of them shared, or a stated share"
    source: ClassVar[str] = "Pereira, Baeza-Yates & Ziviani 2006, Definitions 1, 2 and 5"
    cost: ClassVar[str] = "one hash a sentence, and reading pages twice; 8 bytes a paragraph"

    def __post_init__(self) -> None:
        self.check(0 < self.share <= 1, "share must be above 0 and at most 1")
        self.check(self.sentence >= 1 and self.sentences >= 1, "sentence and sentences must be at least 1")
        self.check(self.longer_than >= 0, "longer_than must not be negative")

    def paragraphs(self) -> ShingleParagraphs:
        """How pages are cut."""
        return ShingleParagraphs(self.sentence, self.sentences, self.longer_than)

    def rules(self) -> tuple[Rule, ...]:
        kind = CountedParagraphs(self.paragraphs())
        verify = SharedOfLarger(kind, self.share)
        return (Rule(self.name, RarestChunks(kind, least_jaccard(verify)), verify),)

    def as_used(self) -> tuple[str, str, str]:
        return (f"{self.sentences} sentences", "grows with |d|", f"{self.share:.0%} of the larger")
