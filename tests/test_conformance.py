"""Every road to a decision comes to the same one: a run, judged pairs, an explanation, a comparison, an index, its
service, and a later run against an earlier one.

Each road answers for pairs of pages of one small collection that holds the hard cases (``hard_pages``): whether the
detector takes the two for duplicates. What one road says all must say; where a rule is simple enough to be written
down in a line, an oracle that looks at all pairs says what it has to be. Spark has the same pages in
``tests/spark/test_conformance.py``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup
from brute_force import BruteForce, shingles
from hard_pages import Page, hard_pages
from neardup import Index, Settings, parse
from neardup.comparison import compare_batch
from neardup.detectors import Detector
from neardup.evaluation.judged import Judged
from neardup.evaluation.pairs import evaluate_pairs
from neardup.graph.cut import cut
from neardup.index import Answer
from neardup.job import statistics_of
from neardup.report.explain import explain
from neardup.report.run_pages import RunPages
from neardup.results import Opened
from neardup.revision import Decisions, revise, shape_of
from neardup.sources.memory import texts

#: Two rows, the lower first.
Pair = tuple[int, int]

#: One of each kind of rule: by tokens alone, by columns, by bits, by both, by sites, by sets, by what the site has, by
#: a lexicon, by rarity, by what pages are made of.
DETECTORS = [
    "exact", "broder", "charikar", "combined", "site-aware", "minhash", "template-aware", "template-aware(site=False)",
    "i-match", "winnowing", "shingle-paragraphs(share=0.5)", "weighted-minhash",
]  # fmt: skip
#: Asked through an index that is open to others, and pair by pair where that takes long.
SERVED = ["site-aware", "template-aware"]


@dataclass(frozen=True)
class Asked:
    """The collection as one detector is asked about it."""

    detector: Detector
    pages: list[Page]
    folder: Path

    @cached_property
    def file(self) -> Path:
        path = self.folder / "pages.jsonl"
        path.write_text("".join(json.dumps(page) + "\n" for page in self.pages), encoding="utf-8")
        return path

    @cached_property
    def settings(self) -> Settings:
        """With the statistics of the collection, where the detector needs some."""
        if not self.detector.counted():
            return Settings()
        path = self.folder / "statistics"
        statistics_of(self.file, self.detector).save(path)
        return Settings(statistics=str(path))

    @cached_property
    def run(self) -> neardup.Result:
        return neardup.dedup(self.file, self.folder / "run", detector=self.detector, settings=self.settings)

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        return {name: self.run.pages[name].to_pylist() for name in self.run.pages.column_names}

    @cached_property
    def truth(self) -> BruteForce:
        return BruteForce(self.pages)

    def unit(self, row: int) -> Any:
        """What counts as one page to the detector."""
        tokens, site = self.columns["identity"][row], self.columns["site"][row]
        return (tokens, site if self.detector.looks_at_sites else None)

    @cached_property
    def accepted(self) -> set[Pair]:
        """What the run says of all pairs of pages."""
        of_unit = defaultdict(list)
        for row in range(len(self.pages)):
            of_unit[self.unit(row)].append(row)
        ends = (self.run.pairs[name].to_pylist() for name in ("row_a", "row_b"))
        near = {
            (min(one, other), max(one, other))
            for a, b in zip(*ends, strict=True)
            for one in of_unit[self.unit(a)]
            for other in of_unit[self.unit(b)]
        }
        return near | self.identical

    @cached_property
    def identical(self) -> set[Pair]:
        tokens = self.truth.tokens
        return {(a, b) for a, b in combinations(range(len(tokens)), 2) if tokens[a] and tokens[a] == tokens[b]}

    @cached_property
    def short(self) -> set[Pair]:
        """Pairs that are never compared."""
        lengths = [len(tokens) for tokens in self.truth.tokens]
        pairs = combinations(range(len(lengths)), 2)
        return {(a, b) for a, b in pairs if min(lengths[a], lengths[b]) < 8} - self.identical

    def some_pairs(self, others: int = 60) -> list[Pair]:
        """All that some detector might accept, and a few that none does: every road takes some milliseconds a pair."""
        pairs = list(combinations(range(len(self.pages)), 2))
        lists = [set(tokens) for tokens in self.truth.tokens]
        alike = {(a, b) for a, b in pairs if len(lists[a] & lists[b]) >= 0.1 * max(len(lists[a]), len(lists[b]), 1)}
        alike |= self.accepted
        rest = [pair for pair in pairs if pair not in alike]
        return sorted(alike | set(rest[:: max(1, len(rest) // others)]))


@pytest.fixture(scope="module", params=DETECTORS)
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return Asked(parse(request.param), hard_pages(), tmp_path_factory.mktemp("asked"))


def test_the_collection_is_hard(asked: Asked) -> None:
    """The detector accepts some pairs and not others, and the cases are what they are named."""
    columns = asked.columns
    assert columns["tokens"].count(0) >= 4
    assert len(asked.identical) > 6
    sites = {frozenset((columns["site"][a], columns["site"][b])) for a, b in asked.identical}
    assert any(len(pair) == 2 for pair in sites), "copies on several sites"
    assert len(asked.short) > 20
    if asked.detector.name not in ("exact", "i-match"):
        assert asked.accepted - asked.identical
    assert len(asked.accepted) < 0.2 * len(asked.pages) ** 2 / 2
    assert not asked.accepted & asked.short


def test_judged_pairs_are_decided_as_in_the_run(asked: Asked) -> None:
    pairs = list(combinations(range(len(asked.pages)), 2))
    names = [f"{asked.file}#{row}" for row in range(len(asked.pages))]
    assert asked.columns["id"] == names
    judged = Judged([names[a] for a, _ in pairs], [names[b] for _, b in pairs], np.zeros(len(pairs), np.int8))
    found = evaluate_pairs(Opened([str(asked.file)]), judged, [asked.detector], settings=asked.settings, resamples=0)
    scores = found.scores[str(asked.detector)]
    assert {pair for pair, yes in zip(pairs, scores.accepted.tolist(), strict=True) if yes} == asked.accepted
    # What is not compared has no score, in no table, and the reason is told.
    table = found.pairs_table().append_column("score", found.scores_table()[str(asked.detector)])
    for pair, row in zip(pairs, table.to_pylist(), strict=True):
        missing = pair in asked.short
        assert missing == (row["not_compared"] is not None), pair
        assert [row[name] is None for name in ("score", "b_similarity", "c_similarity")] == [missing] * 3
        if pair in asked.identical:
            assert (row["score"], row["b_similarity"], row["c_similarity"]) == (1.0, 6, 384)


def test_explanations_decide_as_the_run(asked: Asked) -> None:
    run = RunPages(asked.run)
    for a, b in asked.some_pairs(20):
        told = explain(run, a, b, judges=[asked.detector])
        (own,) = told.verdicts
        expected = (a, b) in asked.accepted
        assert own.accepted == expected, (a, b, told.because)
        joined = "identical" if (a, b) in asked.identical else "paired"
        assert (told.relation == joined) == expected, (a, b, told.relation)
        assert own.compared == ((a, b) not in asked.short)
        assert own.compared or own.note
        for fate in told.fates:
            row = told.sides[0] if fate.page == told.sides[0].id else told.sides[1]
            assert row.record is not None
            assert fate.kept_instead == row.record["kept_instead"]


def test_two_pages_alone_are_decided_as_among_all(asked: Asked) -> None:
    batch = texts(asked.pages).batches[0]
    for a, b in asked.some_pairs(20):
        found = compare_batch(batch.take([a, b]), settings=asked.settings, judges=[asked.detector])
        expected = (a, b) in asked.accepted
        assert found.decisions == {str(asked.detector): expected}, (a, b)
        assert found.identical == ((a, b) in asked.identical)
        assert (found.not_compared is not None) == ((a, b) in asked.short)
        for similarity in (found.b_similarity, found.c_similarity):
            assert (similarity is None) == ((a, b) in asked.short)


def expected_matches(asked: Asked, row: int, present: list[int]) -> set[tuple[str, int, bool]]:
    """What an index that holds these pages should say of a page, by the run's decisions: of each text, or where what is
    computed of a page depends on its site of each text on a site, the first page of those accepted, and how many."""
    groups: dict[Any, list[int]] = defaultdict(list)
    by_site = asked.detector.counts_blocks()
    for other in present:
        if other != row and (min(row, other), max(row, other)) in asked.accepted:
            text = asked.columns["identity"][other]
            identical = (min(row, other), max(row, other)) in asked.identical
            apart = by_site and asked.columns["tokens"][other] >= 8
            groups[identical, text, asked.columns["site"][other] if apart else None].append(other)
    return {(str(min(rows)), len(rows), identical) for (identical, _, _), rows in groups.items()}


def told(answer: Answer | dict[str, Any]) -> set[tuple[str, int, bool]]:
    matches = answer["matches"] if isinstance(answer, dict) else [vars_of(match) for match in answer.matches]
    assert len({match["id"] for match in matches}) == len(matches)
    # Identical pages first, then by how alike they are.
    ranks = [(match["rule"] != "identity", -match["score"]) for match in matches]
    assert ranks == sorted(ranks)
    return {(match["id"], match["copies"], match["rule"] == "identity") for match in matches}


def vars_of(match: Any) -> dict[str, Any]:
    return {name: getattr(match, name) for name in ("id", "score", "rule", "copies")}


def index_of(asked: Asked, name: str) -> Path:
    folder = asked.folder / name
    Index.create(folder, asked.detector, statistics=asked.settings.statistics)
    return folder


def test_an_index_answers_as_the_run(asked: Asked) -> None:
    rows = list(range(len(asked.pages)))
    named = [{**page, "id": str(row)} for row, page in enumerate(asked.pages)]
    with Index(index_of(asked, "index"), sync="system") as index:
        # In batches, one by one, and all that was added asked for again.
        answers = index.add_many(named[:20]) + [index.add(page) for page in named[20:]]
        again = index.query_many(named)
        assert index.verify().sound
        for row, answer, later in zip(rows, answers, again, strict=True):
            assert told(answer) == expected_matches(asked, row, rows[:row]), row
            assert told(later) == expected_matches(asked, row, rows), row
        # What is taken out lends nothing any more.
        gone = [row for row in rows if row % 3 == 0]
        index.remove(str(row) for row in gone)
        left = [row for row in rows if row % 3]
        for row, answer in zip(rows, index.query_many(named), strict=True):
            assert told(answer) == expected_matches(asked, row, left), row
        assert index.verify().sound


@pytest.mark.parametrize("asked", SERVED, indirect=True)
def test_the_service_answers_as_the_run(asked: Asked) -> None:
    client = pytest.importorskip("starlette.testclient", reason="the service needs the extra 'serve'").TestClient
    from neardup.web.service.api import application

    with (
        Index(index_of(asked, "served"), sync="system") as index,
        client(application(index), base_url="http://localhost:8750") as service,
    ):
        rows = list(range(len(asked.pages)))
        for row in rows:
            sent = {name: value for name, value in asked.pages[row].items() if value is not None}
            reply = service.post("/v1/pages", json={**sent, "id": str(row)})
            assert reply.status_code == 200, reply.text
            assert told(reply.json()) == expected_matches(asked, row, rows[:row]), row
        # Several at once, and asked for again.
        sent = [
            {**{k: v for k, v in page.items() if v is not None}, "id": str(at)} for at, page in enumerate(asked.pages)
        ]
        replies = service.post("/v1/query/batch", json={"pages": sent}).json()
        for row, reply in zip(rows, replies["answers"], strict=True):
            assert told(reply) == expected_matches(asked, row, rows), row


def test_a_later_run_decides_as_one_over_all(asked: Asked) -> None:
    """Half of the pages in an earlier run, the others against what it kept."""
    half = len(asked.pages) // 2
    for name, pages in (("before", asked.pages[:half]), ("now", asked.pages[half:])):
        (asked.folder / f"{name}.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    before = neardup.dedup(
        asked.folder / "before.jsonl", asked.folder / "before", detector=asked.detector, settings=asked.settings,
        keep_fingerprints=True,
    )  # fmt: skip
    now = neardup.dedup(
        asked.folder / "now.jsonl", asked.folder / "now", detector=asked.detector, settings=asked.settings,
        against=[asked.folder / "before"],
    )  # fmt: skip
    kept = [row for row, stays in enumerate(before.pages["kept"].to_pylist()) if stays]
    for place, page in enumerate(now.pages.to_pylist()):
        row = half + place
        repeats = [other for other in kept if (other, row) in asked.accepted]
        seen = page["reason"].startswith("seen")
        if repeats:
            assert seen, (row, page["reason"])
            instead = {before.pages["id"][other].as_py() for other in repeats}
            assert page["kept_instead"] in instead
        else:
            assert not seen, (row, page["kept_instead"])
        same = any((other, row) in asked.identical for other in kept)
        assert (page["reason"] == "seen-identical") == same


def test_what_stays_follows_from_the_decisions(asked: Asked) -> None:
    """In input order: a page goes exactly if it was accepted with one that stays."""
    stays: list[int] = []
    for row in range(len(asked.pages)):
        if not any((other, row) in asked.accepted for other in stays):
            stays.append(row)
    assert [row for row, kept in enumerate(asked.columns["kept"]) if kept] == stays
    # And hangs together with all that it was accepted with, however far around.
    label = list(range(len(asked.pages)))
    for a, b in sorted(asked.accepted):
        low, high = sorted((label[a], label[b]))
        label = [low if one == high else one for one in label]
    names = asked.columns["id"]
    assert asked.columns["cluster"] == [names[one] for one in label]


def test_a_revised_run_decides_alike(asked: Asked) -> None:
    """By its tables alone: the same clusters, and the same pages stay, where nothing was decided otherwise."""
    shape = shape_of(asked.run)
    kept = np.flatnonzero(shape.kept).astype(np.uint32)
    # Preferred to all are pages that stay: decided anew, and to the same end.
    again = cut(shape, shape.floor, kept[:1])
    assert again.kept.tolist() == asked.columns["kept"]
    row = {name: at for at, name in enumerate(asked.columns["id"])}
    assert again.cluster.tolist() == [row[name] for name in asked.columns["cluster"]]
    cohesion = dict(
        zip(asked.run.clusters["cluster"].to_pylist(), asked.run.clusters["cohesion"].to_pylist(), strict=True)
    )
    assert {
        asked.columns["id"][first]: share for first, share in zip(again.first, again.cohesion, strict=True)
    } == cohesion
    assert all(0 < share <= 1 for share in cohesion.values())
    # Without one pair: the pages of its two texts are no pair any more, whatever copies there are of them.
    near = sorted(asked.accepted - asked.identical)
    if near:
        a, b = near[0]
        out = asked.folder / "revised"
        revised = revise(asked.run.folder or "", out, Decisions(rejected_pairs=[near[0]]), overwrite=True)
        identity = asked.columns["identity"]
        left = zip(revised.pairs["row_a"].to_pylist(), revised.pairs["row_b"].to_pylist(), strict=True)
        texts_left = {frozenset((identity[one], identity[other])) for one, other in left}
        assert frozenset((identity[a], identity[b])) not in texts_left
        assert len(texts_left) == len({frozenset((identity[one], identity[other])) for one, other in near}) - 1


def oracle(asked: Asked, pair: Pair) -> bool | None:
    """What a rule says of two pages that are long enough and not identical, written down; None where a sketch of the
    single terms is so near its threshold that it may say either."""
    truth, (a, b) = asked.truth, pair
    given = asked.detector.parameters()
    c, same = truth.c_similarity[pair], truth.same_site(a, b)
    combined = truth.b_similarity[pair] >= 2 and c >= given.get("same_site_t", given.get("t", 355))
    confirmed: bool | None = True
    if least := given.get("terms", 0):
        one, other = set(truth.tokens[a]), set(truth.tokens[b])
        apart = len(one & other) / len(one | other) - least
        # Four times the deviation of a sketch of 32 bytes.
        confirmed = None if abs(apart) < 4 * 0.055 else apart > 0
    sketch = bool(c >= given.get("t", 372) and truth.shares_a_piece(a, b)) and confirmed
    if asked.detector.name == "broder":
        return bool(truth.b_similarity[pair] >= 2)
    if asked.detector.name == "charikar":
        return sketch
    if asked.detector.name == "combined":
        return bool(combined)
    if asked.detector.name == "site-aware":
        return bool(combined) if same else sketch
    assert asked.detector.name == "exact"
    return False


@pytest.mark.parametrize("asked", ["exact", "broder", "charikar", "combined", "site-aware"], indirect=True)
def test_pairs_are_those_of_the_rules_written_down(asked: Asked) -> None:
    undecided = 0
    for pair in combinations(range(len(asked.pages)), 2):
        expected = pair in asked.identical or (pair not in asked.short and oracle(asked, pair))
        undecided += expected is None
        assert expected is None or expected == (pair in asked.accepted), pair
    assert undecided < 10


@pytest.mark.parametrize("asked", ["minhash"], indirect=True)
def test_pairs_of_minhash_have_the_similarity_it_names(asked: Asked) -> None:
    sets = [shingles(tokens, 5) for tokens in asked.truth.tokens]
    for a, b in asked.accepted - asked.identical:
        assert len(sets[a] & sets[b]) / len(sets[a] | sets[b]) >= 0.8
    similar = {
        (a, b)
        for a, b in combinations(range(len(sets)), 2)
        if (a, b) not in asked.short and len(sets[a] & sets[b]) / len(sets[a] | sets[b]) >= 0.95
    }
    # Bands find these as good as always; texts over a few words are alike as sets and not as texts.
    few = {row for row, tokens in enumerate(asked.truth.tokens) if len(set(tokens)) < 5}
    assert {pair for pair in similar if not set(pair) <= few} <= asked.accepted


def rows_of_family(pages: list[Page], text: str) -> Iterator[int]:
    return (row for row, page in enumerate(pages) if text in page.get("html", page.get("text", "")))


@pytest.mark.parametrize("asked", DETECTORS, indirect=True)
def test_short_pages_are_one_answer_everywhere(asked: Asked) -> None:
    """Identical stays identical on whatever site; two of a few words that differ are nowhere duplicates."""
    small = list(rows_of_family(asked.pages, "one two "))
    assert len(small) == 4
    of_text = defaultdict(list)
    for row in small:
        of_text[asked.truth.tokens[row]].append(row)
    assert sorted(map(len, of_text.values())) == [1, 3]
    for rows in of_text.values():
        assert set(combinations(rows, 2)) <= asked.accepted
        assert sum(asked.columns["kept"][row] for row in rows) == 1
