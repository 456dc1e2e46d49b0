"""What a report tells of a run, gathered while its tables are written: one pass over pages and pairs, group by group.

Which clusters are shown is decided from the table of clusters, before anything comes by. While a run is written, the
cluster of each page is at hand (``know_members``), and pages and pairs come by in any order, also both at once. Else
pages come first, and tell who is in which cluster. Either way the report is the same. Which pages are worth a look is
known when all have come by; their rows are given last (``add_records``). Held are a counter for each page (its degree),
for each site, and some hundreds of rows. The pairs whose term difference is counted are a sample that depends on the
pairs only: those whose two rows hash lowest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.graph.power_law import PowerLaw, fit_power_law
from neardup.results.earlier import EarlierPages

#: Clusters of each kind that are shown, and pages of each.
SHOWN: Final = 5
MEMBERS: Final = 6
#: Pairs whose term difference is counted: one for so many pages of the run, but not fewer or more than these. To read
#: their pages again is a few per cent of a run.
PAGES_FOR_A_PAIR: Final = 20
FEWEST_PAIRS: Final = 30
MOST_PAIRS: Final = 200
#: Sites that are listed.
SITES: Final = 15
_SITES_HELD: Final = 200_000
#: Scores are told in so many ranges.
BINS: Final = 100


@dataclass
class ShownCluster:
    """A cluster that the report shows: its row of ``clusters.parquet``, some members, and the pair to look at."""

    cluster: dict[str, Any]
    members: list[dict[str, Any]] = field(default_factory=list)
    #: Its accepted pair that is least alike; None where all pages are identical.
    weakest: dict[str, Any] | None = None


@dataclass
class Findings:
    """Gathers; give it every group of pages and every group of pairs, then the records of what is looked at."""

    clusters: pa.Table
    pages: int
    reasons: Counter[str] = field(default_factory=Counter)
    #: By site: pages, and pages that go.
    sites: dict[str, list[int]] = field(default_factory=dict)
    #: By label: counts by value; scores by the start of their range.
    labels: dict[str, Counter[float]] = field(default_factory=dict)
    rules: Counter[str] = field(default_factory=Counter)
    same_site: int = 0
    pairs: int = 0
    #: Pages of earlier runs in clusters of this one, and their pairs with its pages.
    earlier: int = 0
    earlier_pairs: int = 0
    _degrees: npt.NDArray[np.int32] | None = None
    #: Of the pairs sampled so far their place in an order as good as random, and their rows.
    _sample: tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64]] = field(
        default_factory=lambda: (np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
    )

    def __post_init__(self) -> None:
        order = pc.sort_indices(self.clusters, [("size", "descending"), ("cluster", "ascending")])
        self.largest = [ShownCluster(row) for row in self.clusters.take(order[:SHOWN]).to_pylist()]
        loose = self.clusters.filter(pc.less(self.clusters.column("cohesion"), 1.0))
        doubt = pc.sort_indices(loose, [("cohesion", "ascending"), ("size", "descending"), ("cluster", "ascending")])
        self.doubtful = [ShownCluster(row) for row in loose.take(doubt[:SHOWN]).to_pylist()]
        self._shown: dict[str, list[ShownCluster]] = {}
        for one in [*self.largest, *self.doubtful]:
            self._shown.setdefault(one.cluster["cluster"], []).append(one)
        #: For each page the place of its cluster among those shown, from 1; 0 where it is not shown.
        self._mark = np.zeros(self.pages, np.int8)
        self._marked = False
        #: Rows of ``pages.parquet`` for the pages the report looks at.
        self.records: dict[int, dict[str, Any]] = {}
        self._sampled = min(max(self.pages // PAGES_FOR_A_PAIR, FEWEST_PAIRS), MOST_PAIRS)

    def know_members(self, cluster: npt.NDArray[np.uint32]) -> None:
        """Given the first page of each page's cluster: the members of those that are shown."""
        firsts, sizes = np.unique(cluster, return_counts=True)
        # Both are in the order of first pages.
        first_of = dict(zip(self.clusters.column("cluster").to_pylist(), firsts[sizes > 1].tolist(), strict=True))
        for number, name in enumerate(self._shown, 1):
            self._mark[cluster == first_of[name]] = number
        self._marked = True

    def add_pages(self, group: pa.Table) -> None:
        """A group of rows of ``pages.parquet``."""
        for value in pc.value_counts(group.column("reason")).to_pylist():
            self.reasons[value["values"]] += value["counts"]
        self._count_sites(group)
        first = group.column("row")[0].as_py() if group.num_rows else 0
        self._take_members(group, first)

    def _count_sites(self, group: pa.Table) -> None:
        # Not by grouping: to load what Arrow groups with takes longer than a small run.
        coded = group.column("site").combine_chunks().dictionary_encode()
        known = coded.indices.is_valid().to_numpy(zero_copy_only=False)
        numbers = coded.indices.drop_null().to_numpy()
        kept = group.column("kept").to_numpy(zero_copy_only=False)[known]
        counts = np.bincount(numbers, minlength=len(coded.dictionary)).tolist()
        gone = np.bincount(numbers[~kept], minlength=len(coded.dictionary)).tolist()
        for site, pages, going in zip(coded.dictionary.to_pylist(), counts, gone, strict=True):
            if site in self.sites or len(self.sites) < _SITES_HELD:
                held = self.sites.setdefault(site, [0, 0])
                held[0] += pages
                held[1] += going

    def _take_members(self, group: pa.Table, first: int) -> None:
        """Of each shown cluster its first pages; a cluster may have very many."""
        for number, (name, shown) in enumerate(self._shown.items(), 1):
            if not self._marked:
                inside = np.flatnonzero(pc.equal(group.column("cluster"), name).to_numpy(zero_copy_only=False))
                self._mark[first + inside] = number
            else:
                inside = np.flatnonzero(self._mark[first : first + group.num_rows] == number)
            missing = MEMBERS - len(shown[0].members)
            for page in group.take(pa.array(inside[:missing], pa.int64())).to_pylist() if missing > 0 else []:
                self.records[page["row"]] = page
                for one in shown:
                    one.members.append(page)

    def add_pairs(self, group: pa.Table) -> None:
        """A group of rows of ``pairs.parquet``."""
        if not group.num_rows:
            return
        self.pairs += group.num_rows
        self.same_site += int(pc.sum(group.column("same_site")).as_py() or 0)
        for value in pc.value_counts(group.column("rule")).to_pylist():
            self.rules[value["values"]] += value["counts"]
        for name in ("b_similarity", "c_similarity"):
            if group.column(name).null_count == 0:
                self._count(name, group.column(name).to_numpy(), 1)
        score = group.column("score").to_numpy()
        # Rounded before the cut: 0.29 × 100 is a little less than 29.
        self._count("score", np.minimum(np.round(score * BINS, 9), BINS - 1).astype(np.int64), BINS)
        a, b = (group.column(name).to_numpy().astype(np.int64) for name in ("row_a", "row_b"))
        if self._degrees is None:
            self._degrees = np.zeros(self.pages, np.int32)
        for ends in (a, b):
            np.add.at(self._degrees, ends, np.int32(1))
        self._keep_sample(a, b)
        self._keep_weakest(group, a, score)

    def _count(self, label: str, values: npt.NDArray[Any], share: int) -> None:
        """Counts small whole numbers, told as so many of ``share``."""
        counts = np.bincount(values)
        found = np.flatnonzero(counts)
        told = found.tolist() if share == 1 else (found / share).tolist()
        self.labels.setdefault(label, Counter()).update(dict(zip(told, counts[found].tolist(), strict=True)))

    def _keep_sample(self, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> None:
        mixed = (a.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ (
            b.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
        )
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xFF51AFD7ED558CCD)
        most = self._sampled
        lowest = np.argpartition(mixed, most)[:most] if len(mixed) > most else np.arange(len(mixed))
        order, row_a, row_b = (
            np.concatenate([kept, new[lowest]]) for kept, new in zip(self._sample, (mixed, a, b), strict=True)
        )
        first = np.lexsort((row_b, row_a, order))[:most]
        self._sample = order[first], row_a[first], row_b[first]

    def _keep_weakest(self, group: pa.Table, own: npt.NDArray[np.int64], score: npt.NDArray[np.float64]) -> None:
        """Of each shown cluster the pair that is least alike; ``own`` are rows of this run, one of each pair."""
        marks = self._mark[own]
        for number, shown in enumerate(self._shown.values(), 1):
            inside = np.flatnonzero(marks == number)
            if not len(inside):
                continue
            lowest = int(inside[np.argmin(score[inside])])
            for one in shown:
                if one.weakest is None or score[lowest] < one.weakest["score"]:
                    one.weakest = group.slice(lowest, 1).to_pylist()[0]

    @property
    def sample(self) -> list[tuple[int, int]]:
        """The pairs, by their rows, whose term difference is counted, in an order that is as good as random."""
        _, row_a, row_b = self._sample
        return list(zip(row_a.tolist(), row_b.tolist(), strict=True))

    @property
    def degrees(self) -> npt.NDArray[np.int32]:
        """The degrees of identity sets that have a pair."""
        return np.empty(0, np.int32) if self._degrees is None else self._degrees[self._degrees > 0]

    def top_sites(self) -> list[tuple[str, int, int]]:
        """The sites most pages of which go: name, pages, pages that go."""
        told = sorted(self.sites.items(), key=lambda entry: (-entry[1][1], -entry[1][0], entry[0]))
        return [(site, pages, gone) for site, (pages, gone) in told[:SITES]]

    def add_earlier(self, earlier: EarlierPages) -> None:
        """When all pages and pairs have come by: pages of earlier runs in the clusters that are shown, which come first
        there, and their pairs."""
        if not len(earlier):
            return
        self.earlier = len(earlier)
        self.earlier_pairs = earlier.pairs.num_rows
        members = earlier.pages.filter(pc.is_in(earlier.pages.column("cluster"), pa.array(list(self._shown))))
        for page in members.to_pylist():
            self.records[page["row"]] = page
        for name, shown in self._shown.items():
            before = members.filter(pc.equal(members.column("cluster"), name)).to_pylist()
            for one in shown:
                one.members[:] = [*before, *one.members][:MEMBERS]
        rows = earlier.pairs.column("row_b").to_numpy().astype(np.int64)
        self._keep_weakest(earlier.pairs, rows, earlier.pairs.column("score").to_numpy())

    def missing(self) -> npt.NDArray[np.uint32]:
        """The rows, ascending, of pages that are looked at and whose records are not known yet."""
        return np.array(sorted(self.looked_at() - self.records.keys()), np.uint32)

    def add_records(self, pages: pa.Table) -> None:
        """Rows of ``pages.parquet`` for pages that are looked at."""
        self.records |= {page["row"]: page for page in pages.to_pylist()}

    def looked_at(self) -> set[int]:
        """The rows of pages whose text the report shows or measures."""
        rows = {row for pair in self.sample for row in pair}
        for one in [*self.largest, *self.doubtful]:
            rows |= set(example_rows(one))
        return rows


def example_rows(one: ShownCluster) -> tuple[int, ...]:
    """The two pages of a cluster that stand side by side: its weakest pair, else its first two."""
    if one.weakest is not None:
        return one.weakest["row_a"], one.weakest["row_b"]
    return tuple(page["row"] for page in one.members[:2])


def passing(groups: Iterable[pa.Table], look: Any, seen: Future[None]) -> Iterator[pa.Table]:
    """The groups as they are, each looked at on its way, until all are ``seen``.

    >>> rows, seen = [], Future()
    >>> [group.num_rows for group in passing([pa.table({"row": [1, 2]})], lambda group: rows.append(len(group)), seen)]
    [2]
    >>> rows, seen.done()
    ([2], True)
    """
    for group in groups:
        look(group)
        yield group
    seen.set_result(None)


def law_line(law: PowerLaw, values: npt.ArrayLike) -> list[list[float]]:
    """The fitted law as a line through the plot of counts by value: from its xmin to the largest value.

    >>> law = PowerLaw(2.0, 1.9, 2.1, 1, 1000, 0.01, None)
    >>> line = law_line(law, np.array([1, 10]))
    >>> line[0], line[-1]
    ([1.0, 607.927], [10.0, 6.07927])
    """
    low, high = law.xmin, max(law.xmin + 1, int(np.max(values)))
    at = np.unique(np.geomspace(low, high, 30))
    counts = law.expected(at)
    # Below half a value the line would leave the plot; its first two points stand whatever they are.
    shown = (counts >= 0.5) | (np.arange(len(at)) < 2)
    return [
        [float(f"{x:.6g}"), float(f"{y:.6g}")] for x, y in zip(at[shown].tolist(), counts[shown].tolist(), strict=True)
    ]


def fit(values: npt.NDArray[Any]) -> PowerLaw | None:
    """The law of some counts, without the bootstrap that tests it, which takes long."""
    return fit_power_law(values, resamples=0)
