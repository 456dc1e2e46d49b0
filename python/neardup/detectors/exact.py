"""Exact duplicates: pages with the same token sequence, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.detectors.base import Detector
from neardup.detectors.registry import register
from neardup.detectors.rules import Rule


@register
@dataclass(frozen=True)
class Exact(Detector):
    """Identity sets only; every other detector has them too.

    >>> Exact().rules()
    ()
    """

    name: ClassVar[str] = "exact"
    summary: ClassVar[str] = "pages with the same token sequence"
    source: ClassVar[str] = "Henzinger 2006 §3, identity sets"
    cost: ClassVar[str] = "one 128-bit hash of the tokens; 16 bytes a page"

    def rules(self) -> tuple[Rule, ...]:
        return ()

    def as_used(self) -> tuple[str, str, str]:
        return ("|d|", "1", "κ = 1")
