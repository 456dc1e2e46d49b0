"""A run as the application looks at it: numbers in memory, rows of text from Parquet as they are asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from neardup.engines.common.reasons import REASONS
from neardup.errors import InputError
from neardup.graph.cut import Cut, Shape, cut, steps
from neardup.results import open_result
from neardup.results.revision import Decisions, pair_places, shape_of
from neardup.web.decisions import Decided, DecisionStore, digest

_CUTS: Final = 4
SHOWN: Final = ("id", "url", "site", "title", "tokens", "reason", "source")


class OpenRun:
    """One run folder, its decisions, and the cuts that were looked at last; shared by all requests."""

    def __init__(self, folder: Path, decisions: Path | None = None) -> None:
        self.folder = folder.resolve()
        self.result = open_result(self.folder)
        self.report: dict[str, Any] = self.result.report
        #: The run's pages, and behind them those of earlier runs in its clusters.
        self.pages = self.result.page_rows()
        self.counts: dict[str, int] = self.report["counts"]
        place = decisions or self.folder / "decisions.sqlite"
        # The tables' own check: decisions name pages by row, so they are of these pages only.
        name = f"{self.report['detector']} {self.counts['pages']} {crc32(self._first_ids().encode())}"
        self.store = DecisionStore(place, name)
        self._lock = threading.Lock()
        self._cuts: OrderedDict[tuple[float, int], Cut] = OrderedDict()

    def _first_ids(self) -> str:
        count = min(self.counts["pages"], 100)
        return "\n".join(self.pages.take(range(count), ["id"]).column(0).to_pylist())

    def close(self) -> None:
        """Lets go of the decisions; the tables' files are closed when nobody holds the run."""
        self.store.close()

    # Numbers --------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """The run in numbers, read once."""
        with self._lock:
            return self._shape

    @cached_property
    def _shape(self) -> Shape:
        return shape_of(self.result)

    @cached_property
    def steps(self) -> npt.NDArray[np.float64]:
        """The thresholds of the slider."""
        return steps(self.shape)

    @cached_property
    def site_names(self) -> list[str]:
        """The sites by their number in ``shape.site``."""
        return self.pages.codes("site")[1]

    @cached_property
    def reasons(self) -> npt.NDArray[np.int64]:
        """For each page the place of its reason in ``REASONS``, as the run decided."""
        numbers, names = self.pages.codes("reason")
        known = list(REASONS)
        return np.array([known.index(name) for name in names], np.int64)[numbers]

    def cut(self, threshold: float | None = None) -> Cut:
        """The clusters at a threshold (the one that was chosen, else the run's), without rejected pairs."""
        decided = self.store.all()
        wanted = threshold if threshold is not None else decided.threshold
        at = max(self.shape.floor, wanted if wanted is not None else 0.0)
        key = (at, crc32(repr((decided.rejected_pairs, sorted(decided.representatives.items()))).encode()))
        with self._lock:
            if key in self._cuts:
                self._cuts.move_to_end(key)
                return self._cuts[key]
        rejected = pair_places(self.shape, decided.rejected_pairs)
        shape = self.shape.without(rejected) if rejected.any() else self.shape
        made = cut(shape, at)
        chosen = [
            row for first, (row, members) in decided.representatives.items() if digest(made.members(first)) == members
        ]
        if chosen:
            made = cut(shape, at, np.array(chosen, np.uint32))
        with self._lock:
            self._cuts[key] = made
            while len(self._cuts) > _CUTS:
                self._cuts.popitem(last=False)
        return made

    # Decisions ------------------------------------------------------------------------------------------------------

    def verdict(self, made: Cut, first: int, decided: Decided | None = None) -> str | None:
        """What was decided of a cluster: ``accepted``, ``rejected``, or ``stale`` if it had other pages then."""
        found = (decided or self.store.all()).clusters.get(first)
        if found is None:
            return None
        return found[0] if digest(made.members(first)) == found[1] else "stale"

    def decisions(self) -> tuple[Decisions, int]:
        """The decisions as a revision takes them, and how many are stale and left out."""
        decided, made = self.store.all(), self.cut()
        rejected = [first for first in decided.clusters if self.verdict(made, first, decided) == "rejected"]
        stale = sum(self.verdict(made, first, decided) == "stale" for first in decided.clusters)
        chosen = {f: row for f, (row, members) in decided.representatives.items() if digest(made.members(f)) == members}
        stale += len(decided.representatives) - len(chosen)
        return Decisions(decided.threshold, decided.rejected_pairs, rejected, chosen), stale

    # Rows -----------------------------------------------------------------------------------------------------------

    def rows(self, rows: Sequence[int] | npt.NDArray[Any], columns: Sequence[str] = SHOWN) -> list[dict[str, Any]]:
        """Pages by row, with their row."""
        told = self.pages.take(rows, columns).to_pylist()
        return [{"row": int(row)} | one for row, one in zip(rows, told, strict=True)]

    def row(self, row: int) -> dict[str, Any]:
        """One page."""
        if not 0 <= row < len(self.pages):
            raise InputError(f"there is no page {row}", where=str(self.folder))
        return self.rows([row], [*SHOWN, "offset", "kept", "kept_instead", "cluster", "identity"])[0]

    def matching(self, text: str) -> npt.NDArray[np.int64]:
        """Rows of pages whose URL, id or title contains a text, in any case of letters."""
        found = []
        for start, group in self.pages.groups(["url", "id", "title"]):
            flags = np.zeros(group.num_rows, bool)
            for column in group.columns:
                said = pc.match_substring(column, text, ignore_case=True).fill_null(False)
                flags |= said.combine_chunks().to_numpy(zero_copy_only=False)
            found.append(np.flatnonzero(flags) + start)
        return np.concatenate(found) if found else np.empty(0, np.int64)
