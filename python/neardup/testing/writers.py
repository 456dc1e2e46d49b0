"""Writes a generated web to disk as real collections come: JSON lines, WARC, a tree of files.

Files are the same byte for byte for the same web (gzip streams: the same content). A name ending in ``.gz``
is compressed; in a WARC file record by record, so that each can be read by itself.
"""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO

from neardup.errors import OutputError, UsageError
from neardup.testing.facts import Page
from neardup.testing.labels import Label

# The pages' record ids are names in this name space: the same page has the same id in every file.
_RECORDS = uuid.uuid5(uuid.NAMESPACE_URL, "http://neardup.example/testing/")


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """The file to write to, not compressed; trouble with it comes as our own error."""
    try:
        with open(path, "wb") as file:
            yield file
    except OSError as error:
        raise OutputError(error.strerror or str(error), where=str(path), hint="check the folder") from error


def _compressed(path: str | PathLike[str]) -> bool:
    ending = Path(path).suffix.lower()
    if ending in {".zst", ".bz2", ".xz", ".lz4", ".br"}:
        raise UsageError(f"cannot write {ending}", where=str(path), hint="use .gz or no compression")
    return ending == ".gz"


def write_jsonl(pages: Iterable[Page], path: str | PathLike[str]) -> None:
    """One page a line: id, url, date, html and what is true of it.

    >>> import tempfile, pathlib, neardup.testing
    >>> small = neardup.testing.web(pages=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pages.jsonl")
    ...     write_jsonl(small.pages, path)
    ...     len(path.read_text(encoding="utf-8").splitlines())
    5
    """
    lines = "".join(
        json.dumps(
            {
                "id": page.id,
                "url": page.url,
                "date": page.date,
                "html": page.html,
                "title": page.title,
                "site": page.site,
                "language": page.language,
                "kind": page.kind,
                "relation": page.relation,
                "group": page.group,
            },
            ensure_ascii=False,
        )
        + "\n"
        for page in pages
    )
    data = lines.encode()
    with _opened(path) as file:
        file.write(gzip.compress(data, mtime=0) if _compressed(path) else data)


def write_labels(pairs: Sequence[tuple[Page, Page, Label]], path: str | PathLike[str]) -> None:
    """The labels of pairs as a table with commas, one column by Henzinger's rules and one by Huffman's.

    >>> import tempfile, pathlib, neardup.testing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels.csv")
    ...     write_labels(neardup.testing.web(pages=20).pairs, path)
    ...     path.read_text(encoding="utf-8").splitlines()[0]
    'a,b,henzinger,henzinger_reason,huffman,huffman_reason'
    """
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(("a", "b", "henzinger", "henzinger_reason", "huffman", "huffman_reason"))
            for a, b, label in pairs:
                duplicate = "duplicate" if label.huffman else "not duplicate"
                table.writerow((a.id, b.id, label.henzinger, label.henzinger_reason, duplicate, label.huffman_reason))
    except OSError as error:
        raise OutputError(error.strerror or str(error), where=str(path), hint="check the folder") from error


def write_warc(pages: Iterable[Page], path: str | PathLike[str], others: Iterable[tuple[str, str, bytes]] = ()) -> None:
    """A WARC/1.1 file: one ``warcinfo`` record, then one ``response`` record a page.

    After them come the ``others``, each an address, a media type and a body.

    >>> import tempfile, pathlib, neardup.testing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pages.warc")
    ...     write_warc(neardup.testing.web(pages=5).pages, path)
    ...     path.read_bytes().count(b"WARC-Type: response")
    5
    """
    compressed = _compressed(path)
    with _opened(path) as file:
        for record in _records(pages, others):
            file.write(gzip.compress(record, mtime=0) if compressed else record)


def _records(pages: Iterable[Page], others: Iterable[tuple[str, str, bytes]]) -> Iterator[bytes]:
    about = b"software: neardup.testing\r\nformat: WARC File Format 1.1\r\n"
    yield _record(
        [
            ("WARC-Type", "warcinfo"),
            ("WARC-Date", "2006-03-01T00:00:00Z"),
            ("Content-Type", "application/warc-fields"),
        ],
        about,
        "warcinfo",
    )
    for page in pages:
        media_type = "text/html; charset=utf-8"
        yield _response(page.url, page.date, media_type, page.html.encode(), f"{page.id} {page.url}")
    for url, media_type, body in others:
        yield _response(url, "2006-03-01T00:00:00Z", media_type, body, url)


def _response(url: str, date: str, media_type: str, payload: bytes, name: str) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {len(payload)}\r\n\r\n"
    return _record(
        [
            ("WARC-Type", "response"),
            ("WARC-Target-URI", url),
            ("WARC-Date", date),
            ("WARC-Payload-Digest", _digest(payload)),
            ("Content-Type", "application/http;msgtype=response"),
        ],
        head.encode("ascii") + payload,
        name,
    )


def _record(fields: list[tuple[str, str]], block: bytes, name: str) -> bytes:
    rest = [
        ("WARC-Record-ID", f"<urn:uuid:{uuid.uuid5(_RECORDS, name)}>"),
        ("WARC-Block-Digest", _digest(block)),
        ("Content-Length", str(len(block))),
    ]
    head = "".join(f"{field}: {value}\r\n" for field, value in fields + rest)
    return b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def _digest(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode("ascii")


def tree_path(url: str) -> str:
    """Where ``write_tree`` puts the page of an address: the host's folder, then the path.

    >>> tree_path("http://alpha.example/news/7.html?ref=2"), tree_path("http://beta.example/")
    ('alpha.example/news/7@ref=2.html', 'beta.example/index.html')
    """
    path, _, query = url.split("://", 1)[1].partition("?")
    if path.endswith("/"):
        path += "index.html"
    # A question mark cannot be in a file's name everywhere.
    return path if not query else f"{path.removesuffix('.html')}@{re.sub(r'[^a-z0-9=&-]', '_', query)}.html"


def write_tree(pages: Iterable[Page], folder: str | PathLike[str]) -> list[Path]:
    """One file a page under the folder, as a crawler's copy of the sites; returns the files in page order.

    >>> import tempfile, neardup.testing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     all(path.exists() for path in write_tree(neardup.testing.web(pages=5).pages, folder))
    True
    """
    paths = []
    try:
        for page in pages:
            path = Path(folder, tree_path(page.url))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(page.html.encode())
            paths.append(path)
    except OSError as error:
        raise OutputError(error.strerror or str(error), where=str(folder), hint="check the folder") from error
    return paths
