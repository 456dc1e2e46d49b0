"""All detectors by name, and their text form: ``combined``, ``minhash(k=5,threshold=0.8)``."""

from __future__ import annotations

import ast
import importlib
from typing import Any, Final, TypeVar

from neardup.errors import SpecError
from neardup.methods.base import Detector

#: The methods that come with neardup: each family and its detectors.
FAMILIES: Final = {
    "chunks": (
        "breakpoint-chunks", "random-chunks", "shingling", "sliding-window", "winnowing", "word-breakpoints",
        "word-chunks",
    ),
    "combinations": ("combined", "exact", "site-aware"),
    "content": ("template-aware",),
    "letters": ("byte-breakpoints", "prefix-anchor", "rare-prefix-anchor"),
    "lexicon": ("i-match", "randomised-i-match", "rare-chunks", "spex"),
    "minima": ("b-bit-minhash", "one-permutation", "shingling-functions", "weighted-minhash"),
    "paragraphs": ("shingle-paragraphs",),
    "profiles": ("fuzzy-fingerprinting",),
    "projections": ("charikar", "charikar-shingles", "hyperplane-lsh", "p-stable-lsh"),
    "shingles": ("broder", "megashingling", "minhash", "supershingling"),
}  # fmt: skip
_HOMES: Final = {name: f"neardup.methods.{family}" for family, names in FAMILIES.items() for name in names}
_DETECTORS: dict[str, type[Detector]] = {}
DetectorClass = TypeVar("DetectorClass", bound=type[Detector])


def register(detector: DetectorClass) -> DetectorClass:
    """Class decorator: makes a detector known under its name."""
    taken = _HOMES.get(detector.name, detector.__module__) != detector.__module__
    if taken or detector.name in _DETECTORS:
        raise ValueError(f"two detectors are named {detector.name!r}")
    _DETECTORS[detector.name] = detector
    return detector


def detectors() -> dict[str, type[Detector]]:
    """All registered detectors, by name.

    >>> "site-aware" in detectors()
    True
    """
    for name in _HOMES:
        _known(name)
    return dict(sorted(_DETECTORS.items()))


def _known(name: str) -> type[Detector] | None:
    if name not in _DETECTORS and name in _HOMES:
        importlib.import_module(_HOMES[name])
    return _DETECTORS.get(name)


def parse(spec: str | Detector) -> Detector:
    """A detector from its text form; a detector is returned as it is.

    >>> parse("minhash(threshold=0.9)")
    MinHash(k=5, threshold=0.9, recall=0.99, bands=0, rows=0, rabin=False)
    >>> str(parse(" combined ( t = 360 ) "))
    'combined(t=360)'
    """
    if isinstance(spec, Detector):
        return spec
    name, opened, rest = spec.strip().partition("(")
    name = name.strip()
    known = _known(name)
    if known is None:
        import difflib

        near = difflib.get_close_matches(name, detectors(), 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise SpecError(f"unknown detector {name!r}{meant}", hint=f"one of {', '.join(detectors())}")
    if not opened:
        return known()
    if not rest.rstrip().endswith(")"):
        raise SpecError(f"detector {spec!r} lacks its closing bracket")
    return known(**_arguments(known, rest.rstrip()[:-1], spec))


def _arguments(detector: type[Detector], text: str, spec: str) -> dict[str, int | float | bool | str]:
    types = {field.name: type(field.default) for field in detector.parameter_fields()}
    arguments: dict[str, int | float | bool | str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, written = (piece.strip() for piece in part.partition("="))
        if not equals or name not in types:
            have = ", ".join(types) or "none"
            raise SpecError(f"detector {detector.name!r} has no parameter {name!r}", hint=f"it has: {have}")
        if name in arguments:
            raise SpecError(f"parameter {name!r} is given twice in {spec!r}")
        arguments[name] = _value(detector, name, written, types[name])
    return arguments


def _value(detector: type[Detector], name: str, written: str, wanted: type) -> int | float | bool | str:
    if wanted is str:
        return written.strip("'\"")
    try:
        value: Any = ast.literal_eval({"true": "True", "false": "False"}.get(written.lower(), written))
    except (ValueError, SyntaxError):
        value = None
    if wanted is float and type(value) is int:
        value = float(value)
    if not isinstance(value, int | float | bool) or type(value) is not wanted:
        raise SpecError(f"detector {detector.name!r}: {name}={written} is not a value of type {wanted.__name__}")
    return value
