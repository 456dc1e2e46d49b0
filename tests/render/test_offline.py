"""Rendering from archives: what is shown is what a visitor sees, nothing leaves the machine, and it is kept."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from neardup.cli.main import application
from neardup.errors import InputError, MissingExtra, UsageError
from neardup.render import Job, Limits, Rendered, RenderSettings, render, render_pages, render_urls, write_rendered
from neardup.render.archive import Archive
from neardup.render.gateway import Gateway
from neardup.render.pages import stored
from neardup.render.policy import Policy, Refused, is_public
from neardup.render.pool import find_browser
from neardup.sources import InputSpec
from neardup.testing import SearchWeb, search_web
from neardup.testing.writers import write_warc
from render.troubles import Troubles, troubles

LIMITS = Limits(seconds=15, delay=2.5, redirects=4)


@pytest.fixture(scope="module")
def browser() -> str:
    try:
        return find_browser(None)
    except MissingExtra as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def made() -> SearchWeb:
    return search_web(seed=6, queries=3, languages=["en", "ja"], restless=0.04)


@pytest.fixture(scope="module")
def folder(made: SearchWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web")
    made.write(folder)
    return folder


@pytest.fixture
def ways_out(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every connection that a gateway opens, or would."""
    opened: list[object] = []

    async def refuse(*address: object) -> None:
        opened.append(address)
        raise OSError("no way out")

    monkeypatch.setattr("neardup.render.gateway.asyncio.open_connection", refuse)
    return opened


def words_of(html: str) -> list[str]:
    tree = LexborHTMLParser(html)
    for node in tree.css("script, style, noframes"):
        node.decompose()
    return [] if tree.body is None else sorted(re.findall(r"\w+", tree.body.text(separator=" ")))


def archive_of(folder: Path, *records: tuple[str, str, bytes]) -> str:
    path = folder / "archive.warc.gz"
    write_warc([], path, records)
    return str(path)


def test_a_generated_web_is_rendered_as_a_visitor_sees_it(
    made: SearchWeb, folder: Path, browser: str, tmp_path: Path, ways_out: list[object]
) -> None:
    settings = RenderSettings(LIMITS, sandbox=False, archives=[folder / "web.warc.gz"], cache=tmp_path / "cache")
    told = render([str(folder / "pages.jsonl.gz")], tmp_path / "rendered.parquet", settings)
    rows = pq.read_table(tmp_path / "rendered.parquet").to_pylist()
    assert [row["id"] for row in rows] == [page.id for page in made.pages]
    restless = 0
    for page, row in zip(made.pages, rows, strict=True):
        if page.delivery == "restless":
            assert row["failure"] == "sent elsewhere more than 4 times"
            restless += 1
        else:
            assert row["failure"] is None, (page.id, page.delivery, row["failure"])
            assert words_of(row["html"]) == words_of(page.shown), (page.id, page.delivery)
            assert (row["final_url"] is not None) == (page.delivery == "redirect")
    assert told.failed == restless > 0
    assert not ways_out
    # The second time everything that was rendered is known, and what failed is tried again.
    again = render([str(folder / "pages.jsonl.gz")], tmp_path / "again.parquet", settings)
    assert again.cached == len(made.pages) - restless
    second = pq.read_table(tmp_path / "again.parquet").to_pylist()
    assert [row["html"] for row in second] == [row["html"] for row in rows]


def test_what_is_cached_counts_only_while_all_that_went_into_it_is_the_same(browser: str, tmp_path: Path) -> None:
    job = Job("1", "http://alpha.example/", b"<script src='/a.js'></script>")

    def shown(script: bytes) -> tuple[str, int]:
        archive = archive_of(tmp_path, ("http://alpha.example/a.js", "text/javascript", script))
        settings = RenderSettings(LIMITS, sandbox=False, archives=[archive], cache=tmp_path / "cache")
        (result,) = render_pages([job], settings)
        return " ".join(words_of(result.html)), len(list((tmp_path / "cache").rglob("*.zst")))

    assert shown(b"document.write('one')") == ("one", 1)
    assert shown(b"document.write('two')") == ("two", 1)


