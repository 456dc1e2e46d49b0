"""What a page says, against parsers that build the whole tree as browsers do.

The scanner of the core reads tags and text in one pass and builds no tree. On pages as they are found the terms must
be those of a walk over the tree of a real parser, one by one. What a tree does and a scanner does not: text put
directly into a table is moved in front of it, what may not stand in a ``select`` or ``frameset`` is dropped, and an end
tag without a start tag is forgotten where it is white space to us. The pages here do none of that where it shows.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import html5lib
import pytest
import zstandard
from selectolax.lexbor import LexborHTMLParser

import neardup
from naive_terms import page_terms, text_terms
from neardup.testing import Web

#: Pages of the real data that are read from each file; a prime step spreads them over it.
PAGES_A_FILE = 30
STEP = 23


def terms_by_lexbor(html: str, url: str | None) -> list[str]:
    root = LexborHTMLParser(html).root

    def children(node: Any) -> Iterator[Any]:
        yield from node.iter(include_text=True)

    def name(node: Any) -> str:
        return "#text" if node.tag == "-text" else node.tag

    def text(node: Any) -> str:
        return node.text_content or ""

    def attribute(node: Any, key: str) -> str | None:
        value: str | None = node.attributes.get(key)
        return value

    return page_terms(root, url, children, name, text, attribute)


def terms_by_html5lib(html: str, url: str | None) -> list[str]:
    # With scripting, as a browser: the content of noscript is text that is not shown.
    root = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("dom"), namespaceHTMLElements=False).parse(
        html, scripting=True
    )

    def name(node: Any) -> str | None:
        return {1: node.nodeName, 3: "#text"}.get(node.nodeType)

    def attribute(node: Any, key: str) -> str | None:
        return node.getAttribute(key) if node.hasAttribute(key) else None

    return page_terms(root, url, lambda node: iter(node.childNodes), name, lambda node: node.data, attribute)


def difference(found: list[str], expected: list[str]) -> str:
    """Where two sequences of terms part, for the message."""
    for at, (one, other) in enumerate(zip(found, expected, strict=False)):
        if one != other:
            return f"at term {at}: found {found[at : at + 6]}, expected {expected[at : at + 6]}"
    return f"found {len(found)} terms, expected {len(expected)}"


def check(html: str, url: str | None, expected: list[str], where: str) -> None:
    found = neardup.terms(html, url=url).terms
    assert found == expected, f"{where}: {difference(found, expected)}"


def test_generated_pages_with_html5lib(small_web: Web) -> None:
    for page in small_web.pages[::4]:
        check(page.html, page.url, terms_by_html5lib(page.html, page.url), page.id)


def test_generated_pages_with_lexbor(small_web: Web) -> None:
    for page in small_web.pages:
        check(page.html, page.url, terms_by_lexbor(page.html, page.url), page.id)
        check(page.html, None, terms_by_lexbor(page.html, None), page.id)


ODD = [
    "<p>un<b>closed <i>and</b> crossed</i> tags<p>next",
    "a<br>b<BR/>c<hr>d</p>e",
    "<ul><li>one<li>two</ul><dl><dt>x<dd>y</dl><table><tr><td>1<td>2<tr><th>3</table>",
    "<!-- a --><!doctype html><!-- -- > --!>x<!---->y<!-->z<?php echo 1 ?>w</ end>v",
    "&lt;b&gt; &amp;amp; &eacute;&eacutec &notin; &not; &#x41;&#0;&#128;&bogus; &copy2 A&nbsp;B",
    "<a title='x > y' href=\"<b>\">z</a><p class=a<b>t</p>",
    "<script>'</scr' + '<!-- <script>'</script>a<style></style >b<textarea><b>c</b></textarea>",
    "<title>a<b>c</title><xmp>d&amp;e<i></xmp>f<noscript><p>g</noscript>h<iframe>i</iframe>",
    "<svg><title>icon</title><path/><text>word</text></svg><math><mi>x</mi></math>after",
    "a<template>b<p>c<template>d</template></template>e",
    "<img src=a.png><img src=' /b/c.gif?x#y '><IMG SRC=http://other.example/D.png alt=no>x<img alt=z>",
    "<base href=http://other.example/dir/><img src=a.png><base href=/no/>",
    "<h1>H<sub>2</sub>O</h1>so&shy;ft­ wo<wbr>rd x<sup>2</sup> <font color=red>r</font>ed",
    "3 < 4 and 5 > 2 &c. <3 <- <=",
    "<p>日本<b>語</b>の<span>テキスト</span></p>",
    "<div>text<div",
    "text<!-- unclosed",
    "text<script>unclosed",
    "",
]
#: html5lib 1.1 is older than ``template``; Lexbor reads ``noscript`` as without scripting.
UNKNOWN_TO = {terms_by_html5lib: "<template", terms_by_lexbor: "<noscript"}


@pytest.mark.parametrize(
    ("parser", "html"), [(parser, html) for parser, word in UNKNOWN_TO.items() for html in ODD if word not in html]
)
def test_odd_markup(parser: Any, html: str) -> None:
    check(html, "http://a.example/dir/page", parser(html, "http://a.example/dir/page"), html)


def test_an_end_tag_without_its_start_parts_words() -> None:
    # By the rules all markup but inline formatting is white space; a tree has no place for such a tag and forgets it.
    assert neardup.terms("e</nonsense>f").terms == ["e", "f"]
    assert terms_by_lexbor("e</nonsense>f", None) == ["ef"]


def test_the_naive_rules_agree_on_text_of_many_scripts() -> None:
    from golden.make import PAGES

    for name, page in PAGES.items():
        if "text" in page:
            found = neardup.terms(page["text"], html=False).terms
            assert found == list(text_terms(page["text"])), name


# Real pages.


def real_files() -> list[Path]:
    data = os.environ.get("NEARDUP_DATA")
    return sorted(Path(data, "debian_docs_en").glob("*.jsonl.zst")) if data else []


def real_pages(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        # The files are compressed with a window of 128 MiB.
        stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file)
        for number, line in enumerate(io.TextIOWrapper(stream, encoding="utf-8")):
            if number % STEP == 0:
                yield json.loads(line)
            if number >= STEP * PAGES_A_FILE:
                return


@pytest.mark.skipif(not real_files(), reason="NEARDUP_DATA does not name a folder with debian_docs_en")
@pytest.mark.parametrize("path", real_files(), ids=lambda path: path.name)
def test_real_pages(path: Path) -> None:
    pages = 0
    for page in real_pages(path):
        check(page["html"], page["url"], terms_by_lexbor(page["html"], page["url"]), page["id"])
        pages += 1
    assert pages >= PAGES_A_FILE
