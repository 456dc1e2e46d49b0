"""What was rendered before, found by content: the page as it was fetched, and everything that it asked for.

A page is rendered from its document, from what the archive answers, and by a browser under limits. An entry is found
by the document and the limits, and holds only as long as every answer that the page asked for is still the same. So
there is nothing to be cleared by hand. Pages that are fetched anew are not kept: nobody knows beforehand what they
will be.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Final

import zstandard

from neardup.errors import OutputError
from neardup.render.archive import Answer
from neardup.render.settings import Job, Limits, Rendered
from neardup.writing import check_local, replacing

#: Changes with whatever changes what a rendering gives.
VERSION: Final = 2


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


class Cache:
    """A folder of renderings.

    >>> import tempfile
    >>> cache = Cache(tempfile.mkdtemp(), Limits(), "chromium", lambda url: None)
    >>> job = Job("1", "http://alpha.example/", b"<p>Hello")
    >>> cache.keep(job, Rendered("1", job.url, "<html>…"), {})
    >>> cache.find(Job("2", job.url, b"<p>Hello")).html, cache.find(Job("1", job.url, b"<p>Bye"))
    ('<html>…', None)
    """

    def __init__(
        self, folder: str | os.PathLike[str], limits: Limits, browser: str, lookup: Callable[[str], Answer | None]
    ) -> None:
        check_local(folder)
        self._folder, self._lookup = Path(folder), lookup
        self._salt = json.dumps([VERSION, browser, asdict(limits)])
        #: How many pages were found.
        self.found = 0
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"the folder cannot be made: {error.strerror}", where=str(folder)) from None

    def _path(self, job: Job) -> Path:
        named = json.dumps([self._salt, job.url, job.media_type, _digest(job.content)])
        digest = hashlib.sha256(named.encode()).hexdigest()
        return self._folder / digest[:2] / f"{digest[2:]}.zst"

    def find(self, job: Job) -> Rendered | None:
        """What came of the page before, if all that went into it is the same."""
        try:
            packed = self._path(job).read_bytes()
            entry = json.loads(zstandard.ZstdDecompressor().decompress(packed, max_output_size=1 << 28))
            asked, values = entry["asked"], entry["rendered"]
            known = Rendered(**(values | {"id": job.id, "url": job.url}))
        except (OSError, ValueError, KeyError, TypeError, zstandard.ZstdError):
            return None  # not there, or damaged: it is rendered again
        for url, digest in asked.items():
            answer = self._lookup(url)
            if _digest(None if answer is None else answer.body) != digest:
                return None
        self.found += 1
        return known

    def keep(self, job: Job, result: Rendered, asked: dict[str, bytes | None]) -> None:
        """Keeps what came of a page, unless it failed or did not load to its end: that may be due to the machine."""
        if result.failed or result.note is not None:
            return
        path = self._path(job)
        entry = {"asked": {url: _digest(body) for url, body in asked.items()}, "rendered": asdict(result)}
        path.parent.mkdir(exist_ok=True)
        with replacing(path, durable=False) as file:
            file.write(zstandard.compress(json.dumps(entry).encode()))