def test_redirects_and_missing_pages_of_an_archive(browser: str, tmp_path: Path) -> None:
    moved = b"HTTP/1.1 301 Moved\r\nLocation: /b?x=1&y=%22\r\nContent-Length: 0\r\n\r\n"
    path = archive_of(
        tmp_path,
        ("https://alpha.example/b?x=1&y=%22", "text/html", b"<p>landed</p><script src='/moved.js'></script>"),
        ("https://alpha.example/c.js", "text/javascript", b"document.write('ran')"),
    )
    with open(path, "ab") as file:
        for url, target in (("https://alpha.example/a", moved), ("https://alpha.example/moved.js", moved)):
            block = target if url.endswith("a") else target.replace(b"/b?x=1&y=%22", b"/c.js")
            head = f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {len(block)}\r\n"
            head += "Content-Type: application/http;msgtype=response\r\n\r\n"
            file.write(gzip.compress(head.encode() + block + b"\r\n\r\n"))
    settings = RenderSettings(LIMITS, sandbox=False, archives=[path])
    found, missing = render_urls(["https://alpha.example/a", "https://alpha.example/nothing"], settings)
    assert words_of(found.html) == ["landed", "ran"]
    assert found.final_url == "https://alpha.example/b?x=1&y=%22"
    assert missing.failure == "not in the archive"


def test_addresses_that_browsers_write_otherwise(browser: str, tmp_path: Path) -> None:
    script = ("http://bücher.example/ä/ö.js?ü", "text/javascript", b"document.write('ran')")
    archive = archive_of(tmp_path, script)
    body = "<p>here</p><script src='http://bücher.example/ä/ö.js?ü'></script>".encode()
    urls = ["http://alpha.example", "http://alpha.example/a b#top", "http://bücher.example/ä?q=ü"]
    jobs = [Job(str(number), url, body, "text/html; charset=utf-8") for number, url in enumerate(urls)]
    for result in render_pages(jobs, RenderSettings(LIMITS, sandbox=False, archives=[archive])):
        assert words_of(result.html) == ["here", "ran"], (result.url, result.failure)
        assert result.final_url is None


def test_nothing_leaves_the_machine_by_any_way(browser: str, tmp_path: Path, ways_out: list[object]) -> None:
    with troubles() as server:
        own = server.address
        attempts = f"""<p>quiet</p><iframe src="http://{own}/f"></iframe><link rel=prefetch href="http://{own}/p">
        <link rel=dns-prefetch href="http://{own}/"><link rel=preconnect href="http://{own}">
        <link rel=stylesheet href="http://{own}/s.css"><object data="http://{own}/o"></object>
        <script>fetch("http://{own}/x", {{mode: "no-cors"}}).catch(function () {{}});
        navigator.sendBeacon("http://{own}/b", "x");
        try {{ new WebSocket("ws://{own}/w") }} catch (error) {{}}
        try {{ new EventSource("http://{own}/e") }} catch (error) {{}}
        try {{ new Worker(URL.createObjectURL(new Blob(["fetch('http://{own}/k', {{mode: 'no-cors'}})"]))) }}
        catch (error) {{}}
        try {{ new RTCPeerConnection({{iceServers: [{{urls: "stun:{own}"}}]}}).createDataChannel("x") }}
        catch (error) {{ document.body.append("no channel") }}
        window.open("http://{own}/n")</script>"""
        settings = RenderSettings(LIMITS, sandbox=False)
        (result,) = render_pages([Job("1", "https://alpha.example/", attempts.encode())], settings)
        assert result.failure is None
        assert words_of(result.html) == ["channel", "no", "quiet"]
        assert not server.asked
    assert not ways_out


