"""Each signal against its formula written out plainly, and what all of them together promise."""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.errors import FormatError, InputError, UsageError
from neardup.job import statistics_of
from neardup.signals import GROUPS, SIGNALS, Idf, build_idf, compute, names_of
from neardup.signals.comparisons import (
    SNIPPET_TERMS,
    SNIPPET_WINDOW,
    b_similarity,
    c_similarity,
    length_distance,
    same_title,
    set_similarity,
    simhash_distance,
    snippet_mcd,
)
from neardup.signals.compression import mcd, own_sizes, sizes
from neardup.signals.computing import told
from neardup.signals.tfidf import tfidf_distance, top_terms
from neardup.signals.urls import address, mirror_path, path_similarity, same_canonical, same_query_keys, same_site
from neardup.sources.memory import texts
from neardup.testing import Web
from neardup.text import terms
from neardup.text.reading import read

TOKENS = st.lists(st.lists(st.integers(0, 30), max_size=40), min_size=2, max_size=6)


def words(seed: int, size: int) -> bytes:
    """Text of random words: compresses like text, and shares nothing with that of another seed but single words."""
    generator = np.random.default_rng(seed)
    return " ".join(f"{number:x}" for number in generator.integers(0, 4096, size)).encode()[:size]


def test_names_and_groups() -> None:
    assert len({signal.name for signal in SIGNALS}) == len(SIGNALS)
    assert {signal.group for signal in SIGNALS} == set(GROUPS)
    assert names_of("F") == [
        "same_domain", "fetched_same_title", "fetched_simhash_distance", "fetched_tfidf_distance", "fetched_mcd",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="no group or signal 'X'"):
        names_of("F+X")


# Compression.


@pytest.mark.skipif("ng" in zlib.ZLIB_RUNTIME_VERSION, reason="Python's own zlib is zlib-ng, which gives other sizes")
@given(st.lists(st.text("abc <>/", max_size=300), min_size=2, max_size=4))
def test_gzip_sizes_are_those_of_zlib(bodies: list[str]) -> None:
    content = pa.array([body.encode() for body in bodies], pa.large_binary())
    found = sizes(content, np.array([0], np.uint32), np.array([1], np.uint32), "gzip")
    joined = bodies[0].encode() + bodies[1].encode()
    assert found[0] == len(gzip.compress(joined, 9))


@pytest.mark.parametrize("method", ["gzip", "wide"])
def test_mcd_tells_the_same_from_the_similar_from_the_different(method: str) -> None:
    base, other = words(1, 20_000), words(2, 20_000)
    changed = base[:9_000] + b" something else " + base[9_000:]
    content = pa.array([base, changed, other], pa.large_binary())
    a, b = np.array([0, 0, 0], np.uint32), np.array([0, 1, 2], np.uint32)
    own = own_sizes(content, method)
    same, similar, different = mcd(sizes(content, a, b, method), own[a], own[b]).tolist()
    assert same == 0
    assert 0 < similar < 0.02
    assert different > 0.4


def test_the_window_trap() -> None:
    """Beyond gzip's window unrelated texts have a tiny mcd by its formula: they have none here, but a wide one."""
    a, b = words(1, 52_000), words(2, 52_000)
    ab, aa, bb = (len(zlib.compress(text, 9)) for text in (a + b, a + a, b + b))
    assert max(abs(ab - aa), abs(ab - bb)) / max(aa, bb) < 0.01
    table = compute([("x", "y")], [{"id": "x", "html": a}, {"id": "y", "html": b}], signals="F+O")
    assert table["fetched_mcd"].to_pylist() == [None]
    assert table["fetched_wide_mcd"].to_pylist()[0] > 0.4
    at_the_window = [
        # gzip's window without what zlib keeps for looking ahead.
        {"id": name, "html": text[: 32 * 1024 - 262]}
        for name, text in (("x", a), ("y", b))
    ]
    assert compute([("x", "y")], at_the_window, signals="fetched_mcd")["fetched_mcd"].to_pylist()[0] > 0.4


def test_compressed_sizes_check_their_arguments() -> None:
    content, zero = pa.array([b"x"], pa.large_binary()), np.array([0], np.uint32)
    with pytest.raises(ValueError, match="not there"):
        _native.compressed_sizes(content, zero, np.array([1], np.uint32), method="gzip")
    with pytest.raises(ValueError, match="unknown method"):
        _native.compressed_sizes(content, zero, zero, method="xz")
    with pytest.raises(TypeError):
        _native.compressed_sizes(pa.array(["x"]), zero, zero, method="gzip")


# tf-idf.


def plain_top(tokens: list[int], idf: dict[int, int], pages: int, top: int) -> list[int]:
    weight = {token: count * max(math.log(pages / idf.get(token, 1)), 0) for token, count in Counter(tokens).items()}
    return sorted(weight, key=lambda token: (-weight[token], token))[:top]


