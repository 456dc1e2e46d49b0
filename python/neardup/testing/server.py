"""A generated web, served on loopback: all its hosts by one server, told apart by the name that is asked for.

A browser finds it with ``--host-resolver-rules="MAP * 127.0.0.1:PORT"``, ``neardup render`` with
``--resolve '*=127.0.0.1:PORT'``, and any client with a ``Host`` header.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from neardup.errors import UsageError


class Server(ThreadingHTTPServer):
    """Answers by address. ``asked`` holds the addresses asked for so far, in order."""

    daemon_threads = True
    # Browsers open many connections at once.
    request_queue_size = 128

    def __init__(self, answers: Mapping[str, tuple[str, bytes]], port: int) -> None:
        self.answers = answers
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def address(self) -> str:
        """Where it listens, as ``--resolve`` takes it."""
        return f"127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path if self.path.startswith("/") else "/" + self.path.partition("://")[2].partition("/")[2]
        url = f"http://{self.headers.get('Host', '').partition(':')[0].lower()}{path}"
        self.server.asked.append(url)
        found = self.server.answers.get(url)
        media_type, body = found or ("text/html; charset=utf-8", b"<html><head><title>404</title></head></html>\n")
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""


@contextmanager
def serve(answers: Mapping[str, tuple[str, bytes]], port: int = 0) -> Iterator[Server]:
    """Serves what stands at each address (media type and body), on a free port unless one is given.

    >>> import urllib.request
    >>> with serve({"http://alpha.example/": ("text/plain", b"hello")}) as server:
    ...     request = urllib.request.Request(f"http://{server.address}/", headers={"Host": "alpha.example"})
    ...     urllib.request.urlopen(request).read()
    b'hello'
    """
    try:
        server = Server(answers, port)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen on port {port}: {error}", hint="give another port, or 0 for a free one"
        ) from None
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
