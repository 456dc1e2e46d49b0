"""JSON Lines: one object a line, and a line ends at ``\\n`` only (a string may hold U+2028 and the like).

The reader cuts blocks at line ends and does not look inside; a kernel parses a block in a worker. A line that
does not parse is named by its number in the file, and the rest goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.errors import InputError
from neardup.page import BATCH_BYTES, Skipped
from neardup.sources.base import PAGE_BYTES, Chunk, Fields, Loaded, build_pages, only_skipped, page_too_long
from neardup.sources.files import Place
from neardup.sources.unpack import Unpacked

#: A longer line is passed over.
LINE_BYTES: Final = 1 << 30

_BOM: Final = b"\xef\xbb\xbf"
_PEEK_LINES: Final = 100
_PEEK_BYTES: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file, or (``skipped``) a place where they could not be had.

    ``nbytes`` is what it took off the stored file, ``first_line`` the number of its first line from 0, and
    ``first_byte`` where it begins in the file, if reading can begin there.
    """

    nbytes: int
    data: bytes
    first_line: int
    first_byte: int | None
    skipped: Skipped | None = None


class JsonLines:
    """The pages of one JSONL file, plain or compressed."""

    def __init__(self, place: Place, fields: Fields) -> None:
        self.place, self.fields = place, fields

    def nbytes(self) -> int | None:
        return self.place.size()

    def has_urls(self) -> bool | None:
        if not self._first_rows:
            return None
        return any(isinstance(row.get(self.fields.url), str) for row in self._first_rows)

    def check(self) -> None:
        """Raises ``InputError`` if a field that was named on purpose is in none of the first rows."""
        present = {key for row in self._first_rows for key in row}
        for what, name in self.fields.changed().items():
            if present and name not in present:
                known = ", ".join(sorted(map(str, present))[:20])
                raise InputError(
                    f"no field {name!r} for {what} in the first lines",
                    where=self.place.name,
                    hint=f"there are: {known}",
                )

    @cached_property
    def _first_rows(self) -> list[dict[str, Any]]:
        """The objects among the first lines; empty where nothing can be looked at without consuming it."""
        if self.place.once is not None:
            return []
        text = b""
        with self.place.open() as raw:
            for piece in Unpacked(raw):
                text += piece.data
                if piece.damage or len(text) >= _PEEK_BYTES or text.count(b"\n") >= _PEEK_LINES:
                    break
        rows = []
        for line in text.removeprefix(_BOM).split(b"\n")[:_PEEK_LINES]:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                rows.append(row)
        return rows

    def chunks(self) -> Iterator[Chunk]:
        for block in self.blocks():
            if block.skipped is not None:
                yield only_skipped(block.nbytes, block.skipped)
            else:
                yield Chunk(block.nbytes, partial(self.load, block))

    def blocks(self) -> Iterator[Block]:
        """The file cut at line ends, and what had to be passed over."""
        with self.place.open() as raw:
            unpacked = Unpacked(raw)
            if unpacked.compression == "none" and self.place.is_local:
                yield from self._plain_blocks(raw)
            else:
                yield from _Cutter(self.place, unpacked).cut()

    def _plain_blocks(self, raw: BinaryIO) -> Iterator[Block]:
        """A plain file: a block is read, cut behind its last line end, and reading goes on from there."""
        start = line = 0
        size = BATCH_BYTES
        while True:
            raw.seek(start)
            data = raw.read(size)
            if not data:
                return
            end = data.rfind(b"\n") + 1 if len(data) == size else len(data)
            if end == 0 and size < LINE_BYTES:
                size *= 2
                continue
            if end == 0:
                end = _behind_line(raw, size)
                reason = f"a line of more than {LINE_BYTES >> 20} MiB"
                yield Block(end, b"", line, None, Skipped(self.place.name, f"line {line + 1}", reason))
                line += 1
            else:
                block = data if end == len(data) else data[:end]
                bom = len(_BOM) if start == 0 and block.startswith(_BOM) else 0
                yield Block(end, block[bom:] if bom else block, line, start + bom)
                line += _native.count_lines(block)
            start += end
            size = BATCH_BYTES

    def load(self, block: Block) -> Loaded:
        """The pages of a block; a page's ``record`` is the number of its line in the file, from 0."""
        source, first = self.place.name, block.first_line
        rows, bad = _native.parse_jsonl(block.data, *self.fields.names())
        wrong: list[tuple[Any, str]] = list(bad)
        content: Any = rows["content"]
        too_long: Any = pc.greater(pc.binary_length(content), pa.scalar(PAGE_BYTES))
        if pc.any(too_long).as_py():
            wrong += [(line, page_too_long()) for line in pc.filter(rows["line"], too_long).to_pylist()]
            rows = rows.filter(pc.invert(too_long))
        columns: dict[str, Any] = {name: rows[name] for name in ("id", "url", "content", "html", "date")}
        columns["charset"] = "utf-8"
        columns["record"] = pc.add(rows["line"], first)
        if block.first_byte is not None:
            columns["offset"] = pc.add(rows["start"], block.first_byte)
            columns["length"] = rows["length"]
        skipped = [Skipped(source, f"line {first + line + 1}", reason) for line, reason in sorted(wrong)]
        return Loaded(build_pages(columns, source, rows.num_rows), skipped)


