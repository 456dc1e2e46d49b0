"""What a part of the suite reports: a table, what it shows against what was asked, and the raw numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Claim:
    """A number that was asked for, and the one that was reached.

    Infinity is what did not come to an end. ``at_least`` says in which direction it is to be read; ``judged`` is
    false where the input is smaller than the one that the claim is about: the number is shown, and nothing follows.
    """

    what: str
    asked: float
    reached: float | None
    unit: str = "×"
    at_least: bool = True
    judged: bool = True

    @property
    def verdict(self) -> str:
        """
        >>> Claim("speed", 8, 9.1).verdict, Claim("speed", 8, 7.9).verdict, Claim("speed", 8, None).verdict
        ('met', 'NOT MET', 'no number')
        >>> Claim("speed", 8, 2, judged=False).verdict
        'small input, not judged'
        """
        if self.reached is None:
            return "no number"
        if math.isinf(self.reached):
            return "NOT MET"
        if not self.judged:
            return "small input, not judged"
        met = self.reached >= self.asked if self.at_least else self.reached <= self.asked
        return "met" if met else "NOT MET"

    def record(self) -> dict[str, Any]:
        """For JSON, which knows no infinity."""
        finite = None if self.reached is None or math.isinf(self.reached) else self.reached
        return {
            "what": self.what,
            "asked": self.asked,
            "reached": finite,
            "unit": self.unit,
            "at_least": self.at_least,
            "verdict": self.verdict,
        }

    def cells(self) -> list[str]:
        sign = "≥" if self.at_least else "≤"
        reached = "–" if self.reached is None else f"{number(self.reached)}{self.unit}"
        if self.reached is not None and math.isinf(self.reached):
            reached = "given up"
        return [self.what, f"{sign} {number(self.asked)}{self.unit}", reached, self.verdict]


@dataclass
class Section:
    """One part's report."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    #: The measurements themselves, for the JSON record.
    data: dict[str, Any] = field(default_factory=dict)

    def markdown(self) -> str:
        parts = [f"## {self.title}"]
        if self.rows:
            parts.append(table(self.columns, self.rows))
        parts.extend(self.notes)
        return "\n\n".join(parts) + "\n"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that reads as one in Markdown and on a terminal.

    >>> print(table(["side", "seconds"], [["ours", "1.2"]]))
    | side | seconds |
    |------|---------|
    | ours | 1.2     |
    """
    lines = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    text = []
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        text.append(f"| {' | '.join(cells)} |")
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def number(value: float) -> str:
    """Three digits that count.

    >>> number(1.0), number(12.345), number(1234.5), number(0.9987), number(1.08)
    ('1', '12.3', '1,234', '0.999', '1.08')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