def plain_distance(a: list[int], b: list[int]) -> float:
    if not a and not b:
        return math.nan

    def weight(i: int, j: int) -> float:
        return 1 / (math.log(i + math.e - 1) * math.log(j + math.e - 1))

    shared = sum(weight(a.index(term) + 1, b.index(term) + 1) for term in a if term in b)
    longer = max(a, b, key=len)
    return 1 - shared / sum(weight(at, at) for at in range(1, len(longer) + 1))


@given(TOKENS, st.dictionaries(st.integers(0, 30), st.integers(1, 9), max_size=20), st.integers(1, 7))
def test_tfidf_distance_is_its_formula(pages: list[list[int]], frequencies: dict[int, int], top: int) -> None:
    idf = Idf.of(frequencies, pages=10)
    rows, counts = top_terms(pa.array(pages, pa.large_list(pa.uint64())), idf, top)
    lists = [plain_top(tokens, frequencies, 10, top) for tokens in pages]
    for row, count, expected in zip(rows.tolist(), counts.tolist(), lists, strict=True):
        assert row[:count] == expected
    a, b = np.zeros(len(pages), int), np.arange(len(pages))
    found = tfidf_distance(rows[a], counts[a], rows[b], counts[b])
    expected_distances = [plain_distance(lists[0], other) for other in lists]
    np.testing.assert_allclose(found, expected_distances, atol=1e-12)


def test_an_idf_table_counts_pages(tmp_path: Path) -> None:
    pages = ["red apple", "red pear", "red apple", "green apple"]  # the third is the first once more
    table = build_idf(texts(pages))
    assert (table.pages, table.terms) == (3, 2)
    tokens = np.asarray(read(texts(["red green"]).batches[0]).tokens.flatten())
    np.testing.assert_allclose(table.weights(tokens), [math.log(3 / 2), math.log(3)])
    table.save(tmp_path / "idf")
    assert Idf.load(tmp_path / "idf").digest == table.digest


def test_other_statistics_are_no_idf_table(tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_text("".join(json.dumps({"text": "eight or more words stand here on page " + n}) + "\n" for n in "ab"))
    statistics_of(file, "spex(n=8)").save(tmp_path / "statistics")
    with pytest.raises(FormatError, match="no idf table"):
        Idf.load(tmp_path / "statistics")


# Sketches, sets, titles, lengths.


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6), min_size=1, max_size=5), st.data())
def test_sketches_are_compared_by_their_formulas(rows: list[list[int]], data: st.DataObject) -> None:
    """Bits and columns that agree, counted one by one; a page without tokens is like no other."""
    sketches = np.array(rows, np.uint64)
    tokens = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows))))
    places = st.lists(st.integers(0, len(rows) - 1), min_size=4, max_size=4)
    a, b = np.array(data.draw(places)), np.array(data.draw(places))
    for at, (i, j) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        differing = [(x ^ y).bit_count() for x, y in zip(rows[i], rows[j], strict=True)]
        expected = {
            "simhash": float(differing[0]),
            "c": 384.0 - sum(differing),
            "b": float(sum(x == y for x, y in zip(rows[i], rows[j], strict=True))),
        }
        found = {
            "simhash": simhash_distance(sketches[:, :1].copy(), tokens, a, b)[at],
            "c": c_similarity(sketches, tokens, a, b)[at],
            "b": b_similarity(sketches, tokens, a, b)[at],
        }
        if tokens[i] and tokens[j]:
            assert found == expected
        else:
            assert all(math.isnan(value) for value in found.values())


@given(st.lists(st.sets(st.integers(0, 12)), min_size=1, max_size=5))
def test_sets_are_compared_by_jaccard(sets: list[set[int]]) -> None:
    column = pa.array([sorted(one) for one in sets], pa.large_list(pa.field("item", pa.uint64(), nullable=False)))
    a, b = (side.ravel().astype(np.uint32) for side in np.meshgrid(range(len(sets)), range(len(sets))))
    for i, j, found in zip(a.tolist(), b.tolist(), set_similarity(column, a, b).tolist(), strict=True):
        union = sets[i] | sets[j]
        if union:
            assert found == pytest.approx(len(sets[i] & sets[j]) / len(union))
        else:
            assert math.isnan(found)


def test_titles_and_lengths() -> None:
    assert (same_title("a", "a"), same_title("a", "A"), same_title("a", None)) == (1, 0, 0)
    assert math.isnan(same_title("", None))
    lengths = length_distance(np.array([0, 0, 3, 4]), np.array([0, 7, 4, 3]))
    assert lengths.tolist() == [0, 1, 0.25, 0.25]


# Addresses.


