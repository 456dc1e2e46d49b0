"""Curves: pairs of revisions, cosines, precision and recall by their definitions, dumps as they come."""

from __future__ import annotations

import bz2
import gzip
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neardup.engines.local.run import run
from neardup.errors import InputError
from neardup.evaluation.curves import THRESHOLDS, evaluate_curves, write_curves
from neardup.evaluation.oracle import tokens_of
from neardup.evaluation.revisions import MediaWiki, open_revisions, revision_pairs
from neardup.methods import parse
from neardup.sources.memory import texts
from neardup.testing import Web


@pytest.fixture(scope="module")
def revisions(small_web: Web) -> list[dict[str, Any]]:
    """Twelve articles whose revisions lose more and more of their words."""
    rows = []
    for number, page in enumerate(small_web.pages[:12]):
        words = page.html.split()
        for revision in range(6):
            kept = [word for at, word in enumerate(words) if at % 40 >= revision * (1 + number % 3)]
            rows.append({"id": f"{number}@{revision}", "doc": f"article {number}", "text": " ".join(kept)})
    return rows


@pytest.fixture(scope="module")
def corpus(revisions: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("revisions") / "versions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in revisions), encoding="utf-8")
    return path


def test_pairs_are_first_against_others_and_against_the_next_first() -> None:
    names = ["A", "B", "B", "A", "C"]
    collection = tokens_of(texts([{"text": "one two", "url": name} for name in names]))
    pairs = revision_pairs(collection)
    told = set(zip(pairs.first.tolist(), pairs.other.tolist(), pairs.across.tolist(), strict=True))
    assert told == {(0, 3, False), (0, 1, True), (1, 2, False), (1, 4, True)}
    assert pairs.articles == 3


@pytest.mark.parametrize("interleaved", [False, True])
def test_the_first_articles_and_revisions_of_any_corpus(
    revisions: list[dict[str, Any]], tmp_path: Path, interleaved: bool
) -> None:
    """As many of JSON lines as of a dump of the same; also where an article's revisions do not stand together."""
    rows = sorted(revisions, key=lambda row: int(row["id"].split("@")[1])) if interleaved else revisions
    path = tmp_path / "versions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    order = list(dict.fromkeys(row["doc"] for row in rows))
    for articles, most in ((5, 2), (None, 3), (4, None), (100, 100)):
        source = open_revisions([str(path)], articles=articles, revisions=most)
        read = [page for chunk in source.chunks() for page in chunk.load().pages.to_pylist()]
        of_each = {name: [row["id"] for row in rows if row["doc"] == name][:most] for name in order[:articles]}
        assert {page["id"] for page in read} == {id for ids in of_each.values() for id in ids}
        found = evaluate_curves(
            lambda limits=(articles, most): open_revisions([str(path)], articles=limits[0], revisions=limits[1]),
            ["exact"],
        )
        assert found.report["articles"] == len(of_each)
        assert found.report["revisions"] == sum(map(len, of_each.values()))


def test_the_first_revisions_are_a_source_like_any_other(revisions: list[dict[str, Any]], tmp_path: Path) -> None:
    """A run over them names the files that are not read, as one over the whole corpus does."""
    (tmp_path / "versions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in revisions), encoding="utf-8")
    (tmp_path / "notes.odt").write_bytes(b"of no known format")
    for limits in ({}, {"articles": 2, "revisions": 3}):
        report = run(open_revisions([str(tmp_path)], **limits), parse("exact")).report
        assert [Path(left["source"]).name for left in report["left_out_files"]] == ["notes.odt"]
        assert report["counts"]["pages"] == (6 if limits else len(revisions))


def test_revisions_without_article_are_told() -> None:
    with pytest.raises(InputError, match="names no article"):
        revision_pairs(tokens_of(texts(["no article here"])))


def test_similarities_are_cosines(corpus: Path) -> None:
    found = evaluate_curves(lambda: open_revisions([str(corpus)]), ["exact"])
    collection = tokens_of(open_revisions([str(corpus)]))
    pages = [Counter(tokens) for batch in collection.token_batches() for tokens in batch.to_pylist()]
    having = Counter(term for page in pages for term in page)

    def cosine(a: int, b: int, inverse: bool) -> float:
        def weight(term: int) -> float:
            return math.log(len(pages) / having[term]) if inverse else 1.0

        def vector(page: int) -> dict[int, float]:
            return {term: count * weight(term) for term, count in pages[page].items()}

        x, y = vector(a), vector(b)
        norm = math.sqrt(sum(v * v for v in x.values()) * sum(v * v for v in y.values()))
        return sum(value * y.get(term, 0.0) for term, value in x.items()) / norm

    for name, inverse in (("tf", False), ("tf-idf", True)):
        for at in range(0, len(found.pairs.first), 7):
            a, b = int(found.pairs.first[at]), int(found.pairs.other[at])
            assert found.similarity[name][at] == pytest.approx(cosine(a, b, inverse), abs=1e-9)


def test_the_same_terms_have_a_cosine_of_one(revisions: list[dict[str, Any]], tmp_path: Path) -> None:
    """Rounding had put 10 of 22 token-identical pairs of real texts below the threshold 1."""
    path = tmp_path / "versions.jsonl"
    rows = []
    for article in range(12):
        text = revisions[6 * article]["text"]
        other = " ".join(reversed(text.split()))
        rows += [
            {"id": f"{article}@{at}", "doc": str(article), "text": version}
            for at, version in enumerate((text, text, other, f"{text} {text}", f"{text} another"))
        ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = evaluate_curves(lambda: open_revisions([str(path)]), ["exact"])
    (exact,) = found.methods
    assert exact.accepted.sum() == 12
    at_one = THRESHOLDS.tolist().index(1.0)
    for name, similarity in found.similarity.items():
        assert (similarity <= 1).all()
        assert (similarity[exact.accepted] == 1).all(), name
        assert found.curve(exact, name)[0][at_one] == 1.0, "what is exactly the same is right at a threshold of 1"
    within = ~found.pairs.across
    assert (found.similarity["tf"][within].reshape(12, 4) == 1).tolist() == [[True, True, True, False]] * 12


def test_curves_follow_their_definition(corpus: Path) -> None:
    found = evaluate_curves(lambda: open_revisions([str(corpus)]))
    assert {method.name for method in found.methods} >= {"broder", "charikar", "minhash"}
    for method in found.methods:
        precision, recall = found.curve(method, "tf")
        for at in range(0, len(THRESHOLDS), 10):
            true = found.similarity["tf"] >= THRESHOLDS[at]
            hits = int((true & method.accepted).sum())
            if method.accepted.any():
                assert precision[at] == pytest.approx(hits / method.accepted.sum())
            if true.any():
                assert recall[at] == pytest.approx(hits / true.sum())
    minhash = next(method for method in found.methods if method.name == "minhash")
    assert minhash.accepted.any()
    assert found.curve(minhash, "tf")[0][0] == 1.0, "everything is at least 0 alike"


def test_methods_that_must_be_run_say_the_same(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def source() -> Any:
        return open_revisions([str(corpus)])

    names = ["broder", "charikar", "minhash", "winnowing", "i-match", "spex", "weighted-minhash", "b-bit-minhash"]
    direct = evaluate_curves(source, names)
    # As if all of them looked at letters.
    monkeypatch.setattr("neardup.evaluation.curves.beyond_tokens", lambda kinds: True)
    for one, other in zip(direct.methods, evaluate_curves(source, names).methods, strict=True):
        assert (one.accepted == other.accepted).all()
        assert one.index_bytes is not None
        assert other.index_bytes is None


def test_the_folder_holds_everything(corpus: Path, tmp_path: Path) -> None:
    found = evaluate_curves(lambda: open_revisions([str(corpus)]), ["broder", "minhash"])
    write_curves(found, tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "curves.parquet", "pairs.parquet", "methods.parquet", "run.json", "report.html", "similarity.svg",
        "precision_tf.svg", "precision_tf-idf.svg", "recall_tf.svg", "recall_tf-idf.svg", "similarity.csv",
        "precision_tf.csv", "precision_tf-idf.csv", "recall_tf.csv", "recall_tf-idf.csv",
    }  # fmt: skip
    assert found.curves_table().num_rows == 2 * 2 * len(THRESHOLDS)


def dump(articles: dict[str, list[str]], namespace: int = 0) -> str:
    pages = ""
    number = 0
    for title, versions in articles.items():
        pages += f"<page><title>{title}</title><ns>{namespace}</ns>"
        for text in versions:
            number += 1
            pages += f"<revision><id>{number}</id><timestamp>2011-07-29T00:00:00Z</timestamp>"
            pages += f"<contributor><id>99</id></contributor><text xml:space='preserve'>{text}</text></revision>"
        pages += "</page>"
    return f"<mediawiki xmlns='http://www.mediawiki.org/xml/export-0.10/'>{pages}</mediawiki>"


def rows(source: MediaWiki) -> list[tuple[Any, ...]]:
    pages = [page for chunk in source.chunks() for page in chunk.load().pages.to_pylist()]
    return [(page["id"], page["url"], page["content"].decode()) for page in pages]


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress, bytes])
def test_dumps_are_read_as_they_stream(tmp_path: Path, pack: Any) -> None:
    ending = {bz2.compress: ".xml.bz2", gzip.compress: ".xml.gz", bytes: ".xml"}[pack]
    path = tmp_path / f"dump{ending}"
    path.write_bytes(pack(dump({"A": ["one", "two &amp; three", ""], "Ä": ["four"]}).encode()))
    assert rows(MediaWiki([path])) == [("1", "A", "one"), ("2", "A", "two & three"), ("4", "Ä", "four")]
    assert rows(MediaWiki([path], articles=1, revisions=1)) == [("1", "A", "one")]
    path.write_bytes(pack(dump({"Talk:A": ["one"]}, namespace=1).encode()))
    assert rows(MediaWiki([path])) == []


def test_a_damaged_dump_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    text = dump({f"A{at}": [f"text {at}"] * 3 for at in range(50)})
    path = tmp_path / "dump.xml"
    path.write_text(text[: len(text) // 2])
    loaded = [chunk.load() for chunk in MediaWiki([path]).chunks()]
    assert sum(one.pages.num_rows for one in loaded) > 50
    (skipped,) = [bad for one in loaded for bad in one.skipped]
    assert "damaged dump" in skipped.reason


def test_a_dump_does_not_pile_up_in_memory(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(bz2.compress(dump({f"A{at}": ["x" * 50_000] * 4 for at in range(200)}).encode()))
    tracemalloc.start()
    count = sum(chunk.load().pages.num_rows for chunk in MediaWiki([path]).chunks())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 800
    assert peak < 25e6, "40 MB of text went by"


def test_what_cannot_be_opened_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        open_revisions([str(tmp_path / "none.xml.bz2")])
    with pytest.raises(InputError, match="mixed"):
        open_revisions(["a.xml", "b.jsonl"])


def test_numbers_do_not_depend_on_threads(corpus: Path) -> None:
    from neardup.engines import Settings

    one, three = (
        evaluate_curves(
            lambda: open_revisions([str(corpus)]), ["broder", "minhash"], settings=Settings(threads=threads)
        )
        for threads in (1, 3)
    )
    assert one.pairs_table().equals(three.pairs_table())
    assert np.array_equal(one.similarity["tf-idf"], three.similarity["tf-idf"])
