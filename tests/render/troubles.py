"""A server of pages that move, hide, hang, crash and lie, for a browser to be tried on."""

from __future__ import annotations

import os
import signal
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

Answer = tuple[int, dict[str, str], bytes]


def page(body: str, head: str = "") -> Answer:
    return (
        200,
        {"Content-Type": "text/html; charset=utf-8"},
        f"<html><head>{head}</head><body>{body}</body></html>".encode(),
    )


def elsewhere(url: str) -> Answer:
    return 302, {"Location": url}, b""


#: Pages by their paths. SELF stands for the server's own loopback address.
PAGES: dict[str, Answer] = {
    "/target": page("<p>the landing page</p>", "<title>landing</title>"),
    "/refresh": page("stub", '<meta http-equiv="Refresh" content="1; url=/target">'),
    "/refresh-late": page("still here", '<meta http-equiv="refresh" content="60; url=/target">'),
    "/script": page("stub<script>location.replace('/target')</script>"),
    "/script-later": page("stub<script>setTimeout(function () { location.href = '/target' }, 700)</script>"),
    "/script-text": page("stub<script>setTimeout(\"location.href = '/target'\", 300)</script>"),
    "/http": elsewhere("/target"),
    "/loop": page("<p>around</p><script>location.reload()</script>"),
    "/iframe": page('<p>before</p><iframe src="/inner"></iframe><p>after</p>'),
    "/inner": page('inside<iframe src="/innermost"></iframe><a href="next.html">link</a>'),
    "/innermost": page("innermost"),
    "/frameset": (
        200,
        {"Content-Type": "text/html"},
        b"<html><head><title>frames</title></head><frameset cols='1,2'><frame src='/one'><frame src='/two'>"
        b"<noframes><body>no frames</body></noframes></frameset></html>",
    ),
    "/one": page("first frame"),
    "/two": page("second frame"),
    "/mark": page("<!--0:0:0--><iframe src='/one'></iframe>"),
    "/endless": page("<p>busy</p><script>while (true) {}</script>"),
    "/crash": page("<p>here</p><script>fetch('/kill')</script>"),
    "/long": page("<script>document.write('x'.repeat(3000000))</script>"),
    "/download": (200, {"Content-Type": "application/zip", "Content-Disposition": "attachment; filename=a.zip"}, b"PK"),
    "/downloads": page("<p>page</p><iframe src='/download'></iframe>"),
    "/picture": (200, {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n"),
    "/missing": (404, {"Content-Type": "text/html"}, b"<p>not here</p>"),
    "/many": page("".join(f"<script src='/script-{number}.js'></script>" for number in range(60))),
    "/images": page(
        "<p>pictures</p><img src='/a.png'><video src='/b.mp4'></video><style>@font-face "
        "{font-family: f; src: url(/c.woff)} p {font-family: f; background: url(/d.png)}</style>"
    ),
    "/talks": page("<p>said</p><script>alert(1); confirm(2); window.open('/target'); print()</script>"),
    "/cookie": page("<p id=a></p><script>a.textContent = 'had ' + (document.cookie || 'nothing'); "
                    "document.cookie = 'seen=1'; localStorage.x = 1</script>"),
    "/shadow": page("<div id=host><b>slotted</b></div><script>host.attachShadow({mode: 'open'}).innerHTML = "
                    "'<p>in the shadow <slot></slot></p>'</script>"),
    "/later": page("<p id=a>soon</p><script>setTimeout(function () { a.textContent = 'arrived' }, 900)</script>"),
    "/half": page("<p id=a></p><script>a.textContent = 'half \\ud800 character'</script>"),
    "/to-private": elsewhere("http://SELF/secret"),
    "/refresh-private": page("stub", '<meta http-equiv="refresh" content="0; url=http://SELF/secret">'),
    "/asks-private": page(
        "<p>asked</p><iframe src='http://SELF/secret'></iframe><script src='http://SELF/secret'></script>"
        "<link rel=prefetch href='http://SELF/secret'><link rel=preconnect href='http://SELF/'>"
        "<script>fetch('http://SELF/secret', {mode: 'no-cors'}).catch(function () {});"
        "navigator.sendBeacon('http://SELF/secret', 'x');"
        "try { new WebSocket('ws://SELF/secret') } catch (error) {}</script>"
    ),
    "/asks-file": page("<p>asked</p><iframe src='file:///etc/passwd'></iframe>"),
    "/closes": page("<p>bye</p><script>window.close()</script>"),
    "/written": page("<iframe id=a></iframe><script>a.contentDocument.write('written into a frame')</script>"),
    "/secret": page("secret"),
    # Sent from one to the other without end.
    "/ping": page("<p>ping</p><script>location.replace('/pong')</script>"),
    "/pong": page("<p>pong</p><script>location.replace('/ping')</script>"),
    "/self-refresh": page("again", '<meta http-equiv="refresh" content="0; url=/self-refresh">'),
    "/self-refresh-bare": page("again", '<meta http-equiv="refresh" content="1">'),
    # What never answers, in each place where it is waited for.
    "/hung-async": page("<p>text</p><script async src='/never'></script>"),
    "/hung-script": page("<p>text</p><script src='/never'></script><p>behind</p>"),
    "/hung-style": page("<p>text</p>", "<link rel=stylesheet href='/never'>"),
    "/hung-frame": page("<p>text</p><iframe src='/never'></iframe>"),
    # Frames and documents without an element.
    "/picture-frame": page("<p>text</p><iframe src='/pixel'></iframe>"),
    "/pixel": (200, {"Content-Type": "image/gif"}, b"GIF89a\x01\0\x01\0\0\0\0;"),
    "/taken-away": page("<p>text</p><script>onload = function () { document.documentElement.remove() }</script>"),
    "/frame-taken-away": page("<p>text</p><iframe src='/taken-away'></iframe>"),
    # Content that comes by other ways than one timer.
    "/interval": page("<p id=a>soon</p><script>var n = 0, i = setInterval(function () { if (++n === 6) "
                      "{ a.textContent = 'arrived'; clearInterval(i) } }, 120)</script>"),
    "/slow-interval": page("<p id=a>soon</p><script>setInterval(function () { a.textContent = 'arrived' }, 1500)"
                           "</script>"),
    "/frames-of-animation": page("<p id=a>soon</p><script>var n = 0; (function step() { if (++n === 40) "
                                 "a.textContent = 'arrived'; else requestAnimationFrame(step) })()</script>"),
    "/chain": page("<p id=a>soon</p><script>(function step(n) { if (n === 9) a.textContent = 'arrived'; else "
                   "setTimeout(step, 90, n + 1) })(0)</script>"),
    "/lazy": page("<p>text</p><div style='height: 9000px'></div><iframe loading=lazy src='/one'></iframe>"),
    # Nothing of this brings any content.
    "/clock": page("<p>text</p><script>setInterval(function () { document.body.className += 'x' }, 50);"
                   "(function step() { requestAnimationFrame(step) })()</script>"),
    "/agent": page("<p id=a></p><script>a.textContent = navigator.userAgent</script>"),
}  # fmt: skip


class Troubles(ThreadingHTTPServer):
    """The server. ``asked`` holds host and path of every request; ``acts`` run before the answer to their path."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing: that somebody hangs up is part of the trouble."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.acts: dict[str, Callable[[], None]] = {}
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Troubles

    def do_GET(self) -> None:
        self.server.asked.append((self.headers.get("Host", ""), self.path))
        act = self.server.acts.get(self.path)
        if act is not None:
            act()
        if self.path == "/flood":
            self._flood()
            return
        status, fields, body = PAGES.get(self.path, page(self.path))
        body = body.replace(b"SELF", self.server.address.encode())
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value.replace("SELF", self.server.address))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def _flood(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"<p>and more</p>" * 10000)
        except OSError:
            pass  # somebody has had enough

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""


@contextmanager
def troubles(certificate: Path | None = None) -> Iterator[Troubles]:
    """The server, under TLS if there is a certificate (and its key, in one file)."""
    server = Troubles()
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def processes(kind: str) -> list[int]:
    """The processes of the browser that this test has started: "" is the browser itself, "renderer" its pages."""
    own, found, known = {os.getpid()}, [], []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                known.append((int(entry.name), int(stat[1]), (entry / "cmdline").read_bytes()))
            except OSError:
                continue
    grown = True
    while grown:
        grown = False
        for number, parent, command in known:
            if parent in own and number not in own:
                own.add(number)
                grown = True
                wanted = f"--type={kind}" if kind else "--remote-debugging-pipe"
                if wanted.encode() in command and bool(kind) == (b"--type=" in command):
                    found.append(number)
    return found


def kill(kind: str = "", number: int = signal.SIGKILL) -> None:
    for process in processes(kind):
        os.kill(process, number)
    time.sleep(0.2)
