"""The main job, end to end: inputs → a result folder that appears whole or not at all."""

from __future__ import annotations

import importlib
import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal

from neardup import _native
from neardup.engines import Outcome, Progress, Settings, Silent, run
from neardup.engines.common.default import BOTH, BY_DEFAULT, by_kind, note_default
from neardup.engines.common.earlier import FILE, STATISTICS
from neardup.engines.common.layout import Layout
from neardup.engines.common.stopwatch import Stopwatch, highest, stages
from neardup.engines.common.unread import FILE as SKIPPED_FILE
from neardup.engines.local.earlier import Earlier
from neardup.engines.local.reading import collect
from neardup.engines.local.run import Certify
from neardup.engines.local.scratch import Scratch, check_room, discard, temporary
from neardup.engines.local.statistics import count
from neardup.errors import InputError, NeardupError, OutputError, UsageError
from neardup.methods import Detector, parse
from neardup.methods.default import default_detector
from neardup.methods.statistics import CollectionStatistics
from neardup.page import BATCH_BYTES
from neardup.results import Result, open_result
from neardup.results.earlier import EarlierPages
from neardup.sinks import write_groups, write_table
from neardup.sinks.folder import new_folder
from neardup.sinks.sealed import RUN, check_table, parts_of, seal
from neardup.sinks.store import FILE as STORE_FILE
from neardup.sinks.store import write_store
from neardup.sources import Fields, Inputs, InputSpec, Source
from neardup.sources.expand import COMPRESSIONS
from neardup.sources.kinds import MarkupOnly, first_kinds
from neardup.sources.memory import Pages, in_memory
from neardup.sources.spooled import Room
from neardup.version import VERSION
from neardup.writing import check_local

if TYPE_CHECKING:
    from neardup.report.findings import Findings

#: How the names of compressed files end.
_PACKED = (*COMPRESSIONS, ".parquet")

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Write = Literal["kept", "all"]
Engine = Literal["local", "spark"]


