"""Page to terms, rule by rule (Henzinger 2006 §2), as a table: the page, and the terms the machine sees."""

from __future__ import annotations

import unicodedata

import pytest

from naive_terms import finished, text_terms
from neardup import Reading, terms
from neardup.text import Terms

PAGE = "http://www.a.example/dir/page.html"


def seen(html: str, url: str | None = PAGE) -> str:
    return " ".join(terms(html, url=url).terms)


def seen_in_text(text: str) -> str:
    return " ".join(terms(text, html=False).terms)


@pytest.mark.parametrize("tag", ["b", "i", "em", "strong", "u", "s", "font", "tt", "big", "small", "sub", "sup", "wbr"])
def test_inline_formatting_joins(tag: str) -> None:
    assert seen(f"foo<{tag}>bar</{tag}>baz") == "foobarbaz"
    assert seen(f"foo<{tag.upper()} class='x y'>bar</{tag.upper()} >baz") == "foobarbaz"
    assert seen(f"foo <{tag}>bar</{tag}> baz") == "foo bar baz"


@pytest.mark.parametrize(
    "tag",
    [
        "a",
        "span",
        "div",
        "p",
        "br",
        "code",
        "kbd",
        "del",
        "ins",
        "mark",
        "q",
        "abbr",
        "cite",
        "var",
        "strike",
        "nobr",
        "li",
        "td",
        "my-tag",
        "h1",
    ],
)
def test_all_other_markup_is_white_space(tag: str) -> None:
    assert seen(f"foo<{tag}>bar</{tag}>baz") == "foo bar baz"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # What carries no terms.
        ("a<script>var b = 1;</script>c", "a c"),
        ("a<style>b { c: d }</style>e", "a e"),
        ("a<template>b<p>c</p></template>d", "a d"),
        ("a<noscript>b</noscript>c", "a c"),
        ("a<!-- b -->c<!doctype html>d<?xml e?>f", "a c d f"),
        ("<script><!-- </script> a --></script>", "a"),
        ("<img src=x.png alt='not this' title='nor this'>", "x.png"),
        ("<a href=/not/this title=nor>but this</a>", "but this"),
        ("<meta name=description content='not this'><input value='nor this'>", ""),
        # What does.
        ("<title>Title</title><body>text", "title text"),
        ("<title>a<b>c</b></title>", "a b c b"),
        ("<textarea>typed</textarea><option>chosen<button>pressed</button>", "typed chosen pressed"),
        ("<p style='display:none'>hidden by style is text</p>", "hidden by style is text"),
        # Character references.
        ("&lt;b&gt;caf&eacute; &#233; &#xE9; &amp;amp;", "b café é é amp"),
        ("a&nbsp;b&ensp;c&shy;d&zwnj;e", "a b cd e"),
        ("fish&ampchips &notit; &bogus;", "fish chips it bogus"),
        ("soft&shy;hyphen soft\xadhyphen", "softhyphen softhyphen"),
        ("nul\0l", "null"),
        # Broken markup.
        ("a < b <c", "a b"),
        ("1<2 and 3>2", "1 2 and 3 2"),
        ("text<!-- never closed", "text"),
        ("text<script>never closed", "text"),
        ("<p title='never closed>text", ""),
    ],
)
def test_markup(html: str, expected: str) -> None:
    assert seen(html) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A term: letters, digits and the marks that follow them; lower case; normal form C.
        ("Hello, World 42!", "hello world 42"),
        ("don't re-use foo_bar 3.14 x2y", "don t re use foo bar 3 14 x2y"),
        ("ÉCOLE e\u0301cole", "école école"),
        ("\u0301lone mark", "lone mark"),
        ("STRASSE Straße ẞ", "strasse straße ß"),
        ("ΣΊΣΥΦΟΣ Ёлка ЙОД", "σίσυφοσ ёлка йод"),
        ("İSTANBUL", "i̇stanbul"),
        # The apostrophe of Ukrainian is a letter; that of English is not.
        ("здоров\u02bcя don\u2019t", "здоров\u02bcя don t"),
        ("x² ½ Ⅷ ⑤", "x² ½ ⅷ ⑤"),
        ("नमस्ते हिन्दी", "नमस्ते हिन्दी"),
        ("العَرَبِيَّة עִבְרִית", "العَرَبِيَّة עִבְרִית"),
        ("zero\u200bwidth", "zero width"),
        ("한국어 텍스트", "한국어 텍스트"),
        ("emoji 🎉 party", "emoji party"),
        # Scripts without spaces: runs of their own, overlapping pairs; a lone character is a term.
        ("日本語", "日本 本語"),
        ("猫", "猫"),
        ("第3章abc猫", "第 3 章 abc 猫"),
        ("ひらカタ漢字", "ひら らカ カタ タ漢 漢字"),
        ("コーヒー、茶。", "コー ーヒ ヒー 茶"),
        ("か\u3099く", "がく"),
        ("ไทย", "ไท ทย"),
        ("ខ្មែរ", "ខ្ ្ម មែ ែរ"),
        ("ລາວ ဗမာ", "ລາ າວ ဗမ မာ"),
        # A URL is split at / . and : and nowhere else.
        (
            "see http://www.Example.com:8080/a-b/c?d=e_f&g#h ok-ay",
            "see http www example com 8080 a-b c?d=e_f&g#h ok ay",
        ),
        ("www.example.org/x,y z,w", "www example org x,y z w"),
        ('"http://q/r-s"t-u', "http q r-s t u"),
        ("<http://q/r-s>t", "http q r-s t"),
        ("‘ftp://h/a-b’c", "ftp h a-b c"),
        ("svn+ssh://host/a-b", "svn+ssh host a-b"),
        ("://a-b 1x://a-b", "a b 1x a b"),
        ("http: //a-b mailto:a-b@c.d", "http a b mailto a b c d"),
        ("wwww.a-b www", "wwww a b www"),
        ("", ""),
        (" \t\n.,;", ""),
    ],
)
def test_terms_of_text(text: str, expected: str) -> None:
    assert seen_in_text(text) == expected


