"""A run with planted pages, its server as a user starts it, and a real browser."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neardup import Settings, dedup
from neardup.evaluation.judging import Judging
from neardup.evaluation.judging_sample import draw_pairs
from neardup.testing import Web

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from browser import find_chromium

#: What a page under study may try: to run, to fetch, to leave, to speak for us.
HOSTILE = """<!doctype html><html><head>
<title>&lt;script&gt;window.owned=1&lt;/script&gt; hostile "quoted"</title>
<meta http-equiv="refresh" content="0;url=http://evil.example/refresh">
<link rel="preconnect" href="http://evil.example/"><link rel="stylesheet" href="http://evil.example/style.css">
<base href="http://evil.example/"><style>body{background:url(http://evil.example/background)}</style>
<script>top.owned = 1; parent.owned = 1; fetch("http://evil.example/fetch")</script></head>
<body onload="top.owned = 1"><img src="http://evil.example/image.png" onerror="top.owned = 1">
<iframe src="http://evil.example/frame"></iframe><object data="http://evil.example/object"></object>
<svg onload="top.owned = 1"><script>top.owned = 1</script></svg><form action="http://evil.example/"><input></form>
<p>&lt;img src=x onerror="window.owned = 1"&gt; the same twenty words stand on both of these hostile pages so that they
are surely found to be near duplicates of each other and joined in one cluster by whatever detector is asked about them
here and now; PLANTED</p></body></html>"""


@pytest.fixture(scope="session")
def run_folder(small_web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over the small web and two hostile pages."""
    folder = tmp_path_factory.mktemp("application")
    rows: list[dict[str, Any]] = [{"id": page.id, "url": page.url, "html": page.html} for page in small_web.pages]
    for number in ("1", "2"):
        html = HOSTILE.replace("PLANTED", f"visitor {number}")
        rows.append({"id": f"hostile-{number}", "url": f"http://hostile.example/<b>{number}", "html": html})
    (folder / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    dedup(folder / "pages.jsonl", folder / "run", detector="minhash(threshold=0.6)", settings=Settings(threads=1))
    return folder / "run"


@pytest.fixture(scope="session")
def judged_folder(run_folder: Path) -> Path:
    """The same with a judging of six pairs."""
    Judging.create(run_folder / "judging.sqlite", draw_pairs([run_folder], 6, ["site"])).close()
    return run_folder


@pytest.fixture(scope="session")
def server(judged_folder: Path) -> Iterator[str]:
    """The address of ``neardup ui``, started as a user starts it."""
    command = [sys.executable, "-m", "neardup", "ui", str(judged_folder), "--no-browser", "--port", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as made:
        assert made.stdout is not None
        line = made.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line + made.stdout.read()
        yield found[0]
        made.terminate()


class Trap:
    """Stands in for the server that hostile pages name, and counts who knocks."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.knocks = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                found, _ = self._socket.accept()
            except OSError:
                return
            self.knocks += 1
            with found:
                found.recv(65536)
                found.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nworld!")

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="module")
def trap() -> Iterator[Trap]:
    made = Trap()
    yield made
    made.close()


# Playwright's loop runs in this thread as long as it is started: no longer than one module needs it.
@pytest.fixture(scope="module")
def browser(trap: Trap) -> Iterator[Any]:
    """An installed Chromium, which finds the trap where evil.example should be."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium is installed")
    # Root, as in a container, has no sandbox to run it in.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with playwright.sync_playwright() as started:
        # Of the rest, which a browser asks for updates and the like, nothing is to be found.
        rules = f"MAP evil.example 127.0.0.1:{trap.port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        arguments.append(f"--host-resolver-rules={rules}")
        try:
            launched = started.chromium.launch(executable_path=path, args=arguments)
        except playwright.Error as error:
            pytest.skip(f"no browser: {str(error).splitlines()[0]}")
        yield launched
        launched.close()
