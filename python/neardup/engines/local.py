"""The local engine: all cores of one machine; the reference for every other engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from neardup import _native
from neardup.detectors import Detector
from neardup.engines import first_pass
from neardup.engines.collect import Collection, collect
from neardup.engines.matching import Matches, match
from neardup.engines.outcome import Outcome, Tables, assemble
from neardup.engines.progress import Progress, Silent
from neardup.engines.scratch import Scratch
from neardup.engines.settings import Settings
from neardup.engines.stopwatch import Stage, Stopwatch
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
) -> Outcome:
    """Runs the detector over the source; ``certify`` is the last to look at what was read.

    >>> from neardup.detectors import parse
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
    statistics = None
    if detector.counted():
        with watch.stage("statistics"):
            statistics = first_pass.prepare(collection, detector, settings, frozen)
    with watch.stage("matching"):
        matches = match(collection, detector, settings)
    with watch.stage("clustering"):
        tables = assemble(collection, matches, settings)
    report: dict[str, Any] = {
        "format": _native.FORMAT_VERSION,
        "engine": "local",
        "detector": str(detector),
        "parameters": detector.parameters(),
        "settings": asdict(settings),
        "statistics": first_pass.told(statistics),
        "counts": tables.counts,
        "ignored": collection.tally.ignored,
        "rules": [asdict(counts) for counts in matches.rules],
        "pairs": {
            "in_all": tables.all_pairs,
            "held": tables.held,
        },
        "warnings": warnings(collection, matches, tables, detector),
        "skipped": [asdict(bad) for bad in collection.tally.skipped],
        "bytes": collection.tally.nbytes,
        "stages": [],
    }
    outcome = Outcome(tables.pages, tables.pairs, tables.clusters, report)
    if certify is not None:
        with watch.stage("certifying"):
            report["certificate"] = certify(collection, outcome)
    report["stages"] += stages(watch.stages)
    return outcome


def stages(done: list[Stage]) -> list[dict[str, object]]:
    """The stages as ``run.json`` tells them.

    >>> stages([Stage("reading", 1.23456, None)])
    [{'name': 'reading', 'seconds': 1.235, 'peak_memory': None}]
    """
    return [asdict(stage) | {"seconds": round(stage.seconds, 3)} for stage in done]


def warnings(collection: Collection, matches: Matches, tables: Tables, detector: Detector) -> list[str]:
    """What the user should know beside the numbers."""
    said = []
    counts = tables.counts
    if counts["skipped"]:
        said.append(f"records that could not be read: {counts['skipped']:,}; 'skipped' names them")
    if counts["repeated_ids"]:
        said.append(f"ids that occurred before and became id#row: {counts['repeated_ids']:,}")
    if tables.held_pairs < tables.all_pairs:
        said.append(f"of {tables.all_pairs:,} accepted pairs only the spanning forest is held; see --max-pairs")
    hot = [counts for counts in matches.rules if counts.unscored]
    if hot:
        said.append(
            f"{sum(counts.hot_buckets for counts in hot):,} keys are shared by so many pages that not all their pairs "
            "were scored; the pages that stay and the clusters are exact, cohesion and diameter are of scored pairs"
        )
    needs_sites = any(rule.predicate != "any" for rule in detector.rules())
    if needs_sites and collection.column("site").null_count == collection.count:
        said.append("no page has a URL, so all count as on different sites; consider --detector minhash")
    return said