def test_every_character_plays_its_part() -> None:
    # All that Python's own tables know, between letters and doubled. Case is left to the examples: Python's tables of
    # case may be newer than those of the format.
    for first in range(0, 0x110000, 0x1000):
        known = [
            character
            for character in map(chr, range(first, first + 0x1000))
            if unicodedata.category(character) not in ("Cn", "Co", "Cs") and not character.isspace()
        ]
        text = " ".join(f"a{character}b{character}{character}" for character in known)
        found = [finished(term) for term in terms(text, html=False).terms]
        expected = list(text_terms(text))
        parts = next((at for at, (one, other) in enumerate(zip(found, expected, strict=False)) if one != other), None)
        assert found == expected, f"U+{first:04X}…: {found[parts:][:4]} for {expected[parts:][:4]}"


def test_urls_in_pages_end_at_markup() -> None:
    assert seen("see http://q/r-s<br>t-u") == "see http q r-s t u"
    assert seen("see http://q/<b>r-s</b>t-u v") == "see http q r-st-u v"
    assert seen("see http://q/?a=1&amp;b=2 c") == "see http q ?a=1&b=2 c"


@pytest.mark.parametrize(
    ("html", "url", "expected"),
    [
        # Own host: the last path segment, without query and fragment.
        ("<img src=logo.png>", PAGE, "logo.png"),
        ("<img src='/i/My-Logo.PNG?v=3#x'>", PAGE, "my-logo.png"),
        ("<img src=http://www.a.example/i/logo.png>", PAGE, "logo.png"),
        ("<img src=https://www.a.example:8443/i/logo.png>", PAGE, "logo.png"),
        ("<img src=//www.a.example/logo.png>", PAGE, "logo.png"),
        ("<img src=../../up.gif>", PAGE, "up.gif"),
        # Another host: the whole URL, one term.
        ("<img src=http://cdn.example/i/P.png?v=1>", PAGE, "http://cdn.example/i/p.png?v=1"),
        ("<img src=//cdn.example/i.png>", PAGE, "http://cdn.example/i.png"),
        ("<img src=http://a.example/logo.png>", PAGE, "http://a.example/logo.png"),
        # base moves relative addresses.
        ("<base href=http://cdn.example/x/><img src=p.png>", PAGE, "http://cdn.example/x/p.png"),
        ("<base href=/other/><img src=p.png>", PAGE, "p.png"),
        # Nothing to say.
        ("a<img>b<img src=''>c<img src='data:image/png;base64,AAAA'>d<img src=/i/>e", PAGE, "a b c d e"),
        # Where it stands, and apart from the text around it.
        ("a<img src=x.png>b", PAGE, "a x.png b"),
        ("a<b><img src=x.png></b>b", PAGE, "a x.png b"),
        # Without an address of its own a page counts relative addresses as its own host's.
        ("<img src=/i/p.png?x>", None, "p.png"),
        ("<img src=http://cdn.example/p.png>", None, "http://cdn.example/p.png"),
        ("<base href=http://cdn.example/><img src=p.png>", None, "p.png"),
    ],
)
def test_images(html: str, url: str | None, expected: str) -> None:
    assert seen(html, url) == expected


