"""The local engine: all cores of one machine; the reference for every other engine."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.engines.common.layout import Layout
from neardup.engines.common.progress import Progress, Silent, Stopwatch, highest, stages
from neardup.engines.common.run_json import PageCounts, RunFacts
from neardup.engines.common.settings import Settings
from neardup.engines.common.statistics import frozen as frozen_statistics
from neardup.engines.common.tables import Groups
from neardup.engines.common.unread import all_of, unread_of
from neardup.engines.local.earlier import Earlier, WithEarlier, save
from neardup.engines.local.matching import Matches, match
from neardup.engines.local.reading import Collection, collect
from neardup.engines.local.scratch import Scratch
from neardup.engines.local.statistics import count, prepare
from neardup.engines.local.tables import PagesAt, Tables, assemble
from neardup.graph.keep import count_undated
from neardup.lazy import later
from neardup.methods import Detector
from neardup.methods.statistics import CollectionStatistics
from neardup.record import record
from neardup.sources import Source

pc = later("pyarrow.compute")


@record(frozen=True)
class Outcome:
    """Everything a run found."""

    page_groups: Groups
    pages_at: PagesAt
    pair_groups: Groups
    clusters: pa.Table
    #: What ``run.json`` says.
    report: dict[str, Any]
    #: For each page the first page of its cluster.
    cluster: npt.NDArray[np.uint32] | None = None
    #: Pairs with pages of earlier runs, where the run was against such, and these pages.
    against: pa.Table | None = None
    earlier: pa.Table | None = None
    #: What fingerprints were computed with, where the detector needs statistics of the collection.
    statistics: CollectionStatistics | None = None
    #: All that was not read, where there is more of it than ``report`` names.
    unread: Groups | None = None

    @cached_property
    def pages(self) -> pa.Table:
        """The table of pages, whole."""
        return self.page_groups.table()

    @cached_property
    def pairs(self) -> pa.Table:
        """The table of pairs, whole."""
        return self.pair_groups.table()


#: Looks at what a run read and found, and says how right that was, as ``run.json`` tells it.
Certify = Callable[[Collection, Outcome], dict[str, Any]]


def run(
    source: Source,
    detector: Detector,
    settings: Settings | None = None,
    progress: Progress | None = None,
    scratch: Scratch | None = None,
    certify: Certify | None = None,
    earlier: Earlier | None = None,
    fingerprints: Path | None = None,
) -> Outcome:
    """Runs the detector over the source; ``certify`` is the last to look at what was read. Pages that ``earlier`` runs
    kept count as there before; those that this one keeps go to the file ``fingerprints``.

    >>> from neardup.methods import parse
    >>> from neardup.sources.memory import texts
    >>> pages = ["the quick brown fox jumps over the lazy dog today"] * 2
    >>> run(texts(pages), parse("exact")).pages["kept"].to_pylist()
    [True, False]
    """
    settings = settings or Settings()
    frozen = frozen_statistics(settings, detector)
    watch = Stopwatch(progress or Silent())
    with watch.stage("reading", source.nbytes()):
        collection = collect(source, detector, settings, watch.progress, scratch)
        undated = count_undated(collection.column("date")) if settings.keep == "newest" else 0
    statistics = None
    if detector.counted():
        with watch.stage("statistics"):
            statistics = frozen or _counted(collection, detector, settings, scratch)
            prepare(collection, detector, settings, statistics)
    with watch.stage("matching"):
        whole = None if earlier is None or not earlier.count else WithEarlier(collection, earlier)
        matches = _matched(whole or collection, detector, settings, scratch, statistics)
    if certify is None and fingerprints is None:
        collection.forget_sets()
    with watch.stage("clustering"):
        tables = assemble(collection, matches, settings, whole)
    left = source.unread
    sources = (batch.column(0) for batch in collection.store.columns(["source"]))
    unread = unread_of(collection.skipped(), sources, left)
    facts = RunFacts(
        engine="local",
        detector=detector,
        settings=settings,
        hot=settings.hot_beyond(len(matches.identity)),
        statistics=statistics,
        against=earlier.runs if earlier is not None else [],
        pages=_counts(collection, tables, undated),
        rules=matches.rules,
        accepted=tables.accepted,
        tally=collection.tally,
        unread=unread,
        no_sites=collection.column("site").null_count == collection.count,
    )
    report = facts.to_json()
    outcome = Outcome(
        tables.pages, tables.pages_at, tables.pairs, tables.clusters, report, tables.cluster, tables.against,
        tables.earlier, statistics,
        all_of(collection.skipped(), left) if unread.is_more_than_named(collection.tally) else None,
    )  # fmt: skip
    if fingerprints is not None:
        with watch.stage("fingerprints"):
            save(collection, Layout(detector, settings), tables.ids, tables.kept, fingerprints)
    if certify is not None:
        with watch.stage("certifying"):
            report["certificate"] = certify(collection, outcome)
    report["stages"] += stages(watch.stages)
    report["peak_memory"] = highest(report["stages"])
    return outcome


def _counts(collection: Collection, tables: Tables, undated: int) -> PageCounts:
    return PageCounts(
        pages=collection.count,
        empty=tables.empty,
        short=tables.short,
        identity_sets=tables.identity_sets,
        clusters=tables.clusters.num_rows,
        clustered=int(pc.sum(tables.clusters.column("size")).as_py() or 0),
        kept=int(tables.kept.sum()),
        repeated_ids=tables.repeated_ids,
        undated=undated,
    )


def _counted(
    collection: Collection, detector: Detector, settings: Settings, scratch: Scratch | None
) -> CollectionStatistics:
    make = partial(count, collection, detector, settings)
    if scratch is None:
        return make()
    return scratch.once(
        "statistics", make, CollectionStatistics.save, CollectionStatistics.load, worth=settings.commit_every
    )


def _matched(
    pages: Collection | WithEarlier,
    detector: Detector,
    settings: Settings,
    scratch: Scratch | None,
    statistics: CollectionStatistics | None,
) -> Matches:
    earlier = pages.earlier if isinstance(pages, WithEarlier) else None
    before = earlier.count if earlier is not None else 0
    make = partial(match, pages, detector, settings, before)
    if scratch is None:
        return make()
    pages_in_all = pages.count
    # Beside what the manifest of the scratch folder tells.
    made_of = {
        "pages": pages_in_all,
        "hot": settings.hot_beyond(pages_in_all),
        "most_accepted": settings.most_accepted(pages_in_all),
        "statistics": statistics.digest if statistics is not None else None,
        "earlier": zlib.crc32(np.ascontiguousarray(earlier.identity).data) if earlier is not None else None,
    }
    return scratch.once(
        "matching",
        make,
        lambda matches, path: matches.save(path, made_of),
        lambda path: Matches.load(path, made_of),
        worth=settings.commit_every,
    )
