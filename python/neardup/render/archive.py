"""Answers from WARC files: what a server said when the archive was made, found by address.

The files are gone through once; what is kept of a record is its address and where it starts, and its body is read
when a page asks for it. Of several records of one address the first successful one counts.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

from neardup.errors import InputError
from neardup.sources.expand import expand
from neardup.sources.files import Place
from neardup.sources.framing import Framed, frame
from neardup.sources.unpack import Unpacked

#: Bodies of records that cannot be gone back to (a file compressed as a whole) are held, up to so many bytes.
HELD_BYTES: Final = 256 << 20
BODY_BYTES: Final = 64 << 20

_STATUS: Final = re.compile(rb"HTTP/\d(?:\.\d)? (\d{3})")
_FIELD: Final = r"^%s[ \t]*:[ \t]*<?([^\s>]+)"
_TARGET: Final = re.compile((_FIELD % "WARC-Target-URI").encode(), re.IGNORECASE | re.MULTILINE)
_REFERS: Final = re.compile((_FIELD % "WARC-Refers-To-Target-URI").encode(), re.IGNORECASE | re.MULTILINE)
_KEPT: Final = "!\"$%&'()*+,/:;<=>?@[\\]^_`{|}~"
#: Header fields that spoke of the body as it was sent.
_OF_TRANSPORT: Final = frozenset(
    {"content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "alt-svc", "trailer"}
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said: status, header fields in lower case, and the body with its encodings undone."""

    status: int
    fields: dict[str, str]
    body: bytes

    @property
    def location(self) -> str | None:
        """Where a redirect leads."""
        return self.fields.get("location") if 300 <= self.status <= 399 else None


@dataclass(frozen=True, slots=True)
class _Stored:
    """Where a record stands, or the record itself where it cannot be gone back to."""

    status: int
    place: Place
    offset: int
    length: int
    held: Framed | None = None


def same_address(url: str) -> str:
    """An address in the one form under which it is looked up.

    >>> same_address("HTTP://Alpha.example:80#top"), same_address("http://bücher.example/a b?q=ü")
    ('http://alpha.example/', 'http://xn--bcher-kva.example/a%20b?q=%C3%BC')
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    scheme = parts.scheme.lower()
    with suppress(UnicodeError):
        host = host.encode("idna").decode("ascii")
    if port is not None and port != {"http": 80, "https": 443}.get(scheme):
        host = f"{host}:{port}"
    # Browsers write what is not ASCII, and spaces, in escapes; crawlers do or do not.
    path, query = (quote(part, safe=_KEPT) for part in (parts.path or "/", parts.query))
    return urlunsplit((scheme, host, path, query, ""))


class Archive:
    """The answers of WARC files.

    >>> import tempfile, neardup.testing
    >>> made = neardup.testing.search_web(queries=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made.write(folder)
    ...     archive = Archive([f"{folder}/web.warc.gz"])
    ...     archive.answer(made.pages[0].url).body == made.pages[0].html.encode()
    True
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        self._records: dict[str, _Stored] = {}
        self._refers: dict[str, str] = {}
        self._held = 0
        for named in expand(list(paths), None) if paths else ():
            if named.format != "warc":
                raise InputError(
                    "not a WARC file", where=named.place.name, hint="--archive takes .warc, .warc.gz, .warc.zst"
                )
            self._index(named.place)

    def __len__(self) -> int:
        return len(self._records)

    def _index(self, place: Place) -> None:
        with place.open() as raw:
            unpacked = Unpacked(raw)
            for framed in frame(unpacked):
                target = _TARGET.search(framed.header) if framed.damage is None else None
                if target is None:
                    continue
                url = same_address(target[1].decode("utf-8", "replace"))
                if framed.kind == "revisit":
                    if (refers := _REFERS.search(framed.header)) is not None:
                        self._refers.setdefault(url, same_address(refers[1].decode("utf-8", "replace")))
                elif framed.kind in ("response", "resource") and len(framed.block) == framed.block_length:
                    self._enter(url, framed, place, unpacked)

    def _enter(self, url: str, framed: Framed, place: Place, unpacked: Unpacked) -> None:
        found = _STATUS.match(framed.block) if framed.kind == "response" else None
        status = int(found[1]) if found else 200
        known = self._records.get(url)
        if known is not None and (known.status < 400 or status >= 400):
            return
        back = place.once is None and not unpacked.has_dictionary
        if back and framed.offset is not None and framed.length is not None:
            self._records[url] = _Stored(status, place, framed.offset, framed.length)
            return
        self._held += len(framed.block)
        if self._held > HELD_BYTES:
            raise InputError(
                "the archive is too large to be held, and its records cannot be gone back to",
                where=place.name,
                hint="compress it record by record",
            )
        self._records[url] = _Stored(status, place, 0, 0, framed)

    def answer(self, url: str) -> Answer | None:
        """What the archive has for an address; None where it has nothing that can be read."""
        address = same_address(url)
        stored = self._records.get(address) or self._records.get(self._refers.get(address, ""))
        if stored is None:
            return None
        framed = stored.held
        if framed is None:
            with stored.place.open() as raw:
                raw.seek(stored.offset)
                data = b""
                while len(data) < stored.length and (more := raw.read(stored.length - len(data))):
                    data += more
            framed = next(iter(frame(Unpacked(io.BytesIO(data)))), None)
        return None if framed is None else _read(framed)


def _read(framed: Framed) -> Answer | None:
    if framed.kind == "resource":
        return Answer(200, {"content-type": framed.field("Content-Type") or "text/html"}, framed.block)
    answer = framed.answer(BODY_BYTES)
    if answer is None:
        return None
    status, fields, body = answer
    return Answer(status, {name: value for name, value in fields.items() if name not in _OF_TRANSPORT}, body)
