"""Many pages, a few at a time, in one browser that is started anew when it is lost.

If the browser goes down, any of the pages that were in it may be the one that took it down. Each of them is then
rendered again, alone; one that takes the browser down a second time has failed. So a bad page costs itself, and the
others a little time. Results come in the order of the pages.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from neardup.errors import MissingExtra, NeardupError, UsageError
from neardup.render.archive import Answer
from neardup.render.gateway import Gateway
from neardup.render.policy import Policy
from neardup.render.settings import Job, Rendered, RenderSettings
from neardup.render.visit import Hung, Lost, Visit

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

#: Programs that are looked for, in this order. The first is Chromium without a window and all that belongs to one: it
#: takes about a third of the time for a page.
PROGRAMS: Final = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome",
    "microsoft-edge",
)  # fmt: skip
_STARTING: Final = 60.0
_ARGUMENTS: Final = (
    # Nobody scrolls: frames that wait until they are seen are loaded at once.
    "--blink-settings=imagesEnabled=false,lazyLoadEnabled=false",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
    "--no-pings",
)

Item = TypeVar("Item")
Cached = Callable[[Job], Rendered | None]
Keep = Callable[[Job, Rendered, "dict[str, bytes | None]"], None]


def require_playwright() -> None:
    """Raises ``MissingExtra`` unless a browser can be driven; asked before the work, not after it."""
    try:
        import playwright.async_api  # noqa: F401  (only whether it is there)
    except ImportError:
        raise MissingExtra(
            "rendering needs playwright, which is not installed", hint="pip install 'neardup[render]'"
        ) from None


def find_browser(given: str | os.PathLike[str] | None, bundled: str = "") -> str:
    """The browser's program: the one given, one of the system, or the one that playwright has installed.

    >>> find_browser("/no/such/browser")
    Traceback (most recent call last):
    neardup.errors.UsageError: no such browser (/no/such/browser): give the path of a Chromium
    """
    if given is not None:
        found = shutil.which(os.fspath(given))
        if found is None:
            raise UsageError("no such browser", where=os.fspath(given), hint="give the path of a Chromium")
        return found
    for name in PROGRAMS:
        if (found := shutil.which(name)) is not None:
            return found
    if bundled and os.access(bundled, os.X_OK):
        return bundled
    raise MissingExtra(
        "rendering needs a browser, and no Chromium was found",
        hint="apt-get install chromium (or playwright install chromium), or name one with --browser",
    )


class _Gate:
    """Lets many pass at a time, or one alone."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._inside = self._waiting = 0
        self._alone = False

    @asynccontextmanager
    async def passing(self, alone: bool) -> AsyncIterator[None]:
        async with self._changed:
            self._waiting += alone
            try:
                await self._changed.wait_for(
                    lambda: not self._alone and (self._inside == 0 if alone else self._waiting == 0)
                )
            finally:
                self._waiting -= alone
            self._inside += 1
            self._alone = alone
        try:
            yield
        finally:
            async with self._changed:
                self._inside -= 1
                self._alone = False
                self._changed.notify_all()


