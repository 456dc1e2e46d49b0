"""A detector of one's own: pages that begin or end alike are looked at, and accepted by their exact similarity.

A fingerprint turns the tokens of a page into numbers; pages that share a number in the same column become
candidates; a verify step decides. Here the two numbers are hashes of the first and of the last ``k`` tokens, which is
cheap, and misses pairs that differ at both ends.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import neardup
from neardup.methods import Detector, Rule, register
from neardup.methods.rules import ExactJaccard, SingleColumns
from neardup.methods.shingles import ShingleSet


@dataclass(frozen=True)
class Ends:
    """Two numbers a page: its first ``k`` tokens, its last ``k``. Frozen, so that equal ones are computed once."""

    k: int

    @property
    def width(self) -> int:
        return 2

    def compute(self, tokens: pa.LargeListArray) -> npt.NDArray[np.uint64]:
        rows = np.empty((len(tokens), self.width), np.uint64)
        for row, page in zip(rows, tokens, strict=True):
            values = page.values.to_numpy()
            row[:] = stable_hash(values[: self.k]), stable_hash(values[-self.k :])
        return rows


def stable_hash(values: npt.NDArray[np.uint64]) -> int:
    """The same number on every machine and in every process, unlike Python's own ``hash``."""
    digest = hashlib.blake2b(values.astype("<u8").tobytes(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


@register
@dataclass(frozen=True)
class SameEnds(Detector):
    """Pages that share their first or last ``k`` tokens and have Jaccard similarity at least ``threshold``."""

    k: int = 10
    threshold: float = 0.8

    name: ClassVar[str] = "same-ends"
    summary: ClassVar[str] = "pages that begin or end alike and are similar"
    source: ClassVar[str] = "an example"
    cost: ClassVar[str] = "two hashes; 16 bytes and 2 keys a page"

    def __post_init__(self) -> None:
        self.check(self.k >= 1, "k must be at least 1")
        self.check(0 < self.threshold <= 1, "threshold must be above 0 and at most 1")

    def rules(self) -> tuple[Rule, ...]:
        keys = SingleColumns(Ends(self.k))  # type: ignore[arg-type]  # any fingerprint of fixed width will do
        return (Rule("same-ends", keys, ExactJaccard(ShingleSet(5), self.threshold)),)


def main() -> None:
    text = "the ferry leaves at noon from the northern pier and comes back at four in the afternoon on weekdays"
    pages = [text, text.replace("weekdays", "sundays"), "another text that has nothing to do with ferries at all"]
    result = neardup.find_duplicates(pages, detector="same-ends(threshold=0.7)")
    print("detector:", result.report["detector"])
    for pair in result.pairs.to_pylist():
        print(f"{pair['a']} ~ {pair['b']}: Jaccard similarity {pair['jaccard']:.3f}, rule {pair['rule']}")
    print("kept:", result.kept["id"].to_pylist())


if __name__ == "__main__":
    main()
