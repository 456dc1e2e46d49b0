"""What the user names (files, folders, globs, URLs) to the list of files to read, each with its format.

The order is the given one; what a folder or a glob stands for comes sorted by the bytes of its path, so that
the same call reads the same pages in the same order everywhere. Hidden files are left out.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from neardup.errors import InputError, UsageError
from neardup.sources.files import Place, file_system, is_remote

#: Formats and the endings they are known by; a compression's ending may follow.
FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "warc": (".warc", ".wet", ".wat"),
    "jsonl": (".jsonl", ".ndjson", ".jsonlines", ".json"),
    "parquet": (".parquet", ".pq"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "page": (".html", ".htm", ".xhtml", ".txt"),
}
COMPRESSIONS: Final = (".gz", ".zst", ".zstd")
_GLOB: Final = "*?["


@dataclass(frozen=True, slots=True)
class Named:
    """A file to read: where it is, its format, and (for a page of a folder) its path inside that folder."""

    place: Place
    format: str
    inside: str | None = None


def format_of(path: str) -> str | None:
    """The format a path's ending stands for, or None.

    >>> format_of("a/crawl.warc.gz"), format_of("b.JSONL"), format_of("c.html.zst"), format_of("notes.pdf")
    ('warc', 'jsonl', 'page', None)
    """
    name = path.rsplit("/", 1)[-1].lower()
    for ending in COMPRESSIONS:
        name = name.removesuffix(ending)
    return next((known for known, endings in FORMATS.items() if name.endswith(endings)), None)


def sniff(head: bytes) -> str | None:
    """The format that plain first bytes stand for, or None.

    >>> sniff(b"WARC/1.0\\r\\n"), sniff(b'{"id": 1}'), sniff(b"PAR1"), sniff(b"<!doctype>"), sniff(b"id,text")
    ('warc', 'jsonl', 'parquet', 'page', None)
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"WARC/"):
        return "warc"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return {b"{": "jsonl", b"<": "page"}.get(start)


def expand(inputs: Sequence[str | os.PathLike[str]], format: str | None = None) -> Iterator[Named]:
    """The files that inputs stand for, in order; ``-`` is not for this function to answer.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in "b.jsonl", "a.jsonl.gz", ".hidden.jsonl":
    ...         _ = Path(folder, name).write_text("")
    ...     [os.path.basename(named.place.path) for named in expand([folder])]
    ['a.jsonl.gz', 'b.jsonl']
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"unknown format {format!r}", hint=f"one of {', '.join(FORMATS)}")
    for given in inputs:
        path = os.fspath(given)
        if is_remote(path):
            yield from _remote(path, format)
        else:
            yield from _local(file_system(path)[1] if path.startswith("file://") else path, format)


def _local(path: str, format: str | None) -> Iterator[Named]:
    if os.path.isdir(path):
        yield from _folder(path, format)
    elif os.path.exists(path):
        yield _file(path, format)
    elif any(mark in path for mark in _GLOB):
        found = sorted(glob.glob(path, recursive=True), key=os.fsencode)
        if not found:
            raise InputError("nothing matches", where=path, hint="check the pattern, and quote it for the shell")
        for match in found:
            if os.path.isdir(match):
                # ** also gives the folders on the way; their files match by themselves.
                if not path.endswith("**"):
                    yield from _folder(match, format)
            else:
                yield _file(match, format, os.path.dirname(path[: min(map(path.find, filter(path.count, _GLOB)))]))
    else:
        raise InputError("no such file or folder", where=path)


def _file(path: str, format: str | None, folder: str | None = None) -> Named:
    """One file; a page's id is its path below the part of a pattern that is no pattern, else its name."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(
            "not a file: a pipe or device is read only as standard input",
            where=path,
            hint="give - and redirect it: < FILE",
        )
    known = format or format_of(path) or _by_content(path)
    inside = os.path.relpath(path, os.path.dirname(path) if folder is None else folder or ".")
    return Named(Place.at(path), known, inside.replace(os.sep, "/") if known == "page" else None)


def _by_content(path: str) -> str:
    found = sniff(Place.at(path).head(64)) if os.path.isfile(path) else None
    if found is None:
        raise InputError("a file of unknown format", where=path, hint=f"give its format: one of {', '.join(FORMATS)}")
    return found


def _folder(folder: str, format: str | None) -> Iterator[Named]:
    found: list[tuple[bytes, str, str]] = []
    root = os.path.realpath(folder)
    before = len(os.path.join(folder, ""))
    for entry in _files_below(folder):
        known = format or format_of(entry.name)
        if entry.is_symlink():
            there = os.path.isfile(entry.path) and _stays_inside(entry.path, root)
        else:
            there = entry.is_file(follow_symlinks=False)
        if known is None or not there:
            continue
        found.append((os.fsencode(entry.path[before:].replace(os.sep, "/")), entry.path, known))
    if not found:
        raise InputError("no file of a known format in this folder", where=folder, hint=f"known: {', '.join(FORMATS)}")
    for inside_bytes, path, known in sorted(found):
        yield Named(Place.at(path), known, os.fsdecode(inside_bytes) if known == "page" else None)


def _files_below(folder: str) -> Iterator[os.DirEntry[str]]:
    """What is in a folder and those below it and is no folder; nothing hidden, and no folder behind a link."""
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        yield entry
        except OSError as error:
            reason = f"the folder cannot be listed: {error.strerror or error}"
            raise InputError(reason, where=here, hint="make it readable, or name what is to be read") from None


def _stays_inside(path: str, root: str) -> bool:
    target = os.path.realpath(path)
    return target == root or target.startswith(root + os.sep)


def _remote(url: str, format: str | None) -> Iterator[Named]:
    from pyarrow import fs as arrow_fs

    scheme = url.split("://", 1)[0]
    pattern = any(mark in url for mark in _GLOB)
    cut = min((at for mark in _GLOB if (at := url.find(mark)) >= 0), default=len(url))
    base = url[: url.rfind("/", 0, cut)] if pattern else url
    try:
        system, path = file_system(base)
        info = system.get_file_info(path)
    except OSError as error:
        raise InputError(f"cannot be opened: {error}", where=url) from None
    if info.type == arrow_fs.FileType.File:
        known = format or format_of(url)
        if known is None:
            raise InputError(
                "a file of unknown format", where=url, hint=f"give its format: one of {', '.join(FORMATS)}"
            )
        yield Named(Place.at(url), known, url.rsplit("/", 1)[-1] if known == "page" else None)
        return
    if info.type == arrow_fs.FileType.NotFound:
        raise InputError("no such file or folder", where=url)
    selector = arrow_fs.FileSelector(path, recursive=True)
    files = [entry for entry in system.get_file_info(selector) if entry.type == arrow_fs.FileType.File]
    wanted = []
    for entry in files:
        inside = entry.path.removeprefix(path).lstrip("/")
        full = f"{base.rstrip('/')}/{inside}"
        hidden = any(part.startswith(".") for part in inside.split("/"))
        known = format or format_of(inside)
        if hidden or known is None or (pattern and not fnmatch.fnmatchcase(full, url)):
            continue
        wanted.append((inside.encode(), full, known, inside))
    if not wanted:
        raise InputError("nothing matches" if pattern else f"no file of a known format at this {scheme} URL", where=url)
    for _, full, known, inside in sorted(wanted):
        yield Named(Place.at(full), known, inside if known == "page" else None)
