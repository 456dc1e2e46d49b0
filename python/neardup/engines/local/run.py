"""The local engine: all cores of one machine; the reference for every other engine."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neardup import _native
from neardup.engines import first_pass
from neardup.engines.common.earlier import told_of_runs
from neardup.engines.common.layout import Layout
from neardup.engines.common.progress import Progress, Silent
from neardup.engines.common.settings import Settings
from neardup.engines.common.stopwatch import Stage, Stopwatch
from neardup.engines.common.unread import all_of, unread_of
from neardup.engines.common.warnings import collection_warnings
from neardup.engines.local.earlier import Earlier, WithEarlier, save
from neardup.engines.local.matches import Matches
from neardup.engines.local.matching import match, most_accepted
from neardup.engines.local.outcome import Outcome
from neardup.engines.local.reading import Collection, collect
from neardup.engines.local.scratch import Scratch
from neardup.engines.local.tables import assemble
from neardup.graph.keep import count_undated
from neardup.methods import Detector
from neardup.methods.statistics import CollectionStatistics
from neardup.sources import Source

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
    frozen = first_pass.frozen(settings, detector)
    watch = Stopwatch(progress or Silent())
    with watch.stage("reading", source.nbytes()):
        collection = collect(source, detector, settings, watch.progress, scratch)
        undated = count_undated(collection.column("date")) if settings.keep == "newest" else 0
    statistics = None
    if detector.counted():
        with watch.stage("statistics"):
            statistics = frozen or _counted(collection, detector, settings, scratch)
            first_pass.prepare(collection, detector, settings, statistics)
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
    counts = tables.counts | {"undated": undated} | unread.counts()
    report: dict[str, Any] = {
        "format": _native.FORMAT_VERSION,
        "engine": "local",
        "detector": str(detector),
        "by_default": False,
        "parameters": detector.parameters(),
        # With the limit of hot keys that was kept to.
        "settings": asdict(settings) | {"hot": settings.hot_beyond(len(matches.identity))},
        "statistics": first_pass.told(statistics),
        "against": told_of_runs(earlier.runs if earlier is not None else []),
        "counts": counts,
        "kinds": asdict(collection.tally.kinds),
        "ignored": collection.tally.ignored,
        "rules": [asdict(counts) for counts in matches.rules],
        "pairs": tables.accepted.to_json(),
        "warnings": collection_warnings(
            counts,
            tables.accepted,
            matches.rules,
            detector,
            collection.column("site").null_count == collection.count,
        ),
        **unread.to_json(collection.tally),
        "bytes": collection.tally.nbytes,
        "stages": [],
    }
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


def _counted(
    collection: Collection, detector: Detector, settings: Settings, scratch: Scratch | None
) -> CollectionStatistics:
    make = partial(first_pass.count, collection, detector, settings)
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
    count = pages.count
    # Beside what the manifest of the scratch folder tells.
    made_of = {
        "pages": count,
        "hot": settings.hot_beyond(count),
        "most_accepted": most_accepted(count, settings),
        "statistics": statistics.digest if statistics is not None else None,
        "earlier": zlib.crc32(np.ascontiguousarray(earlier.identity).data) if earlier is not None else None,
    }
    return scratch.once(
        "matching",
        make,
        lambda made, path: made.save(path, made_of),
        lambda path: Matches.load(path, made_of),
        worth=settings.commit_every,
    )


def highest(told: list[dict[str, Any]]) -> int:
    """The most memory that one of these stages took, as ``run.json`` tells them.

    >>> highest([{"peak_memory": 5}, {"peak_memory": None}])
    5
    """
    return max((stage["peak_memory"] or 0 for stage in told), default=0)


def stages(done: list[Stage]) -> list[dict[str, object]]:
    """The stages as ``run.json`` tells them.

    >>> stages([Stage("reading", 1.23456, None)])
    [{'name': 'reading', 'seconds': 1.235, 'peak_memory': None}]
    """
    return [asdict(stage) | {"seconds": round(stage.seconds, 3)} for stage in done]
