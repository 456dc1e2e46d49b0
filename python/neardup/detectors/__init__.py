"""Detectors: rules over fingerprints, by name and in text form; the planner of their parameters."""

from neardup.detectors.base import Detector
from neardup.detectors.broder import Broder
from neardup.detectors.charikar import Charikar
from neardup.detectors.combined import Combined
from neardup.detectors.exact import Exact
from neardup.detectors.minhash import MinHash
from neardup.detectors.planner import Plan, plan
from neardup.detectors.registry import detectors, parse, register
from neardup.detectors.rules import Rule
from neardup.detectors.site_aware import SiteAware

__all__ = [
    "Broder",
    "Charikar",
    "Combined",
    "Detector",
    "Exact",
    "MinHash",
    "Plan",
    "Rule",
    "SiteAware",
    "detectors",
    "parse",
    "plan",
    "register",
]
