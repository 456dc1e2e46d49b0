"""The two ways of pages into an index, and of questions about them.

Where the native module knows all that is computed of a page, pages are read, fingerprinted and added in one native
call, which holds no lock that another thread needs. For other detectors (statistics, content, plug-ins) fingerprints
are computed here. Either way threads that add at the same time share a commit.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.answers import Answer
from neardup.index.incoming import (
    Arrays,
    Page,
    Request,
    RequestParts,
    arrays_of,
    encoded,
    request_parts,
    seconds,
    token_array,
)
from neardup.index.shape import Shape
from neardup.index.wording import answers
from neardup.methods import Rule
from neardup.methods.one_pass import made_while_reading
from neardup.sources.memory import row_of
from neardup.text import Reading


class Way(Protocol):
    """A way of pages into an index."""

    def add(self, pages: Sequence[Page], requests: Sequence[Request | None]) -> list[Answer]: ...
    def query(self, pages: Sequence[Page]) -> list[Answer]: ...


@dataclass(frozen=True, slots=True)
class Incoming:
    """A page as ``_native.PageReader`` takes it."""

    content: bytes | npt.NDArray[np.uint64]
    name: str
    id: bytes
    html: bool
    charset: str | None
    url: str | None
    time: int
    request: RequestParts | None

    @staticmethod
    def of(page: Page, request: RequestParts | None) -> Incoming:
        content: npt.NDArray[np.uint64] | bytes
        html, charset = False, None
        if isinstance(page, Mapping) and page.get("tokens") is not None:
            content = token_array(page["tokens"])
            id, url, date = (None if page.get(key) is None else str(page[key]) for key in ("id", "url", "date"))
        else:
            row = row_of(page, 0)
            content, html, charset = row["content"], row["html"], row["charset"]
            id, url, date = row["id"], row["url"], row["date"]
        name = id or url or f"page-{secrets.token_hex(8)}"
        return Incoming(content, name, encoded([name])[0], html, charset, url, seconds(date), request)


class InOneCall:
    """Pages are read and fingerprinted by the native call that adds them."""

    def __init__(
        self, store: _native.IndexStore, reader: _native.PageReader, shape: Shape, rules: Sequence[Rule]
    ) -> None:
        self._store, self._reader, self._shape, self._rules = store, reader, shape, rules

    def add(self, pages: Sequence[Page], requests: Sequence[Request | None]) -> list[Answer]:
        """Adds pages, in order and in one commit."""
        incoming = [Incoming.of(page, parts) for page, parts in zip(pages, request_parts(requests), strict=True)]
        return self._carried_out(incoming, add=True)

    def query(self, pages: Sequence[Page]) -> list[Answer]:
        """Asks about pages."""
        return self._carried_out([Incoming.of(page, None) for page in pages], add=False)

    def _carried_out(self, incoming: list[Incoming], *, add: bool) -> list[Answer]:
        given = self._reader.carry_out(self._store, incoming, add=add)
        return answers([page.name for page in incoming], self._rules, given)


class ByArrays:
    """Pages are read and fingerprinted first, all of them side by side."""

    def __init__(self, store: _native.IndexStore, shape: Shape, reading: Reading, rules: Sequence[Rule]) -> None:
        self._store, self._shape, self._reading, self._rules = store, shape, reading, rules

    def add(self, pages: Sequence[Page], requests: Sequence[Request | None]) -> list[Answer]:
        """Adds pages, in order and in one commit."""
        return self.add_arrays(arrays_of(pages, self._shape, self._reading, requests))

    def query(self, pages: Sequence[Page]) -> list[Answer]:
        """Asks about pages."""
        return self.query_arrays(arrays_of(pages, self._shape, self._reading))

    def add_arrays(self, arrays: Arrays) -> list[Answer]:
        """Adds pages that were read and fingerprinted."""
        return answers(arrays.names, self._rules, self._store.add(arrays), self._shape.by_site)

    def query_arrays(self, arrays: Arrays) -> list[Answer]:
        """Asks about pages that were read and fingerprinted."""
        return answers(arrays.names, self._rules, self._store.query(arrays), self._shape.by_site)


def in_one_call(store: _native.IndexStore, shape: Shape, reading: Reading, rules: Sequence[Rule]) -> InOneCall | None:
    """The way of one call, if all that is computed of a page is known to the native module."""
    fingerprints = [*shape.columns, *shape.sets]
    if not all(made_while_reading(fingerprint) for fingerprint in fingerprints):
        return None
    reader = _native.PageReader(
        fingerprints,
        hash=reading.hash,
        site_rule=reading.site,
        min_tokens=reading.min_tokens,
    )
    return InOneCall(store, reader, shape, rules)
