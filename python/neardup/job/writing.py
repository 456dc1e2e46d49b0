"""The writing of a run: its tables, pages and their store if asked for, the report, and last ``run.json``."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.engines import Outcome
from neardup.engines.common.earlier import STATISTICS
from neardup.engines.common.progress import Stopwatch, highest, stages
from neardup.engines.common.unread import FILE as SKIPPED_FILE
from neardup.job.request import Request
from neardup.results.earlier import EarlierPages
from neardup.sinks import write_groups, write_table
from neardup.sinks.sealed import seal
from neardup.sinks.store import FILE as STORE_FILE
from neardup.sinks.store import write_store
from neardup.sources import Inputs

if TYPE_CHECKING:
    from neardup.report.findings import Findings


def write_outcome(
    outcome: Outcome,
    folder: Path,
    source: Inputs,
    request: Request,
) -> None:
    """Writes the tables, pages and their store if asked for, the report, and last ``run.json``."""
    # What only a run that is written needs.
    from neardup.report.findings import Findings
    from neardup.report.run_report import FILE as REPORT_FILE
    from neardup.report.run_report import SHOWN_BYTES, RunReport, is_patient
    from neardup.results.texts import EarlierTexts, texts_from, with_earlier

    watch = Stopwatch(request.progress)
    findings = Findings(outcome.clusters, outcome.report["counts"]["pages"])
    with watch.stage("writing"):
        if outcome.cluster is not None:
            findings.know_members(outcome.cluster)
        with _tables_written(outcome, folder, findings):
            earlier = EarlierPages.of(outcome.report, outcome.earlier, outcome.against, folder)
            findings.add_earlier(earlier)
            findings.add_records(outcome.pages_at(findings.missing()))
            own = partial(texts_from, source, patient=is_patient(outcome.report), most=SHOWN_BYTES)
            older = EarlierTexts(earlier).where_there
            report = RunReport(findings, outcome.report, lambda records: with_earlier(records, earlier.own, own, older))
        if request.store:
            write_store((chunk.load().pages for chunk in source.chunks()), folder / STORE_FILE)
        if outcome.unread is not None:
            write_groups(outcome.unread.schema, outcome.unread, folder / SKIPPED_FILE)
        if outcome.statistics is not None:
            outcome.statistics.save(folder / STATISTICS)
        if outcome.report["against"]:
            write_table(earlier.against, folder / "against.parquet")
            write_table(earlier.table, folder / "earlier.parquet")
        if request.write is not None:
            from neardup.sinks.rewrite import write_pages

            written = write_pages(source, outcome.pages, folder / "written", request.write, request.settings.workers)
            outcome.report["written"] = [str(path.relative_to(folder)) for path in written]
    with watch.stage("report"):
        so_far = outcome.report | {"stages": outcome.report["stages"] + stages(watch.stages)}
        report.page(so_far).write(folder / REPORT_FILE)
    outcome.report["stages"] += stages(watch.stages)
    outcome.report["peak_memory"] = highest(outcome.report["stages"])
    seal(folder, outcome.report)


@contextmanager
def _tables_written(outcome: Outcome, folder: Path, findings: Findings) -> Iterator[None]:
    """Writes the tables by other threads. The block begins when ``findings`` has seen all rows, while the last of them
    are still packed and brought to the disk; behind it all is written."""
    from neardup.report.findings import passing

    pages, pairs = outcome.page_groups, outcome.pair_groups
    seen: list[Future[None]] = [Future(), Future()]
    pages_seen = passing(pages, findings.add_pages, seen[0])
    pairs_seen = passing(pairs, findings.add_pairs, seen[1])
    short_of_memory = bool(outcome.report["settings"]["memory"])
    tables = [
        partial(write_groups, pages.schema, pages_seen, folder / "pages.parquet", ahead=not short_of_memory),
        partial(write_groups, pairs.schema, pairs_seen, folder / "pairs.parquet", ahead=not short_of_memory),
        partial(write_table, outcome.clusters, folder / "clusters.parquet"),
    ]
    # Pairs need not wait for pages where it is known who is in which cluster.
    beside = outcome.cluster is not None and not short_of_memory
    with ThreadPoolExecutor(2 if beside else 1, thread_name_prefix="neardup-tables") as writers:
        written = [writers.submit(table) for table in tables]
        waiting = {*seen, *written}
        while waiting & ({*seen} if beside else {*seen, *written}):
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for one in done:
                one.result()
        yield
        for table in written:
            table.result()


def import_ahead() -> None:
    """Imports, while pages are read, what only the end of a run needs. What is wrong with it is told there."""
    late = ("pyarrow.compute", "pyarrow.parquet")
    for name in (*late, "neardup.report.findings", "neardup.results.pages", "neardup.report.run_report"):
        with suppress(Exception):
            importlib.import_module(name)
