"""What a detector is: a small frozen dataclass that says its rules, and a line about itself for people."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from neardup.detectors.rules import OfSets, Rule
from neardup.errors import SpecError
from neardup.fingerprints import AnyFingerprint, OfContent, Statistical


@dataclass(frozen=True)
class Detector:
    """Base of all detectors. Subclasses are frozen dataclasses whose fields are the parameters.

    The text form names what differs from the defaults, and parses back (``neardup.detectors.parse``).
    """

    #: The name in the registry and in the text form.
    name: ClassVar[str]
    #: One line for ``neardup detectors``.
    summary: ClassVar[str]
    #: Where the method comes from.
    source: ClassVar[str]
    #: What it costs in time and space a page.
    cost: ClassVar[str]
    #: The similarity that ``acceptance`` is about.
    measure: ClassVar[str] = "Jaccard similarity"

    def rules(self) -> tuple[Rule, ...]:
        """The union of these finds the pairs."""
        raise NotImplementedError

    def fingerprints(self) -> tuple[AnyFingerprint, ...]:
        """Everything to be computed of every page, each once."""
        needed: dict[AnyFingerprint, None] = {}
        for rule in self.rules():
            needed.update(dict.fromkeys(rule.fingerprints()))
        return tuple(needed)

    def sets(self) -> tuple[AnyFingerprint, ...]:
        """The sets that pairs are verified by, each once."""
        verifiers = (rule.verify for rule in self.rules())
        return tuple(dict.fromkeys(v.fingerprint for v in verifiers if isinstance(v, OfSets)))

    def counted(self) -> tuple[int, ...]:
        """The lengths of chunks whose frequencies in the collection are needed first; none for most."""
        lengths = {kind.counted for kind in self.fingerprints() if isinstance(kind, Statistical)}
        return tuple(sorted(lengths))

    def counts_blocks(self) -> bool:
        """Whether what is counted are blocks of the pages of a site, not chunks of tokens."""
        return any(isinstance(kind, Statistical) and isinstance(kind, OfContent) for kind in self.fingerprints())

    @property
    def looks_at_sites(self) -> bool:
        """Whether a rule or a statistic does: then a copy of a page on another site is another page to be compared."""
        return self.counts_blocks() or any(rule.predicate != "any" for rule in self.rules())

    def acceptance(self, similarity: float) -> float | None:
        """P(a pair is accepted), given its similarity as ``measure`` has it; None where no closed form is known."""
        return None

    def as_used(self) -> tuple[str, str, str]:
        """For the table of methods: tokens of a chunk (n), numbers of a fingerprint (k), and what must be shared."""
        return ("–", "–", "–")

    def parameters(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{self.name}({','.join(changed)})" if changed else self.name

    def check(self, holds: bool, what: str) -> None:
        """Raises a SpecError that names the detector unless the parameters make sense."""
        if not holds:
            raise SpecError(f"detector {self.name!r}: {what}", hint=f"neardup detectors {self.name}")
