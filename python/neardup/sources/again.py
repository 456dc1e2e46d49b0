"""Back to single pages of inputs that were read before, by the place that a result names: source, offset, length.

A record of an archive, a line of JSONL and a page file can be read alone; rows of tables and whatever lies in one
compressed stream cannot, and None is given for them. What is read goes through the same code as in a run, so the page
is the same, byte for byte, unless the file has changed; where it stood is not told again.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import BinaryIO

import pyarrow as pa

from neardup.errors import InputError
from neardup.page import BATCH_BYTES
from neardup.sources.framing import reader
from neardup.sources.inputs import Inputs
from neardup.sources.jsonl import Block, JsonLines
from neardup.sources.tree import PageFiles
from neardup.sources.unpack import Unpacked
from neardup.sources.warc import WarcFile
from neardup.sources.warc import load as load_records

#: A stored record of so many bytes more than a page may have is not read alone.
_BESIDE = 1 << 20


@dataclass(frozen=True, slots=True)
class Where:
    """Where a page was: the name of its source, and its stored bytes there."""

    source: str
    offset: int | None
    length: int | None


def read_again(inputs: Inputs, places: Sequence[Where]) -> list[pa.RecordBatch | None]:
    """The pages at these places, each as a batch of one, or None where it cannot be read alone.

    >>> import pathlib, tempfile
    >>> from neardup.sources import open_inputs
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = file.write_text('{"id": "1", "text": "one"}' + chr(10) + '{"id": "2", "text": "two"}' + chr(10))
    >>> with open_inputs([file]) as inputs:
    ...     found = read_again(inputs, [Where(str(file), 27, 26)])
    >>> found[0]["content"].to_pylist()
    [b'two']
    """
    sources = {where.source for where in places}
    readers: dict[str, JsonLines | WarcFile | PageFiles] = {}
    for file in inputs.files:
        if isinstance(file, PageFiles):
            wanted_files = (named for named in file.files if named.place.name in sources)
            readers |= {named.place.name: PageFiles([named], file.base_url, file.longest) for named in wanted_files}
        elif isinstance(file, JsonLines | WarcFile) and file.place.is_local:
            readers[file.place.name] = file
    found: list[pa.RecordBatch | None] = [None] * len(places)
    by_source: dict[str, list[int]] = {}
    for at, where in enumerate(places):
        by_source.setdefault(where.source, []).append(at)
    for source, wanted in by_source.items():
        known = readers.get(source)
        if known is None:
            continue
        if isinstance(known, PageFiles):
            pages = [_single(next(iter(known.chunks())).load().pages)] * len(wanted)
        else:
            pages = _read(known, [places[at] for at in wanted])
        for at, page in zip(wanted, pages, strict=True):
            found[at] = page
    return found


def _read(file: JsonLines | WarcFile, places: Sequence[Where]) -> list[pa.RecordBatch | None]:
    """Pages of a file that is opened once."""
    found: list[pa.RecordBatch | None] = []
    try:
        with file.place.open() as raw:
            records = (_stored(raw, where, file.longest + _BESIDE) for where in places)
            while some := list(_several(records)):
                found += _lines(file, some) if isinstance(file, JsonLines) else _archived(file, some)
    except InputError:
        found += [None] * (len(places) - len(found))
    return found


def _stored(raw: BinaryIO, where: Where, most: int) -> bytes | None:
    if where.offset is None or where.length is None or not 0 < where.length <= most:
        return None
    try:
        raw.seek(where.offset)
        return _exactly(raw, where.length)
    except (OSError, InputError):
        return None


def _several(records: Iterator[bytes | None]) -> Iterator[bytes | None]:
    """The next few of them, of some megabytes together."""
    size = 0
    for data in records:
        yield data
        size += len(data or b"")
        if size >= BATCH_BYTES:
            return


def _lines(file: JsonLines, lines: Sequence[bytes | None]) -> list[pa.RecordBatch | None]:
    """Lines of a file, parsed together; a file that has changed may give what is more than a line, or less."""
    block = b"".join((b"" if line is None or b"\n" in line else line) + b"\n" for line in lines)
    pages = file.load(Block(block)).pages
    found: list[pa.RecordBatch | None] = [None] * len(lines)
    for at, line in enumerate(pages.column("record").to_pylist()):
        found[line] = pages.slice(at, 1)
    return found


def _archived(file: WarcFile, records: Sequence[bytes | None]) -> list[pa.RecordBatch | None]:
    """Records of an archive, which is what several of them one after another are too; where each began tells them
    apart."""
    stored = b"".join(record or b"" for record in records)
    begins = accumulate((len(record or b"") for record in records), initial=0)
    number = {begin: at for at, (begin, record) in enumerate(zip(begins, records, strict=False)) if record}
    found: list[pa.RecordBatch | None] = [None] * len(records)
    archive = reader(Unpacked(io.BytesIO(stored)), file.longest)
    while (taken := archive.next_pages(file.longest, len(records), file.longest)) is not None:
        pages = load_records(file.place, taken[2]).pages
        for at, begin in enumerate(pages.column("offset").to_pylist()):
            if begin in number:
                found[number.pop(begin)] = pages.slice(at, 1)
    return found


def _exactly(raw: BinaryIO, length: int) -> bytes:
    parts: list[bytes] = []
    while length and (more := raw.read(length)):
        parts.append(more)
        length -= len(more)
    return b"".join(parts)


def _single(pages: pa.RecordBatch) -> pa.RecordBatch | None:
    return pages if pages.num_rows == 1 else None
