"""Keys that very many pages share: the same answer as from all pairs, at a cost that is not their square."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from neardup import Result, Settings, find_duplicates
from neardup.errors import UsageError

Page = dict[str, str]
DETECTORS = ["minhash", "combined", "site-aware", "charikar", "broder"]
#: All pairs are scored: no key is hot, and there is room for every pair.
EVERY_PAIR = Settings(hot=1 << 40, max_pairs=1 << 20)


def words(generator: random.Random, count: int) -> list[str]:
    return [f"w{generator.randrange(50_000)}" for _ in range(count)]


def page(number: int, text: list[str]) -> Page:
    return {"id": str(number), "text": " ".join(text), "url": f"http://site{number % 3}.example/{number}"}


def near_identical(count: int) -> list[Page]:
    """One cluster; every page differs from the others in a word of its own."""
    generator = random.Random(1)
    text = words(generator, 400)
    return [page(number, [*text[:200], f"own{number}", *text[200:]]) for number in range(count)]


def template_only(count: int) -> list[Page]:
    """A common frame, and as much text of each page's own."""
    generator = random.Random(2)
    frame = words(generator, 60)
    return [page(number, [*frame, *words(generator, 60)]) for number in range(count)]


def clusters_in_a_template(count: int) -> list[Page]:
    """A frame that decides most keys; within it clusters, some pages of which lie between two."""
    generator = random.Random(3)
    frame = words(generator, 150)
    bodies = [words(generator, 40) for _ in range(12)]
    pages = []
    for number in range(count):
        one, other = generator.sample(bodies, 2)
        body = one if generator.random() < 0.8 else [*one[:20], *other[:20]]
        changed = list(body)
        for _ in range(generator.randrange(4)):
            changed[generator.randrange(len(changed))] = f"new{number}"
        pages.append(page(number, [*frame, *changed]))
    return pages


def all_identical(count: int) -> list[Page]:
    text = words(random.Random(4), 50)
    return [page(number, text) for number in range(count)]


def nothing_alike(count: int) -> list[Page]:
    generator = random.Random(5)
    return [page(number, words(generator, 60)) for number in range(count)]


def one_word(count: int) -> list[Page]:
    return [page(number, [f"word{number % 7}"]) for number in range(count)]


STRUCTURES: list[Callable[[int], list[Page]]] = [
    near_identical,
    template_only,
    clusters_in_a_template,
    all_identical,
    nothing_alike,
    one_word,
]


def answer(result: Result) -> pa.Table:
    return result.pages.select(["cluster", "kept", "kept_instead", "reason"])


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_the_answer_is_that_of_all_pairs(structure: Callable[[int], list[Page]], detector: str) -> None:
    pages = structure(400)
    every = find_duplicates(pages, detector=detector, settings=EVERY_PAIR)
    assert all(rule["hot_buckets"] == rule["unscored"] == 0 for rule in every.report["rules"])
    for hot in (2, 30):
        found = find_duplicates(pages, detector=detector, settings=Settings(hot=hot))
        assert answer(found).equals(answer(every))
        told = found.report
        missing = every.pairs.num_rows - found.pairs.num_rows
        assert 0 <= missing <= sum(rule["unscored"] for rule in told["rules"])
        scored = set(zip(every.pairs["row_a"].to_pylist(), every.pairs["row_b"].to_pylist(), strict=True))
        assert scored.issuperset(zip(found.pairs["row_a"].to_pylist(), found.pairs["row_b"].to_pylist(), strict=True))


@pytest.mark.parametrize("keep", ["longest", "shortest-url"])
@pytest.mark.parametrize("removal", ["direct", "component"])
def test_the_answer_is_the_same_under_every_policy(keep: Any, removal: Any) -> None:
    pages = clusters_in_a_template(300)
    every = find_duplicates(pages, detector="minhash", settings=Settings(keep=keep, removal=removal, hot=1 << 40))
    found = find_duplicates(pages, detector="minhash", settings=Settings(keep=keep, removal=removal, hot=2))
    assert answer(found).equals(answer(every))


@pytest.mark.parametrize("detector", DETECTORS)
def test_threads_leave_no_trace(detector: str) -> None:
    pages = clusters_in_a_template(500)
    one, four = (
        find_duplicates(pages, detector=detector, settings=Settings(hot=3, threads=threads)) for threads in (1, 4)
    )
    assert one.pages.equals(four.pages)
    assert one.pairs.equals(four.pairs)
    assert one.clusters.equals(four.clusters)
    assert one.report["rules"] == four.report["rules"]


@pytest.mark.parametrize("detector", DETECTORS)
def test_near_identical_pages_cost_a_constant_each(detector: str) -> None:
    def candidates(count: int) -> int:
        result = find_duplicates(near_identical(count), detector=detector, settings=Settings(hot=20))
        assert result.report["counts"]["kept"] < count // 20
        return sum(rule["candidates"] for rule in result.report["rules"])

    few, many = candidates(1000), candidates(4000)
    # Four times the pages: sixteen times the pairs, but four times the work, and a little for how keys fall.
    assert many < 6 * few
    assert many < 100 * 4000


def test_what_was_not_scored_is_told() -> None:
    result = find_duplicates(near_identical(3000), detector="minhash", settings=Settings(hot=100))
    (rule,) = result.report["rules"]
    assert rule["largest_bucket"] > 2000
    assert rule["hot_buckets"] > 0
    assert rule["unscored"] > 1_000_000
    assert result.report["pairs"]["held"] == (
        f"all scored; at most {rule['unscored']:,} pairs in hot keys were not scored"
    )
    assert any("not all their pairs were scored" in warning for warning in result.report["warnings"])
    assert result.pairs.num_rows < 10 * 3000


def test_pages_that_share_a_template_are_all_compared() -> None:
    """None goes, so none may be skipped: no pair is left unscored."""
    result = find_duplicates(template_only(2000), detector="minhash", settings=Settings(hot=2))
    assert result.report["counts"]["kept"] == 2000
    assert [rule["unscored"] for rule in result.report["rules"]] == [0]
    assert result.report["pairs"]["held"] == "all"


@pytest.mark.parametrize(("asked", "told"), [(0, 20_000), (3, 3)])
def test_the_limit_that_was_kept_to_is_told(asked: int, told: int) -> None:
    result = find_duplicates(near_identical(20), detector="minhash", settings=Settings(hot=asked))
    assert result.report["settings"]["hot"] == told


def test_hot_must_not_be_negative() -> None:
    with pytest.raises(UsageError, match="hot"):
        Settings(hot=-1)


@pytest.mark.parametrize("pages", [10, 100_000, 400_000, 10**7])
def test_one_key_is_no_large_part_of_what_may_be_looked_at(pages: int) -> None:
    hot = Settings().hot_beyond(pages)
    assert hot * (hot - 1) / 2 <= max(2e8, Settings().most_possible(pages) / 2)