def dedup(
    inputs: Paths,
    out: str | os.PathLike[str] | None = None,
    *,
    detector: str | Detector | None = None,
    settings: Settings | None = None,
    fields: Fields | None = None,
    base_url: str | None = None,
    format: str | None = None,
    write: Write | None = None,
    store: bool = False,
    overwrite: bool = False,
    scratch: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    certify: Certify | None = None,
    against: Sequence[str | os.PathLike[str]] = (),
    keep_fingerprints: bool = False,
    engine: Engine = "local",
    master: str | None = None,
    remote: str | None = None,
) -> Result:
    """Finds the near-duplicates among the pages of files, folders or globs.

    Without ``out`` nothing is written. Without ``detector`` it goes by what pages are: ``template-aware`` where all of
    them are markup, else ``minhash``. What is done is committed to a ``scratch`` folder (beside ``out`` unless named)
    now and then; a run that was stopped goes on from there with ``resume``. ``store`` keeps the texts of all pages in
    the result, for explaining pairs where the input cannot be read again, or only from its beginning. ``certify``
    (``neardup.evaluation.certify.Certifier``) has a last look at the run and says how right it was. ``against`` names
    result folders of earlier runs that were told to ``keep_fingerprints``: what is like a page they kept goes, and
    their detector is the default. ``engine="spark"`` runs on a cluster (``master``, or ``remote`` for Spark Connect)
    with the same answer; every machine must see the files, and ``scratch``.

    >>> import json, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> lines = [{"id": i, "text": "the same ten words stand here in both of these " + i} for i in ("a", "b")]
    >>> _ = (folder / "pages.jsonl").write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> result = dedup(folder / "pages.jsonl", folder / "out", detector="minhash(threshold=0.5)")
    >>> result.removed["kept_instead"].to_pylist()
    ['a']
    >>> sorted(path.name for path in (folder / "out").iterdir())
    ['clusters.parquet', 'pages.parquet', 'pairs.parquet', 'report.html', 'run.json']
    """
    if keep_fingerprints and out is None:
        raise UsageError("fingerprints can be kept only in a result folder", hint="give out=")
    if (write is not None or store) and out is None:
        raise UsageError("pages can be written only into a result folder", hint="give out=")
    if hasattr(inputs, "__arrow_c_stream__") or isinstance(inputs, Mapping):
        raise UsageError("a table was given, not files", hint="find_duplicates takes pages that are in memory")
    paths = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    if not paths:
        raise UsageError("no input was given", hint="name files, folders, globs, or - for standard input")
    settings = settings or Settings()
    spec = InputSpec([os.fspath(path) for path in paths], fields or Fields(), base_url, format, settings.max_page)
    if out is not None and not overwrite:
        asked = (write is not None, store, keep_fingerprints, certify is not None)
        finished = finished_there(Path(out), spec, detector, settings, against, asked)
        if finished is not None and resume and engine == "local":
            # It was stopped when all was done.
            _refuse_changed_since(finished, spec)
            return finished
        if finished is not None:
            raise OutputError(
                "a run of the same input with the same options has finished there",
                where=str(out),
                hint=f"look at it with `neardup show {shlex.quote(str(out))}`, or do it again with --overwrite",
            )
    if engine == "spark":
        if certify is not None or write is not None or resume or store:
            raise UsageError(
                "the Spark engine neither writes nor stores pages, nor resumes, nor certifies",
                hint="join pages.parquet with your pages; certify a sample with the local engine",
            )
        return _on_spark(
            spec, out, detector, settings, overwrite, scratch, progress or Silent(), master, remote, against,
            keep_fingerprints,
        )  # fmt: skip
    if master is not None or remote is not None:
        raise UsageError("a master or a remote is for the Spark engine", hint="give engine='spark' (--engine spark)")
    if certify is not None:
        settings = replace(settings, hold_tokens=True)
    detector = _detector_of(against, detector)
    if out is None:
        if resume:
            raise UsageError("a run whose result is not written cannot be resumed", hint="give out=")
        named = Path(scratch) if scratch is not None else None
        with ExitStack() as stack:
            source = stack.enter_context(spec.open(again=detector is None))

            def in_memory_only(pages: Source, chosen: Detector) -> Outcome:
                before, adapted = _earlier(against, chosen, settings)
                committed = stack.enter_context(temporary(named, settings.memory > 0))
                return run(pages, chosen, adapted, progress, committed, certify, before)

            return _result(_run(source, detector, in_memory_only, spec, source.read_last))
    place = Path(scratch) if scratch is not None else Path(out).parent / f".{Path(out).name}.scratch"
    with ExitStack() as stack:
        folder = stack.enter_context(new_folder(Path(out), overwrite))
        source = stack.enter_context(spec.open(spool=write is not None or store, again=detector is None))
        saved = folder / FILE if keep_fingerprints else None
        committed: Scratch | None = None
        # A run that fails before anything was committed leaves nothing behind.
        stack.callback(lambda: discard(place) if committed is not None and not committed.tallies else None)

        def attempt(pages: Source, chosen: Detector) -> Outcome:
            nonlocal committed
            before, adapted = _earlier(against, chosen, settings)
            if not resume:
                check_room(place, _scratch_needed(source, chosen, adapted))
            name = f"{chosen}{BY_DEFAULT if detector is None else ''}"
            manifest = _manifest(spec, source, name, adapted)
            # A second attempt has another detector: of what the first one did nothing serves it.
            resumes = resume and committed is None
            committed = (Scratch.resume if resumes else Scratch.start)(place, manifest)
            return run(pages, chosen, adapted, progress, committed, certify, before, saved)

        Thread(target=_import_what_writes, name="neardup-imports", daemon=True).start()
        settled = resume and Scratch.begun_by(place) == f"{default_detector(BOTH)}{BY_DEFAULT}"
        outcome = _run(source, detector, attempt, spec, source.read_last, settled)
        write_outcome(outcome, folder, source, write, progress or Silent(), store=store, threads=settings.workers)
        if committed is not None:
            committed.tallies.clear()
    return _result(outcome, Path(out))


def _detector_of(against: Sequence[str | os.PathLike[str]], detector: str | Detector | None) -> str | Detector | None:
    """The detector that was named, or that of the earlier runs: a run against them has the same."""
    if detector is None and against:
        return str(open_result(against[0]).report["detector"])
    return detector