def test_command_renders_files_and_every_source_reads_them(
    made: SearchWeb, folder: Path, browser: str, tmp_path: Path
) -> None:
    pages = tmp_path / "pages.jsonl"
    chosen = [page for page in made.pages if page.delivery in {"inserted", "frames"}][:4]
    with open(pages, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": page.id, "url": page.url, "html": page.html}) + "\n" for page in chosen)
        restless = {"id": "restless", "url": "http://alpha.example/", "html": "<script>location.reload()</script>"}
        file.write(json.dumps(restless) + "\n")
    for name in ("rendered.jsonl.zst", "rendered.warc.gz"):
        out = tmp_path / name
        arguments = [
            "render", str(pages), "--archive", str(folder / "web.warc.gz"), "--out", str(out), "--no-sandbox",
            "--browser", browser, "--cache", str(tmp_path / "cache"),
        ]  # fmt: skip
        done = CliRunner().invoke(application, arguments)
        assert done.exit_code == 0, done.output
        assert "5 pages: 4 rendered" in done.output
        assert "1  sent elsewhere more than 10 times" in done.output
        found = list(stored(InputSpec([str(out)]), False, []))
        texts = {job.url: (job.content or b"").decode() for job in found}
        for page in chosen:
            assert words_of(texts[page.url]) == words_of(page.shown)
        assert texts.get("http://alpha.example/", "") == ""


def test_what_cannot_be_rendered_is_said(folder: Path, tmp_path: Path) -> None:
    def said(*arguments: str) -> str:
        done = CliRunner().invoke(application, ["render", *arguments])
        assert done.exit_code != 0
        return f"{done.output} {done.exception}"

    out = str(tmp_path / "rendered.jsonl")
    assert "nothing to render" in said("--out", out)
    assert "addresses or files" in said("http://alpha.example/", "pages.jsonl", "--out", out)
    assert "does not tell" in said("http://alpha.example/", "--out", str(tmp_path / "rendered"))
    assert "not a rule" in said("http://alpha.example/", "--out", out, "--resolve", "nonsense")
    assert "not cached" in said("http://alpha.example/", "--out", out, "--cache", str(tmp_path))
    assert "not both" in said(str(folder / "pages.jsonl.gz"), "--live", "--archive", "a.warc", "--out", out)
    assert "not a WARC file" in said(
        str(folder / "pages.jsonl.gz"), "--archive", str(folder / "pairs.csv"), "--out", out
    )
    urls = tmp_path / "urls.txt"
    urls.write_text("# seeds\nalpha.example\n")
    assert "not an address" in said("--urls", str(urls), "--out", out)
    assert not (tmp_path / "rendered.jsonl").exists()
    with pytest.raises(UsageError, match="limit of nothing"):
        Limits(seconds=0)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "ff02::1", "fe80::1%eth0", "nonsense",
    ],
)  # fmt: skip
def test_private_addresses_are_known(address: str) -> None:
    assert not is_public(address)
    with pytest.raises(Refused):
        asyncio.run(Policy().address(address, 80))


@given(st.integers(0, (1 << 32) - 1))
def test_an_address_is_as_private_as_the_one_it_carries(number: int) -> None:
    plain = str(ipaddress.IPv4Address(number))
    for carrier in (0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80):
        assert is_public(str(ipaddress.IPv6Address(carrier))) == is_public(plain)


def test_public_addresses_are_not_refused() -> None:
    for address in ("8.8.8.8", "2001:4860:4860::8888", "64:ff9b::808:808", "2002:808:808::"):
        assert is_public(address)
        assert asyncio.run(Policy().address(address, 443)) == (address, 443)


def test_a_name_with_one_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def look_up() -> None:
        async def found(*_: object, **__: object) -> list[tuple[object, ...]]:
            return [(0, 0, 0, "", ("8.8.8.8", 80)), (0, 0, 0, "", ("10.0.0.1", 80))]

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", found, raising=False)
        await Policy().address("rebinding.example", 80)

    with pytest.raises(Refused, match=r"10\.0\.0\.1, the address of rebinding\.example, is no public address"):
        asyncio.run(look_up())


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (b"GET http://127.0.0.1:1/ HTTP/1.1\r\n\r\n", b"403 Refused"),
        (b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n", b"403 Refused"),
        (b"GET ftp://alpha.example/ HTTP/1.1\r\n\r\n", b"403 Refused"),
        (b"GET http://[bad/ HTTP/1.1\r\n\r\n", b"403 Refused"),
        (b"CONNECT alpha.example:99999 HTTP/1.1\r\n\r\n", b"403 Refused"),
        (b"\r\n\r\n", b"403 Refused"),
        (b"x" * 400_000, b""),
    ],
)
def test_the_gateway_stands_nonsense(sent: bytes, answered: bytes) -> None:
    async def send() -> bytes:
        async with Gateway(Policy()) as gateway:
            gateway.begin(1000)
            reader, writer = await asyncio.open_connection("127.0.0.1", int(gateway.address.rpartition(":")[2]))
            writer.write(sent)
            try:
                return await asyncio.wait_for(reader.read(1000), 10)
            except ConnectionError:
                return b""
            finally:
                writer.close()

    assert answered in asyncio.run(send())


