"""The kind of difference: every rule on a page of its own, and all of them against the generated web's labels."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from neardup import dedup
from neardup.report import regions
from neardup.report.explain import explain, explain_pages
from neardup.report.kinds import KINDS, Page, kind_of
from neardup.results.pages import RunPages
from neardup.testing import web

TEXT = (
    "The ferry to the island leaves at the old pier every day but Sunday and takes about an hour in good weather. "
    "Tickets are sold on board; children and dogs travel free. In winter the service depends on the ice. "
)

#: What stands in A, what stands in B, and what that is.
CASES = [
    ("Last updated: 2006-03-01 12:00", "Last updated: 2006-03-01 12:45", "time stamp"),
    ("Posted on Monday, 3 April 2006", "Posted on Tuesday, 4 April 2006", "time stamp"),
    ("Page generated in 0.123 seconds", "Page generated in 0.481 seconds", "execution time"),
    ("took 31 ms", "took 77 ms", "execution time"),
    ("You are visitor number 1207", "You are visitor number 1388", "visitor count"),
    ("viewed 17 times", "viewed 23 times", "visitor count"),
    ("Your session: 0a1b2c3d4e5f", "Your session: 99aabbccddee", "session id"),
    ("key 0a1b2c3d4e5f6a7b8c9d", "key 99aabbccddeeff001122", "session id"),
    ("Message id: 4711", "Message id: 4712", "message id"),
    ("Served by web01", "Served by web07", "server name"),
    ("visitor number 12. Served by web01", "visitor number 13. Served by web02", "combination"),
    ("<div style='display: none'>a7</div>", "<div style='display: none'>b9</div>", "invisible"),
    ("<img src='/spacer1.gif'>", "<img src='/spacer2.gif'>", "invisible"),
    ("<!-- one -->", "<!-- two -->", "invisible"),
    ("<a href='/x?sid=0a1b2c'>x</a>", "<a href='/x?sid=99bbcc'>x</a>", "session id"),
    ("<input name=q value=red>", "<input name=q value=blue>", "prefilled form"),
    ("<textarea>I like red</textarea>", "<textarea>I want two blue ones</textarea>", "prefilled form"),
    ("<aside>Buy red shoes now</aside>", "<aside>A sale of green hats</aside>", "minor item"),
    ("<div class='left-sidebar'>Buy shoes</div>", "<div class='left-sidebar'>A sale of hats</div>", "minor item"),
    ("<meta http-equiv=refresh content='0; url=/x'> moved", "here to stay", "rest"),
    ("", "", "identical"),
]


@pytest.mark.parametrize(("in_a", "in_b", "expected"), CASES, ids=lambda value: str(value)[:30])
def test_each_rule(in_a: str, in_b: str, expected: str) -> None:
    pages = [
        {"html": f"<title>Ferries</title><p>{TEXT}<p>{part}<p>{TEXT}", "url": f"http://a.example/ferries/{name}"}
        for name, part in (("one", in_a), ("two", in_b))
    ]
    kind = explain_pages(*pages, judges=["exact"]).kind
    assert kind.name == expected, kind
    assert kind.judgement == KINDS[expected]
    # Which page comes first does not matter.
    assert explain_pages(*reversed(pages), judges=["exact"]).kind.name == expected


def test_the_url_in_the_text() -> None:
    def page(host: str) -> dict[str, str]:
        return {"html": f"<title>{host} is for sale</title><p>Buy {host} today. {TEXT}", "url": f"http://{host}/"}

    kind = explain_pages(page("redshoes.example"), page("bluehats.example")).kind
    assert (kind.name, kind.judgement) == ("URL only", "correct")
    # A number that happens to be in the address as well is no address.
    texts = [{"html": f"<p>{TEXT} Item {n} of the list", "url": f"http://a.example/item/{n}.html"} for n in (17, 18)]
    assert explain_pages(texts[0], texts[1]).kind.name != "URL only"


def test_entry_pages_and_main_items() -> None:
    def page(words: str, url: str, title: str) -> dict[str, str]:
        return {"html": f"<title>{title}</title><p>{TEXT}<p>{words}", "url": url}

    entries = [
        page("Come in and look", "http://www.a.example/", "A"),
        page("All you want", "http://a.example/index.html", "A"),
    ]
    assert explain_pages(entries[0], entries[1]).kind.name == "entry pages"
    items = [
        page("A red shoe", "http://a.example/shoe", "Red shoe"),
        page("A blue hat", "http://a.example/hat", "Blue hat"),
    ]
    kind = explain_pages(items[0], items[1]).kind
    assert (kind.name, kind.judgement) == ("main item", "incorrect")


def test_rules_agree_with_the_labels_of_the_generated_web(tmp_path: Path) -> None:
    """Of up to three pairs for each planted relation; the bound is what another web must not fall below."""
    made = web(seed=11, pages=400)
    made.write_warc(tmp_path / "web.warc.gz")
    dedup(tmp_path / "web.warc.gz", tmp_path / "out")
    run = RunPages(tmp_path / "out")
    same = {
        "url only": "URL only", "form": "prefilled form", "unrelated": "main item", "other": "rest",
        "cannot evaluate": "rest",
    }  # fmt: skip
    by_relation = defaultdict(list)
    for pair in made.pairs:
        by_relation[pair.a.relation, pair.label.henzinger_reason].append(pair)
    kinds: Counter[bool] = Counter()
    judgements: Counter[bool] = Counter()
    missed = []
    for pairs in by_relation.values():
        for pair in pairs[:3]:
            kind = explain(run, pair.a.url, pair.b.url, judges=["exact"]).kind
            expected = same.get(pair.label.henzinger_reason, pair.label.henzinger_reason)
            kinds[kind.name == expected] += 1
            judgements[kind.judgement == pair.label.henzinger] += 1
            if kind.name != expected:
                missed.append((pair.a.id, pair.b.id, pair.a.relation, expected, kind.name))
    assert kinds.total() >= 50
    assert kinds[True] / kinds.total() >= 0.9, missed
    assert judgements[True] / judgements.total() >= 0.9, missed


@pytest.mark.parametrize(
    "hostile",
    [b"<a" * 100_000, b"<div style='" * 30_000, b"<textarea>" * 50_000, b"<div hidden>" * 50_000, b"?sid=" * 100_000,
     b"<input value=" * 50_000, b"<meta http-equiv=refresh " * 30_000, b"<p " + b"style=" * 50_000 + b">",
     b"<meta " + b"http-equiv=refresh " * 20_000 + b">", b"<input " + b"type = " * 50_000 + b">"],
    ids=lambda value: value[:12].decode(),
)  # fmt: skip
def test_hostile_markup_costs_little(hostile: bytes) -> None:
    start = time.process_time()
    for wanted in (regions.hidden, regions.form_values, regions.beside):
        regions.without(hostile, wanted)
    regions.input_values(hostile)
    regions.without_sessions(hostile)
    regions.sends_elsewhere(hostile)
    regions.asks_for_a_password(hostile)
    kind_of(Page(hostile, terms=["a"]), Page(hostile + b"<p>b", terms=["a", "b"]))
    assert time.process_time() - start < 5
