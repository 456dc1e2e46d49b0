"""The earlier runs that a run is against: checked, and what they saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from neardup.engines import Settings
from neardup.engines.common.earlier import FILE, STATISTICS
from neardup.engines.common.layout import Layout
from neardup.engines.local.earlier import Earlier
from neardup.errors import InputError, UsageError
from neardup.job.request import Request
from neardup.methods import Detector
from neardup.methods.statistics import CollectionStatistics
from neardup.results import open_result
from neardup.sinks.sealed import parts_of


def detector_of(request: Request) -> str | Detector | None:
    """The detector that was named, or that of the earlier runs: a run against them has the same."""
    if request.detector is None and request.against:
        return str(open_result(request.against[0]).report["detector"])
    return request.detector


def earlier_runs(against: Sequence[str], detector: Detector, settings: Settings) -> list[tuple[str, Path]]:
    """The names and files of what earlier runs saved, checked."""
    found = []
    # One that is named twice says nothing more.
    for given in dict.fromkeys(against):
        report = open_result(given).report
        if report["detector"] != str(detector):
            raise UsageError(
                f"the earlier run had detector {report['detector']!r}, this one has {str(detector)!r}",
                where=given,
                hint="run with the same detector",
            )
        if report["settings"]["reading"] != asdict(settings.reading):
            raise UsageError("the earlier run read pages in another way", where=given, hint="read as it did")
        path = Path(given) / FILE
        if not parts_of(path.parent, report, FILE):
            raise InputError(
                "the earlier run kept no fingerprints", where=given, hint="run it with --keep-fingerprints"
            )
        found.append((given, path))
    return found


def with_their_statistics(settings: Settings, runs: Sequence[tuple[str, Path]], detector: Detector) -> Settings:
    """Settings with the statistics of earlier runs, where the detector needs some: by other ones the same page would
    have other fingerprints."""
    if not runs or not detector.counted():
        return settings
    theirs = runs[0][1].with_name(STATISTICS)
    digests = {name: statistics.digest for name, _ in runs if (statistics := open_result(name).statistics)}
    if settings.statistics is not None:
        digests[settings.statistics] = CollectionStatistics.load(settings.statistics).digest
    first, *others = digests
    for name in others:
        if digests[name] != digests[first]:
            raise UsageError(
                f"fingerprints of {detector.name!r} can be compared only where they come of the same statistics, and "
                f"those of {first} are others",
                where=name,
                hint=f"run every crawl but the first with --against, or with --statistics {theirs}",
            )
    return settings if settings.statistics else replace(settings, statistics=str(theirs))


def load_earlier(against: Sequence[str], detector: Detector, settings: Settings) -> tuple[Earlier | None, Settings]:
    """What earlier runs saved, and the settings of a run against them."""
    runs = earlier_runs(against, detector, settings)
    settings = with_their_statistics(settings, runs, detector)
    return (Earlier.load(runs, Layout(detector, settings)) if runs else None), settings