def finished_there(
    out: Path,
    spec: InputSpec,
    detector: str | Detector | None,
    settings: Settings,
    against: Sequence[str | os.PathLike[str]],
    asked: tuple[bool, bool, bool, bool],
) -> Result | None:
    """The result of a run of the same command that has finished there, if any; refuses a folder that has another one.
    ``asked``: whether pages are written, texts stored, fingerprints kept, and the run certified."""
    try:
        result = open_result(out)
    except NeardupError:
        return None
    report, wanted = result.report, asdict(settings)
    if settings.statistics is None and against:
        wanted["statistics"] = report["settings"]["statistics"]
    names = ("keep", "removal", "reading", "strict", "max_pairs", "statistics")
    *files, certified = asked
    same = (
        json.loads(json.dumps(asdict(spec))) == report["input"]
        and all(wanted[name] == report["settings"][name] for name in names)
        and (detector is None or str(parse(detector)) == report["detector"])
        and [os.fspath(one) for one in against] == [one["run"] for one in report.get("against") or ()]
        and files == [report.get("written") is not None, *((out / name).exists() for name in (STORE_FILE, FILE))]
        # A run may be certified later.
        and (not certified or "certificate" in report)
        and "decisions" not in report
    )
    if not same:
        raise OutputError(
            "another run has finished there",
            where=str(out),
            hint="choose another folder, or replace it with --overwrite",
        )
    return result


def _refuse_changed_since(result: Result, spec: InputSpec) -> None:
    """Refuses a result whose input is another one by now, as far as times of files and their size say."""
    if not spec.lasts or result.folder is None:
        return
    written = (result.folder / RUN).stat().st_mtime_ns
    with spec.open() as source:
        newer = [name for name in source.names() if _state(name).get("changed", 0) > written]
        if newer or source.nbytes() not in (None, result.report["bytes"]):
            raise InputError(
                "the input has changed since the run that has finished there",
                where=(newer or source.names())[0],
                hint="run again with --overwrite, without --resume",
            )


def _import_what_writes() -> None:
    """Imports, while pages are read, what only the end of a run needs. What is wrong with it is told there."""
    late = ("pyarrow.compute", "pyarrow.parquet")
    for name in (*late, "neardup.report.findings", "neardup.results.pages", "neardup.report.run_report"):
        with suppress(Exception):
            importlib.import_module(name)


def _on_spark(
    spec: InputSpec,
    out: str | os.PathLike[str] | None,
    detector: str | Detector | None,
    settings: Settings,
    overwrite: bool,
    scratch: str | os.PathLike[str] | None,
    progress: Progress,
    master: str | None,
    remote: str | None,
    against: Sequence[str | os.PathLike[str]],
    keep_fingerprints: bool,
) -> Result:
    from neardup.engines.spark import run_files, start
    from neardup.report.run_report import write_report

    if "-" in spec.paths:
        raise UsageError("standard input cannot be distributed", hint="write it to a file that all machines see")
    working = os.fspath(scratch) if scratch is not None else None
    if out is not None and working is not None:
        # Tables are moved from there to the result.
        check_local(working.removeprefix("file://"))
    detector = _detector_of(against, detector)
    with ExitStack() as stack:
        source = stack.enter_context(spec.open())
        folder = stack.enter_context(new_folder(Path(out), overwrite)) if out is not None else None
        if working is None and out is not None:
            working = str(Path(out).absolute().parent)
        earlier: list[tuple[str, Path]] = []
        if detector is not None:
            detector = parse(detector)
            earlier = _earlier_runs(against, detector, settings)
            for name, _ in earlier:
                # Executors read it by its path.
                check_table(Path(name), open_result(name).report, FILE)
            settings = _with_their_statistics(settings, earlier, detector)
        session = start(master, remote)
        outcome = stack.enter_context(
            run_files(
                session, source, detector, settings, working=working, progress=progress, earlier=earlier,
                keep_fingerprints=keep_fingerprints,
            )
        )  # fmt: skip
        outcome.report["input"] = asdict(spec)
        if folder is None or out is None:
            return Result.in_memory(outcome.to_arrow(), outcome.report, outcome.statistics)
        outcome.move_to(folder)
        seal(folder, outcome.report)
        write_report(Result.written(folder, outcome.report), patient=False)
    return Result.written(Path(out), outcome.report, outcome.statistics)


