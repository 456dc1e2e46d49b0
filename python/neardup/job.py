"""The main job, end to end: inputs → a result folder that appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from neardup import _native
from neardup.detectors import Detector, parse
from neardup.engines import Outcome, Progress, Settings, Silent, run
from neardup.engines.collect import collect
from neardup.engines.first_pass import count
from neardup.engines.local import Certify, stages
from neardup.engines.scratch import Scratch, check_room, discard
from neardup.engines.stopwatch import Stopwatch
from neardup.errors import UsageError
from neardup.fingerprints import CollectionStatistics
from neardup.page import BATCH_BYTES
from neardup.results import Opened, Result, Written
from neardup.sinks import write_groups, write_json, write_pages, write_table
from neardup.sinks.folder import new_folder
from neardup.sources import Fields, Source
from neardup.sources import Inputs as OpenedInputs
from neardup.sources.memory import texts
from neardup.version import VERSION

#: How the names of compressed files end.
_PACKED = (".gz", ".zst", ".bz2", ".xz", ".br", ".parquet")

Inputs = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Write = Literal["kept", "all"]


def dedup(
    inputs: Inputs,
    out: str | os.PathLike[str] | None = None,
    *,
    detector: str | Detector | None = None,
    settings: Settings | None = None,
    fields: Fields | None = None,
    base_url: str | None = None,
    format: str | None = None,
    write: Write | None = None,
    overwrite: bool = False,
    scratch: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    certify: Certify | None = None,
) -> Result:
    """Finds the near-duplicates among the pages of files, folders or globs.

    Without ``out`` nothing is written. Without ``detector`` it is ``site-aware`` where pages have URLs, else
    ``minhash``. What is done is committed to a ``scratch`` folder (beside ``out`` unless named) now and then; a run
    that was stopped goes on from there with ``resume``. ``certify`` (``neardup.evaluation.certify.Certifier``) has a
    last look at the run and says how right it was.

    >>> import json, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> lines = [{"id": i, "text": "the same ten words stand here in both of these " + i} for i in ("a", "b")]
    >>> _ = (folder / "pages.jsonl").write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> result = dedup(folder / "pages.jsonl", folder / "out", detector="minhash(threshold=0.5)")
    >>> result.removed["kept_instead"].to_pylist()
    ['a']
    >>> sorted(path.name for path in (folder / "out").iterdir())
    ['clusters.parquet', 'pages.parquet', 'pairs.parquet', 'run.json']
    """
    if write is not None and out is None:
        raise UsageError("pages can be written only into a result folder", hint="give out=")
    paths = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    if not paths:
        raise UsageError("no input was given", hint="name files, folders, globs, or - for standard input")
    opened = Opened([os.fspath(path) for path in paths], fields or Fields(), base_url, format)
    settings = settings or Settings()
    if certify is not None:
        settings = replace(settings, hold_tokens=True)
    if out is None:
        with opened.source() as source:
            return _result(_run(source, detector, settings, progress, opened, certify=certify))
    place = Path(scratch) if scratch is not None else Path(out).parent / f".{Path(out).name}.scratch"
    with ExitStack() as stack:
        folder = stack.enter_context(new_folder(Path(out), overwrite))
        source = stack.enter_context(opened.source(spool=write is not None))
        chosen = choose_detector(source, detector)
        if not resume:
            check_room(place, _scratch_needed(source, chosen, settings))
        manifest = _manifest(opened, source, chosen, settings)
        committed = (Scratch.resume if resume else Scratch.start)(place, manifest)
        # A run that fails before anything was committed leaves nothing behind.
        stack.callback(lambda: None if committed.tallies else discard(place))
        outcome = _run(source, chosen, settings, progress, opened, committed, certify)
        write_outcome(outcome, folder, source, write, progress or Silent())
        committed.tallies.clear()
    return _result(outcome, Path(out))


def _scratch_needed(source: OpenedInputs, detector: Detector, settings: Settings) -> int:
    """Bytes that may have to go to the scratch folder: a guess from the size of the input, on the high side."""
    size = source.nbytes() or 0
    packed = any(name.endswith(_PACKED) for name in source.names())
    # Text packs to about a fifth. Its shingles take 8 bytes for every 6 or so; ids, titles and fingerprints much less.
    expected = size * (5 if packed else 1) * (1.5 if detector.sets() else 0.3)
    return int(expected) if expected > settings.memory_budget / 8 else 0


def _manifest(opened: Opened, source: OpenedInputs, detector: Detector, settings: Settings) -> dict[str, Any]:
    """What must be the same for a stopped run to go on."""
    return {
        "format": _native.FORMAT_VERSION,
        "neardup": VERSION,
        "detector": str(detector),
        "reading": asdict(settings.reading),
        "keep": settings.keep,
        "hold_tokens": settings.hold_tokens,
        "input": asdict(opened),
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
    pages: Sequence[str | Mapping[str, Any]],
    *,
    detector: str | Detector | None = None,
    settings: Settings | None = None,
) -> Result:
    """Finds the near-duplicates among texts, or mappings with ``text`` or ``html`` (and ``id``, ``url``, ``date``).

    >>> text = "it was the best of times it was the worst of times it was the age of wisdom"
    >>> result = find_duplicates([text, "something else entirely", text + " indeed"])
    >>> result.pages["kept"].to_pylist()
    [True, True, False]
    """
    return _result(_run(texts(pages), detector, settings, None, Opened([])))


def statistics_of(
    inputs: Inputs,
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
    opened = Opened([os.fspath(path) for path in paths], fields or Fields(), base_url, format)
    with opened.source() as source:
        return count(collect(source, chosen, settings, Silent()), chosen, settings)


def choose_detector(source: Source, detector: str | Detector | None) -> Detector:
    """The detector asked for, or the default for such a source."""
    if detector is not None:
        return parse(detector)
    return parse("site-aware" if source.has_urls() else "minhash")


def _run(
    source: Source,
    detector: str | Detector | None,
    settings: Settings | None,
    progress: Progress | None,
    opened: Opened,
    scratch: Scratch | None = None,
    certify: Certify | None = None,
) -> Outcome:
    outcome = run(source, choose_detector(source, detector), settings, progress, scratch, certify)
    outcome.report["neardup"] = VERSION
    outcome.report["input"] = asdict(opened)
    return outcome


def _result(outcome: Outcome, folder: Path | None = None) -> Result:
    if folder is not None:
        return Result(Written(folder), outcome.report, folder)
    tables = {"pages": outcome.pages, "pairs": outcome.pairs, "clusters": outcome.clusters}
    return Result(tables.__getitem__, outcome.report)


def write_outcome(
    outcome: Outcome, folder: Path, source: OpenedInputs, write: Write | None, progress: Progress
) -> None:
    """Writes the tables, the pages if asked for, and last ``run.json``."""
    watch = Stopwatch(progress)
    with watch.stage("writing"):
        write_groups(outcome.page_groups.schema, outcome.page_groups, folder / "pages.parquet")
        write_groups(outcome.pair_groups.schema, outcome.pair_groups, folder / "pairs.parquet")
        write_table(outcome.clusters, folder / "clusters.parquet")
        if write is not None:
            written = write_pages(source, outcome.pages, folder / "written", what=write)
            outcome.report["written"] = [str(path.relative_to(folder)) for path in written]
    outcome.report["stages"] += stages(watch.stages)
    outcome.report["peak_memory"] = max((stage["peak_memory"] or 0 for stage in outcome.report["stages"]), default=0)
    write_json(outcome.report, folder / "run.json")
