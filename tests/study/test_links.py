"""The link graph: against networkx, from every kind of link, from files, through redirects."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.errors import InputError, UsageError
from neardup.study import study
from neardup.study.link_files import read_links
from neardup.study.links import PARTS, connect, link_graph, read_seeds

LINKS = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), max_size=45)
NAMES = ("core", "in", "out", "tube", "tendril", "island")


def sides(links: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.array(links, np.uint32).reshape(-1, 2)
    return np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])


@given(LINKS)
def test_the_bow_tie_is_that_of_networkx(links: list[tuple[int, int]]) -> None:
    graph = nx.DiGraph(links)
    graph.add_nodes_from(range(16))
    part, strong = _native.bow_tie(16, *sides(links))
    for component in nx.strongly_connected_components(graph):
        assert {int(strong[page]) for page in component} == {min(component)}
    core = max(nx.strongly_connected_components(graph), key=lambda found: (len(found), -min(found)))
    start = next(iter(core))
    out = nx.descendants(graph, start) - core
    into = nx.ancestors(graph, start) - core
    joined = nx.node_connected_component(graph.to_undirected(), start)
    from_in = set().union(*(nx.descendants(graph, page) for page in into)) if into else set()
    to_out = set().union(*(nx.ancestors(graph, page) for page in out)) if out else set()
    for page in range(16):
        if page in core:
            expected = "core"
        elif page in into:
            expected = "in"
        elif page in out:
            expected = "out"
        elif page not in joined:
            expected = "island"
        else:
            expected = "tube" if page in from_in and page in to_out else "tendril"
        assert PARTS[part[page]] == expected


@given(LINKS, st.sets(st.integers(0, 15), min_size=1, max_size=3))
def test_a_crawl_goes_as_far_as_links_lead(links: list[tuple[int, int]], seeds: set[int]) -> None:
    graph = nx.DiGraph(links)
    graph.add_nodes_from(range(16))
    depth = _native.crawl(16, *sides(links), np.array(sorted(seeds), np.uint32))
    expected = nx.multi_source_dijkstra_path_length(graph, seeds)
    assert {page: int(steps) for page, steps in enumerate(depth) if steps != 2**32 - 1} == expected


def test_links_outside_are_counted_and_loops_of_redirects_lead_nowhere() -> None:
    def hashes(*values: int) -> np.ndarray:
        return np.array(values, np.uint64)

    own = hashes(10, 20, 20, 0)
    moved = hashes(50, 60, 70), hashes(60, 50, 20)
    graph = link_graph(own, hashes(10, 10, 10, 20), hashes(70, 50, 99, 20), moved)
    assert graph.nodes == 3
    assert graph.node.tolist() == [0, 1, 1, 2]
    assert list(zip(graph.from_.tolist(), graph.to.tolist(), strict=True)) == [(0, 1)]
    assert graph.counts["links"] == 4
    found = connect(graph)
    assert found.counts["bow_tie"]["island"] == 1


BODY = "This sentence is long enough to make the page count, if it is said a few times over. " * 8


def write_pages(path: Path, pages: dict[str, str]) -> None:
    lines = (json.dumps({"url": url, "html": f"{html}<p>{BODY}{url}"}) for url, html in pages.items())
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def test_every_kind_of_link_is_followed(tmp_path: Path) -> None:
    pages = {
        "http://a.example/": "<link rel=canonical href=/canonical><base href=http://a.example/x/><a href=one#top>",
        "http://a.example/x/one": "<frameset><frame src=/two></frameset>",
        "http://a.example/two": '<iframe src="three"></iframe>',
        "http://a.example/three": '<meta http-equiv=refresh content="0; url=HTTP://A.example/four">',
        "http://a.example/four": '<area href="/"><a href="//b.example:80/away?b=1&amp;a=2">',
        "http://a.example/canonical": "",
        "http://b.example/away?b=1&a=2": "",
        "http://a.example/alone": "<noscript><a href=/></noscript><!-- <a href=/> --><script>'<a href=/>'</script>",
    }
    write_pages(tmp_path / "pages.jsonl", pages)
    made = study(tmp_path / "pages.jsonl", seeds=["http://a.example/#top"])
    # The base goes for all links of its page, canonical ones too: an address from the root stays what it is.
    assert dict(zip(made.pages["url"].to_pylist(), made.pages["depth"].to_pylist(), strict=True)) == {
        "http://a.example/": 0,
        "http://a.example/x/one": 1,
        "http://a.example/two": 2,
        "http://a.example/three": 3,
        "http://a.example/four": 4,
        "http://a.example/canonical": 1,
        "http://b.example/away?b=1&a=2": 5,
        "http://a.example/alone": None,
    }
    assert made.report["link_graph"]["bow_tie"] == dict(zip(NAMES, (5, 0, 2, 0, 0, 1), strict=True))


def record(kind: str, url: str, block: bytes, content_type: str) -> bytes:
    header = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Type: {content_type}\r\n"
    return f"{header}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def answer(url: str, status: str, fields: str, body: str = "") -> bytes:
    block = f"HTTP/1.1 {status}\r\n{fields}\r\n\r\n{body}".encode()
    return record("response", url, block, "application/http;msgtype=response")


@pytest.mark.parametrize("plain", [True, False])
def test_redirects_of_an_archive_are_followed(tmp_path: Path, plain: bool) -> None:
    # A second Location is no plain header, and goes the patient way; there the first counts.
    twice = "" if plain else "\r\nLocation: /never"
    html = "Content-Type: text/html"
    archive = [
        answer("http://a.example/", "200 OK", html, f"<a href=/old>x</a><p>{BODY}1"),
        answer("http://a.example/old", "301 Moved Permanently", f"Location: older{twice}"),
        answer("http://a.example/older", "302 Found", "Location: http://b.example/new"),
        answer("http://b.example/new", "200 OK", html, f"<a href=http://a.example/>x</a><p>{BODY}2"),
        answer("http://c.example/loop", "302 Found", "Location: http://c.example/loop"),
    ]
    (tmp_path / "crawl.warc.gz").write_bytes(b"".join(gzip.compress(one) for one in archive))
    made = study(tmp_path / "crawl.warc.gz")
    assert made.report["link_graph"]["bow_tie"]["core"] == 2
    assert made.report["link_graph"]["through_redirects"] == 2
    assert made.report["ignored"] == {"response with status 3xx": 3}


def test_links_from_a_table(tmp_path: Path) -> None:
    pages = {f"http://a.example/{name}": '<a href="http://a.example/0">' for name in range(4)}
    write_pages(tmp_path / "pages.jsonl", pages)
    links = (
        "source\ttarget\tkind\nhttp://a.example/0\thttp://A.example/1#x\ta\nhttp://a.example/1\thttp://a.example/0\ta\n"
    )
    (tmp_path / "links.tsv").write_text(links + "nothing\n\thttp://a.example/2\ta\n")
    made = study(tmp_path / "pages.jsonl", links=tmp_path / "links.tsv")
    assert made.report["link_graph"]["bow_tie"] == dict(zip(NAMES, (2, 0, 0, 0, 0, 2), strict=True))
    assert made.report["link_graph"]["unreadable_links"] == 2
    with gzip.open(tmp_path / "links.tsv.gz", "wt") as file:
        file.write(links)
    assert len(read_links(str(tmp_path / "links.tsv.gz")).target) == 2
    (tmp_path / "odd.tsv").write_bytes(b"http://a.example/\xff\thttp://a.example/1\nx\n")
    found = read_links(str(tmp_path / "odd.tsv"))
    assert (len(found.target), found.unreadable) == (1, 1)
    (tmp_path / "other.tsv").write_text("root:x:0\ndaemon:x:1\n")
    with pytest.raises(InputError, match="none of its lines is a link"):
        read_links(str(tmp_path / "other.tsv"))
    with pytest.raises(InputError, match=r"none\.tsv"):
        study(tmp_path / "pages.jsonl", links=tmp_path / "none.tsv")


def wat(url: str, answer: dict[str, object]) -> bytes:
    told = {
        "Envelope": {
            "WARC-Header-Metadata": {"WARC-Target-URI": url},
            "Payload-Metadata": {"HTTP-Response-Metadata": answer},
        }
    }
    return record("metadata", url, json.dumps(told).encode(), "application/json")


def test_links_from_a_wat_archive(tmp_path: Path) -> None:
    pages = {f"http://a.example/{name}": "" for name in ("", "x/1", "2", "3", "4")}
    write_pages(tmp_path / "pages.jsonl", pages)
    links = [
        {"path": "A@/href", "url": "1#y"},
        {"path": "IMG@/src", "url": "/4"},
        {"path": "FORM@/action", "url": "/4"},
    ]
    records = [
        wat("http://a.example/", {"HTML-Metadata": {"Head": {"Base": "http://a.example/x/"}, "Links": links}}),
        wat("http://a.example/x/1", {"HTML-Metadata": {"Head": {"Link": [{"rel": "canonical", "url": "/2"}]}}}),
        wat(
            "http://a.example/2",
            {"HTML-Metadata": {"Head": {"Metas": [{"http-equiv": "Refresh", "content": "0; URL='/moved'"}]}}},
        ),
        wat("http://a.example/moved", {"Response-Message": {"Status": "301"}, "Headers": {"location": "/3"}}),
        record("metadata", "http://a.example/", b"no json", "application/json"),
    ]
    (tmp_path / "crawl.warc.wat.gz").write_bytes(b"".join(gzip.compress(one) for one in records))
    made = study(tmp_path / "pages.jsonl", links=tmp_path / "crawl.warc.wat.gz", seeds=["http://a.example/"])
    assert made.pages["depth"].to_pylist() == [0, 1, 2, 3, None]
    assert made.report["link_graph"]["unreadable_links"] == 1


def test_seeds(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("http://a.example/\n\nhttp://b.example/\n")
    assert read_seeds([str(tmp_path / "seeds.txt"), "http://c.example/"])[1:] == [
        "http://b.example/",
        "http://c.example/",
    ]
    with pytest.raises(UsageError, match="neither a URL nor a file"):
        read_seeds(["nowhere"])
    write_pages(tmp_path / "pages.jsonl", {"http://a.example/": "", "http://a.example/2": ""})
    made = study(tmp_path / "pages.jsonl", seeds=[str(tmp_path / "seeds.txt")])
    assert made.pages["connected"].to_pylist() == [True, False]
    assert "seeds that are no page of the collection: 1" in made.report["warnings"]
    with pytest.raises(InputError, match="no page has the URL of a seed"):
        study(tmp_path / "pages.jsonl", seeds=["http://z.example/"])


def test_pages_without_urls_are_islands(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps({"text": f"{BODY} {name}"}) + "\n" for name in range(3)))
    made = study(tmp_path / "pages.jsonl")
    assert made.report["link_graph"]["bow_tie"] == dict(zip(NAMES, (1, 0, 0, 0, 0, 2), strict=True))
    assert any("no page has a URL" in said for said in made.report["warnings"])


def test_hashes_of_addresses() -> None:
    addresses = pa.array(["http://A.example/a/../b#c", "http://a.example/b", "mailto:x@y", None, "b"], pa.string())
    hashes = _native.url_hashes(addresses)
    assert hashes[0] == hashes[1] != 0
    assert hashes[2:].tolist() == [0, 0, 0]
    bases = pa.array([None, None, None, None, "http://a.example/x"], pa.string())
    assert _native.url_hashes(addresses, bases)[4] == hashes[0]
