"""What a method is made of: a fingerprint, tokens of a batch in and numbers of each page out; and a detector, which
says by its rules when two pages are near-duplicates, and a line about itself for people.

Most fingerprints are of fixed size, a row of 64-bit numbers a page (``Fingerprint``). Others are sets whose size
follows the page (``ChunkSets``). What a fingerprint may ask for beyond tokens: the text of the terms (``OfTerms``),
since a token is a hash and hides its letters; the blocks of the page with their structure (``OfContent``); the pages
themselves (``OfPages``), for what tokens lack, such as periods; and statistics of the whole collection
(``Statistical``), which is then a fingerprint only once they are *given*.
"""

from __future__ import annotations

from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.errors import SpecError
from neardup.methods.rules import OfSets, Rule

if TYPE_CHECKING:
    from neardup.methods.content import Content
    from neardup.methods.statistics import CollectionStatistics

#: One row a page, a fixed number of columns.
FixedWidth = npt.NDArray[np.uint64]


class Fingerprint(Protocol):
    """Hashable and comparable, so that an engine computes each one once however many rules use it."""

    @property
    def width(self) -> int:
        """64-bit numbers a page."""
        ...

    def compute(self, tokens: pa.LargeListArray, /) -> FixedWidth:
        """The fingerprints of a batch of pages given as lists of tokens."""
        ...


class ChunkSets(Protocol):
    """A fingerprint whose size follows the page: a sorted set of numbers."""

    def compute(self, tokens: pa.LargeListArray, /) -> pa.LargeListArray:
        """The sets of a batch of pages given as lists of tokens."""
        ...


class NativeRows:
    """Mixed into a fingerprint of fixed size that the native module computes: by its name there, ``native``, with its
    attributes as parameters. What was counted over the collection is the attribute ``table``."""

    __slots__ = ()

    #: What is computed.
    native: ClassVar[str]

    def compute(self, lists: pa.LargeListArray, /) -> FixedWidth:
        """The rows of a batch of pages, given as lists of tokens, or of what else it is computed of."""
        rows: FixedWidth = _native.compute(self, lists)
        return rows


class NativeSets:
    """The same for one whose size follows the page."""

    __slots__ = ()

    native: ClassVar[str]

    def compute(self, lists: pa.LargeListArray, /) -> pa.LargeListArray:
        """The sets of a batch of pages, given as lists of tokens, or of what else it is computed of."""
        return _native.compute(self, lists)


class OfTerms:
    """Mixed into a fingerprint that is computed of terms as text (``large_list<large_string>``), not of tokens."""

    __slots__ = ()


class OfPages:
    """Mixed into a fingerprint that is computed of the pages as they are (a batch of ``neardup.page.PAGES``)."""

    __slots__ = ()


class OfContent:
    """Mixed into a fingerprint that is computed of content streams (``neardup.text.content_streams``), not of tokens.
    One that is statistical as well is about stretches of blocks: how many different pages of a site have them."""

    __slots__ = ()

    #: How the streams are made and weighed.
    content: Content


@runtime_checkable
class OverSets(Protocol):
    """A fingerprint that is made of sets which are one themselves: where both are wanted, the sets are made once."""

    @property
    def sets(self) -> Statistical: ...

    def of_sets(self, sets: pa.LargeListArray) -> FixedWidth: ...


@runtime_checkable
class Statistical(Protocol):
    """A fingerprint that needs statistics of the collection; the engine takes a first pass for them."""

    #: How many tokens the chunks have whose frequencies are needed.
    @property
    def counted(self) -> int: ...

    def given(self, statistics: CollectionStatistics) -> Fingerprint | ChunkSets:
        """The same with the statistics at hand."""
        ...


AnyFingerprint = Fingerprint | ChunkSets | Statistical


class Detector:
    """Base of all detectors. Subclasses are frozen dataclasses whose fields are the parameters.

    The text form names what differs from the defaults, and parses back (``neardup.methods.parse``).
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

    @classmethod
    def parameter_fields(cls) -> tuple[Field[Any], ...]:
        """Names and defaults of the parameters."""
        # Subclasses are dataclasses; the base is none, so that they may be of any kind.
        return fields(cls)  # type: ignore[arg-type]

    def parameters(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in self.parameter_fields()}

    def __str__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)}"
            for field in self.parameter_fields()
            if getattr(self, field.name) != field.default
        ]
        return f"{self.name}({','.join(changed)})" if changed else self.name

    def check(self, holds: bool, what: str) -> None:
        """Raises a SpecError that names the detector unless the parameters make sense."""
        if not holds:
            raise SpecError(f"detector {self.name!r}: {what}", hint=f"neardup detectors {self.name}")
