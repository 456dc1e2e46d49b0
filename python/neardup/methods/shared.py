"""The two ways in which the taxonomy compares fingerprints (Potthast & Stein §1), as bases of its detectors.

Fingerprints of fixed size k: near-duplicates share at least κ numbers. Candidates come from groups of columns, so that
no such pair is missed. Fingerprints whose size follows the page: near-duplicates share a stated ratio of the union of
both. Candidates come from the rarest chunks of each page (prefix filtering), and no such pair is missed either.
"""

from __future__ import annotations

from neardup.methods import ChunkSets, Fingerprint, Statistical
from neardup.methods.base import Detector
from neardup.methods.planner import binomial_tail
from neardup.methods.rules import AgreeingColumns, ColumnGroups, RarestChunks, Rule, SharedRatio


class SharesColumns(Detector):
    """Base of detectors with a fingerprint of ``width`` numbers of which ``needed`` must agree, each at its place."""

    def fingerprint(self) -> Fingerprint | Statistical:
        raise NotImplementedError

    def width(self) -> int:
        """k."""
        return int(self.parameters()["k"])

    def needed(self) -> int:
        """κ."""
        return int(self.parameters()["kappa"])

    def rules(self) -> tuple[Rule, ...]:
        kind, needed = self.fingerprint(), self.needed()
        groups = ColumnGroups(kind, self.width() - needed + 1)
        return (Rule(self.name, groups, AgreeingColumns(kind, needed)),)

    def one_agrees(self, similarity: float) -> float | None:
        """P(one number agrees), where a closed form is known."""
        return None

    def acceptance(self, similarity: float) -> float | None:
        chance = self.one_agrees(similarity)
        return None if chance is None else binomial_tail(self.width(), chance, self.needed())

    def check_kappa(self, most: int = 500) -> None:
        self.check(1 <= self.width() <= most, f"k must be between 1 and {most}")
        self.check(1 <= self.needed() <= self.width(), "kappa must be between 1 and k")

    def as_used(self) -> tuple[str, str, str]:
        return (self.chunk_length(), str(self.width()), f"κ = {self.needed()}")

    def chunk_length(self) -> str:
        """n; the whole page where terms are taken together."""
        return str(self.parameters().get("n", "|d|"))


class SharesRatio(Detector):
    """Base of detectors with sets of chunks, which must have ``least_ratio`` of their union in common."""

    def fingerprint(self) -> ChunkSets | Statistical:
        raise NotImplementedError

    def least_ratio(self) -> float:
        """Shared / union."""
        return float(self.parameters()["ratio"])

    def rules(self) -> tuple[Rule, ...]:
        kind, least = self.fingerprint(), self.least_ratio()
        return (Rule(self.name, RarestChunks(kind, least), SharedRatio(kind, least)),)

    def check_ratio(self, *, lengths: tuple[str, ...] = ("n",)) -> None:
        for name in lengths:
            self.check(self.parameters()[name] >= 1, f"{name} must be at least 1")
        if "ratio" in self.parameters():
            self.check(0 < self.parameters()["ratio"] <= 1, "ratio must be above 0 and at most 1")

    def as_used(self) -> tuple[str, str, str]:
        return (self.chunk_length(), self.size(), self.agreement())

    def chunk_length(self) -> str:
        return str(self.parameters().get("n", "|d|"))

    def size(self) -> str:
        return "grows with |d|"

    def agreement(self) -> str:
        return f"ratio ≥ {self.least_ratio():g}"


class SharesNumbers(SharesRatio):
    """Base of detectors with sets of ``k`` chunks of which ``kappa`` must be shared, whatever their place."""

    def check_numbers(self) -> None:
        self.check_ratio(lengths=("n", "k", "kappa"))
        self.check(self.parameters()["kappa"] <= self.parameters()["k"], "kappa must be between 1 and k")

    def least_ratio(self) -> float:
        """Of two full fingerprints κ numbers are shared exactly if this ratio of their union is; smaller ones are held
        to the same ratio.
        """
        k, kappa = self.parameters()["k"], self.parameters()["kappa"]
        return float(kappa / (2 * k - kappa))

    def size(self) -> str:
        return str(self.parameters()["k"])

    def agreement(self) -> str:
        return f"κ = {self.parameters()['kappa']}"
