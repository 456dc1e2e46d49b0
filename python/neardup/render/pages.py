"""Pages to be rendered: addresses, or the pages of any source that neardup reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final

from neardup.errors import InputError, UsageError
from neardup.page import Skipped
from neardup.render.settings import Job
from neardup.sources import InputSpec

#: Where pages stand that have no address of their own.
NOWHERE: Final = "http://stored.invalid/"


def is_address(text: str) -> bool:
    """Whether an input is an address to be visited, and not a file.

    >>> is_address("https://example.org/"), is_address("pages.jsonl"), is_address("file:///etc/passwd")
    (True, False, True)
    """
    return text.lower().startswith(("http://", "https://", "file:", "ftp:", "data:", "chrome:", "javascript:"))


def addresses(urls: Sequence[str]) -> Iterator[Job]:
    """A page for each address; its id is the address.

    >>> [job.id for job in addresses(["http://alpha.example/"])]
    ['http://alpha.example/']
    """
    seen: dict[str, int] = {}
    for place, url in enumerate(urls):
        yield Job(_own(url, place, seen), url)


def read_addresses(path: str | os.PathLike[str]) -> list[str]:
    """The addresses of a file, one a line; empty lines and those that begin with # are passed over.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "urls.txt")
    >>> _ = file.write_text("# seeds\\nhttp://alpha.example/\\n\\n")
    >>> read_addresses(file)
    ['http://alpha.example/']
    """
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=str(path)) from None
    found = [line for line in lines if line and not line.startswith("#")]
    for number, line in enumerate(found):
        if not is_address(line):
            raise UsageError(f"not an address: {line[:80]!r}", where=f"{path}, address {number + 1}")
    return found


def stored(spec: InputSpec, live: bool, skipped: list[Skipped]) -> Iterator[Job]:
    """The pages of the inputs; with ``live`` only their addresses. What cannot be read is added to ``skipped``."""
    seen: dict[str, int] = {}
    row = 0
    with spec.open() as source:
        for chunk in source.chunks():
            loaded = chunk.load()
            skipped.extend(loaded.skipped)
            for page in loaded.pages.to_pylist():
                name = page["id"] or f"{page['source']}#{page['record']}"
                url = page["url"] or f"{NOWHERE}{row}"
                kind = "text/html" if page["html"] else "text/plain"
                kind += f"; charset={page['charset']}" if page["charset"] else ""
                yield Job(_own(name, row, seen), url, None if live else page["content"], kind)
                row += 1


def _own(name: str, row: int, seen: dict[str, int]) -> str:
    """A name that no page before has; the same rule as that of a run."""
    if name in seen:
        return f"{name}#{row}"
    seen[name] = row
    return name