def _behind_line(raw: BinaryIO, size: int) -> int:
    """How long the line is of which ``size`` bytes were just read, its end included."""
    while data := raw.read(BATCH_BYTES):
        end = data.find(b"\n") + 1
        if end:
            return size + end
        size += len(data)
    return size


class _Cutter:
    """Cuts a stream into blocks of whole lines, counting lines and bytes."""

    def __init__(self, place: Place, unpacked: Unpacked) -> None:
        self._name, self._unpacked = place.name, unpacked
        self._seekable = unpacked.compression == "none" and place.is_local
        self._counted = 0  # stored bytes accounted for by earlier blocks
        self._lines = self._start = 0  # lines and plain bytes before what is held
        self._whole: list[bytes] = []  # held pieces up to a line end
        self._rest: list[bytes] = []  # held pieces behind it
        self._whole_size = self._rest_size = 0
        self._passing = False  # inside a line that is too long

    def cut(self) -> Iterator[Block]:
        for piece in self._unpacked:
            if piece.damage is not None:
                yield from self._flush()
                yield self._skip(f"{piece.damage} (at byte {piece.offset} of the file)")
                self._passing = False
                continue
            self._take(piece.data)
            if self._whole_size + self._rest_size >= BATCH_BYTES:
                yield from self._flush()
            if self._rest_size > LINE_BYTES:
                yield from self._flush()
                yield self._skip(f"a line of more than {LINE_BYTES >> 20} MiB")
                self._passing = True
        self._whole += self._rest  # a last line needs no line end
        yield from self._flush()

    def _take(self, data: bytes) -> None:
        if self._passing:
            end = data.find(b"\n") + 1
            self._start += end or len(data)
            if not end:
                return
            self._passing = False
            self._lines += 1
            data = data[end:]
        end = data.rfind(b"\n") + 1
        if end:
            self._whole += [*self._rest, data[:end]]
            self._whole_size += self._rest_size + end
            self._rest, self._rest_size = [], 0
        if end < len(data):
            self._rest.append(data[end:])
            self._rest_size += len(data) - end

    def _flush(self) -> Iterator[Block]:
        if not self._whole:
            return
        data = b"".join(self._whole)
        if self._start == 0 and data.startswith(_BOM):
            data, self._start = data[len(_BOM) :], len(_BOM)
        yield Block(self._used(), data, self._lines, self._start if self._seekable else None)
        self._lines += _native.count_lines(data)
        self._start += len(data)
        self._whole, self._whole_size = [], 0

    def _skip(self, reason: str) -> Block:
        """Lets go of the unfinished line."""
        self._start += self._rest_size
        self._rest, self._rest_size = [], 0
        skipped = Skipped(self._name, f"line {self._lines + 1}", reason)
        return Block(self._used(), b"", self._lines, None, skipped)

    def _used(self) -> int:
        used = self._unpacked.taken - self._counted
        self._counted += used
        return used
