"""What a rendering may take, and what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike

from neardup.errors import UsageError


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may take. Of a page that takes more time, what has loaded is taken; one that takes more of anything
    else fails, and the rest go on.

    >>> Limits(delay=2).delay
    2
    """

    #: Seconds for all of it.
    seconds: float = 20.0
    #: Seconds after a document has loaded during which redirects and scripts are waited for.
    delay: float = 5.0
    #: Documents, scripts, style sheets and data that are asked for, all frames together.
    requests: int = 300
    #: Bytes of all answers together.
    nbytes: int = 32 << 20
    #: Characters of the rendered page.
    characters: int = 16 << 20
    #: Times that the browser is sent elsewhere.
    redirects: int = 10

    def __post_init__(self) -> None:
        if min(self.seconds, self.requests, self.nbytes, self.characters) <= 0 or min(self.delay, self.redirects) < 0:
            raise UsageError(
                "a limit of nothing renders nothing", hint="limits are above 0; delay and redirects may be 0"
            )


@dataclass(frozen=True, slots=True)
class RenderSettings:
    """How pages are rendered. The safe choice is the default of each."""

    limits: Limits = field(default_factory=Limits)
    #: How many pages are rendered at a time.
    pages: int = 4
    #: The browser's program; by default a Chromium that the system has.
    browser: str | PathLike[str] | None = None
    #: Whether the browser keeps pages in its sandbox. As root it cannot.
    sandbox: bool = True
    #: Hosts (with * as in file names) that may have private or loopback addresses.
    allow: Sequence[str] = ()
    #: ``PATTERN=ADDRESS:PORT``: where hosts are found, instead of asking the name service.
    resolve: Sequence[str] = ()
    #: WARC files that requests are answered from.
    archives: Sequence[str | PathLike[str]] = ()
    #: Whether stored pages are fetched anew; else nothing leaves the machine.
    live: bool = False
    #: A folder that keeps what was rendered, for the next time.
    cache: str | PathLike[str] | None = None
    #: What the browser calls itself; by default what it would with a window.
    user_agent: str | None = None

    def __post_init__(self) -> None:
        if self.pages < 1:
            raise UsageError("no page at a time renders nothing", hint="--at-a-time is at least 1")
        if self.live and self.archives:
            raise UsageError("pages are rendered live or from archives, not both", hint="leave out --live or --archive")


@dataclass(frozen=True, slots=True)
class Job:
    """A page to be rendered: an address and, where it is stored already, what was fetched there."""

    id: str
    url: str
    content: bytes | None = None
    media_type: str = "text/html"


@dataclass(frozen=True, slots=True)
class Rendered:
    """What came of a page. ``html`` is empty and ``failure`` says why where it could not be rendered.

    >>> Rendered("1", "http://alpha.example/", "<p>Hello").failed
    False
    """

    id: str
    url: str
    html: str = ""
    #: The HTTP status of the document that was shown in the end.
    status: int | None = None
    #: Its address, where the browser was sent elsewhere.
    final_url: str | None = None
    redirects: int = 0
    requests: int = 0
    nbytes: int = 0
    seconds: float = 0.0
    failure: str | None = None
    #: What is to be known of a page that was rendered, though not to its end.
    note: str | None = None

    @property
    def failed(self) -> bool:
        return self.failure is not None
