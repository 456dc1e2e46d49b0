"""Rendered pages as files that every source of neardup reads: JSON lines, Parquet or WARC, told by the name."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Final

import pyarrow as pa

from neardup.errors import UsageError
from neardup.render.pages import NOWHERE
from neardup.render.settings import Rendered
from neardup.sinks.packing import pack_record, packed
from neardup.sinks.results import write_groups
from neardup.version import VERSION
from neardup.writing import replacing

#: The columns of rendered pages.
RENDERED: Final = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("html", pa.large_string(), nullable=False),
        pa.field("status", pa.int32()),
        pa.field("final_url", pa.string()),
        pa.field("redirects", pa.int32(), nullable=False),
        pa.field("requests", pa.int32(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("seconds", pa.float64(), nullable=False),
        pa.field("failure", pa.string()),
        pa.field("note", pa.string()),
    ]
)
_GROUP: Final = 256
_ENDING: Final = re.compile(r"\.(jsonl|warc|parquet)(?:\.(gz|zst))?$", re.IGNORECASE)
_NAMES: Final = uuid.uuid5(uuid.NAMESPACE_URL, "http://neardup.example/rendered/")


def row_of(page: Rendered) -> dict[str, object]:
    """A rendered page by the names of its columns.

    >>> row_of(Rendered("1", "http://alpha.example/", "<p>Hello"))["html"]
    '<p>Hello'
    """
    url = None if page.url.startswith(NOWHERE) else page.url
    values = (
        page.id, url, page.html, page.status, page.final_url, page.redirects, page.requests, page.nbytes, page.seconds,
        page.failure, page.note,
    )  # fmt: skip
    return dict(zip(RENDERED.names, values, strict=True))


def check_name(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The format and the compression that a file's name stands for.

    >>> check_name("rendered.jsonl.gz")
    ('jsonl', 'gzip')
    """
    found = _ENDING.search(os.fspath(path))
    if found is None or (found[1].lower() == "parquet" and found[2]):
        raise UsageError(
            "the name does not tell in which format pages are to be written",
            where=os.fspath(path),
            hint="one of .jsonl, .parquet, .warc, the first and the last also with .gz or .zst",
        )
    return found[1].lower(), {"gz": "gzip", "zst": "zstd"}.get((found[2] or "").lower(), "none")


def write_rendered(pages: Iterable[Rendered], path: str | os.PathLike[str]) -> None:
    """Writes pages as they come; the file appears when all are there.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_rendered([Rendered("1", "http://alpha.example/", "<p>Hello")], Path(folder, "a.jsonl"))
    ...     json.loads(Path(folder, "a.jsonl").read_text())["html"]
    '<p>Hello'
    """
    kind, compression = check_name(path)
    if kind == "parquet":
        write_groups(RENDERED, _tables(pages), path)
    elif kind == "jsonl":
        with packed(path, compression) as file:
            for page in pages:
                file.write(json.dumps(row_of(page), ensure_ascii=False).encode() + b"\n")
    else:
        with replacing(path) as file:
            about = f"software: neardup {VERSION}\r\nformat: WARC File Format 1.1\r\n".encode()
            kinds = {"WARC-Type": "warcinfo", "Content-Type": "application/warc-fields"}
            file.write(pack_record(_record(kinds, about, "about"), compression))
            for page in pages:
                if not page.failed:
                    file.write(pack_record(_response(page), compression))


def _tables(pages: Iterable[Rendered]) -> Iterator[pa.Table]:
    rows = iter(pages)
    while group := [row_of(page) for page in islice(rows, _GROUP)]:
        yield pa.Table.from_pylist(group, schema=RENDERED)


def _response(page: Rendered) -> bytes:
    body = page.html.encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
    fields = {"WARC-Type": "response", "Content-Type": "application/http;msgtype=response"}
    if not page.url.startswith(NOWHERE):
        fields["WARC-Target-URI"] = re.sub(r"[\s<>]", "", page.url)
    return _record(fields, head.encode() + body, page.id)


def _record(fields: dict[str, str], block: bytes, name: str) -> bytes:
    # An id that came from an archive goes back to one; others are made into one, always the same.
    own = name if re.fullmatch(r"urn:[^\s<>]+", name) else f"urn:uuid:{uuid.uuid5(_NAMES, name)}"
    rest = {
        "WARC-Record-ID": f"<{own}>",
        "WARC-Date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "Content-Length": str(len(block)),
    }
    head = "".join(f"{field}: {value}\r\n" for field, value in (fields | rest).items())
    return b"WARC/1.1\r\n" + head.encode("utf-8", "replace") + b"\r\n" + block + b"\r\n\r\n"
