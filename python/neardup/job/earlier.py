"""Results that are there before a run: one in the folder it is to write to, and those of the runs it is against."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from neardup.engines import Settings
from neardup.engines.common.earlier import FILE, STATISTICS
from neardup.engines.common.layout import Layout
from neardup.engines.local.earlier import Earlier
from neardup.errors import InputError, NeardupError, OutputError, UsageError
from neardup.job.request import Request
from neardup.methods import Detector, parse
from neardup.methods.statistics import CollectionStatistics
from neardup.results import Result, open_result
from neardup.sinks.sealed import RUN, parts_of
from neardup.sinks.store import FILE as STORE_FILE
from neardup.sources import InputSpec


def finished_before(request: Request) -> Result | None:
    """The result of the same request, where a run of it was stopped when all was done and this one is to go on; refuses
    a folder that has a result otherwise."""
    if request.out is None or request.overwrite:
        return None
    try:
        result = open_result(request.out)
    except NeardupError:
        return None
    out = request.out
    if not _is_of(result.report, request, out):
        raise OutputError(
            "another run has finished there",
            where=str(out),
            hint="choose another folder, or replace it with --overwrite",
        )
    if not request.resume:
        raise OutputError(
            "a run of the same input with the same options has finished there",
            where=str(out),
            hint=f"look at it with `neardup show {shlex.quote(str(out))}`, or do it again with --overwrite",
        )
    _refuse_changed_since(result, request.input)
    return result


def _is_of(report: dict[str, Any], request: Request, out: Path) -> bool:
    """Whether the report of a result is of this request."""
    settings = asdict(request.settings)
    if request.settings.statistics is None and request.against:
        settings["statistics"] = report["settings"]["statistics"]
    names = ("keep", "removal", "reading", "strict", "max_pairs", "statistics")
    files = {STORE_FILE: request.store, FILE: request.keep_fingerprints}
    return (
        json.loads(json.dumps(asdict(request.input))) == report["input"]
        and all(settings[name] == report["settings"][name] for name in names)
        and (request.detector is None or str(parse(request.detector)) == report["detector"])
        and list(request.against) == [one["run"] for one in report.get("against") or ()]
        and (request.write is not None) == (report.get("written") is not None)
        and all(wanted == (out / name).exists() for name, wanted in files.items())
        # A run may be certified later.
        and (request.certify is None or "certificate" in report)
        and "decisions" not in report
    )


def _refuse_changed_since(result: Result, spec: InputSpec) -> None:
    """Refuses a result whose input is another one by now, as far as times of files and their size say."""
    if not spec.lasts or result.folder is None:
        return
    written = (result.folder / RUN).stat().st_mtime_ns
    with spec.open() as source:
        newer = [name for name in source.names() if file_state(name).get("changed", 0) > written]
        if newer or source.nbytes() not in (None, result.report["bytes"]):
            raise InputError(
                "the input has changed since the run that has finished there",
                where=(newer or source.names())[0],
                hint="run again with --overwrite, without --resume",
            )


def file_state(name: str) -> dict[str, Any]:
    """A file's size and time of change, where it is one of this machine."""
    try:
        status = os.stat(name)
    except (OSError, ValueError):
        return {"name": name}
    return {"name": name, "bytes": status.st_size, "changed": status.st_mtime_ns}


def detector_of(request: Request) -> str | Detector | None:
    """The detector that was named, or that of the earlier runs: a run against them has the same."""
    if request.detector is None and request.against:
        return str(open_result(request.against[0]).report["detector"])
    return request.detector


def earlier_runs(against: Sequence[str], detector: Detector, settings: Settings) -> list[tuple[str, Path]]:
    """The names and files of what earlier runs saved, checked."""
    files = []
    # One that is named twice says nothing more.
    for name in dict.fromkeys(against):
        report = open_result(name).report
        if report["detector"] != str(detector):
            raise UsageError(
                f"the earlier run had detector {report['detector']!r}, this one has {str(detector)!r}",
                where=name,
                hint="run with the same detector",
            )
        if report["settings"]["reading"] != asdict(settings.reading):
            raise UsageError("the earlier run read pages in another way", where=name, hint="read as it did")
        path = Path(name) / FILE
        if not parts_of(path.parent, report, FILE):
            raise InputError("the earlier run kept no fingerprints", where=name, hint="run it with --keep-fingerprints")
        files.append((name, path))
    return files


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
