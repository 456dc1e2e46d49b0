"""A real browser on pages that move, hide, hang, crash and lie: each has its outcome, and none costs another."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from neardup.errors import MissingExtra, NeardupError, UsageError
from neardup.render import Limits, Rendered, RenderSettings, render_urls, visit
from neardup.render.pool import find_browser
from render.troubles import Troubles, kill, troubles

HOST = "http://www.alpha.example"
LIMITS = Limits(seconds=12, delay=2, requests=40, nbytes=4_000_000, characters=2_000_000, redirects=5)

needs_processes = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="processes are looked up in /proc")


@pytest.fixture(scope="module", autouse=True)
def _browser() -> None:
    try:
        find_browser(None)
    except MissingExtra as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def server() -> Iterator[Troubles]:
    with troubles() as server:
        yield server


def settings(server: Troubles, **more: object) -> RenderSettings:
    # Containers run tests as root, and have no user name spaces.
    usual: dict[str, object] = {"limits": LIMITS, "sandbox": False, "resolve": [f"*.example={server.address}"]}
    return RenderSettings(**(usual | more))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def results(server: Troubles) -> dict[str, Rendered]:
    """What comes of every page of the server, rendered in one run with four at a time."""
    paths = [
        "/target", "/refresh", "/refresh-late", "/script", "/script-later", "/script-text", "/http", "/loop", "/iframe",
        "/frameset", "/mark", "/long", "/download", "/downloads", "/picture", "/missing", "/many", "/images",
        "/talks", "/cookie", "/cookie?again", "/shadow", "/later", "/half", "/to-private", "/refresh-private",
        "/asks-private", "/asks-file", "/flood", "/closes", "/written", "/ping", "/self-refresh", "/self-refresh-bare",
        "/picture-frame", "/taken-away", "/frame-taken-away", "/interval", "/slow-interval", "/frames-of-animation",
        "/chain", "/lazy", "/clock", "/agent",
    ]  # fmt: skip
    urls = [HOST + path for path in paths]
    urls += [f"http://{server.address}/secret", f"http://localhost:{server.server_port}/secret", "file:///etc/passwd"]
    found = list(render_urls(urls, settings(server)))
    assert [result.url for result in found] == urls
    return {result.url.removeprefix(HOST): result for result in found}


def text_of(result: Rendered) -> str:
    assert result.failure is None, result.failure
    return " ".join(re.sub(r"(?s)<script.*?</script>|<style.*?</style>|<[^>]*>", " ", result.html).split())


@pytest.mark.parametrize("path", ["/refresh", "/script", "/script-later", "/script-text", "/http"])
def test_redirects_are_followed(results: dict[str, Rendered], path: str) -> None:
    assert "the landing page" in text_of(results[path])
    assert results[path].final_url == f"{HOST}/target"
    assert results[path].status == 200
    assert results[path].redirects == 1


def test_a_redirect_after_more_than_the_delay_is_not_followed(results: dict[str, Rendered]) -> None:
    assert text_of(results["/refresh-late"]) == "still here"
    assert results["/refresh-late"].final_url is None


def test_a_page_that_is_sent_around_fails(results: dict[str, Rendered]) -> None:
    for path in ("/loop", "/ping"):
        assert results[path].failure == "sent elsewhere more than 5 times"
        assert results[path].html == ""


@pytest.mark.parametrize("path", ["/self-refresh", "/self-refresh-bare"])
def test_a_page_that_refreshes_to_itself_is_the_page(results: dict[str, Rendered], path: str) -> None:
    assert text_of(results[path]) == "again"
    assert results[path].final_url is None
    assert results[path].note in (None, "it refreshes to itself again and again")
    assert results[path].redirects <= 3


@pytest.mark.parametrize("path", ["/interval", "/slow-interval", "/frames-of-animation", "/chain"])
def test_content_comes_by_intervals_frames_and_chains_of_timers(results: dict[str, Rendered], path: str) -> None:
    assert text_of(results[path]) == "arrived"


def test_frames_that_wait_to_be_seen_are_loaded(results: dict[str, Rendered]) -> None:
    assert text_of(results["/lazy"]) == "text first frame"


def test_documents_without_an_element_cost_nothing(results: dict[str, Rendered]) -> None:
    assert text_of(results["/picture-frame"]) == "text"
    assert text_of(results["/frame-taken-away"]) == "text"
    assert text_of(results["/taken-away"]) == ""
    assert results["/taken-away"].note == "it has no document any more"


def test_what_only_moves_is_not_waited_for(results: dict[str, Rendered]) -> None:
    """An interval and an animation that bring no text: the page is done before the delay of 2 seconds is over, and its
    outcome is that of a page at rest."""
    assert text_of(results["/clock"]) == "text"
    assert results["/clock"].note is None


def test_the_browser_calls_itself_what_it_would_with_a_window(results: dict[str, Rendered]) -> None:
    assert "Chrome/" in text_of(results["/agent"])
    assert "Headless" not in text_of(results["/agent"])


def test_what_never_answers_costs_only_itself(server: Troubles) -> None:
    """A script, a style sheet, a frame without an answer: what has loaded when the time is nearly over is the page."""
    over = Event()
    server.acts["/never"] = lambda: over.wait(30) and None
    paths = ["/hung-async", "/hung-script", "/hung-style", "/hung-frame"]
    try:
        limits = Limits(seconds=6, delay=1)
        found = list(render_urls([HOST + path for path in paths], settings(server, limits=limits)))
    finally:
        over.set()
    for path, result in zip(paths, found, strict=True):
        assert text_of(result) == "text", path
        assert result.note == "not done after 4.5 seconds; taken as it was then", path
        assert result.status == 200


def test_a_renderer_that_dies_at_once_costs_its_page(server: Troubles) -> None:
    """Whatever the browser is asked when it starts, no page is needed for it, so none can take the run down."""
    server.acts["/kill"] = lambda: kill("renderer")
    found = list(render_urls([f"{HOST}/crash"] * 2 + [f"{HOST}/target"], settings(server, pages=1)))
    assert [result.failure for result in found] == ["the page crashed", "the page crashed", None]


def test_frames_are_grafted_where_they_stand(results: dict[str, Rendered]) -> None:
    assert text_of(results["/iframe"]) == "before inside innermost link after"
    assert f'<div data-frame="{HOST}/inner">' in results["/iframe"].html
    # A link in a frame means the same outside of it.
    assert f'href="{HOST}/next.html"' in results["/iframe"].html
    assert text_of(results["/frameset"]) == "frames first frame second frame"
    assert "<frame" not in results["/frameset"].html
    assert text_of(results["/mark"]) == "first frame"
    assert text_of(results["/written"]) == "written into a frame"


def test_scripts_have_run(results: dict[str, Rendered]) -> None:
    assert text_of(results["/later"]) == "arrived"
    assert text_of(results["/shadow"]) == "in the shadow slotted"
    assert text_of(results["/half"]) == "half � character"
    assert text_of(results["/talks"]) == "said"


@needs_processes
def test_a_page_that_crashes_costs_itself(server: Troubles) -> None:
    server.acts["/kill"] = lambda: kill("renderer")
    crash, target = render_urls([f"{HOST}/crash", f"{HOST}/target"], settings(server, pages=1))
    assert crash.failure == "the page crashed"
    assert "the landing page" in text_of(target)


def test_limits_hold(results: dict[str, Rendered]) -> None:
    assert results["/long"].failure == "longer than 2,000,000 characters"
    assert results["/many"].failure == "asked for more than 40 things"
    assert results["/flood"].failure == "more than 4,000,000 bytes were sent"
    assert results["/flood"].nbytes < 8_000_000


def test_what_is_no_page_is_refused(results: dict[str, Rendered]) -> None:
    assert results["/download"].failure == "a download, not a page"
    assert text_of(results["/downloads"]) == "page"
    assert results["/picture"].failure == "not a page but image/png"
    assert results["/missing"].failure == "answered with status 404"
    assert results["/missing"].status == 404


def test_private_addresses_are_refused_wherever_they_come_from(server: Troubles, results: dict[str, Rendered]) -> None:
    own = f"http://{server.address}/secret"
    for place in (own, "/to-private", "/refresh-private"):
        assert results[place].failure == "refused: 127.0.0.1 is no public address", place
        assert results[place].html == ""
    local = results[f"http://localhost:{server.server_port}/secret"].failure
    assert local is not None
    assert local.startswith("refused: ")
    assert local.endswith(", the address of localhost, is no public address")
    assert results["file:///etc/passwd"].failure == "refused: file: is not http or https"
    assert text_of(results["/asks-private"]) == "asked"
    assert text_of(results["/asks-file"]) == "asked"
    assert all(path != "/secret" for _, path in server.asked)


def test_pictures_media_and_fonts_are_not_fetched(server: Troubles, results: dict[str, Rendered]) -> None:
    assert text_of(results["/images"]) == "pictures"
    assert not {"/a.png", "/b.mp4", "/c.woff", "/d.png"} & {path for _, path in server.asked}


def test_every_page_has_a_context_of_its_own(results: dict[str, Rendered]) -> None:
    assert text_of(results["/cookie"]) == "had nothing"
    assert text_of(results["/cookie?again"]) == "/cookie?again"


def test_a_page_that_closes_itself_costs_itself(results: dict[str, Rendered]) -> None:
    failure = results["/closes"].failure
    assert failure is None or failure.startswith("could not be rendered")


def test_a_host_can_be_allowed_by_name(server: Troubles) -> None:
    (result,) = render_urls([f"http://{server.address}/target"], settings(server, allow=["127.0.0.*"], resolve=[]))
    assert "the landing page" in text_of(result)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_certificate_that_nobody_vouches_for_is_not_accepted(server: Troubles, tmp_path: Path) -> None:
    file = tmp_path / "server.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=secure.example"]
    subprocess.run([*made, "-keyout", file, "-out", tmp_path / "certificate.pem"], check=True, capture_output=True)
    file.write_text(file.read_text() + (tmp_path / "certificate.pem").read_text())
    with troubles(file) as secure:
        rules = [f"secure.example={secure.address}", f"*.example={server.address}"]
        urls = ["https://secure.example/target", f"{HOST}/target"]
        refused, target = render_urls(urls, settings(server, resolve=rules))
    # That the browser has seen the certificate shows that the tunnel carries.
    assert refused.failure == "could not be loaded: net::ERR_CERT_AUTHORITY_INVALID"
    assert target.failure is None


def test_a_page_that_hangs_costs_its_time_and_nothing_else(server: Troubles) -> None:
    limits = Limits(seconds=4, delay=1)
    urls = [f"{HOST}/endless", f"{HOST}/target", f"{HOST}/iframe"]
    endless, target, iframe = render_urls(urls, settings(server, limits=limits, pages=2))
    assert endless.failure == "not done after 4 seconds"
    assert target.failure is None
    assert iframe.failure is None


@needs_processes
def test_a_browser_that_goes_down_costs_one_page(server: Troubles) -> None:
    server.acts["/murder"] = kill
    urls = [f"{HOST}/{name}" for name in ("later", "murder", "iframe", "target", "script")]
    results = {result.url.removeprefix(HOST): result for result in render_urls(urls, settings(server))}
    assert results["/murder"].failure == "the browser crashed"
    assert [result.failure for path, result in results.items() if path != "/murder"] == [None] * 4
    assert sum(path == "/murder" for _, path in server.asked) == 2


@needs_processes
def test_a_browser_that_hangs_is_replaced(server: Troubles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visit, "_CLOSING", 1.0)
    server.acts["/stop"] = lambda: kill("", signal.SIGSTOP)
    limits = Limits(seconds=4, delay=1)
    urls = [f"{HOST}/stop", f"{HOST}/target"]
    stopped, target = render_urls(urls, settings(server, limits=limits, pages=1))
    assert stopped.failure == "not done after 4 seconds"
    assert target.failure is None


def test_a_browser_that_does_not_start_is_an_error_that_helps(server: Troubles, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such browser"):
        list(render_urls([f"{HOST}/target"], settings(server, browser=tmp_path / "none")))
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho nothing works >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(NeardupError, match="the browser does not start"):
        list(render_urls([f"{HOST}/target"], settings(server, browser=broken)))
    if os.geteuid() == 0:
        with pytest.raises(UsageError, match="--no-sandbox"):
            list(render_urls([f"{HOST}/target"], settings(server, sandbox=True)))
