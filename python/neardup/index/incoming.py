"""Pages on their way to the index: read, fingerprinted, and put side by side as the native module takes them."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.errors import InputError, UsageError
from neardup.index.shape import Shape
from neardup.plan import Given
from neardup.several import check_several
from neardup.sources.memory import Pages, as_table, texts
from neardup.text import Reading, read

Page = str | Mapping[str, Any]
#: A request's name, a digest of what was sent with it, and how many pages it brings.
RequestParts = tuple[bytes, bytes, int]


@dataclass(frozen=True, slots=True)
class Request:
    """What names a request, so that it is carried out once, and a digest of what was sent with it.

    >>> Request.of("r1", ["a text"]) == Request.of("r1", [{"text": "a text"}])
    True
    >>> Request.of("r1", ["a text"]) == Request.of("r1", ["another text"])
    False
    """

    name: str
    content: bytes
    #: How many pages it brings, which share its fate.
    pages: int = 1

    @staticmethod
    def of(name: str, pages: Sequence[Page]) -> Request:
        """The request of this name that brings these pages."""
        digest = hashlib.blake2b(digest_size=16)
        for page in pages:
            fields = {"text": page} if isinstance(page, str) else page
            for key in sorted(key for key in fields if fields[key] is not None):
                value = _bytes_of(fields[key])
                digest.update(f"{key} {len(value)} ".encode("utf-8", "surrogatepass") + value)
            digest.update(b";")
        return Request(name, digest.digest(), len(pages))

    def parts(self) -> RequestParts:
        """As the native module takes it."""
        return self.name.encode("utf-8", "surrogatepass"), self.content, self.pages


def request_parts(requests: Sequence[Request | None]) -> list[RequestParts | None]:
    """What names the request of each page, stated with the first page it brings.

    >>> request_parts([None, *[Request("r", b"", 2)] * 2])
    [None, (b'r', b'', 2), None]
    """
    parts: list[RequestParts | None] = []
    further = 0
    for request in requests:
        parts.append(request.parts() if request is not None and not further else None)
        further = further - 1 if further else 0 if request is None else request.pages - 1
    return parts


def _bytes_of(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()


@dataclass(slots=True)
class Arrays:
    """A batch of pages as ``_native.IndexStore`` takes it."""

    names: list[str]
    ids: list[bytes]
    identity_high: npt.NDArray[np.uint64]
    identity_low: npt.NDArray[np.uint64]
    empty: npt.NDArray[np.bool_]
    active: npt.NDArray[np.bool_]
    sites: npt.NDArray[np.uint64]
    times: npt.NDArray[np.int64]
    requests: list[RequestParts | None] | None
    columns: list[npt.NDArray[np.uint64]]
    sets: list[pa.LargeListArray]


def page_list(pages: Pages) -> Sequence[Page]:
    """Pages as a caller gives them, one by one: a list, anything that can be gone through, or a table.

    >>> page_list(pa.table({"id": ["a"], "text": ["a text"]}))
    [{'id': 'a', 'text': 'a text'}]
    """
    check_several(pages)
    table = as_table(pages)
    if table is not None:
        rows: list[Page] = table.to_pylist()
        return rows
    return pages if isinstance(pages, Sequence) else list(cast(Iterable[Page], pages))


def arrays_of(
    pages: Sequence[Page], shape: Shape, reading: Reading, requests: Sequence[Request | None] | None = None
) -> Arrays:
    """Pages one by one: texts, or mappings with ``text``, ``html`` or ``tokens``, and ``id``, ``url``, ``date``."""
    if any(isinstance(page, Mapping) and page.get("tokens") is not None for page in pages):
        return _of_tokens(pages, shape, reading, requests)
    batches = texts(pages).batches
    batch = batches[0] if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    return arrays_of_batch(batch, shape, reading, requests=requests)


def arrays_of_batch(
    batch: pa.RecordBatch,
    shape: Shape,
    reading: Reading,
    *,
    names: list[str] | None = None,
    requests: Sequence[Request | None] | None = None,
) -> Arrays:
    """A batch of pages as sources yield it (schema ``neardup.page.PAGES``)."""
    page_tokens = read(batch, reading)
    fingerprinted = Given(batch, reading, page_tokens.tokens)
    given = names or _names(batch.column("id").to_pylist(), batch.column("url").to_pylist())
    identity = page_tokens.identity_high, page_tokens.identity_low
    times = [seconds(text) for text in batch.column("date").to_pylist()]
    return _arrays(given, fingerprinted, identity, page_tokens.site, times, shape, reading, requests)


def _of_tokens(
    pages: Sequence[Page], shape: Shape, reading: Reading, requests: Sequence[Request | None] | None
) -> Arrays:
    """Pages that come as tokens: 64-bit numbers, as ``neardup.text.read`` gives them."""
    if shape.needs_text:
        raise UsageError(
            f"detector {shape.detector.name!r} looks at letters, which tokens do not have", hint="give text or html"
        )
    if not all(isinstance(page, Mapping) and page.get("tokens") is not None for page in pages):
        raise InputError("a batch holds pages with tokens and pages without", hint="give them in two batches")
    rows: list[Mapping[str, Any]] = [page for page in pages if isinstance(page, Mapping)]
    kind = pa.large_list(pa.field("item", pa.uint64(), nullable=False))
    lists = [token_array(row["tokens"]) for row in rows]
    offsets = np.cumsum([0, *(len(one) for one in lists)], dtype=np.int64)
    tokens = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate(lists)), type=kind)
    urls = [_text(row.get("url")) for row in rows]
    sites = pa.array(
        [None if url is None else _native.site_of(url, site_rule=reading.site) for url in urls], pa.string()
    )
    times = [seconds(_text(row.get("date"))) for row in rows]
    names = _names([_text(row.get("id")) for row in rows], urls)
    identity = _native.token_identities(tokens)
    return _arrays(names, Given(None, reading, tokens), identity, sites, times, shape, reading, requests)


def token_array(tokens: Any) -> npt.NDArray[np.uint64]:
    """Tokens of a page, which may be any sequence of whole numbers, side by side.

    >>> token_array([1, 2])
    array([1, 2], dtype=uint64)
    >>> token_array([-1])
    Traceback (most recent call last):
    neardup.errors.InputError: tokens must be whole numbers from 0 to 2^64 − 1: send text if you have words
    """
    if isinstance(tokens, np.ndarray) and tokens.dtype == np.uint64 and tokens.ndim == 1:
        return np.ascontiguousarray(tokens)
    try:
        given = list(tokens)
        if not all(isinstance(token, int | np.integer) for token in given):
            raise TypeError
        made = pa.array(given, pa.uint64())
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        raise InputError(
            "tokens must be whole numbers from 0 to 2^64 − 1", hint="send text if you have words"
        ) from None
    numbers: npt.NDArray[np.uint64] = made.to_numpy(zero_copy_only=False)
    return numbers


def _arrays(
    names: list[str],
    given: Given,
    identity: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
    sites: pa.StringArray,
    times: list[int],
    shape: Shape,
    reading: Reading,
    requests: Sequence[Request | None] | None,
) -> Arrays:
    lengths = pc.list_value_length(given.tokens).to_numpy()
    columns, sets = shape.compute(given)
    active, hosts = lengths >= reading.min_tokens, _native.site_hashes(sites)
    # What is compared with others is one page only on one site, where this makes a difference.
    high = np.where(active, identity[0] ^ hosts, identity[0]) if shape.by_site else identity[0]
    return Arrays(
        names=names,
        ids=encoded(names),
        identity_high=high,
        identity_low=identity[1],
        empty=lengths == 0,
        active=active,
        sites=hosts,
        times=np.asarray(times, np.int64),
        requests=None if requests is None else request_parts(requests),
        columns=columns,
        sets=sets,
    )


def encoded(names: Iterable[str]) -> list[bytes]:
    """Ids as the index holds them.

    >>> encoded(["caf\u00e9"])
    [b'caf\\xc3\\xa9']
    """
    return [name.encode("utf-8", "surrogatepass") for name in names]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _names(ids: list[str | None], urls: list[str | None]) -> list[str]:
    """A page's own id, else its URL, else one that nobody else has."""
    return [name or url or f"page-{secrets.token_hex(8)}" for name, url in zip(ids, urls, strict=True)]


def seconds(text: str | None) -> int:
    """A date as seconds since 1970; a page without one that can be read is of now.

    >>> seconds("1970-01-02"), seconds("1970-01-01T00:00:01Z"), seconds("yesterday") > 1e9
    (86400, 1, True)
    """
    found = None if text is None else parse_date(text)
    return int(time.time()) if found is None else int(found.timestamp())


def parse_date(text: str) -> datetime | None:
    """A date or a time in ISO 8601; without a zone it is in UTC."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def moment(when: str | date | datetime) -> int:
    """A date as a caller gives it, as seconds since 1970.

    >>> moment("soon")
    Traceback (most recent call last):
    neardup.errors.UsageError: 'soon' is no date: write it as 2026-01-31 or 2026-01-31T12:00:00Z
    """
    if isinstance(when, date):
        when = when.isoformat()
    found = parse_date(when)
    if found is None:
        raise UsageError(f"{when!r} is no date", hint="write it as 2026-01-31 or 2026-01-31T12:00:00Z")
    return int(found.timestamp())
