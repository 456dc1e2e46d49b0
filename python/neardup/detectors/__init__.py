"""Detectors: rules over fingerprints, by name and in text form; the planner of their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.detectors.base import Detector
from neardup.detectors.planner import Plan, plan
from neardup.detectors.registry import detectors, parse, register
from neardup.detectors.rules import Rule
from neardup.lazy import lazy

if TYPE_CHECKING:
    from neardup.detectors.b_bit_minhash import BBitMinHash
    from neardup.detectors.breakpoint_chunks import HashedBreakpointChunks
    from neardup.detectors.broder import Broder
    from neardup.detectors.byte_breakpoints import ManberBreakpoints
    from neardup.detectors.charikar import Charikar
    from neardup.detectors.charikar_shingles import CharikarShingles
    from neardup.detectors.combined import Combined
    from neardup.detectors.exact import Exact
    from neardup.detectors.fuzzy_fingerprinting import FuzzyFingerprinting
    from neardup.detectors.hyperplane_lsh import Hyperplanes
    from neardup.detectors.i_match import IMatch
    from neardup.detectors.megashingling import Megashingling
    from neardup.detectors.minhash import MinHash
    from neardup.detectors.one_permutation import OnePermutationHashing
    from neardup.detectors.p_stable_lsh import PStable
    from neardup.detectors.prefix_anchor import PrefixAnchor
    from neardup.detectors.random_chunks import RandomSelection
    from neardup.detectors.randomised_i_match import RandomisedIMatch
    from neardup.detectors.rare_chunks import RareChunkSelection
    from neardup.detectors.rare_prefix_anchor import RarePrefixAnchor
    from neardup.detectors.shingle_paragraphs import ShingleParagraphing
    from neardup.detectors.shingling import Shingling
    from neardup.detectors.shingling_functions import ShinglingFunctions
    from neardup.detectors.site_aware import SiteAware
    from neardup.detectors.sliding_window import OneOfSlidingWindow
    from neardup.detectors.spex import Spex
    from neardup.detectors.supershingling import Supershingling
    from neardup.detectors.template_aware import TemplateAware
    from neardup.detectors.weighted_minhash import WeightedMinHash
    from neardup.detectors.winnowing import Winnowing
    from neardup.detectors.word_breakpoints import BrinBreakpoints
    from neardup.detectors.word_chunks import WordChunks

__all__ = [
    "BBitMinHash",
    "BrinBreakpoints",
    "Broder",
    "Charikar",
    "CharikarShingles",
    "Combined",
    "Detector",
    "Exact",
    "FuzzyFingerprinting",
    "HashedBreakpointChunks",
    "Hyperplanes",
    "IMatch",
    "ManberBreakpoints",
    "Megashingling",
    "MinHash",
    "OneOfSlidingWindow",
    "OnePermutationHashing",
    "PStable",
    "Plan",
    "PrefixAnchor",
    "RandomSelection",
    "RandomisedIMatch",
    "RareChunkSelection",
    "RarePrefixAnchor",
    "Rule",
    "ShingleParagraphing",
    "Shingling",
    "ShinglingFunctions",
    "SiteAware",
    "Spex",
    "Supershingling",
    "TemplateAware",
    "WeightedMinHash",
    "Winnowing",
    "WordChunks",
    "detectors",
    "parse",
    "plan",
    "register",
]

# A run needs one of them.
__getattr__ = lazy(
    __name__,
    {
        "BBitMinHash": "neardup.detectors.b_bit_minhash",
        "BrinBreakpoints": "neardup.detectors.word_breakpoints",
        "Broder": "neardup.detectors.broder",
        "Charikar": "neardup.detectors.charikar",
        "CharikarShingles": "neardup.detectors.charikar_shingles",
        "Combined": "neardup.detectors.combined",
        "Exact": "neardup.detectors.exact",
        "FuzzyFingerprinting": "neardup.detectors.fuzzy_fingerprinting",
        "HashedBreakpointChunks": "neardup.detectors.breakpoint_chunks",
        "Hyperplanes": "neardup.detectors.hyperplane_lsh",
        "IMatch": "neardup.detectors.i_match",
        "ManberBreakpoints": "neardup.detectors.byte_breakpoints",
        "Megashingling": "neardup.detectors.megashingling",
        "MinHash": "neardup.detectors.minhash",
        "OneOfSlidingWindow": "neardup.detectors.sliding_window",
        "OnePermutationHashing": "neardup.detectors.one_permutation",
        "PStable": "neardup.detectors.p_stable_lsh",
        "PrefixAnchor": "neardup.detectors.prefix_anchor",
        "RandomSelection": "neardup.detectors.random_chunks",
        "RandomisedIMatch": "neardup.detectors.randomised_i_match",
        "RareChunkSelection": "neardup.detectors.rare_chunks",
        "RarePrefixAnchor": "neardup.detectors.rare_prefix_anchor",
        "ShingleParagraphing": "neardup.detectors.shingle_paragraphs",
        "Shingling": "neardup.detectors.shingling",
        "ShinglingFunctions": "neardup.detectors.shingling_functions",
        "SiteAware": "neardup.detectors.site_aware",
        "Spex": "neardup.detectors.spex",
        "Supershingling": "neardup.detectors.supershingling",
        "TemplateAware": "neardup.detectors.template_aware",
        "WeightedMinHash": "neardup.detectors.weighted_minhash",
        "Winnowing": "neardup.detectors.winnowing",
        "WordChunks": "neardup.detectors.word_chunks",
    },
)
