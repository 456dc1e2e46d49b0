"""The structure of a page: its blocks and what they are, beside its terms, and where they stand in the source."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.sources.memory import texts
from neardup.text import blocks, structures, term_lists

TAGS = st.sampled_from(
    ["p", "div", "b", "span", "a", "nav", "main", "article", "li", "ul", "td", "tr", "table", "title", "h1", "ruby",
     "rt", "aside", "footer", "textarea", "option", "script", "i"]
)  # fmt: skip
ATTRIBUTES = st.sampled_from(
    ["", " hidden", " href=/x", " role=navigation", " style='display: none'", " aria-hidden=true"]
)
TAG = st.builds("<{}{}{}>".format, st.sampled_from(["", "/"]), TAGS, ATTRIBUTES)
PLAIN = ["word ", "two words", "é ", "日本語", "&amp;", "<!-- -->", "<img src=/i.png>", "\n"]
PAGES = st.lists(st.one_of(TAG, st.sampled_from(PLAIN)), max_size=30).map("".join)


@given(PAGES, st.booleans())
@settings(max_examples=300, deadline=None)
def test_every_term_is_in_a_block(page: str, markup: bool) -> None:
    batch = texts([{"html" if markup else "text": page, "url": "http://a.example/"}]).batches[0]
    (read,) = structures(batch)
    lists = term_lists(batch)
    assert sum(block.terms for block in read.blocks) == len(read.block) == len(read.places) == len(lists[0])
    assert np.all(np.diff(read.block) >= 0)
    assert all(0 <= block.start <= block.end <= len(page) for block in read.blocks)
    assert all(one.end <= other.start for one, other in zip(read.blocks, read.blocks[1:], strict=False))


def test_a_block_stands_where_it_says() -> None:
    """Without tags and references, the source of a block is its text."""
    page = (
        "<title>Käse &amp; Wein</title><nav><ul><li><a href=/>Start</a><li><a href=/x>Über uns</a></ul></nav>"
        "<main><h1>K&auml;se</h1><p>Zum <b>Wein</b> passt\n <a href=/k>Käse </a>."
        "<table><tr><td>eins<td>zwei</table></main>"
        "<footer>東京 &copy; 2026</footer>"
    )
    found = blocks(page)
    for block in found:
        source = html.unescape(re.sub("<[^>]*>", "", page[block.start : block.end]))
        assert " ".join(source.split()) == block.text
    assert [(block.role, block.element) for block in found] == [
        ("title", "text"), ("frame", "item"), ("frame", "item"), ("content", "heading"), ("content", "text"),
        ("content", "cell"), ("content", "cell"), ("frame", "text"),
    ]  # fmt: skip
    assert found[1].where == "frame (link, navigation), item"


def test_bytes_are_decoded_as_pages_are() -> None:
    page = "<meta charset=iso-8859-1><p>Größe und <p>Maß".encode("latin-1")
    first, second = blocks(page)
    text = page.decode("latin-1")
    assert (text[first.start : first.end], text[second.start : second.end]) == ("Größe und", "Maß")


@pytest.mark.parametrize("element", ["cite", "kbd", "del", "ins", "q", "var", "ruby", "bdi", "data", "b", "a", "code"])
def test_what_is_part_of_a_line_ends_no_block(element: str) -> None:
    assert len(blocks(f"<p>before <{element}>inside</{element}> behind")) == 1


@pytest.mark.parametrize("element", ["div", "li", "br", "td", "h2", "blockquote", "center", "my-own"])
def test_what_ends_a_line_ends_a_block(element: str) -> None:
    assert len(blocks(f"<p>before <{element}>inside")) == 2
