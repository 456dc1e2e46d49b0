"""Which columns the tables of a run have, by what its detector asks for.

Fingerprint number i of the detector is ``f{i}``, a row of numbers; or, where pairs are verified by sets, ``s{i}``, with
its size ``n{i}`` and parity ``p{i}``. Keys that were chosen by rarity are ``k{i}``, i the number of the rule.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.engines.common.packed import bytes_to_rows, lists_to_bytes, rows_to_bytes
from neardup.engines.common.settings import Settings
from neardup.lazy import later
from neardup.methods import AnyFingerprint, Detector, FixedWidth, Rule
from neardup.plan import Plan
from neardup.record import record

pc = later("pyarrow.compute")


@record(frozen=True)
class Layout:
    """The columns of one run."""

    detector: Detector
    settings: Settings
    rules: tuple[Rule, ...] = field(init=False)
    kinds: tuple[AnyFingerprint, ...] = field(init=False)
    plan: Plan = field(init=False, compare=False)

    def __post_init__(self) -> None:
        plan = Plan(self.detector, self.settings.reading)
        object.__setattr__(self, "plan", plan)
        object.__setattr__(self, "rules", plan.rules)
        object.__setattr__(self, "kinds", plan.kinds)

    @property
    def fixed(self) -> dict[AnyFingerprint, str]:
        """Fingerprints that are rows of numbers, and their columns."""
        return {kind: f"f{self.kinds.index(kind)}" for kind in self.plan.fixed_width}

    @property
    def sets(self) -> dict[AnyFingerprint, int]:
        """Fingerprints that are sets, and their numbers."""
        return {kind: self.kinds.index(kind) for kind in self.plan.sets}

    @property
    def key_lists(self) -> dict[int, str]:
        """Rules whose keys are chosen by rarity, and the columns of these."""
        return {at: f"k{at}" for at in range(len(self.rules)) if self.plan.by_rarity(at)}

    def values(self, batch: pa.RecordBatch) -> dict[AnyFingerprint, FixedWidth]:
        """The fingerprints of fixed width of a batch."""
        return {kind: rows_of(batch.column(name)) for kind, name in self.fixed.items()}


def rows_of(column: pa.BinaryArray) -> FixedWidth:
    """Rows whose width the bytes tell; a batch has at least one."""
    width = len(column[0].as_py()) // 8
    return bytes_to_rows(column, width)


def computed(values: FixedWidth | pa.LargeListArray, at: int) -> dict[str, pa.Array]:
    """The columns of fingerprint number ``at``."""
    if isinstance(values, np.ndarray):
        return {f"f{at}": rows_to_bytes(values)}
    return set_columns(values, _native.parities(values), at)


def set_columns(sets: pa.LargeListArray, parities: pa.LargeListArray, at: int) -> dict[str, pa.Array]:
    """The columns of sets: how large each is, its parity, and the set."""
    return {
        f"n{at}": pc.list_value_length(sets).cast(pa.int32()),
        f"p{at}": lists_to_bytes(parities),
        f"s{at}": lists_to_bytes(sets),
    }
