"""A result that stands where a run is to write: of the same request, or of another."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from neardup.engines.common.earlier import FILE
from neardup.errors import InputError, NeardupError, OutputError
from neardup.job.request import Request
from neardup.methods import parse
from neardup.results import Result, open_result
from neardup.sinks.sealed import RUN
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
        found = os.stat(name)
    except (OSError, ValueError):
        return {"name": name}
    return {"name": name, "bytes": found.st_size, "changed": found.st_mtime_ns}
