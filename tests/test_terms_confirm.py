"""A rule that one sketch decides asks for shared terms as well, by every road to a decision; not when turned off."""

from __future__ import annotations

import json
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neardup import find_duplicates
from neardup.comparison import compare_batch
from neardup.evaluation.scoring import PagePairs
from neardup.index import Index
from neardup.job import dedup
from neardup.methods import parse
from neardup.methods.projections import TermSketch
from neardup.report.verdicts import distance, verdict_of
from neardup.sources.memory import texts
from neardup.text import read

#: By default, and as in the paper.
DETECTORS = ["charikar", "site-aware", "charikar(terms=0)", "site-aware(terms=0)"]


def page(name: str, seed: int, changed: int = 0) -> dict[str, Any]:
    """A quarter of the words is the same on every page, the others are its own."""
    own = [f"word{seed}x{number}" for number in range(4500)]
    own[:changed] = [f"other{number}" for number in range(changed)]
    words = own + ["casino"] * 1500
    random.Random(7).shuffle(words)
    return {"id": name, "url": f"http://{name}.example/", "text": " ".join(words)}


@pytest.fixture(scope="module")
def pages() -> list[dict[str, Any]]:
    """Three that have nothing but "casino" in common, a near copy of the first, and one with half of its terms."""
    return [
        page("one", 1),
        page("two", 2),
        page("three", 3),
        page("copy", 1, changed=20),
        page("half", 1, changed=2500),
    ]


def expected(detector: str) -> set[tuple[str, str]]:
    if "terms=0" in detector:
        return set(combinations(("copy", "half", "one", "three", "two"), 2))
    return {("copy", "one")}


def ordered(pairs: Any) -> set[tuple[str, str]]:
    return {(min(pair), max(pair)) for pair in pairs}


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_run_an_index_and_an_earlier_run_decide_alike(
    detector: str, pages: list[dict[str, Any]], tmp_path: Path
) -> None:
    found = find_duplicates(pages, detector=detector).pairs
    assert ordered(zip(found["a"].to_pylist(), found["b"].to_pylist(), strict=True)) == expected(detector)
    for name, some in (("may", pages[:1]), ("june", pages[1:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in some))
    dedup(tmp_path / "may.jsonl", tmp_path / "may", detector=detector, keep_fingerprints=True)
    later = dedup(tmp_path / "june.jsonl", tmp_path / "june", detector=detector, against=[tmp_path / "may"]).pages
    seen = [row["id"] for row in later.to_pylist() if row["kept_instead"] == "one"]
    assert seen == (["two", "three", "copy", "half"] if "terms=0" in detector else ["copy"])
    Index.create(tmp_path / "index", detector)
    with Index(tmp_path / "index", sync="system") as index:
        answers = index.add_many(pages)
    assert ordered((answer.id, match.id) for answer in answers for match in answer.matches) == expected(detector)


@pytest.mark.parametrize("detector", DETECTORS)
def test_judging_given_pairs_decides_alike(detector: str, pages: list[dict[str, Any]]) -> None:
    sides = np.array(list(combinations(range(len(pages)), 2)))
    scores = PagePairs.of(lambda: texts(pages), lambda _: (sides[:, 0], sides[:, 1])).score(parse(detector))
    accepted = ordered((pages[a]["id"], pages[b]["id"]) for a, b in sides[scores.accepted])
    assert accepted == expected(detector)
    # What is not confirmed has no score that a threshold could accept.
    assert ((scores.score > 0.9) == scores.accepted).all()
    for a, b in sides.tolist():
        both = texts([pages[a], pages[b]]).batches[0]
        holds = (min(pages[a]["id"], pages[b]["id"]), max(pages[a]["id"], pages[b]["id"])) in expected(detector)
        assert list(compare_batch(both, judges=[detector]).decisions.values()) == [holds]
        told = verdict_of(parse(detector), both, read(both).tokens, same_site=False, identical=False)
        assert told is not None
        assert told.accepted == holds
        assert ("similarity of terms" in distance(told.rules[0])) == ("terms=0" not in detector)


def test_the_sketch_tells_the_jaccard_similarity_of_terms() -> None:
    """However often a term is repeated; within four standard deviations of the stated error."""
    for shared in (0.0, 0.2, 0.5, 0.8, 1.0):
        for size in (20, 200, 2000):
            union, both = size, round(size * shared)
            words = [f"w{shared}x{number}" for number in range(union)]
            a = words[: both + (union - both) // 2]
            b = words[:both] + words[both + (union - both) // 2 :]
            sketch = TermSketch().compute(read(texts([" ".join(a * 3), " ".join(b)]).batches[0]).tokens)
            agreeing = 256 - int(np.bitwise_count(sketch[0] ^ sketch[1]).sum())
            assert abs(TermSketch().similarity(agreeing) - both / union) <= 4 * 0.0625 * (1 - shared) ** 0.5 + 1e-9


def test_the_share_of_terms_is_a_parameter(pages: list[dict[str, Any]]) -> None:
    """Half of the terms shared by two pages are a third of the terms of both together."""
    for least, count in ((0.1, 3), (0.9, 1)):
        pairs = find_duplicates([pages[0], *pages[3:]], detector=f"charikar(terms={least})").pairs
        assert pairs.num_rows == count
