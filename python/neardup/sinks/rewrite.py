"""The pages written out again in the form they came in: the kept ones, or all with what was decided of them.

The inputs are read a second time, in the same order and by the same code, so that the n-th page read is the
n-th decision. Each input file gives one output file of the same format and compression, at the same path below what
the inputs have in common; records that are no pages, or could not be read, are not in it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pyarrow as pa

from neardup.errors import OutputError
from neardup.page import BATCH_BYTES
from neardup.sinks.decisions import Decisions
from neardup.sinks.records import rewrite_page_files, rewrite_warc
from neardup.sinks.rows import rewrite_delimited, rewrite_jsonl, rewrite_parquet
from neardup.sources.delimited import Delimited
from neardup.sources.files import STDIN_NAME, Place
from neardup.sources.inputs import Inputs
from neardup.sources.jsonl import JsonLines
from neardup.sources.parquet import ParquetRows
from neardup.sources.tree import PageFiles
from neardup.sources.warc import WarcFile
from neardup.writing import check_local, output_error


class Names:
    """Paths in the output folder, each given once: a second ``a.jsonl.gz`` becomes ``a-2.jsonl.gz``.

    >>> names = Names(Path("out"))
    >>> [names.new("a.jsonl.gz").name, names.new("a.jsonl.gz").name, names.new("sub/b.html").as_posix()]
    ['a.jsonl.gz', 'a-2.jsonl.gz', 'out/sub/b.html']
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._used: set[str] = set()

    def new(self, name: str) -> Path:
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        folder, last = "/".join(parts[:-1]), parts[-1]
        stem, dot, ending = last.partition(".") if not last.startswith(".") else (last, "", "")
        number, chosen = 1, last
        # Compared without case: on some systems A.html and a.html are one file.
        while (key := f"{folder}/{chosen}".casefold()) in self._used:
            number += 1
            chosen = f"{stem}-{number}{dot}{ending}"
        self._used.add(key)
        return self.folder / folder / chosen


def write_pages(
    source: Inputs,
    decisions: pa.Table,
    out_dir: str | os.PathLike[str],
    what: Literal["kept", "all"] = "kept",
    threads: int = 1,
) -> list[Path]:
    """Writes the pages of ``source`` to a folder, and gives back the files written.

    ``decisions`` has a row a page, in the order of reading, with columns ``kept``, ``identity``, ``cluster``,
    ``kept_instead`` and ``reason``; with ``offset`` too, records of WARC files need not be looked into. "kept" writes
    the kept pages as they are; "all" writes every page with fields ``neardup_identity`` and so on (for WARC header
    fields ``Neardup-Identity``, for page files ``neardup.csv``).

    >>> import tempfile
    >>> from neardup.sources import open_inputs
    >>> table = pa.table({"identity": ["a", "b"], "cluster": ["a", "b"], "kept": [True, False],
    ...                   "kept_instead": [None, "a"], "reason": [None, "near-duplicate"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "in.csv").write_text("id,text\\n1,x\\n2,y\\n")
    ...     with open_inputs([Path(folder, "in.csv")]) as source:
    ...         (path,) = write_pages(source, table, Path(folder, "out"))
    ...     path.read_text()
    'id,text\\n1,x\\n'
    """
    if what not in ("kept", "all"):
        raise ValueError(f"what is 'kept' or 'all', not {what!r}")
    check_local(out_dir)
    folder = Path(out_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(error, folder) from error
    left, names = Decisions(decisions), Names(folder)
    everything = what == "all"
    written: list[Path] = []
    for file in source.files:
        if isinstance(file, PageFiles):
            written += rewrite_page_files(file, left, names.new, source.relative_name, everything)
            continue
        assert isinstance(file, JsonLines | ParquetRows | Delimited | WarcFile)
        target = _target(file.place, source.relative_name(file.place), _ending(file), names)
        # Of one batch there is nothing that threads could share.
        size = file.nbytes()
        helpers = 0 if size is not None and size <= BATCH_BYTES else threads
        match file:
            case JsonLines():
                rewrite_jsonl(file, left, target, everything, helpers)
            case ParquetRows():
                rewrite_parquet(file, left, target, everything)
            case Delimited():
                rewrite_delimited(file, left, target, everything, helpers)
            case WarcFile():
                rewrite_warc(file, left, target, everything, helpers)
        written.append(target)
    left.finish()
    return written


def _ending(file: JsonLines | ParquetRows | Delimited | WarcFile) -> str:
    match file:
        case JsonLines():
            return ".jsonl"
        case ParquetRows():
            return ".parquet"
        case Delimited():
            return ".tsv" if file.delimiter == "\t" else ".csv"
        case WarcFile():
            return ".warc"


def _target(place: Place, name: str, ending: str, names: Names) -> Path:
    target = names.new(f"stdin{ending}" if name == STDIN_NAME else name)
    if place.is_local and target.exists() and os.path.samefile(place.path, target):
        raise OutputError("an input would be overwritten", where=str(target), hint="name another output folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(error, target) from error
    return target
