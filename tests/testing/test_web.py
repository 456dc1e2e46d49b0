"""The generated web: the same everywhere, complete, well formed, and honest in its labels."""

from __future__ import annotations

import difflib
import gzip
import hashlib
import io
import itertools
import json
import re
import warnings
import zlib
from pathlib import Path

import html5lib
import pytest
from selectolax.lexbor import LexborHTMLParser

from neardup.errors import OutputError, UsageError
from neardup.testing import HENZINGER_REASONS, HUFFMAN_REASONS, LANGUAGES, RELATIONS, Page, Web, label_of, web
from neardup.testing.labels import LISTED

#: Of everything that ``web(seed=0, sites=12, pages=200)`` makes. It changes only together with the generator,
#: and then everybody's expectations of what a seed means change too: say so in the change log.
GOLDEN = "7e3e30d124ee16c63d857fb9742a520aa9dda40b65ad90507e30de8b8b8b9c49"


@pytest.fixture(scope="module")
def generated() -> Web:
    return web(seed=0, sites=12, pages=600)


def visible_tokens(page: Page) -> list[str]:
    tree = LexborHTMLParser(page.html)
    for node in tree.css("script, style"):
        node.decompose()
    body = tree.body
    return [] if body is None else re.findall(r"\w+", body.text(separator=" "))


def listed_values_hidden(page: Page) -> str:
    """The page's HTML with the value of each listed fact covered, the longest first (a URL holds others)."""
    values = sorted({value for name in LISTED if (value := getattr(page.facts, name))}, key=len, reverse=True)
    html = page.html
    for value in values:
        # A session id is in the links of one copy and not of another that has none.
        html = html.replace(f"?sid={value}", "").replace(value, "*")
    return html


def test_a_seed_means_the_same_web_everywhere() -> None:
    small = web(seed=0, sites=12, pages=200)
    digest = hashlib.sha256()
    for page in small.pages:
        digest.update(repr(page).encode())
    for a, b, label in small.pairs:
        digest.update(f"{a.id} {b.id} {label}".encode())
    assert digest.hexdigest() == GOLDEN


def test_another_seed_means_another_web() -> None:
    assert web(seed=1, pages=50).pages != web(seed=2, pages=50).pages
    assert web(seed=1, pages=50) == web(seed=1, pages=50)


@pytest.mark.parametrize(("pages", "sites"), [(0, 1), (1, 1), (2, 1), (7, 3), (150, 40), (601, 12)])
def test_has_as_many_pages_as_asked_for(pages: int, sites: int) -> None:
    small = web(seed=3, sites=sites, pages=pages)
    assert len(small.pages) == pages
    assert len({page.id for page in small.pages}) == pages
    assert len({page.url for page in small.pages}) == pages
    assert all(len(small.groups[page.group]) > 1 for page in small.pages if page.relation not in {"unrelated", "empty"})


def test_the_share_of_related_pages_is_about_what_was_asked_for() -> None:
    for share in (0.0, 0.3, 0.8):
        pages = web(seed=4, pages=1000, related=share).pages
        related = sum(page.relation != "unrelated" for page in pages) / len(pages)
        assert abs(related - share) < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_every_relation_is_there(seed: int) -> None:
    assert {page.relation for page in web(seed=seed, pages=150).pages} == {
        *RELATIONS,
        "unrelated",
    }


def test_every_reason_and_language_is_there(generated: Web) -> None:
    assert {page.language for page in generated.pages} == set(LANGUAGES)
    labels = [pair.label for pair in generated.pairs]
    # Pairs without any relation are not in a group.
    labels.append(
        next(
            label
            for a, b in itertools.combinations(generated.pages, 2)
            if (label := generated.label(a, b)).henzinger_reason == "unrelated"
        )
    )
    assert {label.henzinger_reason for label in labels} == set(HENZINGER_REASONS)
    assert {label.huffman_reason for label in labels} == set(HUFFMAN_REASONS)


def test_labels_are_symmetric_and_outside_of_groups_always_negative(generated: Web) -> None:
    for a, b in itertools.combinations(generated.pages[:300], 2):
        label = generated.label(a, b)
        assert label == generated.label(b.id, a.id)
        if a.group != b.group:
            assert label.henzinger == "incorrect"
            assert not label.huffman


def test_equal_facts_are_equal_bytes_and_other_facts_other_bytes(generated: Web) -> None:
    for a, b, label in generated.pairs:
        assert (a.facts == b.facts) == (a.html == b.html), (a.id, b.id, label)


def test_correct_pairs_differ_in_listed_values_only(generated: Web) -> None:
    checked = set()
    for a, b, label in generated.pairs:
        if label.henzinger == "correct" and label.henzinger_reason != "entry pages":
            assert listed_values_hidden(a) == listed_values_hidden(b), (a.id, b.id, label)
            checked.add(label.henzinger_reason)
    assert checked == {"identical", "combination", *LISTED.values()}


@pytest.mark.parametrize(("relation", "least", "most"), [("directory", 1, 1), ("records", 10, 30)])
def test_the_papers_hard_cases_differ_in_few_consecutive_tokens(relation: str, least: int, most: int) -> None:
    small = web(seed=5, pages=60, related=1.0, languages=["en"], relations=[relation])
    for a, b, label in small.pairs[:40]:
        assert (label.henzinger, label.henzinger_reason, label.huffman) == ("incorrect", "main item", False)
        one, other = visible_tokens(a), visible_tokens(b)
        same = difflib.SequenceMatcher(None, one, other, autojunk=False)
        changes = [change for change in same.get_opcodes() if change[0] != "equal"]
        start, end = changes[0][1], changes[-1][2]
        assert least <= end - start <= most
        assert len(one) > 5 * (end - start)


