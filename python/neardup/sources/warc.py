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
from neardup.sources.base import Chunk, Loaded, build_pages, only_skipped
from neardup.sources.files import Place
from neardup.sources.framing import Framed, reader
from neardup.sources.http import BodyError, decode_body
from neardup.sources.unpack import Unpacked
from neardup.sources.warc_library import record_from

if TYPE_CHECKING:
    from fastwarc.warc import HeaderMap, WarcRecord

pc = later("pyarrow.compute")

#: A body that is longer, or unpacks to more, is skipped.
BODY_BYTES: Final = 64 << 20

PAGE_KINDS: Final = frozenset({"response", "resource", "conversion"})
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_TYPES: Final = frozenset({"text/plain"})
_CHUNK_RECORDS: Final = 4096
_READ: Final = ("id", "url", "content", "html", "charset", "date")  # what read_page tells, in its order
_CHARSET: Final = re.compile(r";[ \t]*charset[ \t]*=[ \t]*[\"']?([^\s\"';,]+)", re.IGNORECASE)
_TAG: Final = re.compile(
    rb"<(?:!doctype|!--|html|head|body|title|meta|script|style|table|div|p|a|br|h1)[\s>/]", re.IGNORECASE
)
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

    def __init__(self, place: Place) -> None:
        self.place = place

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
            records = reader(unpacked)
            counted = 0
            while (taken_pages := records.next_pages(BATCH_BYTES, _CHUNK_RECORDS, BODY_BYTES)) is not None:
                taken, plain, pages = taken_pages
                yield Chunk(taken - counted, partial(load, self.place, pages), plain)
                counted = taken
            if unpacked.taken > counted:
                yield only_skipped(unpacked.taken - counted)  # nothing but what fills up the file


def load(place: Place, pages: _native.WarcPages) -> Loaded:
    """The pages among the records that the kernel took off an archive."""
    columns, asides, ignored, redirects = pages.take()
    counts = Counter(dict(ignored))
    skipped: list[Skipped] = []
    patiently: list[dict[str, Any]] = []
    for number, stretch in asides:
        framed = Framed(*stretch)
        if framed.damage is not None:
            skipped.append(Skipped(place.name, framed.position, framed.damage))
            continue
        try:
            row = dict(zip(_READ, read_page(framed), strict=True))
        except NotAPage as kind:
            counts[str(kind)] += 1
            if isinstance(kind, Redirect) and (url := _target(framed)):
                redirects.append((url, kind.location))
        except BodyError as error:
            skipped.append(Skipped(place.name, framed.position, str(error)))
        else:
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
    return Loaded(batch, skipped, dict(sorted(counts.items())), redirects)


def read_page(framed: Framed) -> tuple[str | None, str | None, bytes, bool, str | None, str | None]:
    """A record's id, url, content, whether it is HTML, charset and date.

    Raises ``NotAPage`` for what is none, ``BodyError`` for one that cannot be read.

    >>> header = b"WARC/1.0\\r\\nWARC-Type: conversion\\r\\nContent-Length: 5\\r\\n\\r\\n"
    >>> read_page(Framed("offset 0", kind="conversion", header=header, block=b"hello", block_length=5))
    (None, None, b'hello', False, 'utf-8', None)
    """
    try:
        record = record_from(framed.header + framed.block)
    except (OSError, ValueError) as error:
        raise BodyError(f"a record header that cannot be read: {error}") from None
    headers = record.headers
    if framed.kind == "response":
        content, html, charset = _response(record, framed)
    else:
        html, charset = _type(
            _value(headers, b"Content-Type"), framed.block, "utf-8" if framed.kind == "conversion" else None
        )
        content = framed.block
        if framed.block_length > BODY_BYTES:
            raise BodyError(f"a body of {framed.block_length} bytes, more than {BODY_BYTES >> 20} MiB")
    identifier = _value(headers, b"WARC-Record-ID").strip("<> \t")
    url = _value(headers, b"WARC-Target-URI").strip("<> \t")
    return identifier or None, url or None, content, html, charset, _value(headers, b"WARC-Date") or None


def _target(framed: Framed) -> str:
    """The URL of a record whose header was read before."""
    return _value(record_from(framed.header + framed.block).headers, b"WARC-Target-URI").strip("<> \t")


def _response(record: WarcRecord, framed: Framed) -> tuple[bytes, bool, str | None]:
    if not record.is_http:
        raise NotAPage("response other than HTTP")
    try:
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
        raise BodyError(f"a body of about {framed.block_length} bytes, more than {BODY_BYTES >> 20} MiB")
    body = decode_body(
        body,
        transfer=_values(http, b"Transfer-Encoding"),
        content=_values(http, b"Content-Encoding"),
        limit=BODY_BYTES,
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