def _earlier_runs(
    against: Sequence[str | os.PathLike[str]], detector: Detector, settings: Settings
) -> list[tuple[str, Path]]:
    """The names and files of what earlier runs saved, checked."""
    found = []
    # One that is named twice says nothing more.
    for given in dict.fromkeys([os.fspath(one) for one in against]):
        report = open_result(given).report
        if report["detector"] != str(detector):
            raise UsageError(
                f"the earlier run had detector {report['detector']!r}, this one has {str(detector)!r}",
                where=os.fspath(given),
                hint="run with the same detector",
            )
        if report["settings"]["reading"] != asdict(settings.reading):
            raise UsageError("the earlier run read pages in another way", where=os.fspath(given), hint="read as it did")
        path = Path(given) / FILE
        if not parts_of(path.parent, report, FILE):
            raise InputError(
                "the earlier run kept no fingerprints", where=os.fspath(given), hint="run it with --keep-fingerprints"
            )
        found.append((os.fspath(given), path))
    return found


def _with_their_statistics(settings: Settings, runs: Sequence[tuple[str, Path]], detector: Detector) -> Settings:
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


def _earlier(
    against: Sequence[str | os.PathLike[str]], detector: Detector, settings: Settings
) -> tuple[Earlier | None, Settings]:
    """What earlier runs saved, and the settings of a run against them."""
    runs = _earlier_runs(against, detector, settings)
    settings = _with_their_statistics(settings, runs, detector)
    return (Earlier.load(runs, Layout(detector, settings)) if runs else None), settings


def _scratch_needed(source: Inputs, detector: Detector, settings: Settings) -> int:
    """Bytes that may have to go to the scratch folder: a guess from the size of the input, on the high side."""
    size = source.nbytes() or 0
    packed = any(name.endswith(_PACKED) for name in source.names())
    # Text packs to about a fifth. Its shingles take 8 bytes for every 7 or so, and what waits for statistics as much;
    # ids, titles and fingerprints much less.
    lists = len(detector.sets()) + (bool(detector.counted()) or settings.hold_tokens)
    expected = size * (5 if packed else 1) * (0.3 + 1.2 * lists)
    return int(expected) if expected > settings.held_pages else 0


def _manifest(spec: InputSpec, source: Inputs, detector: str, settings: Settings) -> dict[str, Any]:
    """What must be the same for a stopped run to go on."""
    return {
        "format": _native.FORMAT_VERSION,
        "neardup": VERSION,
        "detector": detector,
        "reading": asdict(settings.reading),
        "keep": settings.keep,
        "hold_tokens": settings.hold_tokens,
        "input": asdict(spec),
        "files": [_state(name) for name in source.names()],
        "batch_bytes": BATCH_BYTES,
    }


def _state(name: str) -> dict[str, Any]:
    """A file's size and time of change, where it is one of this machine."""
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return {"name": name}
    return {"name": name, "bytes": found.st_size, "changed": found.st_mtime_ns}


def find_duplicates(
    pages: Pages,
    *,
    detector: str | Detector | None = None,
    settings: Settings | None = None,
    fields: Fields | None = None,
) -> Result:
    """Finds the near-duplicates among texts, mappings with ``text`` or ``html`` (and ``id``, ``url``, ``date``), or the
    rows of a table with such columns: Arrow's, pandas', polars', DuckDB's. ``fields`` says what they are called there.
    The result has a page for every one given, in their order.

    >>> text = "it was the best of times it was the worst of times it was the age of wisdom"
    >>> result = find_duplicates([text, "something else entirely", text + " indeed"])
    >>> result.pages["kept"].to_pylist()
    [True, True, False]
    """
    settings, fields = settings or Settings(), fields or Fields()
    with ExitStack() as stack:
        room = None
        if settings.memory:
            spool = stack.enter_context(TemporaryDirectory(prefix="neardup-"))
            room = Room(Path(spool) / "pages.arrow", settings.held_pages)

        def attempt(pages: Source, chosen: Detector) -> Outcome:
            scratch = stack.enter_context(temporary(None, settings.memory > 0))
            return run(pages, chosen, settings, None, scratch)

        return _result(_run(in_memory(pages, fields, room), detector, attempt, InputSpec([])))


