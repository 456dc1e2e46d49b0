"""What the user names (files, folders, globs, URLs) to the list of files to read, each with its format.

The order is the given one; what a folder or a glob stands for comes sorted by the bytes of its path, so that
the same call reads the same pages in the same order everywhere. Hidden files are left out; every other file of a folder
that is not read is named.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from neardup.errors import InputError, NeardupError, UsageError
from neardup.page import Skipped
from neardup.sources.files import Place, file_system, is_remote, shown, unreachable
from neardup.sources.skipped import WHOLE_FILE

#: Formats and the endings they are known by; a compression's ending may follow.
FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "warc": (".warc", ".wet", ".wat"),
    "jsonl": (".jsonl", ".ndjson", ".jsonlines", ".json"),
    "parquet": (".parquet", ".pq"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "page": (".html", ".htm", ".xhtml", ".txt"),
}
COMPRESSIONS: Final = (".gz", ".zst", ".zstd", ".xz", ".bz2")
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
    return {b"{": "jsonl", b"[": "jsonl", b"<": "page"}.get(start)


def expand(
    inputs: Sequence[str | os.PathLike[str]], format: str | None = None, unread: list[Skipped] | None = None
) -> Iterator[Named]:
    """The files that inputs stand for, in order; ``-`` is not for this function to answer. Files of folders that
    are none of them are added to ``unread``.

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
    left = [] if unread is None else unread
    for given in inputs:
        path = os.fspath(given)
        if is_remote(path):
            yield from _remote(path, format, left)
        else:
            yield from _local(file_system(path)[1] if path.startswith("file://") else path, format, left)


def _local(path: str, format: str | None, unread: list[Skipped]) -> Iterator[Named]:
    if os.path.isdir(path):
        yield from _folder(path, format, unread)
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
                    yield from _folder(match, format, unread)
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


def _folder(folder: str, format: str | None, unread: list[Skipped]) -> Iterator[Named]:
    found: list[tuple[bytes, str, str]] = []
    left: list[tuple[bytes, Skipped]] = []
    root = os.path.realpath(folder)
    before = len(os.path.join(folder, ""))
    for entry in _files_below(folder):
        inside = os.fsencode(entry.path[before:].replace(os.sep, "/"))
        known = format or format_of(entry.name)
        reason = _why_unread(entry, root) or (_of_no_format(entry.name) if known is None else None)
        if reason is not None:
            left.append((inside, Skipped(shown(entry.path), WHOLE_FILE, reason)))
        elif known is not None:
            found.append((inside, entry.path, known))
    if not found:
        raise InputError("no file of a known format in this folder", where=folder, hint=f"known: {', '.join(FORMATS)}")
    unread += [entry for _, entry in sorted(left, key=lambda entry: entry[0])]
    for inside, path, known in sorted(found):
        yield Named(Place.at(path), known, os.fsdecode(inside) if known == "page" else None)


def _of_no_format(name: str) -> str:
    """Why a file is not read whose name says nothing that can be."""
    for ending in COMPRESSIONS:
        name = name.removesuffix(ending)
    return "an ARC file, which neardup does not read" if name.endswith(".arc") else "a file of no known format"


def _why_unread(entry: os.DirEntry[str], root: str) -> str | None:
    """Why what stands in a folder is no file to be read; None if it is one."""
    if entry.is_symlink():
        try:
            mode = os.stat(entry.path).st_mode
        except OSError:
            return "a link that leads nowhere"
        if not _stays_inside(entry.path, root):
            return "a link that leads out of the folder"
    else:
        mode = entry.stat(follow_symlinks=False).st_mode
    if stat.S_ISREG(mode):
        return None
    kinds = {stat.S_IFDIR: "a link to a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return f"{kinds.get(stat.S_IFMT(mode), 'a device')}, not a file"


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


def _remote(url: str, format: str | None, unread: list[Skipped]) -> Iterator[Named]:
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
    except NeardupError:
        raise
    except Exception as error:
        raise unreachable(url, error) from None
    if info.type == arrow_fs.FileType.File:
        known = format or format_of(url)
        if known is None:
            raise InputError(
                "a file of unknown format", where=url, hint=f"give its format: one of {', '.join(FORMATS)}"
            )
        yield Named(Place.at(url), known, url.rsplit("/", 1)[-1] if known == "page" else None)
        return
    if info.type == arrow_fs.FileType.NotFound:
        # Over HTTP no answer is no file.
        raise unreachable(url) if scheme in ("http", "https") else InputError("no such file or folder", where=url)
    selector = arrow_fs.FileSelector(path, recursive=True)
    files = [entry for entry in system.get_file_info(selector) if entry.type == arrow_fs.FileType.File]
    wanted = []
    for entry in files:
        inside = entry.path.removeprefix(path).lstrip("/")
        full = f"{base.rstrip('/')}/{inside}"
        hidden = any(part.startswith(".") for part in inside.split("/"))
        known = format or format_of(inside)
        if hidden or (pattern and not fnmatch.fnmatchcase(full, url)):
            continue
        if known is None:
            unread.append(Skipped(full, WHOLE_FILE, _of_no_format(inside)))
            continue
        wanted.append((inside.encode(), full, known, inside))
    if not wanted:
        raise InputError("nothing matches" if pattern else f"no file of a known format at this {scheme} URL", where=url)
    for _, full, known, inside in sorted(wanted):
        yield Named(Place.at(full), known, inside if known == "page" else None)
