"""The list of clusters: filtered, sorted, and a page of rows at a time.

All conditions are masks over the clusters of a cut; only the rows that are shown are read from the table of pages. The
order of the last few queries stays in memory, so that scrolling costs a page of rows and no more.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt

from neardup.engines.common.reasons import REASONS
from neardup.errors import UsageError
from neardup.graph.cut import Cut
from neardup.web.run import OpenRun

SORTS: Final = ("size", "sites", "kept", "cohesion", "first")
STATES: Final = ("open", "accepted", "rejected", "changed")
_ORDERS: Final = 8
Whole = npt.NDArray[np.int64]


def _number(word: str) -> float:
    value = float(word)
    if not math.isfinite(value):
        raise ValueError(word)
    return value


#: How the words of an address are read, by the type of the field.
_READ: Final[dict[str, Callable[[str], Any]]] = {
    "str": str,
    "str | None": str,
    "bool": lambda word: word == "1",
    "int | None": lambda word: int(word[:12]),
    "float | None": _number,
}


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of the list of clusters; all of it may stand in an address.

    >>> Query.of({"sort": "cohesion", "least": "3", "text": ""}).address()
    'sort=cohesion&least=3'
    """

    sort: str = "size"
    ascending: bool = False
    threshold: float | None = None
    site: str | None = None
    least: int | None = None
    most: int | None = None
    cohesion_from: float | None = None
    cohesion_to: float | None = None
    reason: str | None = None
    state: str | None = None
    text: str | None = None

    @staticmethod
    def of(words: Mapping[str, str]) -> Query:
        """From the words of an address; what cannot be read is an error that says so."""
        given: dict[str, Any] = {}
        for one in fields(Query):
            word = words.get(one.name, "").strip()
            if not word:
                continue
            try:
                given[one.name] = _READ[str(one.type)](word)
            except (ValueError, OverflowError):
                raise UsageError(f"{one.name} is no number: {word[:50]!r}") from None
        query = Query(**given)
        for name, value, known in (
            ("sort", query.sort, SORTS),
            ("reason", query.reason, tuple(REASONS)),
            ("state", query.state, STATES),
        ):
            if value is not None and value not in known:
                raise UsageError(f"{name} cannot be {value[:50]!r}", hint=f"one of {', '.join(known)}")
        return query

    def address(self, **others: Any) -> str:
        """As part of an address, with some values replaced."""
        values = asdict(self) | others
        plain = asdict(Query())
        return urlencode({k: int(v) if v is True else v for k, v in values.items() if v != plain[k] and v is not None})

    @property
    def filtered(self) -> bool:
        return bool(self.address(sort="size", ascending=False, threshold=None))


@dataclass(frozen=True, slots=True)
class Listing:
    """The clusters that a query finds, in its order: places among the cut's clusters."""

    cut: Cut
    places: Whole
    #: Pages that match the text but are in no cluster.
    alone: int

    @property
    def first(self) -> Whole:
        return self.cut.first[self.places]


class Lists:
    """Answers queries about one run."""

    def __init__(self, run: OpenRun, texts: Callable[[str], npt.NDArray[np.int64]] | None = None) -> None:
        self._run = run
        #: Rows of pages with a text in their body, if they are indexed.
        self._texts = texts
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[Query, int, bool], Listing] = OrderedDict()

    def find(self, query: Query, texts: bool = False) -> Listing:
        """The clusters a query asks for."""
        key = (query, self._run.store.version, texts)
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        made = self._find(query, texts)
        with self._lock:
            self._held[key] = made
            while len(self._held) > _ORDERS:
                self._held.popitem(last=False)
        return made

    def _find(self, query: Query, texts: bool) -> Listing:
        run = self._run
        cut = run.cut(query.threshold)
        mask = np.ones(len(cut.first), bool)
        if query.least is not None:
            mask &= cut.size >= query.least
        if query.most is not None:
            mask &= cut.size <= query.most
        if query.cohesion_from is not None:
            mask &= cut.cohesion >= query.cohesion_from
        if query.cohesion_to is not None:
            mask &= cut.cohesion <= query.cohesion_to
        if query.site is not None:
            number = run.site_names.index(query.site) if query.site in run.site_names else -2
            mask &= _has(cut, np.flatnonzero(run.shape.site == number))
        if query.reason is not None:
            mask &= _has(cut, np.flatnonzero(run.reasons == list(REASONS).index(query.reason)))
        if query.state is not None:
            mask &= self._in_state(cut, query.state)
        alone = 0
        if query.text is not None:
            rows = run.matching(query.text)
            if texts and self._texts is not None:
                rows = np.union1d(rows, self._texts(query.text))
            mask &= _has(cut, rows)
            in_cluster = np.zeros(run.shape.pages, bool)
            in_cluster[cut.first] = True
            alone = int((~in_cluster[cut.cluster[rows]]).sum())
        return Listing(cut, _ordered(cut, np.flatnonzero(mask), query), alone)

    def _in_state(self, cut: Cut, state: str) -> npt.NDArray[np.bool_]:
        run = self._run
        if state == "changed":
            whole = run.cut(run.shape.floor)
            # A cluster is as it was if it has as many pages as the one its first page was in.
            sizes = np.zeros(run.shape.pages, np.int64)
            sizes[whole.first] = whole.size
            changed: npt.NDArray[np.bool_] = sizes[whole.cluster[cut.first]] != cut.size
            return changed
        decided = run.store.all()
        verdicts = {first: run.verdict(cut, first, decided) for first in decided.clusters}
        if state == "open":
            done = [first for first, verdict in verdicts.items() if verdict in ("accepted", "rejected")]
            return ~np.isin(cut.first, done)
        return np.isin(cut.first, [first for first, verdict in verdicts.items() if verdict == state])

    def rows(self, query: Query, start: int, count: int, texts: bool = False) -> list[dict[str, Any]]:
        """Some clusters of the list, with what is told of each."""
        found = self.find(query, texts)
        cut, places = found.cut, found.places[start : start + count]
        decided = self._run.store.all()
        pages = self._run.rows(cut.first[places], ("url", "id", "title"))
        # What stays is decided anew at another threshold; at the run's own it is what the run says.
        return [
            page
            | {
                "place": start + at,
                "first": int(cut.first[place]),
                "size": int(cut.size[place]),
                "sites": int(cut.sites[place]),
                "kept": int(cut.kept_count[place]),
                "cohesion": cohesion_of(cut, place),
                "verdict": self._run.verdict(cut, int(cut.first[place]), decided),
            }
            for at, (place, page) in enumerate(zip(places.tolist(), pages, strict=True))
        ]


def cohesion_of(cut: Cut, place: int) -> float | None:
    """The cohesion of a cluster, None where it is not known."""
    value = float(cut.cohesion[place])
    return None if np.isnan(value) else value


def _has(cut: Cut, rows: Whole) -> npt.NDArray[np.bool_]:
    """Which clusters have one of these pages."""
    flags = np.zeros(cut.shape.pages, bool)
    flags[cut.cluster[rows]] = True
    return flags[cut.first]


def _ordered(cut: Cut, places: Whole, query: Query) -> Whole:
    names = {"kept": "kept_count"}
    values = (-cut.first if query.sort == "first" else getattr(cut, names.get(query.sort, query.sort)))[places]
    # Stable either way: clusters that are alike stay in the order of the input.
    return places[np.argsort(values if query.ascending else -values, kind="stable")]
