"""The detector ``shingle-paragraphs``: exactly the pairs that share enough, in every way that a run can go."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from brute_force import BruteForce, Pairs, pairs_of
from neardup.comparison import compare
from neardup.engines import Settings
from neardup.errors import SpecError
from neardup.evaluation.scoring import PagePairs
from neardup.job import dedup, find_duplicates
from neardup.methods import parse
from neardup.methods.paragraphs import ShingleParagraphs
from neardup.report.verdicts import verdict_of
from neardup.sources.memory import texts
from neardup.testing import Web
from neardup.text import read

SPECS = ["shingle-paragraphs", *(f"shingle-paragraphs(share={share})" for share in (0.9, 0.7, 0.5, 0.25))]
SPECS += ["shingle-paragraphs(share=0.6,sentence=40,sentences=1,longer_than=0)"]


@pytest.fixture(scope="module")
def brute(web_pages: list[dict[str, Any]]) -> BruteForce:
    return BruteForce(web_pages)


def expected_pairs(spec: str, brute: BruteForce) -> Pairs:
    """By the definition, on lists of paragraphs."""
    detector = parse(spec)
    batch = pa.Table.from_batches(texts(brute.pages).batches).combine_chunks().to_batches()[0]
    lists = detector.paragraphs().lists(batch)[0].to_pylist()  # type: ignore[attr-defined]
    share = detector.parameters()["share"]
    found = set()
    for a, b in combinations(brute.compared, 2):
        both = (Counter(lists[a]) & Counter(lists[b])).total()
        if both and both / max(len(lists[a]), len(lists[b])) >= share:
            found.add((a, b))
    return found


@pytest.mark.parametrize("spec", SPECS)
def test_exactly_the_pairs_that_share_enough(spec: str, brute: BruteForce) -> None:
    expected = expected_pairs(spec, brute)
    result = find_duplicates(brute.pages, detector=spec)
    assert pairs_of(result.pairs) == expected
    # Pages with the same tokens are one page; those with the same paragraphs in another order are rare.
    assert expected or parse(spec).parameters()["share"] > 0.6
    hot = find_duplicates(brute.pages, detector=spec, settings=Settings(hot=2))
    assert hot.pages["cluster"].to_pylist() == result.pages["cluster"].to_pylist()


def test_parts_on_disk_give_the_same(tmp_path: Path, small_web: Web) -> None:
    small_web.write_jsonl(tmp_path / "pages.jsonl")
    expected = dedup(tmp_path / "pages.jsonl", detector=SPECS[3])
    found = dedup(tmp_path / "pages.jsonl", tmp_path / "out", detector=SPECS[3], settings=Settings(memory=2))
    assert found.pages.equals(expected.pages)


def test_the_score_is_the_share_of_the_larger() -> None:
    sentences = [f"Sentence number {number} says nothing that another one says." for number in range(18)]
    page, longer = " ".join(sentences[:12]), " ".join(sentences)
    (score,) = find_duplicates([page, longer], detector="shingle-paragraphs(share=0.5)").pairs["score"].to_pylist()
    assert score == pytest.approx(4 / 6)
    assert compare(
        page, longer, judges=["shingle-paragraphs(share=0.66)", "shingle-paragraphs(share=0.67)"]
    ).decisions == {
        "shingle-paragraphs(share=0.66)": True,
        "shingle-paragraphs(share=0.67)": False,
    }
    turned = " ".join(sentences[3:12] + sentences[:3])
    assert find_duplicates([page, turned], detector="shingle-paragraphs").pairs.num_rows == 1


def test_pairs_are_scored_and_explained_as_a_run_decides() -> None:
    sentences = [f"Sentence number {number} says nothing that another one says." for number in range(18)]
    pages = texts([" ".join(sentences[:12]), " ".join(sentences), " ".join(sentences[9:])])
    detector = parse("shingle-paragraphs(share=0.5)")
    asked = PagePairs.of(lambda: pages, lambda _: (np.array([0, 0]), np.array([1, 2])))
    assert asked.score(detector).accepted.tolist() == [True, False]
    both = pages.batches[0].slice(0, 2)
    tokens = read(both).tokens
    told = verdict_of(detector, both, tokens, same_site=False, identical=False)
    assert told is not None
    assert told.accepted
    assert told.rules[0].value == pytest.approx(4 / 6)
    assert told.rules[0].measure == "share of the larger page's paragraphs"


def test_visible_text_counts_and_case_and_markup_of_white_space() -> None:
    text = "One sentence that is long enough to be said. " * 12
    pages = [
        {"html": f"<p>{text}</p><script>var hidden = 1.5;</script>"},
        {"html": "<div>" + text.replace(" ", "&nbsp; \n") + "</div>"},
        {"text": text},
        {"text": text.upper()},
    ]
    lists = ShingleParagraphs().lists(texts(pages).batches[0])[0].to_pylist()
    assert lists[0] == lists[1] == lists[2] != lists[3]


@pytest.mark.parametrize("wrong", ["share=0", "share=1.5", "sentence=0", "sentences=0", "longer_than=-1"])
def test_wrong_parameters_are_named(wrong: str) -> None:
    with pytest.raises(SpecError, match=wrong.split("=")[0]):
        parse(f"shingle-paragraphs({wrong})")
