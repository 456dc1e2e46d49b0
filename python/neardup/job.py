"""The main job, end to end: inputs → a result folder that appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from neardup import _native
from neardup.detectors import Detector, parse
from neardup.engines import Outcome, Progress, Settings, Silent, run
from neardup.engines.local import stages
from neardup.engines.stopwatch import Stopwatch
from neardup.errors import FormatError, InputError, OutputError, UsageError
from neardup.sinks import write_json, write_pages, write_table
from neardup.sources import Fields, Source, open_inputs
from neardup.sources import Inputs as OpenedInputs
from neardup.sources.memory import texts
from neardup.version import VERSION

Inputs = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Write = Literal["kept", "all"]


@dataclass(frozen=True, slots=True)
class Opened:
    """How the inputs were opened, so that a result's pages can be found again."""

    paths: list[str]
    fields: Fields = field(default_factory=Fields)
    base_url: str | None = None
    format: str | None = None

    def source(self, spool: bool = False) -> OpenedInputs:
        return open_inputs(self.paths, self.fields, self.base_url, self.format, spool)


@dataclass(frozen=True)
class Result:
    """What a run found, as Arrow tables (``.to_pandas()``; ``polars.from_arrow``), and where it was written.

    ``pages`` has a row for every page of the input, ``pairs`` the accepted pairs, ``clusters`` a row for each cluster
    of two pages or more, ``report`` what ``run.json`` says.
    """

    pages: pa.Table
    pairs: pa.Table
    clusters: pa.Table
    report: dict[str, Any] = field(repr=False)
    folder: Path | None = None

    @property
    def kept(self) -> pa.Table:
        """The pages that stay."""
        return self.pages.filter(self.pages.column("kept"))

    @property
    def removed(self) -> pa.Table:
        """The pages that go, each with the page kept instead."""
        import pyarrow.compute as pc

        return self.pages.filter(pc.invert(self.pages.column("kept")))


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
    progress: Progress | None = None,
) -> Result:
    """Finds the near-duplicates among the pages of files, folders or globs.

    Without ``out`` nothing is written. Without ``detector`` it is ``site-aware`` where pages have URLs, else
    ``minhash``.

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
    if out is None:
        with opened.source() as source:
            return _result(_run(source, detector, settings, progress, opened))
    with new_folder(Path(out), overwrite) as folder, opened.source(spool=write is not None) as source:
        outcome = _run(source, detector, settings, progress, opened)
        write_outcome(outcome, folder, source, write, progress or Silent())
    return _result(outcome, Path(out))


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
) -> Outcome:
    outcome = run(source, choose_detector(source, detector), settings, progress)
    outcome.report["neardup"] = VERSION
    outcome.report["input"] = asdict(opened)
    return outcome


def _result(outcome: Outcome, folder: Path | None = None) -> Result:
    return Result(outcome.pages, outcome.pairs, outcome.clusters, outcome.report, folder)


def write_outcome(
    outcome: Outcome, folder: Path, source: OpenedInputs, write: Write | None, progress: Progress
) -> None:
    """Writes the tables, the pages if asked for, and last ``run.json``."""
    watch = Stopwatch(progress)
    with watch.stage("writing"):
        write_table(outcome.pages, folder / "pages.parquet")
        write_table(outcome.pairs, folder / "pairs.parquet")
        write_table(outcome.clusters, folder / "clusters.parquet")
        if write is not None:
            written = write_pages(source, outcome.pages, folder / "written", what=write)
            outcome.report["written"] = [str(path.relative_to(folder)) for path in written]
    outcome.report["stages"] += stages(watch.stages)
    outcome.report["peak_memory"] = max((stage["peak_memory"] or 0 for stage in outcome.report["stages"]), default=0)
    write_json(outcome.report, folder / "run.json")


@contextmanager
def new_folder(out: Path, overwrite: bool = False) -> Iterator[Path]:
    """A folder to write into that takes its final name only when everything is in it.

    >>> import pathlib, tempfile
    >>> final = pathlib.Path(tempfile.mkdtemp()) / "out"
    >>> with new_folder(final) as folder:
    ...     _ = (folder / "x").write_text("done"); final.exists()
    False
    >>> (final / "x").read_text()
    'done'
    """
    if out.exists() and not overwrite:
        raise OutputError("the output folder exists already", where=str(out), hint="choose another, or --overwrite")
    if out.exists() and not (out / "run.json").exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(
            "what stands there is not a result of neardup and will not be overwritten",
            where=str(out),
            hint="choose another name",
        )
    if (file := _file_above(out)) is not None:
        raise OutputError("cannot write there: a file stands where a folder should", where=str(file))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
        folder.chmod(0o777 & ~_umask())
    except OSError as error:
        raise OutputError(f"cannot write there: {error.strerror}", where=str(out.parent)) from None
    try:
        yield folder
        try:
            _put_in_place(folder, out)
        except OSError as error:
            raise OutputError(f"cannot write the result: {error.strerror or error}", where=str(out)) from error
    except OutputError as error:
        # The user knows the final name, not the one it has while it is written.
        if error.where is None or not error.where.startswith(str(folder)):
            raise
        raise OutputError(error.what, where=str(out) + error.where[len(str(folder)) :], hint=error.hint) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _file_above(out: Path) -> Path | None:
    """What is no folder among the folders that ``out`` is to be in."""
    return next((above for above in out.parents if above.exists() and not above.is_dir()), None)


def _put_in_place(folder: Path, out: Path) -> None:
    if out.exists():
        # The old result makes way at the last moment, and comes back if the new one cannot take its place.
        old = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".old", dir=out.parent))
        out.rename(old / "result")
        try:
            folder.rename(out)
        except BaseException:
            (old / "result").rename(out)
            raise
        finally:
            shutil.rmtree(old, ignore_errors=True)
    else:
        folder.rename(out)
    descriptor = os.open(out.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def fetch_pages(folder: str | os.PathLike[str], ids: Sequence[str]) -> pa.RecordBatch:
    """The pages with these ids, read again from the inputs of a result folder, in the order asked for."""
    result = open_result(folder)
    rows = [_row_of(result, name) for name in ids]
    opened = Opened(**(result.report["input"] | {"fields": Fields(**result.report["input"]["fields"])}))
    if not opened.paths or "-" in opened.paths:
        raise InputError("the input of this run cannot be read again", where=str(folder), hint="compare files instead")
    found: dict[int, pa.RecordBatch] = {}
    with opened.source() as source:
        before = 0
        for chunk in source.chunks():
            pages = chunk.load().pages
            for row in rows:
                if before <= row < before + pages.num_rows:
                    found[row] = pages.slice(row - before, 1)
            before += pages.num_rows
            if len(found) == len(set(rows)):
                return pa.concat_batches([found[row] for row in rows])
    raise InputError("the inputs have changed since the run: pages are missing", where=", ".join(opened.paths))


def _row_of(result: Result, name: str) -> int:
    import pyarrow.compute as pc

    row = pc.index(result.pages.column("id"), name).as_py()
    if row < 0:
        row = pc.index(result.pages.column("url"), name).as_py()
    if row < 0:
        raise InputError(f"no page has the id or URL {name!r}", where=str(result.folder))
    return int(row)


def open_result(folder: str | os.PathLike[str]) -> Result:
    """Reads a result folder back.

    >>> open_result("no-such-folder")
    Traceback (most recent call last):
    neardup.errors.InputError: not a result folder (no-such-folder): it has no run.json; give the --out of a dedup run
    """
    import json

    import pyarrow.parquet as pq

    path = Path(folder)
    if not (path / "run.json").exists():
        raise InputError(
            "not a result folder", where=str(path), hint="it has no run.json; give the --out of a dedup run"
        )
    try:
        report = json.loads((path / "run.json").read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError) as error:
        raise _damaged(path / "run.json", error) from None
    if not isinstance(report, dict) or not {"format", "counts", "input", "settings"} <= report.keys():
        raise FormatError("not the run.json of a dedup run", where=str(path / "run.json"))
    if report["format"] != _native.FORMAT_VERSION:
        raise FormatError(
            f"written in fingerprint format {report['format']}, this is format {_native.FORMAT_VERSION}",
            where=str(path),
            hint="run neardup dedup again with this version",
        )
    tables = []
    for name in ("pages", "pairs", "clusters"):
        try:
            # Opened here, for pyarrow takes no path that is not UTF-8.
            with open(path / f"{name}.parquet", "rb") as file:
                tables.append(pq.read_table(file))
        except (pa.ArrowException, OSError) as error:
            raise _damaged(path / f"{name}.parquet", error) from None
    pages, pairs, clusters = tables
    return Result(pages, pairs, clusters, report, path)


def _damaged(path: Path, error: Exception) -> FormatError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
    return FormatError(f"the result is damaged: {reason}", where=str(path), hint="run dedup again")
