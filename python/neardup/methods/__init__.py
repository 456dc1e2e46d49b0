"""Methods, a file a family: what each takes from a page (its fingerprint), and when two pages are near-duplicates by it
(its detector). Detectors by name and in text form; the planner of their parameters.

Classes are imported from their family: ``from neardup.methods.shingles import MinHash``. A run needs one or two of the
families, so none is imported before it is asked for.
"""

from __future__ import annotations

from neardup.methods.base import (
    AnyFingerprint,
    ChunkSets,
    Detector,
    Fingerprint,
    FixedWidth,
    OfContent,
    OfPages,
    OfTerms,
    OverSets,
    Statistical,
)
from neardup.methods.planner import BandLayout, plan_bands
from neardup.methods.registry import detectors, parse, register
from neardup.methods.rules import Rule

__all__ = [
    "AnyFingerprint",
    "BandLayout",
    "ChunkSets",
    "Detector",
    "Fingerprint",
    "FixedWidth",
    "OfContent",
    "OfPages",
    "OfTerms",
    "OverSets",
    "Rule",
    "Statistical",
    "detectors",
    "parse",
    "plan_bands",
    "register",
]