class _Browsers:
    """The present browser, started when it is needed."""

    def __init__(self, playwright: Playwright, settings: RenderSettings, dead_end: str) -> None:
        self._playwright, self._settings, self._dead_end = playwright, settings, dead_end
        self._lock = asyncio.Lock()
        self._browser: Browser | None = None
        self._process: int | None = None
        self.user_agent = settings.user_agent

    @property
    def version(self) -> str:
        return self._browser.version if self._browser else ""

    async def present(self) -> Browser:
        async with self._lock:
            if self._browser is None or not self._browser.is_connected():
                self._browser = await self._start()
            return self._browser

    async def _start(self) -> Browser:
        from playwright.async_api import Error

        program = find_browser(self._settings.browser, self._playwright.chromium.executable_path)
        try:
            browser = await self._playwright.chromium.launch(
                executable_path=program,
                chromium_sandbox=self._settings.sandbox,
                args=list(_ARGUMENTS),
                # Whatever belongs to no page has no way out.
                proxy={"server": self._dead_end, "bypass": "<-loopback>"},
                timeout=1000 * _STARTING,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
            session = await browser.new_browser_cdp_session()
            processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
            self._process = next((int(each["id"]) for each in processes if each["type"] == "browser"), None)
            if self.user_agent is None:
                # As it calls itself when it has a window: pages are to show what they show to visitors. The browser is
                # asked, not a page: a page can crash.
                name = str((await session.send("Browser.getVersion"))["userAgent"])
                self.user_agent = name.replace("HeadlessChrome", "Chrome")
            await session.detach()
        except Error as error:
            raise _start_error(program, error.message, self._settings.sandbox) from None
        return browser

    async def drop(self, browser: Browser) -> None:
        """Ends a browser that hangs or is lost, by force if need be."""
        async with self._lock:
            if self._browser is not browser:
                return
            if self._process is not None and browser.is_connected():
                _end_group(self._process)
            with suppress(Exception):
                async with asyncio.timeout(5):
                    await browser.close()
            self._browser = self._process = None

    async def close(self) -> None:
        """Ends the present browser, in peace if it lets us: it then takes its own files away."""
        if self._browser is not None:
            with suppress(Exception):
                async with asyncio.timeout(5):
                    await self._browser.close()
            await self.drop(self._browser)


def _end_group(process: int) -> None:
    """Ends the browser, what started it and what it started; playwright gives it a group of its own."""
    with suppress(OSError, AttributeError):  # Windows has no groups; the browser is then closed as usual
        group = os.getpgid(process)
        if group != os.getpgrp():
            os.killpg(group, signal.SIGKILL)


def _start_error(program: str, message: str, sandbox: bool) -> NeardupError:
    if sandbox and ("no-sandbox" in message or "sandbox" in message.lower()):
        return UsageError(
            "the browser cannot start with its sandbox (as root it never can)",
            where=program,
            hint="another user, or --no-sandbox if this machine may be trusted to these pages",
        )
    lines = [line.strip(" -╔║╚═╗╝") for line in message.splitlines()]
    said = next((line for line in lines[1:] if line and "Call log" not in line and "launching" not in line), lines[0])
    return NeardupError(
        f"the browser does not start: {said[:200]}", where=program, hint="try it by hand, or --browser PATH"
    )


async def rendered(
    jobs: Iterable[Job],
    settings: RenderSettings,
    lookup: Callable[[str], Answer | None] | None,
    cached: Cached = lambda job: None,
    keep: Keep = lambda job, result, asked: None,
) -> AsyncGenerator[Rendered, None]:
    """What comes of each page, in the order of the pages.

    With ``lookup`` requests are answered by it and nothing leaves the machine; without, they go out under the policy
    of the settings.
    """
    require_playwright()
    from playwright.async_api import async_playwright

    policy = Policy.of(settings.allow, settings.resolve)
    if settings.browser is not None:
        find_browser(settings.browser)
    async with AsyncExitStack() as stack:
        dead_end = await stack.enter_async_context(Gateway(None))
        gateways: asyncio.Queue[Gateway] = asyncio.Queue()
        for _ in range(settings.pages):
            gateway = await stack.enter_async_context(Gateway(None if lookup is not None else policy))
            gateways.put_nowait(gateway)
        playwright = await stack.enter_async_context(async_playwright())
        browsers = _Browsers(playwright, settings, dead_end.address)
        stack.push_async_callback(browsers.close)
        gate = _Gate()

        async def work(job: Job) -> Rendered:
            if (known := cached(job)) is not None:
                return known
            gateway = await gateways.get()
            try:
                for alone in (False, True):
                    async with gate.passing(alone):
                        browser = await browsers.present()
                        visit = Visit(job, settings.limits, gateway, policy, lookup, browsers.user_agent)
                        try:
                            result = await visit.run(browser)
                        except Hung as hung:
                            await browsers.drop(browser)
                            return hung.result
                        except Lost:
                            await browsers.drop(browser)
                            continue
                        keep(job, result, visit.asked)
                        return result
                return Rendered(job.id, job.url, failure="the browser crashed")
            finally:
                gateways.put_nowait(gateway)

        tasks: deque[asyncio.Task[Rendered]] = deque()
        try:
            for job in jobs:
                tasks.append(asyncio.create_task(work(job)))
                while len(tasks) >= 4 * settings.pages or (tasks and tasks[0].done()):
                    yield await tasks.popleft()
            while tasks:
                yield await tasks.popleft()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def blocking(iterator: AsyncGenerator[Item, None]) -> Iterator[Item]:
    """An asynchronous iterator for those who do not wait asynchronously."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise UsageError(
            "rendering was called from inside an event loop", hint="call it in a thread: asyncio.to_thread"
        )
    end = object()

    async def following() -> Any:
        return await anext(iterator, end)

    with asyncio.Runner() as runner:
        try:
            while (item := runner.run(following())) is not end:
                yield item
        finally:
            # A signal that ends the program leaves the iterator in the middle of a step; the runner then cancels that.
            with suppress(RuntimeError):
                runner.run(iterator.aclose())