def test_addresses() -> None:
    one, mirror = address("http://www.a.example/x/y?s=1&t=2"), address("http://b.example/x/y?s=1&t=2")
    other, root = address("http://news.a.example:8080/x/z/y?t=9&s="), address("http://a.example")
    assert one is not None
    assert mirror is not None
    assert other is not None
    assert root is not None
    assert (mirror_path(one, mirror), mirror_path(one, one), mirror_path(root, root)) == (1, 0, 0)
    assert (same_site(one, other), same_site(one, mirror)) == (1, 0)
    assert (same_query_keys(one, other), same_query_keys(one, root)) == (1, 0)
    assert math.isnan(same_query_keys(root, root))
    assert path_similarity(one, other) == 2 / 3
    assert path_similarity(root, root) == 1
    for bad in (None, "", "nonsense", "http://[", "http://a.example:99999/", "mailto:x@y"):
        assert address(bad) is None


def test_canonical_addresses() -> None:
    assert math.isnan(same_canonical("a", "b", None, None))
    assert same_canonical("a", "b", "c", "c") == 1
    assert same_canonical("a", "b", "b", None) == 1
    assert same_canonical("a", "b", "c", None) == 0
    assert same_canonical(None, None, "c", None) == 0


# All of them.


def test_same_text_in_another_layout_can_be_told(small_web: Web, web_pages: list[dict[str, Any]]) -> None:
    """By the median over all planted pairs of a kind."""
    medians = {}
    for reason in ("another layout", "inessential difference", "main item"):
        pairs = [(pair.a.id, pair.b.id) for pair in small_web.pairs if pair.label.huffman_reason == reason]
        table = compute(pairs, web_pages, signals=["fetched_layout_similarity", "fetched_main_jaccard"])
        medians[reason] = [float(np.median(table[name].to_numpy())) for name in table.column_names[3:]]
    (main, layout), (same_main, same_layout), (other_main, other_layout) = medians.values()
    assert main > 0.5 > layout, medians
    assert min(same_main, same_layout) > 0.8, medians
    assert other_layout > 0.8, medians
    assert other_main < 0.9 < same_main, medians


def test_the_table_is_the_same_for_any_threads_and_order(small_web: Web, web_pages: list[dict[str, Any]]) -> None:
    pairs = [(pair.a.id, pair.b.id, pair.a.title[:5]) for pair in small_web.pairs[:300]]
    idf = build_idf(texts(web_pages))
    one = compute(pairs, web_pages, rendered=web_pages[:150], idf=idf, threads=1)
    assert one.equals(compute(pairs, web_pages, rendered=web_pages[:150], idf=idf, threads=3))
    order = np.random.default_rng(1).permutation(len(pairs))
    turned = [(pairs[at][1], pairs[at][0], pairs[at][2]) for at in order.tolist()]
    other = compute(turned, list(reversed(web_pages)), rendered=web_pages[:150], idf=idf)
    assert one.take(pa.array(order)).select(range(2, one.num_columns)).equals(other.select(range(2, other.num_columns)))


def test_a_missing_rendered_body_gives_nulls(web_pages: list[dict[str, Any]]) -> None:
    a, b = web_pages[0]["id"], web_pages[1]["id"]
    table = compute([(a, b), (a, a)], web_pages[:2], rendered=[web_pages[0]], signals="F+R")
    assert table["rendered_mcd"].to_pylist() == [None, 0.0]
    failed = [web_pages[0], {"id": b, "html": ""}]
    assert compute([(a, b), (a, a)], web_pages[:2], rendered=failed, signals="F+R").equals(table)
    for nothing in ([], [{"id": "other", "html": "x"}]):
        assert compute([(a, b)], web_pages[:2], rendered=nothing, signals="F+R")["rendered_mcd"].to_pylist() == [None]
    assert table["fetched_mcd"].null_count == 0


def test_no_idf_is_assumed_and_what_is_missing_is_said(web_pages: list[dict[str, Any]]) -> None:
    pair = [(web_pages[0]["id"], web_pages[1]["url"])]
    assert "fetched_tfidf_distance" not in compute(pair, web_pages).column_names
    with pytest.raises(UsageError, match="needs an idf table"):
        compute(pair, web_pages, signals="fetched_tfidf_distance")
    with pytest.raises(UsageError, match="rendered"):
        compute(pair, web_pages, signals=["rendered_mcd"])
    with pytest.raises(InputError, match="no page has the id or URL 'nobody'"):
        compute([("nobody", web_pages[0]["id"])], web_pages)
    with pytest.raises(InputError, match="no pairs"):
        compute([], web_pages)
    for metadata in (None, {"neardup.signals": "{"}, {"neardup.signals": "[]"}, {"neardup.signals": '{"signals": {}}'}):
        with pytest.raises(InputError, match="not a table of signals"):
            told(pa.table({"a": ["x"]}).replace_schema_metadata(metadata))


