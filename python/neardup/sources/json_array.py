"""JSON arrays: a file that holds one array is read as its elements, which a kernel turns into lines as they come.

No more than one element is held beside a batch of them. An element that does not parse, or is longer than a page may
be, is named by its number; the kernel says what ends an element (``json_array.rs``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from neardup import _native
from neardup.page import BATCH_BYTES, Skipped
from neardup.sources.unpack import Piece

_BOM: Final = b"\xef\xbb\xbf"


def array_begins(head: bytes) -> bool:
    """Whether a file that begins like this holds one array, and not lines of which the first happens to be one.

    >>> array_begins(b'[\\n  {"id": 1},'), array_begins(b'[{"id": 1}, {"id": 2}]'), array_begins(b'[1]\\n[2]\\n')
    (True, True, False)
    """
    text = head.removeprefix(_BOM).lstrip()
    if not text.startswith(b"["):
        return False
    line, _, rest = text.partition(b"\n")
    if not rest.strip():
        return True
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def elements(name: str, pieces: Iterator[Piece], longest: int) -> Iterator[tuple[int, bytes, Skipped | None]]:
    """The elements of an array as blocks of lines, each with the number of its first; or what could not be had."""
    cutter = _native.ArrayCutter(longest)
    first = 0

    def waiting() -> Iterator[tuple[int, bytes, Skipped | None]]:
        nonlocal first
        lines, long = cutter.take()
        if lines:
            yield first, lines, None
        for number, length in long:
            yield number, b"", _skipped(name, number, _native.too_long("an element", length, longest))
        first = cutter.count

    for piece in pieces:
        if piece.damage is not None:
            yield from waiting()
            reason = f"{piece.damage} (at byte {piece.offset} of the file)"
            yield cutter.count, b"", _skipped(name, cutter.count, reason)
        elif cutter.feed(piece.data) >= BATCH_BYTES:
            yield from waiting()
    yield from waiting()
    if (fault := cutter.fault()) is not None:
        yield cutter.count, b"", _skipped(name, cutter.count, fault)


def _skipped(name: str, number: int, reason: str) -> Skipped:
    return Skipped(name, f"element {number + 1}", reason)