def test_one_request_a_connection(tmp_path: Path) -> None:
    """A second request on the same connection would go to a host that nobody looked at."""

    async def send(server: Troubles) -> None:
        async with Gateway(Policy.of([], [f"*.example={server.address}"])) as gateway:
            gateway.begin(100_000)
            reader, writer = await asyncio.open_connection("127.0.0.1", int(gateway.address.rpartition(":")[2]))
            first = b"GET http://alpha.example/target HTTP/1.1\r\nHost: alpha.example\r\nProxy-Authorization: x\r\n\r\n"
            writer.write(first + b"GET http://127.0.0.1/secret HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            answer = await asyncio.wait_for(reader.read(), 10)
            assert b"Connection: close" in answer
            assert answer.count(b"HTTP/1.") == 1
            writer.close()

    with troubles() as server:
        asyncio.run(send(server))
        assert server.asked == [("alpha.example", "/target")]


def test_a_tunnel_carries_bytes_up_to_the_limit() -> None:
    async def send() -> tuple[bytes, int, bool]:
        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while data := await reader.read(1000):
                    writer.write(data)
            except ConnectionError:
                pass
            writer.close()

        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, Gateway(Policy.of([], [f"alpha.example=127.0.0.1:{port}"])) as gateway:
            gateway.begin(5000)
            reader, writer = await asyncio.open_connection("127.0.0.1", int(gateway.address.rpartition(":")[2]))
            writer.write(b"CONNECT alpha.example:443 HTTP/1.1\r\n\r\n")
            assert b"200 Connected" in await reader.readuntil(b"\r\n\r\n")
            writer.write(b"x" * 1000)
            echoed = await reader.readexactly(1000)
            writer.write(b"x" * 50_000)
            try:
                while await asyncio.wait_for(reader.read(100_000), 10):
                    pass
            except ConnectionError:
                pass  # cut, as it should be
            writer.close()
            return echoed, gateway.received, gateway.overflowed

    echoed, received, overflowed = asyncio.run(send())
    assert echoed == b"x" * 1000
    assert overflowed
    assert received < 50_000 + 64_000


def test_archives_that_are_odd(tmp_path: Path) -> None:
    plain = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello"
    gone = b"HTTP/1.1 503 Busy\r\n\r\n"

    def record(kind: str, url: str, block: bytes, more: str = "") -> bytes:
        more += "Content-Type: application/http\r\n" if kind == "response" else ""
        head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n{more}Content-Length: {len(block)}\r\n\r\n"
        return head.encode() + block + b"\r\n\r\n"

    records = (
        record("response", "http://alpha.example/a", gone)
        + record("response", "http://alpha.example/a", plain)
        + record("response", "http://alpha.example/a", plain.replace(b"hello", b"later"))
        + record("revisit", "http://alpha.example/r", b"", "WARC-Refers-To-Target-URI: http://alpha.example/a\r\n")
        + record("resource", "http://alpha.example/f", b"as a file", "Content-Type: text/plain\r\n")
        + record("response", "http://alpha.example/bad", b"not HTTP at all")
        + record("response", "http://alpha.example/other", plain).replace(b"application/http", b"text/dns")
        + b"rubbish"
    )
    for name, data in (("a.warc", records), ("b.warc.gz", gzip.compress(records))):
        (tmp_path / name).write_bytes(data)
        archive = Archive([tmp_path / name])
        bodies = {}
        for path in ("a", "a#top", "r", "f"):
            answer = archive.answer(f"http://Alpha.example:80/{path}")
            assert answer is not None
            bodies[path] = answer.body
        assert bodies == {"a": b"hello", "a#top": b"hello", "r": b"hello", "f": b"as a file"}
        assert archive.answer("http://alpha.example/none") is None
        assert archive.answer("http://alpha.example/other") is None
    with pytest.raises(InputError):
        Archive([tmp_path / "missing.warc"])


def test_rendered_pages_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def failing() -> Iterator[Rendered]:
        yield Rendered("1", "http://alpha.example/", "<p>one")
        raise InputError("no more")

    for name in ("a.jsonl", "a.parquet", "a.warc.gz"):
        with pytest.raises(InputError):
            write_rendered(failing(), tmp_path / name)
    assert not list(tmp_path.iterdir())
