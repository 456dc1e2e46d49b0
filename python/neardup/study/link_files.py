"""Links from a file: two columns of URLs (``links.tsv``, plain or compressed), or a WAT archive.

A line of the table is the URL of a page, a tab, and the URL it links to; further columns are ignored, and so is a first
line that is no link. A WAT file holds for each page a record of JSON with the links as written, resolved here against
the page's base, and the Location of a redirect. Of either only hashes of addresses are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.errors import InputError
from neardup.sources.files import Place
from neardup.sources.framing import frame
from neardup.sources.unpack import Unpacked
from neardup.study.links import Hashes

_BLOCK: Final = 8 << 20
_TOGETHER: Final = 1 << 17
_REFRESH: Final = re.compile(r"\s*[0-9.]+\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+).*", re.IGNORECASE | re.DOTALL)
#: Paths of WAT links that a crawler follows.
_FOLLOWED: Final = frozenset({"A@/href", "AREA@/href", "FRAME@/src", "IFRAME@/src"})


@dataclass(frozen=True, slots=True)
class Links:
    """Links between addresses, and addresses that answered with another."""

    source: Hashes
    target: Hashes
    redirects: tuple[Hashes, Hashes]
    #: Lines or records that hold no link.
    unreadable: int = 0


def read_links(path: str) -> Links:
    """The links of a file, by its name: ``.wat`` (with ``.warc``, compressed) is a WAT archive, all else a table.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "links.tsv"
    >>> _ = file.write_text("from\\tto\\nhttp://a.example/\\thttp://b.example/#x\\nbad\\n")
    >>> found = read_links(str(file))
    >>> len(found.target), found.unreadable
    (1, 1)
    """
    place = Place.at(path)
    try:
        return _wat(place) if ".wat" in path.lower() else _table(place)
    except OSError as error:
        raise InputError(
            f"the links cannot be read: {error.strerror or error}",
            where=path,
            hint="name a table of links, or a WAT file",
        ) from None


def _hashes(parts: list[Hashes]) -> Hashes:
    return np.concatenate([np.empty(0, np.uint64), *parts])


def _table(place: Place) -> Links:
    sources: list[Hashes] = []
    targets: list[Hashes] = []
    lines = 0
    said_columns = False
    for block in _lines(place):
        count = block.count(b"\n") + (not block.endswith(b"\n") and bool(block))
        source, target = _columns(block)
        good = (source != 0) & (target != 0)
        if not lines and count:
            # The first line may say what the columns are.
            said_columns = not _columns(block.partition(b"\n")[0] + b"\n")[0].all()
        lines += count
        sources.append(source[good])
        targets.append(target[good])
    empty = np.empty(0, np.uint64)
    unreadable = lines - sum(map(len, sources)) - said_columns
    if unreadable and unreadable + said_columns == lines:
        raise InputError(
            "none of its lines is a link", where=place.name, hint="a line has two URLs with a tab between them"
        )
    return Links(_hashes(sources), _hashes(targets), (empty, empty), unreadable)


def _columns(block: bytes) -> tuple[Hashes, Hashes]:
    """The first two columns of lines as hashes, of those lines that have two."""
    from pyarrow import csv

    width = max(block[:_BLOCK].partition(b"\n")[0].count(b"\t"), 1) + 1
    names = [f"column {place}" for place in range(width)]
    odd: list[Any] = []

    def left_out(row: Any) -> str:
        odd.append(row.number)
        return "skip"

    sides: list[pa.StringArray] = []
    with suppress(pa.ArrowInvalid):
        table = csv.read_csv(
            pa.BufferReader(block),
            csv.ReadOptions(column_names=names, block_size=len(block) + 1),
            csv.ParseOptions(delimiter="\t", quote_char=False, invalid_row_handler=left_out),
            csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=names[:2]),
        ).combine_chunks()
        sides = [column.chunk(0) if column.num_chunks else pa.array([], pa.string()) for column in table.columns]
    if odd or not sides:
        # Lines of several widths, or bytes that are no UTF-8.
        pairs = [line.split(b"\t", 2)[:2] for line in block.split(b"\n") if b"\t" in line]
        sides = [pa.array([pair[side].decode("utf-8", "replace") for pair in pairs], pa.string()) for side in (0, 1)]
    return _native.url_hashes(sides[0]), _native.url_hashes(sides[1])


def _lines(place: Place) -> Iterator[bytes]:
    """Blocks of whole lines."""
    rest = b""
    with place.open() as raw:
        for piece in Unpacked(raw):
            if piece.damage is not None:
                raise InputError(f"the links cannot be read: {piece.damage}", where=place.name)
            rest += piece.data
            if len(rest) >= _BLOCK:
                end = rest.rfind(b"\n") + 1
                if not end:
                    raise InputError("a line of more than 8 MiB", where=place.name, hint="is it a table of links?")
                yield rest[:end]
                rest = rest[end:]
    yield rest


def _wat(place: Place) -> Links:
    sources: list[Hashes] = []
    targets: list[Hashes] = []
    moved: list[tuple[str, str]] = []
    waiting: list[tuple[str, str, str]] = []
    unreadable = 0

    def settle() -> None:
        pages, bases, addresses = ([link[side] for link in waiting] for side in range(3))
        source = _native.url_hashes(pa.array(pages, pa.string()))
        target = _native.url_hashes(pa.array(addresses, pa.string()), pa.array(bases, pa.string()))
        good = (source != 0) & (target != 0) & (source != target)
        sources.append(source[good])
        targets.append(target[good])
        waiting.clear()

    with place.open() as raw:
        for framed in frame(Unpacked(raw)):
            if framed.damage is not None:
                unreadable += 1
            elif framed.kind == "metadata":
                try:
                    page, base, addresses, location = _wat_links(json.loads(framed.block))
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                    unreadable += 1
                    continue
                if location is not None:
                    moved.append((page, location))
                waiting += [(page, base, address) for address in addresses]
                if len(waiting) >= _TOGETHER:
                    settle()
    settle()
    return Links(_hashes(sources), _hashes(targets), redirect_hashes(moved), unreadable)


def _wat_links(told: dict[str, Any]) -> tuple[str, str, list[str], str | None]:
    """A page's URL, the base of its links, these as written, and where it redirects to; a KeyError if it is no page."""
    envelope = told["Envelope"]
    url = str(envelope["WARC-Header-Metadata"]["WARC-Target-URI"])
    answer = envelope["Payload-Metadata"].get("HTTP-Response-Metadata") or {}
    headers = {str(name).lower(): str(value) for name, value in (answer.get("Headers") or {}).items()}
    html = answer.get("HTML-Metadata") or {}
    head = html.get("Head") or {}
    addresses = [
        str(link["url"]) for link in html.get("Links") or () if link.get("path") in _FOLLOWED and "url" in link
    ]
    addresses += [
        str(link["url"])
        for link in head.get("Link") or ()
        if "canonical" in str(link.get("rel", "")).lower().split() and "url" in link
    ]
    for meta in head.get("Metas") or ():
        if str(meta.get("http-equiv", "")).lower() == "refresh":
            found = _REFRESH.fullmatch(str(meta.get("content", "")))
            addresses += [found[1]] if found else []
    status = str((answer.get("Response-Message") or {}).get("Status", ""))
    location = headers.get("location") if status.startswith("3") else None
    return url, str(head.get("Base") or url), addresses, location


def redirect_hashes(moved: list[tuple[str, str]]) -> tuple[Hashes, Hashes]:
    """Addresses that answered with another as hashes; of one that answered differently the least counts.

    >>> [len(side) for side in redirect_hashes([("http://a.example/", "/b"), ("bad", "/c")])]
    [1, 1]
    """
    moved = sorted(set(moved))
    address = pa.array([pair[0] for pair in moved], pa.string())
    from_ = _native.url_hashes(address)
    to = _native.url_hashes(pa.array([pair[1] for pair in moved], pa.string()), address)
    good = (from_ != 0) & (to != 0)
    return from_[good], to[good]