def test_empty_and_odd_pages() -> None:
    pages = [
        {"id": "empty", "html": b""}, {"id": "plain", "text": "some words"},
        {"id": "noise", "html": bytes(range(256)) * 9},
        {"id": "open", "html": "<template><p>never closed"},
        {"id": "url", "url": "http://[", "html": "<link rel=canonical>"},
    ]  # fmt: skip
    names = [page["id"] for page in pages]
    pairs = [(a, b, "some") for a in names for b in names]
    table = compute(pairs, pages, rendered=pages, idf=Idf.of({}, pages=1))
    for name in table.column_names[3:]:
        values = np.asarray(table[name].fill_null(0.0))
        assert np.isfinite(values).all(), name
        limit = {"simhash_distance": 64, "b_similarity": 6, "c_similarity": 384}
        most = next((value for ending, value in limit.items() if name.endswith(ending)), 1.0)
        assert values.min() >= 0, name
        assert values.max() <= most * 1.05, name


def test_snippets_are_of_the_visible_text_near_the_query() -> None:
    filler = " ".join(f"w{number}" for number in range(3000))
    page = f"<title>T</title><meta name=description content=apple><p>{filler} apple {filler}"
    columns = (texts([{"html": page}]).batches[0][name] for name in ("content", "html", "charset", "url"))
    text = _native.anatomy(*columns)[0]
    asked = pa.array(["Apple"], pa.string())
    snippet = _native.snippets(text, np.array([0], np.uint32), asked, window=SNIPPET_WINDOW, most=SNIPPET_TERMS)[
        0
    ].as_py()
    assert snippet.split()[SNIPPET_WINDOW] == "apple"
    assert len(snippet.split()) == 2 * SNIPPET_WINDOW + 1
    assert terms(snippet, html=False).terms == snippet.split()


def test_snippets_tell_what_whole_texts_hide() -> None:
    """Two branches of one company: only what stands beside its name differs, in one word of a hundred."""
    common = " ".join(f"w{number}" for number in range(1500))
    texts_of = pa.array([f"{common} acme {place} 555 {phone} {common}"
                         for place, phone in (("kelso", "101"), ("ludlow", "202"), ("kelso", "101"))],
                        pa.large_string())  # fmt: skip
    a, b = np.array([0, 0, 0], np.uint32), np.array([1, 2, 1], np.uint32)
    other, same, unknown = snippet_mcd(texts_of, a, b, ["acme", "acme", None]).tolist()
    content = texts_of.cast(pa.large_binary())
    own = own_sizes(content, "gzip")
    whole = mcd(sizes(content, a[:1], b[:1], "gzip"), own[a[:1]], own[b[:1]])[0]
    assert same == 0
    assert other > 5 * whole, (other, whole)
    assert math.isnan(unknown)


def test_the_commands(tmp_path: Path, small_web: Web) -> None:
    def neardup(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "neardup", *arguments], capture_output=True, text=True, cwd=tmp_path
        )

    small_web.write_jsonl(tmp_path / "pages.jsonl")
    pair = small_web.pairs[0]
    (tmp_path / "pairs.csv").write_text(f"a,b,q\n{pair.a.id},{pair.b.url},the\n")
    done = neardup("idf", "build", "pages.jsonl", "--out", "web.idf")
    assert done.returncode == 0, done.stderr
    given = ["signals", "--pages", "pages.jsonl", "--pairs", "pairs.csv", "--query-field", "q", "--out", "s.parquet"]
    done = neardup(*given, "--idf", "web.idf")
    assert done.returncode == 0, done.stderr
    assert "comparing fetched: 1 pairs" in done.stderr
    assert "No signals of rendered bodies" in done.stdout
    table = pq.read_table(tmp_path / "s.parquet")
    assert told(table)["idf"] == Idf.load(tmp_path / "web.idf").digest
    done = neardup(*given, "--idf", "pages.jsonl")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "hidden",
    ["<div hidden>{}</div>", "<p style='display: none'>{}</p>", "<span style=visibility:hidden>{}</span>",
     "<ul><li hidden>{}<li>else</ul>", "<dialog>{}</dialog>", "<div hidden><div>x</div>{}</div>"],
)  # fmt: skip
def test_what_is_not_displayed_is_in_no_snippet(hidden: str) -> None:
    """A query's word that stands only in what the page does not display is not there (the paper's visible text)."""
    words = "a secretword stands here"
    for content, there in ((hidden.format(words), False), (f"<p>{words}</p>", True)):
        pages = [{"id": name, "html": f"<p>some text {name}</p>{content}<p>more text</p>"} for name in "xy"]
        table = compute([("x", "y", "secretword")], pages, signals="FS")
        assert (table["fetched_snippet_mcd"].to_pylist() != [None]) is there
