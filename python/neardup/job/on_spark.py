"""A run on a cluster: the same request, carried out by the Spark engine."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from neardup.engines.common.earlier import FILE
from neardup.job.earlier import detector_of, earlier_runs, with_their_statistics
from neardup.job.request import Request
from neardup.methods import parse
from neardup.results import Result, open_result
from neardup.sinks.folder import new_folder
from neardup.sinks.sealed import check_table, seal
from neardup.writing import check_local


def run_on_spark(request: Request) -> Result:
    """Carries a request out on a cluster; every machine must see the files, and the working folder."""
    from neardup.engines.spark import run_files, start
    from neardup.report.run_report import is_patient, write_report

    working, settings, out = request.scratch, request.settings, request.out
    if out is not None and working is not None:
        # Tables are moved from there to the result.
        check_local(working.removeprefix("file://"))
    detector = detector_of(request)
    with ExitStack() as stack:
        source = stack.enter_context(request.input.open())
        folder = stack.enter_context(new_folder(out, request.overwrite)) if out is not None else None
        if working is None and out is not None:
            working = str(out.absolute().parent)
        earlier: list[tuple[str, Path]] = []
        if detector is not None:
            detector = parse(detector)
            earlier = earlier_runs(request.against, detector, settings)
            for name, _ in earlier:
                # Executors read it by its path.
                check_table(Path(name), open_result(name).report, FILE)
            settings = with_their_statistics(settings, earlier, detector)
        session = start(request.master, request.remote)
        outcome = stack.enter_context(
            run_files(
                session,
                source,
                detector,
                settings,
                working=working,
                progress=request.progress,
                earlier=earlier,
                keep_fingerprints=request.keep_fingerprints,
            )
        )
        outcome.report["input"] = asdict(request.input)
        if folder is None or out is None:
            return Result.in_memory(outcome.to_arrow(), outcome.report, outcome.statistics)
        outcome.move_to(folder)
        seal(folder, outcome.report)
        write_report(Result.written(folder, outcome.report), patient=is_patient(outcome.report))
    return Result.written(out, outcome.report, outcome.statistics)
