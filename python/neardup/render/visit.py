"""One page in the browser, from the first request to the written HTML: a context of its own, limits, and an end.

A page is done when its document has loaded, nothing is being asked for, no timer that its scripts set is about to end,
its text has come to rest and no refresh is announced, all within the delay that redirects may take; or when that delay
is over. A page that is not done when its time is nearly over is taken as it then is, with a note. Whatever goes wrong
is told in a few words, and costs this page alone.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from neardup.render.archive import Answer, same_address
from neardup.render.gateway import Gateway
from neardup.render.graft import TooLarge, whole_page
from neardup.render.policy import Policy, Refused
from neardup.render.settings import Job, Limits, Rendered
from neardup.render.watching import QUIET, STATE, WATCH

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser, BrowserContext, Page, Request, Response, Route

#: What is never fetched: it shows nothing that can be compared as text.
NOT_FETCHED: Final = frozenset(
    {"image", "media", "font", "texttrack", "eventsource", "ping", "manifest", "cspviolationreport"}
)
#: What can be shown as a page.
_SHOWN: Final = ("text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml")
#: Seconds for which nothing has to happen before a page counts as done.
_QUIET: Final = 0.12
_LOOK: Final = 0.04
#: Seconds after which a document that says it is still loading, and asks for nothing, is taken to have loaded.
_STUCK: Final = 1.0
#: Seconds for the browser to close a page; if it takes longer, it hangs.
_CLOSING: Final = 5.0
_MOMENT: Final = 0.5
#: Of a page's time, the share that is kept for writing it down, and the most seconds.
_WRITING: Final = 0.25
_MOST_WRITING: Final = 3.0
#: Times that a page may refresh to itself; some do once, for a cookie.
_REFRESHES: Final = 2
#: What the browser calls a navigation by a meta tag or a header, in which no script has a part.
_REFRESH: Final = ("metaTagRefresh", "httpHeaderRefresh")
#: Redirects within an archive that are followed for a script or for data.
_HOPS: Final = 5


class Failed(Exception):
    """The page cannot be rendered; the text says why."""


class Hung(Exception):
    """The browser does not close a page any more: it must go. ``result`` is what came of the page."""

    def __init__(self, result: Rendered) -> None:
        super().__init__(result.url)
        self.result = result


class Lost(Exception):
    """The browser is gone, by this page's doing or another's."""


class Visit:
    """A page being rendered. ``lookup`` answers requests; without it they go through the gateway."""

    def __init__(
        self,
        job: Job,
        limits: Limits,
        gateway: Gateway,
        policy: Policy,
        lookup: Callable[[str], Answer | None] | None,
        user_agent: str | None,
    ) -> None:
        self.job, self.limits, self.gateway, self.policy = job, limits, gateway, policy
        self.lookup, self.user_agent = lookup, user_agent
        self.requests = self.nbytes = self.loads = self.refreshes = 0
        self.note: str | None = None
        #: What was asked of the archive, with what it said; for the cache.
        self.asked: dict[str, bytes | None] = {}
        self._own: str | None = None
        #: The address of the document that is there, or on its way, and why the browser goes on from there.
        self._shown: str | None = None
        self._reason: str | None = None
        self._under_way: set[Request] = set()
        self._response: Response | None = None
        self._context: BrowserContext | None = None

    async def run(self, browser: Browser) -> Rendered:
        """Renders the page; raises ``Hung`` or ``Lost`` where there is more to be done than to tell of a failure."""
        from playwright.async_api import Error

        started = time.monotonic()
        self.gateway.begin(self.limits.nbytes)
        self._broken: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        html, failure, closed = "", None, True

        def gone(_: object) -> None:
            if not self._gone.done():
                self._gone.set_result(None)

        browser.on("disconnected", gone)
        try:
            self.policy.check_url(self.job.url)
            async with asyncio.timeout(self.limits.seconds):
                html = await self._first(self._rendered(browser))
        except TimeoutError:
            failure = f"not done after {self.limits.seconds:g} seconds"
        except Refused as refused:
            failure = f"refused: {refused}"
        except Failed as failed:
            failure = str(failed)
        except TooLarge:
            failure = f"longer than {self.limits.characters:,} characters"
        except Error as error:
            # That a page is gone is known a moment before it is known that the browser is.
            await asyncio.wait({self._gone}, timeout=_MOMENT)
            failure = f"could not be rendered: {_reason(error.message)}"
        finally:
            browser.remove_listener("disconnected", gone)
            if self._context is not None and not self._gone.done():
                closed = await _closed(self._context)
        if self._gone.done() or not browser.is_connected():
            raise Lost
        nbytes = self.nbytes + self.gateway.received
        if nbytes > self.limits.nbytes:
            failure = f"more than {self.limits.nbytes:,} bytes were sent"
        status = self._response.status if self._response else None
        final = self._response.url if self._response else None
        if final is not None and same_address(final) == same_address(self.job.url):
            final = None
        result = Rendered(
            self.job.id, self.job.url, "" if failure else html, status, final, max(0, self.loads - 1), self.requests,
            nbytes, round(time.monotonic() - started, 3), failure, None if failure else self.note,
        )  # fmt: skip
        if not closed:
            raise Hung(result)
        return result

    async def _new_context(self, browser: Browser) -> BrowserContext:
        context = self._context = await browser.new_context(
            accept_downloads=False,
            service_workers="block",
            locale="en-US",
            timezone_id="UTC",
            viewport={"width": 1280, "height": 1024},
            user_agent=self.user_agent,
            proxy={"server": self.gateway.address, "bypass": "<-loopback>"},
        )
        await context.add_init_script(WATCH)
        await context.route("**/*", self._route)
        await context.route_web_socket("**/*", lambda socket: socket.close())
        return context

    async def _first(self, work: Any) -> str:
        """The outcome of the work, or the failure that is told from elsewhere in the meantime."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task, self._broken, self._gone}, return_when=asyncio.FIRST_COMPLETED)
            if self._gone.done():
                raise Lost
            if self._broken.done():
                raise Failed(self._broken.result())
            html: str = await task
            return html
        finally:
            task.cancel()
            with suppress(BaseException):
                await task

    def _fail(self, reason: str) -> None:
        if not self._broken.done():
            self._broken.set_result(reason)

    async def _rendered(self, browser: Browser) -> str:
        context = await self._new_context(browser)
        page = await context.new_page()
        context.on("page", lambda other: _spawn(other.close()) if other is not page else None)
        page.on("crash", lambda _: self._fail("the page crashed"))
        page.on("dialog", lambda dialog: _spawn(dialog.dismiss()))
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfinished", lambda request: self._under_way.discard(request))
        page.on("requestfailed", lambda request: self._under_way.discard(request))
        page.on("download", lambda download: _spawn(download.cancel()))
        session = await context.new_cdp_session(page)
        tree = await session.send("Page.getFrameTree")
        session.on("Page.frameRequestedNavigation", partial(self._on_going, tree["frameTree"]["frame"]["id"]))
        await session.send("Page.enable")
        self._page = page
        started = time.monotonic()
        await self._go(page)
        rest = self.limits.seconds - min(_MOST_WRITING, _WRITING * self.limits.seconds)
        try:
            async with asyncio.timeout(max(0.0, rest - (time.monotonic() - started))):
                await self._settle(page)
        except TimeoutError:
            self.note = f"not done after {rest:g} seconds; taken as it was then"
        self._check_outcome(page)
        left = self.limits.seconds - (time.monotonic() - started)
        html = await whole_page(page.main_frame, self.limits.characters, left)
        if not html:
            self.note, html = "it has no document any more", "<html></html>"
        # A string of JavaScript may hold halves of characters, which no encoding can.
        return html.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    async def _go(self, page: Page) -> None:
        from playwright.async_api import Error

        try:
            await page.goto(self.job.url, wait_until="commit", timeout=1000 * self.limits.seconds)
        except Error as error:
            text = error.message
            if page.is_closed() or "closed" in text:
                raise
            if "interrupted by another navigation" in text:
                return
            if "Download is starting" in text:
                raise Failed("a download, not a page") from None
            self._check_refused(self.job.url)
            raise Failed(f"could not be loaded: {_reason(text)}") from None

    async def _settle(self, page: Page) -> None:
        """Waits until nothing more is to be expected of the page."""
        from playwright.async_api import Error

        loaded: float | None = None
        quiet: float | None = None
        idle: float | None = None
        loads = self.loads
        while True:
            await asyncio.sleep(_LOOK)
            if self.gateway.overflowed:
                return
            now = time.monotonic()
            if self.loads != loads:
                loads, loaded, quiet, idle = self.loads, None, None, None
            left = self.limits.delay if loaded is None else max(0.0, self.limits.delay - (now - loaded))
            try:
                state, timers, refresh, moving = await page.evaluate(STATE, [left, QUIET])
            except Error:
                if page.is_closed():
                    raise
                quiet = None  # between two documents
                continue
            idle = None if self._under_way else idle or now
            # A document that is written into and never closed stays "interactive" for ever.
            stuck = state == "interactive" and idle is not None and now - idle > _STUCK
            complete = state == "complete" or stuck
            if complete and loaded is None:
                loaded, left = now, self.limits.delay
            coming = refresh is not None and refresh <= self.limits.delay
            announced = coming and loaded is not None and now - loaded < refresh + 1
            if not complete or announced or ((timers or moving or self._under_way) and left > 0):
                quiet = None
            elif quiet is None:
                quiet = now
            elif now - quiet >= _QUIET or left <= 0:
                return

    def _check_outcome(self, page: Page) -> None:
        """Fails unless what is shown is a page that a server meant to show."""
        response = self._response
        self._check_refused(response.url if response is not None else page.url)
        if response is None:
            return
        if response.status >= 400:
            raise Failed(f"answered with status {response.status}")
        kind = response.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
        if kind and kind not in _SHOWN:
            raise Failed(f"not a page but {kind}")
        if page.url.startswith("chrome-error:"):
            raise Failed("could not be loaded")

    def _check_refused(self, url: str) -> None:
        host = urlsplit(url).hostname or ""
        if self.lookup is None and host in self.gateway.refused:
            reason = self.gateway.refused[host]
            raise Failed(f"{host} {reason}" if reason.startswith("could") else f"refused: {reason}")

    def _on_request(self, request: Request) -> None:
        if request.resource_type not in NOT_FETCHED:
            self._under_way.add(request)
        with suppress(Exception):  # a request of a worker has no frame
            if self._is_main(request):
                if self._refreshes_for_ever(request):
                    return
                self.loads += 1
                self._under_way = {request}
                if self.loads > self.limits.redirects + 1:
                    self._fail(f"sent elsewhere more than {self.limits.redirects} times")

    def _on_going(self, main: str, going: dict[str, str]) -> None:
        if going.get("frameId") == main:
            self._reason = going.get("reason")

    def _is_main(self, request: Request) -> bool:
        return request.is_navigation_request() and request.frame is self._page.main_frame

    def _refreshes_for_ever(self, request: Request) -> bool:
        """Whether a page that has refreshed to itself often enough does so once more."""
        return self.refreshes >= _REFRESHES and self._refreshes_itself(request)

    def _refreshes_itself(self, request: Request) -> bool:
        return self._reason in _REFRESH and same_address(request.url) == self._shown

    def _on_response(self, response: Response) -> None:
        with suppress(Exception):
            if response.request.is_navigation_request() and response.frame is self._page.main_frame:
                self._response = response

    async def _route(self, route: Route) -> None:
        request = route.request
        fetched = request.resource_type not in NOT_FETCHED
        self.requests += fetched
        try:
            if self._is_main(request):
                if self._refreshes_for_ever(request):
                    # The document that is there stays.
                    self.note = "it refreshes to itself again and again"
                    await route.abort("aborted")
                    return
                self.refreshes += self._refreshes_itself(request)
                self._shown = same_address(request.url)
            if not fetched or urlsplit(request.url).scheme not in ("http", "https"):
                await route.abort("blockedbyclient")
            elif self.requests > self.limits.requests:
                self._fail(f"asked for more than {self.limits.requests} things")
                await route.abort("blockedbyclient")
            elif self.lookup is None:
                await route.continue_()
            else:
                await self._fulfil(route, request)
        except Exception:
            # The page may be gone by now; if it is not, it is not to wait for an answer that never comes.
            with suppress(Exception):
                await route.abort()

    async def _fulfil(self, route: Route, request: Request) -> None:
        """Answers from what is stored. Nothing is sent anywhere, whether there is an answer or not."""
        document = request.resource_type == "document"
        if document and self._own is None:
            self._own = request.url  # the page's address, as the browser writes it
        answer, url = self._stored(request.url, document), request.url
        for _ in range(_HOPS):
            if document or answer is None or answer.location is None:
                break
            url = urljoin(url, answer.location)
            answer = self._stored(url, False)
        if answer is None:
            with suppress(Exception):
                if request.is_navigation_request() and request.frame is self._page.main_frame:
                    self._fail("not in the archive")
            await route.abort("addressunreachable")
            return
        self.nbytes += len(answer.body)
        if self.nbytes > self.limits.nbytes:
            self._fail(f"more than {self.limits.nbytes:,} bytes were sent")
            await route.abort("blockedbyclient")
        elif document and answer.location is not None:
            # The browser asks for the target of a redirect without asking us first; a page that leads there does not.
            target = urljoin(url, answer.location).replace("&", "&amp;").replace('"', "&quot;")
            body = f'<meta http-equiv="refresh" content="0; url={target}">'
            await route.fulfill(status=200, content_type="text/html; charset=utf-8", body=body)
        else:
            await route.fulfill(status=answer.status, headers=answer.fields, body=answer.body)

    def _stored(self, url: str, document: bool) -> Answer | None:
        job = self.job
        if document and job.content is not None and url == self._own:
            return Answer(200, {"content-type": job.media_type}, job.content)
        answer = self.lookup(url) if self.lookup is not None else None
        self.asked[url] = None if answer is None else answer.body
        return answer


def _spawn(work: Any) -> None:
    """Starts what nobody waits for, and whose failure nobody minds."""

    async def quietly() -> None:
        with suppress(Exception):
            await work

    task = asyncio.ensure_future(quietly())
    _BACKGROUND.add(task)
    task.add_done_callback(_BACKGROUND.discard)


#: Tasks that would otherwise be forgotten before they are done.
_BACKGROUND: Final[set[asyncio.Future[None]]] = set()


async def _closed(context: BrowserContext) -> bool:
    """Closes a context; False if the browser does not."""
    try:
        async with asyncio.timeout(_CLOSING):
            await context.close()
    except TimeoutError:
        return False
    except Exception:  # the browser is gone, and the context with it
        return True
    return True


def _reason(text: str) -> str:
    """What a browser says of a failed load, in its first line and without its call log."""
    line = text.splitlines()[0] if text else "no reason given"
    call, colon, said = line.partition(": ")
    return (said if colon and "." in call else line).partition(" at http")[0]
