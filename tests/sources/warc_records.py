"""WARC records made for tests."""

from __future__ import annotations

import random


def record(kind: str, number: int, block: bytes, content_type: str, extra: bytes = b"") -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
        f"WARC-Date: 2020-01-01T00:00:0{number % 10}Z\r\nWARC-Target-URI: http://site.example/{number}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n"
    ).encode()
    return head + extra + b"\r\n" + block + b"\r\n\r\n"


def body(number: int) -> bytes:
    """A body that compresses little, so that damage in the middle of a member is damage in its data."""
    letters = bytes(random.Random(number).choices(range(97, 123), k=3000))
    return b"<html>page %d " % number + letters


def response(
    number: int,
    content: bytes | None = None,
    headers: bytes = b"Content-Type: text/html; charset=ISO-8859-1",
    status: bytes = b"200 OK",
    extra: bytes = b"",
) -> bytes:
    content = body(number) if content is None else content
    block = b"HTTP/1.1 " + status + b"\r\n" + headers + b"\r\n\r\n" + content
    return record("response", number, block, "application/http; msgtype=response", extra)


def chunked(content: bytes, size: int = 700) -> bytes:
    parts = [content[at : at + size] for at in range(0, len(content), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
