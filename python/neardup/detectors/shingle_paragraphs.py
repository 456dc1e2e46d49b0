"""Shingle paragraphs: pages with the same paragraphs of three sentences, or a share of them (Pereira et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.base import Detector
from neardup.detectors.registry import register
from neardup.detectors.rules import RarestChunks, Rule, SharedOfLarger, least_jaccard
from neardup.fingerprints import CountedParagraphs, ShingleParagraphs


@register
@dataclass(frozen=True)
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
