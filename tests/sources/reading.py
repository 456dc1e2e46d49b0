"""Reading a source whole, for tests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup.page import PAGES, Skipped
from neardup.sources import Inputs, open_inputs


@dataclass
class Read:
    pages: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    nbytes: int = 0
    chunks: int = 0

    def ids(self) -> list[Any]:
        return [page["id"] for page in self.pages]

    def contents(self) -> list[bytes]:
        return [page["content"] for page in self.pages]


def read_source(source: Inputs) -> Read:
    read = Read()
    for chunk in source.chunks():
        loaded = chunk.load()
        assert loaded.pages.schema == PAGES
        loaded.pages.validate(full=True)
        read.pages += loaded.pages.to_pylist()
        read.skipped += loaded.skipped
        read.ignored.update(loaded.ignored)
        assert chunk.nbytes >= 0
        read.nbytes += chunk.nbytes
        read.chunks += 1
    return read


def read_all(inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **options: Any) -> Read:
    given = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    with open_inputs(given, **options) as source:
        return read_source(source)
