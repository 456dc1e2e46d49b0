"""Pages one by one: read, fingerprinted and added in one native call, which holds no lock that another thread needs.

Threads that add at the same time read and fingerprint side by side and share a commit; what Python does of an addition
is to take the page apart and to name the answer. This goes for detectors whose fingerprints are rows of keys
or bits, which all of Henzinger's are; pages for others go through the arrays of ``incoming`` and wait in a
``Group``.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.index.answers import Answer, answer_of
from neardup.index.incoming import Page, Request, encoded, seconds, token_array
from neardup.index.shape import Shape
from neardup.methods import Rule
from neardup.methods.one_pass import made_while_reading
from neardup.sources.memory import row_of
from neardup.text import Reading


class Single:
    """The way of single pages into an index, and of questions about them."""

    def __init__(
        self, store: _native.IndexStore, reader: _native.PageReader, shape: Shape, rules: Sequence[Rule]
    ) -> None:
        self._store, self._reader, self._shape, self._rules = store, reader, shape, rules

    def __call__(self, what: Literal["add", "query"], page: Page, request: Request | None = None) -> Answer:
        given: npt.NDArray[np.uint64] | bytes
        html, charset = False, None
        if isinstance(page, Mapping) and page.get("tokens") is not None:
            given = token_array(page["tokens"])
            name, url, date = (None if page.get(key) is None else str(page[key]) for key in ("id", "url", "date"))
        else:
            row = row_of(page, 0)
            given, html, charset = row["content"], row["html"], row["charset"]
            name, url, date = row["id"], row["url"], row["date"]
        name = name or url or f"page-{secrets.token_hex(8)}"
        flags, raw = _native.index_page(
            self._store,
            self._reader,
            given,
            encoded([name])[0],
            add=what == "add",
            html=html,
            charset=charset,
            url=url,
            time=seconds(date),
            request=None if request is None else request.parts(),
        )
        return answer_of(name, self._rules, flags, raw)


def single_of(store: _native.IndexStore, shape: Shape, reading: Reading, rules: Sequence[Rule]) -> Single | None:
    """The way of single pages, if all that is computed of a page is known to the native module."""
    if shape.sets or not all(made_while_reading(kind) for kind in shape.columns):
        return None
    reader = _native.PageReader(
        shape.columns,
        hash=reading.hash,
        site_rule=reading.site,
        min_tokens=reading.min_tokens,
    )
    return Single(store, reader, shape, rules)
