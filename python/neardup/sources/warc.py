"""WARC archives: the pages among the records of a crawl.

A page is a ``response`` record of a successful (2xx) HTTP answer with HTML or plain text, a ``resource``
record of such a type, or a ``conversion`` record with text (WET). All other records are counted by kind and
left alone. The kernel unpacks and frames records and reads the pages among them whose header and body are of the
plainest form; all other records of a page's kind come to ``read_page``, in the workers: FastWARC parses their
headers, and bodies are decoded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from neardup import _native
from neardup.errors import InputError
from neardup.lazy import later
from neardup.page import BATCH_BYTES, Skipped
from neardup.sources.base import PAGE_BYTES, Chunk, Loaded, build_pages, only_skipped
from neardup.sources.files import Place
from neardup.sources.framing import Framed, reader
from neardup.sources.http import BodyError, decode_body
from neardup.sources.unpack import Unpacked
from neardup.sources.warc_library import record_from

if TYPE_CHECKING:
    from fastwarc.warc import HeaderMap, WarcRecord

pc = later("pyarrow.compute")

PAGE_KINDS: Final = frozenset({"response", "resource", "conversion"})
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_TYPES: Final = frozenset({"text/plain"})
_CHUNK_RECORDS: Final = 4096
_READ: Final = ("id", "url", "content", "html", "charset", "date")  # what read_page tells, in its order
_CHARSET: Final = re.compile(r";[ \t]*charset[ \t]*=[ \t]*[\"']?([^\s\"';,]+)", re.IGNORECASE)
_TAG: Final = re.compile(
    rb"<(?:!doctype|!--|html|head|body|title|meta|script|style|table|div|p|a|br|h1)[\s>/]", re.IGNORECASE
)
_LENGTH: Final = re.compile(rb"^(content-length:[ \t]*)(\d{1,18})", re.IGNORECASE | re.MULTILINE)
#: An HTTP header whose first line ends with a line feed alone.
_BARE_HEADER: Final = re.compile(rb"HTTP/[^\r\n]*\n(?:[^\n]+\n){0,2000}?\r?\n")
#: Fields of HTTP's header, and the empty line behind them.
_HTTP_FIELDS: Final = re.compile(rb"(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\r?\n)+\r?\n")
#: Under what such a page is counted.
WITHOUT_STATUS: Final = "response without an HTTP status line"
_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class NotAPage(Exception):
    """The record is none of a page's kinds; its text is the kind it is counted under."""


class Redirect(NotAPage):
    """The answer names another address."""

    def __init__(self, kind: str, location: str) -> None:
        super().__init__(kind)
        self.location = location


class WarcFile:
    """The pages of one WARC file, plain or compressed."""

    def __init__(self, place: Place, longest: int = PAGE_BYTES) -> None:
        self.place, self.longest = place, longest

    def nbytes(self) -> int | None:
        return self.place.size()

    def check(self) -> None:
        """Raises ``InputError`` for an archive in the older ARC format."""
        if self.place.once is not None:
            return
        with self.place.open() as raw:
            first = next(iter(Unpacked(raw)), None)
        if first is not None and first.data.startswith(b"filedesc:"):
            raise InputError(
                "an ARC file, which neardup does not read",
                where=self.place.name,
                hint="convert it to WARC first",
            )

    def chunks(self) -> Iterator[Chunk]:
        with self.place.open() as raw:
            unpacked = Unpacked(raw)
            records = reader(unpacked, self.longest)
            counted = 0
            while (taken_pages := records.next_pages(BATCH_BYTES, _CHUNK_RECORDS, self.longest)) is not None:
                taken, plain, pages = taken_pages
                yield Chunk(taken - counted, partial(load, self.place, pages, self.longest), plain)
                counted = taken
            if unpacked.taken > counted:
                yield only_skipped(unpacked.taken - counted)  # nothing but what fills up the file


def load(place: Place, pages: _native.WarcPages, longest: int = PAGE_BYTES) -> Loaded:
    """The pages among the records that the kernel took off an archive."""
    columns, asides, ignored, redirects = pages.take()
    counts, tolerated = Counter(dict(ignored)), Counter[str]()
    skipped: list[Skipped] = []
    patiently: list[dict[str, Any]] = []
    for number, stretch in asides:
        framed = Framed(*stretch)
        if framed.damage is not None:
            skipped.append(Skipped(place.name, framed.position, framed.damage))
            continue
        try:
            *values, wrong = read_page(framed, longest)
            row = dict(zip(_READ, values, strict=True))
        except NotAPage as kind:
            counts[str(kind)] += 1
            if isinstance(kind, Redirect) and (url := _target(framed)):
                redirects.append((url, kind.location))
        except BodyError as error:
            skipped.append(Skipped(place.name, framed.position, str(error)))
        else:
            tolerated.update([wrong] if wrong else [])
            patiently.append(row | {"record": number, "offset": framed.offset, "length": framed.length})
    batch = build_pages(columns, place.name, len(columns["record"]))
    if patiently:
        names = patiently[0]
        late = build_pages({name: [row[name] for row in patiently] for name in names}, place.name, len(patiently))
        both = pa.concat_batches([batch, late])
        batch = both.take(pc.sort_indices(both.column("record")))
    if not place.is_local:
        for name in ("offset", "length"):
            at = batch.schema.get_field_index(name)
            batch = batch.set_column(at, batch.schema.field(at), pa.nulls(batch.num_rows, pa.int64()))
    return Loaded(batch, skipped, dict(sorted(counts.items())), dict(tolerated), redirects)


