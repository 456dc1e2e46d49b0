"""A small crawler that does not collect what it has: every page is shown to the index as it arrives.

The web it crawls is made up (`neardup.testing`) and served on this machine: each host has a site map, and pages repeat
each other within and across hosts in the ways real ones do.

    python examples/crawl_and_skip_repeats.py
"""

from __future__ import annotations

import http.client
import tempfile
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from neardup import Index
from neardup.testing import Web, web


def served(made: Web) -> ThreadingHTTPServer:
    """The made-up web on a free port; the Host header says whose page is meant."""
    pages = {page.url: page.html for page in made.pages}

    class Hosts(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = self.headers["host"]
            if self.path == "/sitemap.txt":
                body = "\n".join(url for url in pages if urlsplit(url).netloc == host)
            else:
                body = pages.get(f"http://{host}{self.path}", "")
            self.send_response(200 if body else 404)
            self.end_headers()
            self.wfile.write(body.encode("utf-8"))

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hosts)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def fetch(port: int, url: str) -> str:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    connection.request("GET", path, headers={"Host": parts.netloc})
    body = connection.getresponse().read().decode("utf-8", "replace")
    connection.close()
    return body


def crawl(port: int, hosts: list[str], index: Index) -> Counter[str]:
    """Fetches every page of some hosts; keeps what the index has not seen."""
    counted: Counter[str] = Counter()
    for host in hosts:
        for url in fetch(port, f"http://{host}/sitemap.txt").splitlines():
            answer = index.add({"html": fetch(port, url)}, url=url)
            counted["fetched"] += 1
            counted[f"not collected: {answer.matches[0].rule}" if answer else "collected"] += 1
    return counted


def main() -> None:
    made = web(seed=3, sites=6, pages=150, words=120)
    hosts = sorted({urlsplit(page.url).netloc for page in made.pages})
    server = served(made)
    folder = Path(tempfile.mkdtemp()) / "seen"
    Index.create(folder, "site-aware")
    with Index(folder, sync="second") as index:
        for what, count in sorted(crawl(server.server_port, hosts, index).items()):
            print(f"{count:5}  {what}")
        # A second visit replaces every page by itself, and finds nothing that was not known.
        again = crawl(server.server_port, hosts, index)
        print(f"{index.stats().pages:5}  pages in the index, also after a second visit of {again['fetched']}")
    server.shutdown()


if __name__ == "__main__":
    main()
