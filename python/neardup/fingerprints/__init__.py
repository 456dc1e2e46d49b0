"""Tokens → fingerprints, one file a method. A fingerprint is a small frozen dataclass; equal ones compute once."""

from neardup.fingerprints.bands import Bands
from neardup.fingerprints.base import Fingerprint, FixedWidth, SetFingerprint
from neardup.fingerprints.projection import Projection
from neardup.fingerprints.shingles import ShingleSet
from neardup.fingerprints.supershingles import Supershingles

__all__ = ["Bands", "Fingerprint", "FixedWidth", "Projection", "SetFingerprint", "ShingleSet", "Supershingles"]