def statistics_of(
    inputs: Paths,
    detector: str | Detector,
    *,
    settings: Settings | None = None,
    fields: Fields | None = None,
    base_url: str | None = None,
    format: str | None = None,
) -> CollectionStatistics:
    """The statistics of a collection that a detector needs; saved to a file they are ``Settings.statistics``.

    >>> import json, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "pages.jsonl"
    >>> lines = [{"text": "eight or more words stand on each of these " + name} for name in ("pages", "leaves")]
    >>> _ = file.write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> made = statistics_of(file, "spex(n=8)")
    >>> made.pages, len(made.chunks[8][0])
    (2, 2)
    """
    chosen, settings = parse(detector), settings or Settings()
    if not chosen.counted():
        raise UsageError(f"detector {chosen.name!r} needs no statistics", hint="give one that does, such as i-match")
    paths = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    spec = InputSpec([os.fspath(path) for path in paths], fields or Fields(), base_url, format, settings.max_page)
    with spec.open() as source:
        return count(collect(source, chosen, settings, Silent()), chosen, settings)


def _run(
    source: Source,
    detector: str | Detector | None,
    attempt: Callable[[Source, Detector], Outcome],
    spec: InputSpec,
    read_last: Callable[[], None] = lambda: None,
    settled: bool = False,
) -> Outcome:
    """An attempt with the detector that was named, or with the default for the source's pages."""
    if detector is not None:
        outcome = attempt(source, parse(detector))
    else:

        def by_default(chosen: Detector, markup_only: bool) -> Outcome:
            if not markup_only:
                read_last()
            return attempt(MarkupOnly(source) if markup_only else source, chosen)

        outcome = by_kind(BOTH if settled else first_kinds(source), by_default)
        note_default(outcome.report)
    outcome.report["neardup"] = VERSION
    outcome.report["input"] = asdict(spec)
    return outcome


def _result(outcome: Outcome, folder: Path | None = None) -> Result:
    if folder is not None:
        return Result.written(folder, outcome.report, outcome.statistics)
    tables = {
        "pages": outcome.pages, "pairs": outcome.pairs, "clusters": outcome.clusters,
        "against": outcome.against, "earlier": outcome.earlier,
    }  # fmt: skip
    return Result.in_memory(tables, outcome.report, outcome.statistics)


def write_outcome(
    outcome: Outcome,
    folder: Path,
    source: Inputs,
    write: Write | None,
    progress: Progress,
    *,
    store: bool = False,
    threads: int = 1,
) -> None:
    """Writes the tables, pages and their store if asked for, the report, and last ``run.json``."""
    # What only a run that is written needs.
    from neardup.report.findings import Findings
    from neardup.report.run_report import FILE as REPORT_FILE
    from neardup.report.run_report import SHOWN_BYTES, SMALL_INPUT, RunReport
    from neardup.results.texts import EarlierTexts, texts_from, with_earlier

    watch = Stopwatch(progress)
    findings = Findings(outcome.clusters, outcome.report["counts"]["pages"])
    with watch.stage("writing"):
        if outcome.cluster is not None:
            findings.know_members(outcome.cluster)
        with _tables_written(outcome, folder, findings):
            earlier = EarlierPages.of(outcome.report, outcome.earlier, outcome.against, folder)
            findings.add_earlier(earlier)
            findings.add_records(outcome.pages_at(findings.missing()))
            patient = outcome.report["bytes"] <= SMALL_INPUT and "-" not in outcome.report["input"]["paths"]
            own = partial(texts_from, source, patient=patient, most=SHOWN_BYTES)
            older = EarlierTexts(earlier).where_there
            report = RunReport(findings, outcome.report, lambda records: with_earlier(records, earlier.own, own, older))
        if store:
            write_store((chunk.load().pages for chunk in source.chunks()), folder / STORE_FILE)
        if outcome.unread is not None:
            write_groups(outcome.unread.schema, outcome.unread, folder / SKIPPED_FILE)
        if outcome.statistics is not None:
            outcome.statistics.save(folder / STATISTICS)
        if outcome.report["against"]:
            write_table(earlier.against, folder / "against.parquet")
            write_table(earlier.table, folder / "earlier.parquet")
        if write is not None:
            from neardup.sinks.rewrite import write_pages

            written = write_pages(source, outcome.pages, folder / "written", write, threads)
            outcome.report["written"] = [str(path.relative_to(folder)) for path in written]
    with watch.stage("report"):
        told = outcome.report | {"stages": outcome.report["stages"] + stages(watch.stages)}
        report.page(told).write(folder / REPORT_FILE)
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
