"""Detectors: rules over fingerprints, by name and in text form; the planner of their parameters."""

from neardup.detectors.b_bit_minhash import BBitMinHash
from neardup.detectors.base import Detector
from neardup.detectors.breakpoint_chunks import HashedBreakpointChunks
from neardup.detectors.broder import Broder
from neardup.detectors.byte_breakpoints import ManberBreakpoints
from neardup.detectors.charikar import Charikar
from neardup.detectors.charikar_shingles import CharikarShingles
from neardup.detectors.combined import Combined
from neardup.detectors.exact import Exact
from neardup.detectors.fuzzy import FuzzyFingerprinting
from neardup.detectors.hyperplanes import Hyperplanes
from neardup.detectors.i_match import IMatch
from neardup.detectors.megashingling import Megashingling
from neardup.detectors.minhash import MinHash
from neardup.detectors.minima import ShinglingFunctions
from neardup.detectors.one_permutation import OnePermutationHashing
from neardup.detectors.p_stable import PStable
from neardup.detectors.planner import Plan, plan
from neardup.detectors.prefix_anchor import PrefixAnchor
from neardup.detectors.random_chunks import RandomSelection
from neardup.detectors.randomised_i_match import RandomisedIMatch
from neardup.detectors.rare_chunks import RareChunkSelection
from neardup.detectors.rare_prefix_anchor import RarePrefixAnchor
from neardup.detectors.registry import detectors, parse, register
from neardup.detectors.rules import Rule
from neardup.detectors.shingle_paragraphs import ShingleParagraphing
from neardup.detectors.site_aware import SiteAware
from neardup.detectors.sliding_window import OneOfSlidingWindow
from neardup.detectors.smallest_shingles import Shingling
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