@pytest.mark.parametrize(
    ("content", "charset", "encoding", "expected"),
    [
        # The HTTP header before the BOM's absence, before meta; windows-1252 where nothing is said.
        ("naïve é".encode(), "utf-8", "UTF-8", "naïve é"),
        ("naïve".encode("latin-1"), "iso-8859-1", "windows-1252", "naïve"),
        (b"<meta charset=windows-1251>" + "привет".encode("cp1251"), None, "windows-1251", "привет"),
        (
            b"<meta http-equiv=content-type content='text/html; charset=koi8-r'>" + "привет".encode("koi8-r"),
            None,
            "KOI8-R",
            "привет",
        ),
        (b"<meta charset=windows-1251>" + "привет".encode("koi8-r"), "koi8-r", "KOI8-R", "привет"),
        ("\ufeffnaïve".encode(), "windows-1251", "UTF-8", "naïve"),
        ("\ufeffnaïve".encode("utf-16-le"), None, "UTF-16LE", "naïve"),
        ("\ufeffnaïve".encode("utf-16-be"), None, "UTF-16BE", "naïve"),
        ("<meta charset=utf-16>naïve".encode(), None, "UTF-8", "naïve"),
        (b"<meta charset=shift_jis>" + "日本".encode("shift_jis"), None, "Shift_JIS", "日本"),
        ("naïve".encode(), "no-such-charset", "UTF-8", "naïve"),
    ],
)
def test_encodings(content: bytes, charset: str | None, encoding: str, expected: str) -> None:
    page = terms(content, charset=charset)
    assert (page.encoding, " ".join(page.terms)) == (encoding, expected)


@pytest.mark.parametrize(
    ("url", "registrable", "papers"),
    [
        ("http://www.cs.berkeley.edu/index.html", "berkeley.edu", "cs.berkeley.edu"),
        ("http://berkeley.edu/", "berkeley.edu", "berkeley.edu"),
        ("http://example.co.uk/", "example.co.uk", "co.uk"),
        ("http://shop.example.co.uk/", "example.co.uk", "example.co.uk"),
        ("http://localhost:8000/", "localhost", "localhost"),
        ("http://192.168.0.1/a", "192.168.0.1", "192.168.0.1"),
        ("file:///tmp/x", None, None),
        ("no url at all", None, None),
        (None, None, None),
    ],
)
def test_sites(url: str | None, registrable: str | None, papers: str | None) -> None:
    assert terms("x", url=url).site == registrable
    assert terms("x", url=url, reading=Reading(site="henzinger")).site == papers


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A &amp;\n B </title><title>no</title>", "A & B"),
        ("<title></title>", ""),
        ("<svg><title>icon</title></svg>", None),
        ("text", None),
    ],
)
def test_titles(html: str, title: str | None) -> None:
    assert terms(html).title == title


def test_plain_text_is_not_read_as_html() -> None:
    assert terms("a<b>c &amp; d", html=False) == Terms(["a", "b", "c", "amp", "d"], None, None, "UTF-8")