def read_page(
    framed: Framed, longest: int = PAGE_BYTES
) -> tuple[str | None, str | None, bytes, bool, str | None, str | None, str | None]:
    """A record's id, url, content, whether it is HTML, charset and date; and what was wrong with it, if it was read all
    the same.

    Raises ``NotAPage`` for what is none, ``BodyError`` for one that cannot be read.

    >>> header = b"WARC/1.0\\r\\nWARC-Type: conversion\\r\\nContent-Length: 5\\r\\n\\r\\n"
    >>> read_page(Framed("offset 0", kind="conversion", header=header, block=b"hello", block_length=5))
    (None, None, b'hello', False, 'utf-8', None, None)
    """
    try:
        block = _with_http_crlf(framed.block) if framed.kind == "response" else framed.block
        record = record_from(_with_crlf(framed.header, len(block) - len(framed.block)) + block)
    except (OSError, ValueError) as error:
        raise BodyError(f"a record header that cannot be read: {error}") from None
    headers, wrong = record.headers, None
    if framed.kind == "response" and not framed.block.startswith(b"HTTP/"):
        content, html, charset = _bare_markup(framed, longest)
        wrong = WITHOUT_STATUS
    elif framed.kind == "response":
        content, html, charset = _response(record, framed, longest)
    else:
        html, charset = _type(
            _value(headers, b"Content-Type"), framed.block, "utf-8" if framed.kind == "conversion" else None
        )
        content = framed.block
        if framed.block_length > longest:
            raise BodyError(_native.too_long("a body", framed.block_length, longest))
    identifier = _value(headers, b"WARC-Record-ID").strip("<> \t")
    url = _value(headers, b"WARC-Target-URI").strip("<> \t")
    return identifier or None, url or None, content, html, charset, _value(headers, b"WARC-Date") or None, wrong


def _with_crlf(header: bytes, longer: int = 0) -> bytes:
    """A header as the library reads it: older archives end lines with a line feed alone. Of a record whose block became
    ``longer``, its Content-Length too."""
    if not header.endswith(b"\r\n\r\n"):
        header = header.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return _LENGTH.sub(lambda found: found[1] + b"%d" % (int(found[2]) + longer), header) if longer else header


def _with_http_crlf(block: bytes) -> bytes:
    """The block of an answer, the same in its header."""
    end = _BARE_HEADER.match(block)
    return block if end is None else _with_crlf(end[0]) + block[end.end() :]


def _bare_markup(framed: Framed, longest: int) -> tuple[bytes, bool, str | None]:
    """The markup of a response that has no status line: what there is of HTTP's header comes before it."""
    header = _HTTP_FIELDS.match(framed.block)
    body = framed.block[header.end() if header else 0 :]
    if not _TAG.search(body[:1024]):
        raise NotAPage("response other than HTTP")
    if framed.block_length > longest:
        raise BodyError(_native.too_long("a body", framed.block_length, longest))
    return body, True, None


def _target(framed: Framed) -> str:
    """The URL of a record whose header was read before."""
    return _value(record_from(_with_crlf(framed.header) + framed.block).headers, b"WARC-Target-URI").strip("<> \t")


def _response(record: WarcRecord, framed: Framed, longest: int) -> tuple[bytes, bool, str | None]:
    try:
        record.is_http = True  # whatever its Content-Type is: it begins like an answer
        record.parse_http(auto_decode="none")
        http = record.http_headers
        status = http.status_code
        body = record.reader.read(len(framed.block))
    except (OSError, ValueError) as error:
        raise BodyError(f"an HTTP header that cannot be read: {error}") from None
    if status is None:
        raise BodyError("an HTTP header without a status")
    if not 200 <= status <= 299:
        kind = f"response with status {status // 100}xx"
        location = _value(http, b"Location", "latin-1") if status // 100 == 3 else ""
        raise Redirect(kind, location) if location else NotAPage(kind)
    content_type = _value(http, b"Content-Type", "latin-1")
    if content_type:
        html, charset = _type(content_type, b"", None)
    if len(framed.block) < framed.block_length:
        raise BodyError(_native.too_long("a response", framed.block_length, longest))
    body = decode_body(
        body,
        transfer=_values(http, b"Transfer-Encoding"),
        content=_values(http, b"Content-Encoding"),
        limit=longest,
        partial=bool(_value(record.headers, b"WARC-Truncated")),
    )
    if not content_type:
        html, charset = _type("", body, None)
    return body, html, charset


def _type(content_type: str, body: bytes, charset: str | None) -> tuple[bool, str | None]:
    """Whether it is HTML, and its charset: from a Content-Type or, where there is none, the first bytes."""
    named = content_type.split(";", 1)[0].strip().lower()
    found = _CHARSET.search(content_type)
    charset = found[1].lower() if found else charset
    if named in _HTML_TYPES:
        return True, charset
    if named in _TEXT_TYPES:
        return False, charset
    if named:
        raise NotAPage("neither HTML nor plain text")
    head = body[:1024]
    if _TAG.search(head):
        return True, charset
    if _BINARY.search(head):
        raise NotAPage("neither HTML nor plain text")
    return False, charset


def _value(headers: HeaderMap, name: bytes, encoding: str = "utf-8") -> str:
    return (headers.get_bytes(name) or b"").decode(encoding, "replace").strip()


def _values(headers: HeaderMap, name: bytes) -> str:
    return ",".join(value.decode("latin-1") for value in headers.get_bytes_multiple(name))
