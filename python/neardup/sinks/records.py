"""WARC records and page files written out again.

Of a WARC file the pages' records and the ``warcinfo`` records are written; requests, metadata and other
records are not, for most would speak of pages that are gone. A kept record is copied as it is stored,
compressed, where that is possible.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from neardup import _native
from neardup.errors import OutputError
from neardup.sinks.decisions import ADDED, Decision, Decisions
from neardup.sinks.packing import pack_record
from neardup.sources.files import STDIN_NAME, Place
from neardup.sources.framing import Framed, frame
from neardup.sources.tree import PageFiles, read_page_file
from neardup.sources.unpack import Unpacked
from neardup.sources.warc import PAGE_KINDS, WarcFile
from neardup.spreadsheet import as_text
from neardup.workers import in_order
from neardup.writing import output_error, replacing

#: Bytes of records that one thread packs at a time.
_GATHERED: Final = 1 << 20
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]+")


def rewrite_warc(file: WarcFile, decisions: Decisions, target: Path, everything: bool, threads: int) -> None:
    """The records of the kept pages as they are, or of all pages with header fields added."""
    with ExitStack() as stack:
        raw = stack.enter_context(file.place.open())
        stored = stack.enter_context(file.place.open()) if file.place.is_local else None
        out = stack.enter_context(replacing(target))
        unpacked = Unpacked(raw)
        records = _gathered(_records(file.longest, unpacked, stored, decisions, everything))

        def pack(gathered: list[_Record]) -> bytes:
            return b"".join(one.data if one.packed else pack_record(one.data, unpacked.compression) for one in gathered)

        for data in stack.enter_context(closing(in_order(records, pack, threads))):
            out.write(data)


@dataclass(frozen=True, slots=True)
class _Record:
    """A record to be written: as it is stored already, or still to be packed."""

    data: bytes
    packed: bool


def _records(
    longest: int, unpacked: Unpacked, stored: IO[bytes] | None, decisions: Decisions, everything: bool
) -> Iterator[_Record]:
    for framed in frame(unpacked, longest):
        record = None
        if framed.damage is not None:
            continue
        if framed.kind == "warcinfo":
            record = _copied(framed, stored, unpacked)
        elif framed.kind in PAGE_KINDS and _is_page(framed, decisions.offset(), longest):
            decision = decisions.take_one()
            if everything:
                record = _Record(_with_fields(framed.header, decision) + framed.block + b"\r\n\r\n", packed=False)
            elif decision.kept:
                record = _copied(framed, stored, unpacked)
        if record is not None:
            yield record


def _gathered(records: Iterable[_Record]) -> Iterator[list[_Record]]:
    """Records that are worth a thread's while, in order."""
    held: list[_Record] = []
    size = 0
    for record in records:
        held.append(record)
        size += len(record.data)
        if size >= _GATHERED:
            yield held
            held, size = [], 0
    if held:
        yield held


def _is_page(framed: Framed, expected: int | None, longest: int) -> bool:
    """Whether a record is a page: the one that is expected next, where it is known by the place it is stored at."""
    if expected is not None and framed.offset is not None:
        return framed.offset == expected
    return gives_page(framed, longest)


def gives_page(framed: Framed, longest: int) -> bool:
    """Whether a page can be read off a record.

    >>> gives_page(Framed("offset 0", kind="response", block=b"no page"), 1000)
    False
    """
    try:
        framed.page(longest)
    except (_native.NotAPage, _native.BodyError):
        return False
    return True


def _copied(framed: Framed, stored: IO[bytes] | None, unpacked: Unpacked) -> _Record | None:
    """A record as it stands in the file, or packed anew where it does not stand by itself; none if not all is held."""
    if stored is not None and framed.offset is not None and framed.length is not None and not unpacked.has_dictionary:
        stored.seek(framed.offset)
        data = b""
        while len(data) < framed.length and (more := stored.read(framed.length - len(data))):
            data += more
        return _Record(data, packed=True)
    if len(framed.block) == framed.block_length:
        return _Record(framed.header + framed.block + b"\r\n\r\n", packed=False)
    return None


def _with_fields(header: bytes, decision: Decision) -> bytes:
    end = b"\r\n" if header.endswith(b"\r\n\r\n") else b"\n"
    fields = b""
    for name, value in zip(ADDED.names, decision.texts(), strict=True):
        if value:
            title = "-".join(part.capitalize() for part in name.split("_"))
            fields += f"{title}: {_CONTROL.sub(' ', value)}".encode("utf-8", "replace") + end
    return header[: -len(end)] + fields + end


def rewrite_page_files(
    file: PageFiles,
    decisions: Decisions,
    new_path: Callable[[str], Path],
    name_of: Callable[[Place], str],
    everything: bool,
) -> list[Path]:
    """The files of the kept pages, or of all pages with a table ``neardup.csv`` that names them by their paths."""
    written: list[Path] = []
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["id", *ADDED.names])
    for named in file.files:
        _, wrong, _ = read_page_file(named, file.longest)
        if wrong is not None:
            continue
        decision = decisions.take_one()
        inside = name_of(named.place)
        rows.writerow(map(as_text, [inside, *decision.texts()]))
        if not (everything or decision.kept):
            continue
        target = new_path("stdin.html" if inside == STDIN_NAME else inside)
        _copy_file(named.place, target)
        written.append(target)
    if everything:
        target = new_path("neardup.csv")
        with replacing(target) as out:
            out.write(table.getvalue().encode("utf-8", "replace"))
        written.append(target)
    return written


def _copy_file(place: Place, target: Path) -> None:
    """Copies the stored bytes; not flushed one by one, which would take a disk turn for each small page."""
    if place.is_local and target.exists() and target.samefile(place.path):
        raise OutputError("an input would be overwritten", where=str(target), hint="name another output folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(error, target) from error
    with place.open() as raw, replacing(target, durable=False) as out:
        shutil.copyfileobj(raw, out, 1 << 20)
