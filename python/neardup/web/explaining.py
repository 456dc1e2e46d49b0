"""Explanations of pairs, made one at a time and kept for a while; the one a judge needs next is made ahead."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from neardup.errors import NeardupError
from neardup.report.explain import Explanation, explain
from neardup.results.pages import RunPages
from neardup.results.texts import together
from neardup.web.run import OpenRun

_HELD: Final = 32


class Explaining:
    """Explains pairs of one run by their rows."""

    def __init__(self, run: OpenRun) -> None:
        self._pages = RunPages(run.result)
        # One at a time: it takes all that a core has, and shares the run's columns.
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[int, int], Explanation] = OrderedDict()

    def pair(self, a: int, b: int) -> Explanation:
        """The explanation of two pages."""
        with self._turn:
            with self._lock:
                found = self._held.get((a, b))
            if found is None:
                found = explain(self._pages, a, b)
            with self._lock:
                self._held[a, b] = found
                self._held.move_to_end((a, b))
                while len(self._held) > _HELD:
                    self._held.popitem(last=False)
        return found

    def ahead(self, a: int, b: int) -> None:
        """Makes an explanation that will be asked for soon, in the background."""

        def make() -> None:
            try:
                self.pair(a, b)
            except NeardupError:
                # Whoever asks for it is told.
                return

        with self._lock:
            known = (a, b) in self._held
        if not known:
            threading.Thread(target=make, daemon=True).start()

    def contents(self, rows: Sequence[int]) -> pa.RecordBatch:
        """The pages at these rows, read again from the inputs, or from the store of the run."""
        with self._turn:
            found = self._pages.texts(self._pages.at(list(rows)))
        return together([page for page in found if page is not None])
