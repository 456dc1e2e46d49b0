"""A detector, compiled: the one place that knows what its rules mean in terms of what is held of a page.

A plan is made of a detector (and of the reading and the statistics that its fingerprints ask for), does not change,
can be pickled, and has a digest. The rules themselves are the native module's (``rules`` of ``neardup-core``): what two
pages are to a rule, which pairs it accepts among many, and which keys a page has is decided there. Cost: next to
nothing; fingerprints are computed when they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.lazy import later
from neardup.methods import AnyFingerprint, Detector, FixedWidth, Rule
from neardup.methods.projections import TermSketch
from neardup.methods.rules import (
    ExactJaccard,
    OfSets,
    RarestChunks,
    SharedOfLarger,
    confirming,
    evidence,
    least_jaccard,
)
from neardup.methods.shingles import ShingleSet
from neardup.methods.statistics import CollectionStatistics
from neardup.plan.given import Given, beyond_tokens
from neardup.record import record
from neardup.text import Reading

hashlib = later("hashlib")

#: Rows of numbers or sets of pages, by fingerprint.
Values = Mapping[AnyFingerprint, Any]
Rows = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]

#: Of a set that is only glanced at, the first words of its parity and its size, and a bit an element.
_GLANCE: Final = 64


@record(frozen=True, slots=True)
class RuleFinding:
    """What one rule says of pairs: native arrays, and the rule they are of."""

    rule: Rule
    arrays: _native.RuleFindings

    @property
    def keys(self) -> str:
        """What keys are, in words."""
        return self.rule.keys.words

    @property
    def measure(self) -> str:
        """What is measured, in words."""
        return self.rule.verify.words

    @property
    def counts(self) -> bool:
        """Whether what is measured is a number of things that agree, not a share."""
        return not isinstance(self.rule.verify, OfSets)

    @property
    def score(self) -> Numbers:
        """From 0 to 1: what is measured, as a probability where the rule knows that; 0 where the rule does not hold."""
        if self.rule.calibration is None:
            return self.arrays.score
        return np.where(self.arrays.score > 0, self.rule.calibration.of(self.arrays.score), 0.0)

    def terms(self, pair: int) -> tuple[float, float] | None:
        """The similarity of single terms that must be there as well, as their sketch tells it: of this pair, and the
        least that is accepted; where the rule asks for it."""
        asked = confirming(self.rule.verify)
        if asked is None or self.arrays.confirming is None or not isinstance(asked.fingerprint, TermSketch):
            return None
        sketch = asked.fingerprint
        return sketch.similarity(int(self.arrays.confirming[pair])), sketch.similarity(asked.least)


@record(frozen=True, slots=True)
class PairFindings:
    """What a plan says of pairs, rule by rule and all together."""

    pairs: int
    rules: tuple[RuleFinding, ...]

    @property
    def accepted(self) -> Flags:
        """Whether some rule accepts each pair."""
        flags = np.zeros(self.pairs, bool)
        for rule in self.rules:
            flags |= rule.arrays.accepted
        return flags

    @property
    def score(self) -> Numbers:
        """The best score that a rule gives each pair."""
        score = np.zeros(self.pairs)
        for rule in self.rules:
            score = np.maximum(score, rule.score)
        return score


class Cost(NamedTuple):
    """Of a page: bytes of fingerprints that are held, keys, and bytes that are sent along with each key shared."""

    held: int
    keys: int
    sent: int


class Plan:
    """What is held of a page for a detector, and what its rules say of pages.

    >>> from neardup.methods import parse
    >>> plan = Plan(parse("combined"))
    >>> plan.native.rules, plan.native.widths
    (['pairs(0) any bits(1,355)'], [6, 6])
    >>> plan.digest == Plan(parse("combined()")).digest != Plan(parse("combined(t=354)")).digest
    True
    >>> import pickle
    >>> pickle.loads(pickle.dumps(plan)).digest == plan.digest
    True
    """

    def __init__(
        self, detector: Detector, reading: Reading = Reading(), statistics: CollectionStatistics | None = None
    ) -> None:
        self.detector, self.reading, self.statistics = detector, reading, statistics
        self.rules: tuple[Rule, ...] = detector.rules()
        #: Everything to be computed of every page, each once.
        self.kinds: tuple[AnyFingerprint, ...] = detector.fingerprints()
        #: Those that are sets, in the order in which the native plan has them.
        self.sets: tuple[AnyFingerprint, ...] = tuple(kind for kind in self.kinds if kind in detector.sets())
        #: And those that are rows of numbers.
        self.columns: tuple[AnyFingerprint, ...] = tuple(kind for kind in self.kinds if kind not in self.sets)

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, (self.detector, self.reading, self.statistics)

    def __repr__(self) -> str:
        return f"Plan({self.detector})"

    def column(self, kind: AnyFingerprint) -> int:
        """The number of a column of fixed width."""
        return self.columns.index(kind)

    def set(self, kind: AnyFingerprint) -> int:
        """The number of a set."""
        return self.sets.index(kind)

    @cached_property
    def widths(self) -> list[int]:
        """64-bit numbers of each column."""
        return [int(kind.width) for kind in self.columns]  # type: ignore[union-attr]

    @cached_property
    def native(self) -> _native.Plan:
        """The rules as the native module has them."""
        return _native.Plan(self.widths, len(self.sets), [rule.text(self) for rule in self.rules])

    @cached_property
    def by_tokens(self) -> _native.Plan:
        """The same where the hash of a page's tokens is the first column, and a rule before all others accepts pages in
        which both of its numbers agree: for an index whose pages may have the same tokens and be different."""
        later = _Later(self)
        rules = ["columns(0) any columns(0,2)", *(rule.text(later) for rule in self.rules)]
        return _native.Plan([2, *self.widths], len(self.sets), rules)

    @cached_property
    def digest(self) -> str:
        """Names what is decided and of what: the rules, the fingerprints, the reading and the statistics. The same in
        every process."""
        counted = None if self.statistics is None else self.statistics.digest
        kinds = ", ".join(map(repr, (*self.columns, *self.sets)))
        scores = [rule.calibration for rule in self.rules]
        text = f"{_native.FORMAT_VERSION}; {self.native.digest}; {kinds}; {scores}; {self.reading}; {counted}"
        digest: str = hashlib.sha256(text.encode()).hexdigest()
        return digest[:32]

    @property
    def beyond_tokens(self) -> bool:
        """Whether something is computed of more than a page's tokens."""
        return beyond_tokens(self.kinds)

    def values(self, given: Given) -> dict[AnyFingerprint, Any]:
        """All that is held of the pages of a batch."""
        return {kind: given.value(kind, self.statistics) for kind in self.kinds}

    def pair(self, values: Values, a: Rows, b: Rows, same_site: Flags) -> PairFindings:
        """What each rule says of pairs of pages, given by their places in ``values``.

        >>> from neardup.methods import parse
        >>> from neardup.sources.memory import texts
        >>> both = Given(texts(["one two three four five six seven eight", "nine ten eleven twelve"] * 2).batches[0])
        >>> plan = Plan(parse("charikar"))
        >>> a, b = np.array([[0, 0], [1, 2]], np.uint32)
        >>> found = plan.pair(plan.values(both), a, b, np.zeros(2, bool))
        >>> found.accepted.tolist(), float(found.rules[0].arrays.value[1]), found.rules[0].measure
        ([False, True], 384.0, 'bits that agree')
        """
        columns = [np.ascontiguousarray(values[kind]) for kind in self.columns]
        arrays = self.native.pair(columns, [values[kind] for kind in self.sets], a, b, same_site)
        rules = (RuleFinding(rule, of_rule) for rule, of_rule in zip(self.rules, arrays, strict=True))
        return PairFindings(len(a), tuple(rules))

    def cost(self, tokens: float) -> Cost:
        """What a page of so many tokens takes.

        >>> from neardup.methods import parse
        >>> Plan(parse("site-aware")).cost(400)
        Cost(held=128, keys=27, sent=128)
        """
        fixed, sets = 8 * sum(self.widths), len(self.sets)
        keys = 0
        for rule, columns in zip(self.rules, self.native.key_columns, strict=True):
            rarest = isinstance(rule.keys, RarestChunks)
            keys += int(tokens * (1 - rule.keys.least)) + 1 if rarest else columns  # type: ignore[union-attr]
        return Cost(fixed + sets * int(8 * tokens), keys, fixed + sets * int(_GLANCE + tokens / 8))

    def keys(self, at: int, values: Values) -> FixedWidth:
        """The keys of a rule, a row a page; of rules that choose keys by rarity there are none yet."""
        keys = self.rules[at].keys
        assert not isinstance(keys, RarestChunks), "keys that depend on all pages are chosen among all"
        made: FixedWidth = keys.of(values[keys.fingerprint])
        return made

    @property
    def looks_at_sites(self) -> bool:
        """Whether some rule holds for some pairs only, by their sites."""
        return any(rule.predicate != "any" for rule in self.rules)

    def by_sets(self, at: int) -> bool:
        """Whether pairs of a rule are verified by sets."""
        return isinstance(self.rules[at].verify, OfSets)

    def by_rarity(self, at: int) -> bool:
        """Whether the keys of a rule are the rarest numbers of its sets."""
        return isinstance(self.rules[at].keys, RarestChunks)

    def of_larger(self, at: int) -> bool:
        """Whether the sets of a rule are scored by what both share of the larger one."""
        return isinstance(self.rules[at].verify, SharedOfLarger)

    def least_jaccard(self, at: int) -> float:
        """The Jaccard similarity of sets that no pair which a rule accepts falls below."""
        verify = self.rules[at].verify
        assert isinstance(verify, OfSets), "sets are verified"
        return least_jaccard(verify)

    def set_kind(self, at: int) -> AnyFingerprint:
        """The sets by which a rule verifies pairs."""
        return self.rules[at].verify.fingerprint

    @cached_property
    def fixed_width(self) -> tuple[AnyFingerprint, ...]:
        """The columns in the order in which rules ask for them: keys first."""
        kinds: dict[AnyFingerprint, None] = {}
        for at, rule in enumerate(self.rules):
            if not self.by_rarity(at):
                kinds[rule.keys.fingerprint] = None
            if not self.by_sets(at):
                kinds.update(dict.fromkeys(evidence(rule.verify)))
        return tuple(kinds)

    @property
    def scores_are_jaccard(self) -> bool:
        """Whether every score is an exact Jaccard similarity."""
        return all(isinstance(rule.verify, ExactJaccard) for rule in self.rules)

    @property
    def verifies_exactly(self) -> bool:
        """Whether some rule computes the Jaccard similarity exactly."""
        return any(isinstance(rule.verify, ExactJaccard) for rule in self.rules)

    @property
    def exact_measure(self) -> tuple[ShingleSet, float] | None:
        """The shingle sets whose exact similarity alone decides, and from where on, if that is so."""
        if len(self.rules) == 1 and isinstance(verify := self.rules[0].verify, ExactJaccard):
            return (verify.fingerprint, verify.least) if isinstance(verify.fingerprint, ShingleSet) else None
        return None


class _Later:
    """The places of a plan's columns behind one that stands before them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def column(self, kind: AnyFingerprint) -> int:
        return self._plan.column(kind) + 1

    def set(self, kind: AnyFingerprint) -> int:
        return self._plan.set(kind)
