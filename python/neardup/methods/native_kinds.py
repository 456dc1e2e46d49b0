"""Fingerprints that the native module makes while it reads a page: those that tokens alone decide, and that are rows of
keys or bits, or the set of shingles. Others are computed of the tokens afterwards."""

from __future__ import annotations

from neardup.methods.base import AnyFingerprint
from neardup.methods.projections import Projection, TermSketch
from neardup.methods.shingles import Bands, ShingleSet, Supershingles

#: "keys", "bits", "terms" or "set"; k; min-values, bits or bins; rows of a key; whether by Rabin's hash.
NativeKind = tuple[str, int, int, int, bool]


def native_kind(kind: AnyFingerprint) -> NativeKind | None:
    """A fingerprint as the native module names it, if it knows it.

    >>> native_kind(Supershingles()), native_kind(Projection(bits=64)), native_kind(ShingleSet(5))
    (('keys', 8, 84, 14, False), ('bits', 1, 64, 0, False), ('set', 5, 0, 0, False))
    """
    # Not by isinstance: a fingerprint that builds on one of these may compute something else.
    if type(kind) is Supershingles:
        return ("keys", kind.k, kind.rows * kind.groups, kind.rows, kind.rabin)
    if type(kind) is Bands:
        return ("keys", kind.k, kind.bands * kind.rows, kind.rows, kind.rabin)
    if type(kind) is Projection:
        return ("bits", kind.k, kind.bits, 0, kind.rabin)
    if type(kind) is TermSketch:
        return ("terms", 1, kind.bins, 0, False)
    if type(kind) is ShingleSet:
        return ("set", kind.k, 0, 0, kind.rabin)
    return None
