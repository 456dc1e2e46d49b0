"""Tokens → fingerprints, one file a method. A fingerprint is a small frozen dataclass; equal ones compute once.

Here are also what they share: statistics of a collection, and the chunk index over any of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.fingerprints.base import (
    AnyFingerprint,
    ChunkSets,
    Fingerprint,
    FixedWidth,
    OfContent,
    OfPages,
    OfTerms,
    OverSets,
    Statistical,
)
from neardup.lazy import lazy

if TYPE_CHECKING:
    from neardup.fingerprints.bands import Bands
    from neardup.fingerprints.breakpoint_chunks import BreakpointChunks
    from neardup.fingerprints.byte_breakpoints import ByteBreakpoints
    from neardup.fingerprints.chunk_index import ChunkIndex, Found
    from neardup.fingerprints.content import Content, ContentBands, ContentSets, SiteContentBands, SiteContentSets
    from neardup.fingerprints.fuzzy_codes import FuzzyCodes
    from neardup.fingerprints.lexicon_signatures import LexiconSignatures
    from neardup.fingerprints.minima import Minima
    from neardup.fingerprints.one_permutation import OnePermutation
    from neardup.fingerprints.packed_minima import PackedMinima
    from neardup.fingerprints.prefix_anchors import PrefixAnchors
    from neardup.fingerprints.projection import Projection
    from neardup.fingerprints.projection_codes import ProjectionCodes
    from neardup.fingerprints.random_chunks import RandomChunks
    from neardup.fingerprints.rare_chunks import RareChunks
    from neardup.fingerprints.rare_prefixes import RarePrefixes
    from neardup.fingerprints.shingle_paragraphs import CountedParagraphs, ShingleParagraphs
    from neardup.fingerprints.shingles import ShingleSet
    from neardup.fingerprints.sliding_window import SlidingWindow
    from neardup.fingerprints.smallest_shingles import SmallestShingles
    from neardup.fingerprints.spex import RepeatedChunks
    from neardup.fingerprints.statistics import (
        BLOCKS,
        CollectionStatistics,
        StatisticsRound,
        collect_statistics,
        start_statistics,
    )
    from neardup.fingerprints.supershingles import Supershingles
    from neardup.fingerprints.term_sketch import TermSketch
    from neardup.fingerprints.weighted_samples import RarityWeightedSamples, WeightedSamples
    from neardup.fingerprints.winnowing import Winnowed
    from neardup.fingerprints.word_breakpoints import WordBreakpoints

__all__ = [
    "BLOCKS",
    "AnyFingerprint",
    "Bands",
    "BreakpointChunks",
    "ByteBreakpoints",
    "ChunkIndex",
    "ChunkSets",
    "CollectionStatistics",
    "Content",
    "ContentBands",
    "ContentSets",
    "CountedParagraphs",
    "Fingerprint",
    "FixedWidth",
    "Found",
    "FuzzyCodes",
    "LexiconSignatures",
    "Minima",
    "OfContent",
    "OfPages",
    "OfTerms",
    "OnePermutation",
    "OverSets",
    "PackedMinima",
    "PrefixAnchors",
    "Projection",
    "ProjectionCodes",
    "RandomChunks",
    "RareChunks",
    "RarePrefixes",
    "RarityWeightedSamples",
    "RepeatedChunks",
    "ShingleParagraphs",
    "ShingleSet",
    "SiteContentBands",
    "SiteContentSets",
    "SlidingWindow",
    "SmallestShingles",
    "Statistical",
    "StatisticsRound",
    "Supershingles",
    "TermSketch",
    "WeightedSamples",
    "Winnowed",
    "WordBreakpoints",
    "collect_statistics",
    "start_statistics",
]

# A run needs few of them.
__getattr__ = lazy(
    __name__,
    {
        "BLOCKS": "neardup.fingerprints.statistics",
        "Bands": "neardup.fingerprints.bands",
        "BreakpointChunks": "neardup.fingerprints.breakpoint_chunks",
        "ByteBreakpoints": "neardup.fingerprints.byte_breakpoints",
        "ChunkIndex": "neardup.fingerprints.chunk_index",
        "CollectionStatistics": "neardup.fingerprints.statistics",
        "Content": "neardup.fingerprints.content",
        "ContentBands": "neardup.fingerprints.content",
        "ContentSets": "neardup.fingerprints.content",
        "CountedParagraphs": "neardup.fingerprints.shingle_paragraphs",
        "Found": "neardup.fingerprints.chunk_index",
        "FuzzyCodes": "neardup.fingerprints.fuzzy_codes",
        "LexiconSignatures": "neardup.fingerprints.lexicon_signatures",
        "Minima": "neardup.fingerprints.minima",
        "OnePermutation": "neardup.fingerprints.one_permutation",
        "PackedMinima": "neardup.fingerprints.packed_minima",
        "PrefixAnchors": "neardup.fingerprints.prefix_anchors",
        "Projection": "neardup.fingerprints.projection",
        "ProjectionCodes": "neardup.fingerprints.projection_codes",
        "RandomChunks": "neardup.fingerprints.random_chunks",
        "RareChunks": "neardup.fingerprints.rare_chunks",
        "RarePrefixes": "neardup.fingerprints.rare_prefixes",
        "RarityWeightedSamples": "neardup.fingerprints.weighted_samples",
        "RepeatedChunks": "neardup.fingerprints.spex",
        "ShingleParagraphs": "neardup.fingerprints.shingle_paragraphs",
        "ShingleSet": "neardup.fingerprints.shingles",
        "SiteContentBands": "neardup.fingerprints.content",
        "SiteContentSets": "neardup.fingerprints.content",
        "SlidingWindow": "neardup.fingerprints.sliding_window",
        "SmallestShingles": "neardup.fingerprints.smallest_shingles",
        "StatisticsRound": "neardup.fingerprints.statistics",
        "Supershingles": "neardup.fingerprints.supershingles",
        "TermSketch": "neardup.fingerprints.term_sketch",
        "WeightedSamples": "neardup.fingerprints.weighted_samples",
        "Winnowed": "neardup.fingerprints.winnowing",
        "WordBreakpoints": "neardup.fingerprints.word_breakpoints",
        "collect_statistics": "neardup.fingerprints.statistics",
        "start_statistics": "neardup.fingerprints.statistics",
    },
)
