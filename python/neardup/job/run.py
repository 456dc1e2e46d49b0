"""The main job, end to end: inputs → a result folder that appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any

from neardup import _native
from neardup.engines import Outcome, Progress, Settings, Silent, run
from neardup.engines.common.default import BOTH, BY_DEFAULT, by_kind, note_default
from neardup.engines.common.earlier import FILE
from neardup.engines.local.reading import collect
from neardup.engines.local.run import Certify
from neardup.engines.local.scratch import Scratch, check_room, discard, temporary
from neardup.engines.local.statistics import count
from neardup.errors import UsageError
from neardup.job.earlier import detector_of, file_state, finished_before, load_earlier
from neardup.job.on_spark import run_on_spark
from neardup.job.request import Engine, Request, Write
from neardup.job.writing import import_ahead, write_outcome
from neardup.methods import Detector, parse
from neardup.methods.default import default_detector
from neardup.methods.statistics import CollectionStatistics
from neardup.page import BATCH_BYTES
from neardup.results import Result
from neardup.sinks.folder import new_folder
from neardup.sources import Fields, Inputs, InputSpec, Source
from neardup.sources.expand import COMPRESSIONS
from neardup.sources.kinds import MarkupOnly, first_kinds
from neardup.sources.memory import Pages, in_memory
from neardup.sources.spooled import Room
from neardup.version import VERSION

if TYPE_CHECKING:
    pass

#: How the names of compressed files end.
_PACKED = (*COMPRESSIONS, ".parquet")

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


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
    if hasattr(inputs, "__arrow_c_stream__") or isinstance(inputs, Mapping):
        raise UsageError("a table was given, not files", hint="find_duplicates takes pages that are in memory")
    settings = settings or Settings()
    request = Request(
        input=InputSpec(_names(inputs), fields or Fields(), base_url, format, settings.max_page),
        out=Path(out) if out is not None else None,
        detector=detector,
        settings=settings,
        write=write,
        store=store,
        overwrite=overwrite,
        scratch=os.fspath(scratch) if scratch is not None else None,
        resume=resume,
        progress=progress or Silent(),
        certify=certify,
        against=tuple(os.fspath(run) for run in against),
        keep_fingerprints=keep_fingerprints,
        engine=engine,
        master=master,
        remote=remote,
    )
    return carry_out(request)


def _names(inputs: Paths) -> list[str]:
    paths = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    return [os.fspath(path) for path in paths]


def carry_out(request: Request) -> Result:
    """The result of a run: written to a folder that appears whole or not at all, or in memory."""
    finished = finished_before(request)
    if finished is not None:
        return finished
    if request.engine == "spark":
        return run_on_spark(request)
    return _run_in_memory(request) if request.out is None else _run_to_folder(request, request.out)


def _run_in_memory(request: Request) -> Result:
    named = Path(request.scratch) if request.scratch is not None else None
    detector = detector_of(request)
    with ExitStack() as stack:
        source = stack.enter_context(request.input.open(again=detector is None))

        def attempt(pages: Source, detector: Detector) -> Outcome:
            earlier, settings = load_earlier(request.against, detector, _settings_of(request))
            scratch = stack.enter_context(temporary(named, settings.memory > 0))
            return run(pages, detector, settings, request.progress, scratch, request.certify, earlier)

        return _result(_run(source, detector, attempt, request.input, source.read_last))


def _run_to_folder(request: Request, out: Path) -> Result:
    detector, place = detector_of(request), request.scratch_folder
    with ExitStack() as stack:
        folder = stack.enter_context(new_folder(out, request.overwrite))
        source = stack.enter_context(request.input.open(spool=request.writes_pages, again=detector is None))
        attempts = _Attempts(request, source, folder, by_default=detector is None)
        stack.callback(attempts.discard_if_empty)
        Thread(target=import_ahead, name="neardup-imports", daemon=True).start()
        settled = request.resume and Scratch.begun_by(place) == f"{default_detector(BOTH)}{BY_DEFAULT}"
        outcome = _run(source, detector, attempts, request.input, source.read_last, settled)
        write_outcome(outcome, folder, source, request)
        attempts.forget()
    return _result(outcome, out)


@dataclass
class _Attempts:
    """Attempts at a run that commits what is done: the first, and another if its default detector was the wrong one."""

    request: Request
    source: Inputs
    folder: Path
    by_default: bool
    scratch: Scratch | None = None

    def __call__(self, pages: Source, detector: Detector) -> Outcome:
        request, place = self.request, self.request.scratch_folder
        earlier, settings = load_earlier(request.against, detector, _settings_of(request))
        if not request.resume:
            check_room(place, _scratch_needed(self.source, detector, settings))
        name = f"{detector}{BY_DEFAULT if self.by_default else ''}"
        manifest = _manifest(request.input, self.source, name, settings)
        # A second attempt has another detector: of what the first one did nothing serves it.
        resumes = request.resume and self.scratch is None
        self.scratch = (Scratch.resume if resumes else Scratch.start)(place, manifest)
        saved = self.folder / FILE if request.keep_fingerprints else None
        return run(pages, detector, settings, request.progress, self.scratch, request.certify, earlier, saved)

    def discard_if_empty(self) -> None:
        """Removes a scratch folder in which nothing is committed: a run that fails before leaves nothing behind."""
        if self.scratch is not None and not self.scratch.tallies:
            discard(self.request.scratch_folder)

    def forget(self) -> None:
        """Says that nobody goes on from what was committed."""
        if self.scratch is not None:
            self.scratch.tallies.clear()


def _settings_of(request: Request) -> Settings:
    """Settings of the run itself: what certifies it looks at the tokens."""
    return replace(request.settings, hold_tokens=True) if request.certify is not None else request.settings


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
        "files": [file_state(name) for name in source.names()],
        "batch_bytes": BATCH_BYTES,
    }


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

        def attempt(pages: Source, detector: Detector) -> Outcome:
            scratch = stack.enter_context(temporary(None, settings.memory > 0))
            return run(pages, detector, settings, None, scratch)

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
    parsed, settings = parse(detector), settings or Settings()
    if not parsed.counted():
        raise UsageError(f"detector {parsed.name!r} needs no statistics", hint="give one that does, such as i-match")
    spec = InputSpec(_names(inputs), fields or Fields(), base_url, format, settings.max_page)
    with spec.open() as source:
        return count(collect(source, parsed, settings, Silent()), parsed, settings)


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

        def by_default(default: Detector, markup_only: bool) -> Outcome:
            if not markup_only:
                read_last()
            return attempt(MarkupOnly(source) if markup_only else source, default)

        outcome = by_kind(BOTH if settled else first_kinds(source), by_default)
        note_default(outcome.report)
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