def test_pages_of_one_site_share_their_template_and_pages_of_others_do_not(generated: Web) -> None:
    def footer(page: Page) -> str:
        return page.html.rsplit("&copy;", 1)[-1]

    plain = [page for page in generated.pages if page.relation == "unrelated"]
    by_layout = {
        layout: {footer(page) for page in plain if page.facts.layout == layout}
        for layout in {page.facts.layout for page in plain}
    }
    assert all(len(footers) == 1 for footers in by_layout.values())
    assert len(set.union(*by_layout.values())) > 9


def test_html_parses_and_has_the_right_title(generated: Web) -> None:
    for page in generated.pages:
        title = LexborHTMLParser(page.html).css_first("title")
        assert ("" if title is None else title.text()) == page.title
    for page in generated.pages[:40]:
        tree = html5lib.parse(page.html, namespaceHTMLElements=False)
        assert (tree.findtext("head/title") or "") == page.title


def test_sites_are_registrable_domains_under_reserved_names(generated: Web) -> None:
    for page in generated.pages:
        assert page.host == page.site or page.host.endswith(f".{page.site}")
        assert re.fullmatch(r"[a-z0-9-]+\.example|example\.(org|net)", page.site)


def test_warc_is_read_back(generated: Web, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        # FastWARC 1.1 warns of its own old classes while it is imported.
        warnings.simplefilter("ignore", DeprecationWarning)
        from fastwarc.warc import ArchiveIterator, WarcRecordType

    for name in ("pages.warc", "pages.warc.gz"):
        generated.write_warc(tmp_path / name)
        with open(tmp_path / name, "rb") as file:
            assert all(record.verify_block_digest() for record in ArchiveIterator(file, parse_http=False))
        records = []
        with open(tmp_path / name, "rb") as file:
            for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
                assert record.verify_payload_digest()
                assert record.http_charset == "utf-8"
                target, date = record.headers["WARC-Target-URI"], record.headers["WARC-Date"]
                records.append((target, date, record.reader.read().decode()))
        assert records == [(page.url, page.date, page.html) for page in generated.pages]


def test_each_record_of_a_compressed_warc_is_a_gzip_member(tmp_path: Path) -> None:
    web(pages=5).write_warc(tmp_path / "pages.warc.gz")
    rest, members = (tmp_path / "pages.warc.gz").read_bytes(), 0
    while rest:
        member = zlib.decompressobj(wbits=31)
        assert member.decompress(rest).startswith(b"WARC/1.1\r\n")
        rest, members = member.unused_data, members + 1
    assert members == 1 + 5


def test_jsonl_is_read_back(generated: Web, tmp_path: Path) -> None:
    generated.write_jsonl(tmp_path / "pages.jsonl")
    generated.write_jsonl(tmp_path / "pages.jsonl.gz")
    plain = (tmp_path / "pages.jsonl").read_bytes()
    assert gzip.decompress((tmp_path / "pages.jsonl.gz").read_bytes()) == plain
    rows = [json.loads(line) for line in io.BytesIO(plain)]
    assert [(row["id"], row["url"], row["html"]) for row in rows] == [
        (page.id, page.url, page.html) for page in generated.pages
    ]


def test_tree_has_a_file_a_page(generated: Web, tmp_path: Path) -> None:
    paths = generated.write_tree(tmp_path)
    assert len(set(paths)) == len(generated.pages)
    assert all(path.read_bytes().decode() == page.html for path, page in zip(paths, generated.pages, strict=True))
    assert all(path.suffix == ".html" for path in paths)


def test_labels_are_written_with_both_columns(generated: Web, tmp_path: Path) -> None:
    generated.write_labels(tmp_path / "labels.csv")
    lines = (tmp_path / "labels.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(generated.pairs)
    a, b, label = generated.pairs[0]
    assert lines[1].startswith(f"{a.id},{b.id},{label.henzinger},")


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    small = web(pages=3)
    with pytest.raises(UsageError, match=r"known are en, de"):
        web(languages=["xx"])
    with pytest.raises(UsageError, match="unknown relation 'twin'"):
        web(relations=["twin"])
    with pytest.raises(UsageError, match="share"):
        web(related=2)
    with pytest.raises(UsageError, match="at least 1"):
        web(sites=0)
    with pytest.raises(UsageError, match="no page 'x'"):
        small.page("x")
    with pytest.raises(UsageError, match=r"use \.gz"):
        small.write_jsonl(tmp_path / "pages.jsonl.zst")
    with pytest.raises(OutputError, match="No such file"):
        small.write_warc(tmp_path / "missing" / "pages.warc")


def test_a_page_is_identical_to_itself(generated: Web) -> None:
    for page in generated.pages:
        if page.facts.item:
            assert label_of(page.facts, page.facts).henzinger_reason == "identical"


def test_languages_have_the_same_words_of_an_interface() -> None:
    keys = [set(language.words) for language in LANGUAGES.values()]
    assert all(other == keys[0] for other in keys)
    for language in LANGUAGES.values():
        for key, word in LANGUAGES["en"].words.items():
            assert word.count("{}") == language.words[key].count("{}"), (language.code, key)
