"""Rendering as a user asks for it: addresses or stored pages in, rendered pages out."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from neardup.engines.common.progress import Progress, Silent
from neardup.errors import UsageError
from neardup.page import Skipped
from neardup.render.archive import Archive
from neardup.render.cache import Cache
from neardup.render.pages import addresses, is_address, stored
from neardup.render.pool import blocking, find_browser, rendered, require_playwright
from neardup.render.settings import Job, Rendered, RenderSettings
from neardup.render.sink import check_name, write_rendered
from neardup.sources import InputSpec
from neardup.sources.expand import expand
from neardup.sources.files import STDIN_NAME


@dataclass(slots=True)
class Rendering:
    """How a rendering went."""

    pages: int = 0
    cached: int = 0
    #: How many pages failed, by reason.
    failures: dict[str, int] = field(default_factory=dict)
    #: Records of the input that could not be read.
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """How many pages failed."""
        return sum(self.failures.values())

    def report(self) -> dict[str, Any]:
        """All of it, for JSON."""
        reasons = dict(sorted(self.failures.items(), key=lambda entry: (-entry[1], entry[0])))
        return {
            "pages": self.pages,
            "rendered": self.pages - self.failed,
            "cached": self.cached,
            "failed": self.failed,
            "failures": reasons,
            "skipped": [record.describe() for record in self.skipped],
        }


def render_urls(urls: Sequence[str], settings: RenderSettings | None = None) -> Iterator[Rendered]:
    """Renders addresses, live or from the archives of the settings; what comes of each, in their order.

    >>> import tempfile, neardup.testing
    >>> made = neardup.testing.search_web(queries=1, languages=["en"])
    >>> settings = RenderSettings(archives=["none.warc"])
    >>> next(render_urls(["file:///etc/passwd"], settings))
    Traceback (most recent call last):
    neardup.errors.InputError: no such file or folder (none.warc)
    """
    settings = settings or RenderSettings()
    archive = Archive(settings.archives) if settings.archives else None
    return _results(addresses(urls), settings, archive, Rendering())


def render_pages(pages: Iterable[Job], settings: RenderSettings | None = None) -> Iterator[Rendered]:
    """Renders stored pages without a network: each from its own content and from the archives of the settings.

    >>> list(render_pages([]))
    []
    """
    settings = settings or RenderSettings()
    return _results(pages, settings, None if settings.live else Archive(settings.archives), Rendering())


def render(
    inputs: Sequence[str],
    out: str | os.PathLike[str],
    settings: RenderSettings | None = None,
    *,
    spec: InputSpec | None = None,
    progress: Progress | None = None,
) -> Rendering:
    """Renders addresses, or the pages of files, and writes what comes of them to one file.

    Addresses are visited. Pages of files are rendered from what is stored: WARC files among the inputs are archives
    too, and nothing leaves the machine, unless the settings say ``live``.

    >>> render(["pages.jsonl"], "rendered.txt")
    Traceback (most recent call last):
    neardup.errors.UsageError: the name does not tell in which format pages are to be written (rendered.txt):
        one of .jsonl, .parquet, .warc, the first and the last also with .gz or .zst
    """
    settings = settings or RenderSettings()
    check_name(out)
    require_playwright()
    urls = [given for given in inputs if is_address(given)]
    if not inputs or (urls and len(urls) < len(inputs)):
        raise UsageError("give addresses or files, and not both", hint="render them one after the other")
    told = Rendering()
    if urls:
        archive = Archive(settings.archives) if settings.archives else None
        jobs = addresses(urls)
    else:
        spec = spec or InputSpec(list(inputs))
        files = [path for path in spec.paths if path != STDIN_NAME]
        archives = [named.place.path for named in expand(files, spec.format) if named.format == "warc"]
        archive = None if settings.live else Archive([*settings.archives, *archives])
        jobs = stored(spec, settings.live, told.skipped)
    progress = progress or Silent()
    progress.begin("rendering")
    try:
        with closing(_results(jobs, settings, archive, told)) as results:
            write_rendered(_counted(results, told, progress), out)
    finally:
        progress.end()
    return told


def _counted(results: Iterable[Rendered], told: Rendering, progress: Progress) -> Iterator[Rendered]:
    for result in results:
        told.pages += 1
        if result.failure is not None:
            # The host is in the page's own row; here reasons are counted.
            reason = result.failure.partition(":")[0] if result.failure.startswith("refused") else result.failure
            told.failures[reason] = told.failures.get(reason, 0) + 1
        progress.advance(1, len(result.html))
        yield result


def _results(
    jobs: Iterable[Job], settings: RenderSettings, archive: Archive | None, told: Rendering
) -> Generator[Rendered, None, None]:
    if archive is None or settings.cache is None:
        if settings.cache is not None:
            raise UsageError("pages that are fetched anew are not cached", hint="leave out --cache")
        yield from blocking(rendered(jobs, settings, None if archive is None else archive.answer))
        return
    name = os.path.realpath(find_browser(settings.browser))
    cache = Cache(
        settings.cache, settings.limits, f"{name} {os.stat(name).st_size} {settings.user_agent}", archive.answer
    )
    for result in blocking(rendered(jobs, settings, archive.answer, cache.find, cache.keep)):
        told.cached = cache.found
        yield result
