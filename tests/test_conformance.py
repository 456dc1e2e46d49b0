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
from neardup.evaluation.judged import Judged
from neardup.evaluation.pairs import evaluate_pairs
from neardup.graph.cut import cut
from neardup.index import Answer
from neardup.job import statistics_of
from neardup.methods import Detector
from neardup.report.explain import explain
from neardup.results.pages import RunPages
from neardup.results.revision import Decisions, revise, shape_of
from neardup.sources import InputSpec
from neardup.sources.memory import texts

#: Two rows, the lower first.
Pair = tuple[int, int]

#: One of each kind of rule: by tokens alone, by columns, by bits, by both, by sites, by sets, by what the site has, by
#: a lexicon, by rarity, by what pages are made of.
DETECTORS = [
    "exact", "broder", "charikar", "combined", "site-aware", "minhash", "template-aware", "template-aware(site=False)",
    "i-match", "winnowing", "shingle-paragraphs(share=0.5)", "weighted-minhash",
]  # fmt: skip
#: Case through an index that is open to others, and pair by pair where that takes long.
SERVED = ["site-aware", "template-aware"]


@dataclass(frozen=True)
class Case:
    """The collection, and one detector that is asked about it."""

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
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(parse(request.param), hard_pages(), tmp_path_factory.mktemp("case"))


def test_the_collection_is_hard(case: Case) -> None:
    """The detector accepts some pairs and not others, and the cases are what they are named."""
    columns = case.columns
    assert columns["tokens"].count(0) >= 4
    assert len(case.identical) > 6
    sites = {frozenset((columns["site"][a], columns["site"][b])) for a, b in case.identical}
    assert any(len(pair) == 2 for pair in sites), "copies on several sites"
    assert len(case.short) > 20
    if case.detector.name not in ("exact", "i-match"):
        assert case.accepted - case.identical
    assert len(case.accepted) < 0.2 * len(case.pages) ** 2 / 2
    assert not case.accepted & case.short


def test_judged_pairs_are_decided_as_in_the_run(case: Case) -> None:
    pairs = list(combinations(range(len(case.pages)), 2))
    names = [f"{case.file}#{row}" for row in range(len(case.pages))]
    assert case.columns["id"] == names
    judged = Judged([names[a] for a, _ in pairs], [names[b] for _, b in pairs], np.zeros(len(pairs), np.int8))
    evaluation = evaluate_pairs(
        InputSpec([str(case.file)]), judged, [case.detector], settings=case.settings, resamples=0
    )
    scores = evaluation.scores[str(case.detector)]
    assert {pair for pair, yes in zip(pairs, scores.accepted.tolist(), strict=True) if yes} == case.accepted
    # What is not compared has no score, in no table, and the reason is told.
    table = evaluation.pairs_table().append_column("score", evaluation.scores_table()[str(case.detector)])
    for pair, row in zip(pairs, table.to_pylist(), strict=True):
        missing = pair in case.short
        assert missing == (row["not_compared"] is not None), pair
        assert [row[name] is None for name in ("score", "b_similarity", "c_similarity")] == [missing] * 3
        if pair in case.identical:
            assert (row["score"], row["b_similarity"], row["c_similarity"]) == (1.0, 6, 384)


def test_explanations_decide_as_the_run(case: Case) -> None:
    run = RunPages(case.run)
    for a, b in case.some_pairs(20):
        explanation = explain(run, a, b, judges=[case.detector])
        (own,) = explanation.verdicts
        expected = (a, b) in case.accepted
        assert own.accepted == expected, (a, b, explanation.because)
        joined = "identical" if (a, b) in case.identical else "paired"
        assert (explanation.relation == joined) == expected, (a, b, explanation.relation)
        assert own.compared == ((a, b) not in case.short)
        assert own.compared or own.note
        for fate in explanation.fates:
            row = explanation.sides[0] if fate.page == explanation.sides[0].id else explanation.sides[1]
            assert row.record is not None
            assert fate.kept_instead == row.record["kept_instead"]


def test_two_pages_alone_are_decided_as_among_all(case: Case) -> None:
    batch = texts(case.pages).batches[0]
    for a, b in case.some_pairs(20):
        comparison = compare_batch(batch.take([a, b]), settings=case.settings, judges=[case.detector])
        expected = (a, b) in case.accepted
        assert comparison.decisions == {str(case.detector): expected}, (a, b)
        assert comparison.identical == ((a, b) in case.identical)
        assert (comparison.not_compared is not None) == ((a, b) in case.short)
        for similarity in (comparison.b_similarity, comparison.c_similarity):
            assert (similarity is None) == ((a, b) in case.short)


def expected_matches(case: Case, row: int, present: list[int]) -> set[tuple[str, int, bool]]:
    """What an index that holds these pages should say of a page, by the run's decisions: of each text, or where what is
    computed of a page depends on its site of each text on a site, the first page of those accepted, and how many."""
    groups: dict[Any, list[int]] = defaultdict(list)
    by_site = case.detector.counts_blocks()
    for other in present:
        if other != row and (min(row, other), max(row, other)) in case.accepted:
            text = case.columns["identity"][other]
            identical = (min(row, other), max(row, other)) in case.identical
            apart = by_site and case.columns["tokens"][other] >= 8
            groups[identical, text, case.columns["site"][other] if apart else None].append(other)
    return {(str(min(rows)), len(rows), identical) for (identical, _, _), rows in groups.items()}


def summary(answer: Answer | dict[str, Any]) -> set[tuple[str, int, bool]]:
    matches = answer["matches"] if isinstance(answer, dict) else [vars_of(match) for match in answer.matches]
    assert len({match["id"] for match in matches}) == len(matches)
    # Identical pages first, then by how alike they are.
    ranks = [(match["rule"] != "identity", -match["score"]) for match in matches]
    assert ranks == sorted(ranks)
    return {(match["id"], match["copies"], match["rule"] == "identity") for match in matches}


def vars_of(match: Any) -> dict[str, Any]:
    return {name: getattr(match, name) for name in ("id", "score", "rule", "copies")}


def index_of(case: Case, name: str) -> Path:
    folder = case.folder / name
    Index.create(folder, case.detector, statistics=case.settings.statistics)
    return folder


def test_an_index_answers_as_the_run(case: Case) -> None:
    rows = list(range(len(case.pages)))
    named = [{**page, "id": str(row)} for row, page in enumerate(case.pages)]
    with Index(index_of(case, "index"), sync="system") as index:
        # In batches, one by one, and all that was added asked for again.
        answers = index.add_many(named[:20]) + [index.add(page) for page in named[20:]]
        again = index.query_many(named)
        assert index.verify().sound
        for row, answer, later in zip(rows, answers, again, strict=True):
            assert summary(answer) == expected_matches(case, row, rows[:row]), row
            assert summary(later) == expected_matches(case, row, rows), row
        # What is taken out lends nothing any more.
        gone = [row for row in rows if row % 3 == 0]
        index.remove(str(row) for row in gone)
        left = [row for row in rows if row % 3]
        for row, answer in zip(rows, index.query_many(named), strict=True):
            assert summary(answer) == expected_matches(case, row, left), row
        assert index.verify().sound


@pytest.mark.parametrize("case", SERVED, indirect=True)
def test_the_service_answers_as_the_run(case: Case) -> None:
    client = pytest.importorskip("starlette.testclient", reason="the service needs the extra 'serve'").TestClient
    from neardup.service.api import application

    with (
        Index(index_of(case, "served"), sync="system") as index,
        client(application(index), base_url="http://localhost:8750") as service,
    ):
        rows = list(range(len(case.pages)))
        for row in rows:
            sent = {name: value for name, value in case.pages[row].items() if value is not None}
            reply = service.post("/v1/pages", json={**sent, "id": str(row)})
            assert reply.status_code == 200, reply.text
            assert summary(reply.json()) == expected_matches(case, row, rows[:row]), row
        # Several at once, and asked for again.
        sent = [
            {**{k: v for k, v in page.items() if v is not None}, "id": str(at)} for at, page in enumerate(case.pages)
        ]
        replies = service.post("/v1/query/batch", json={"pages": sent}).json()
        for row, reply in zip(rows, replies["answers"], strict=True):
            assert summary(reply) == expected_matches(case, row, rows), row


def test_a_later_run_decides_as_one_over_all(case: Case) -> None:
    """Half of the pages in an earlier run, the others against what it kept."""
    half = len(case.pages) // 2
    for name, pages in (("before", case.pages[:half]), ("now", case.pages[half:])):
        (case.folder / f"{name}.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    before = neardup.dedup(
        case.folder / "before.jsonl", case.folder / "before", detector=case.detector, settings=case.settings,
        keep_fingerprints=True,
    )  # fmt: skip
    now = neardup.dedup(
        case.folder / "now.jsonl", case.folder / "now", detector=case.detector, settings=case.settings,
        against=[case.folder / "before"],
    )  # fmt: skip
    kept = [row for row, stays in enumerate(before.pages["kept"].to_pylist()) if stays]
    for place, page in enumerate(now.pages.to_pylist()):
        row = half + place
        repeats = [other for other in kept if (other, row) in case.accepted]
        seen = page["reason"].startswith("seen")
        if repeats:
            assert seen, (row, page["reason"])
            instead = {before.pages["id"][other].as_py() for other in repeats}
            assert page["kept_instead"] in instead
        else:
            assert not seen, (row, page["kept_instead"])
        same = any((other, row) in case.identical for other in kept)
        assert (page["reason"] == "seen-identical") == same


def test_what_stays_follows_from_the_decisions(case: Case) -> None:
    """In input order: a page goes exactly if it was accepted with one that stays."""
    stays: list[int] = []
    for row in range(len(case.pages)):
        if not any((other, row) in case.accepted for other in stays):
            stays.append(row)
    assert [row for row, kept in enumerate(case.columns["kept"]) if kept] == stays
    # And hangs together with all that it was accepted with, however far around.
    label = list(range(len(case.pages)))
    for a, b in sorted(case.accepted):
        low, high = sorted((label[a], label[b]))
        label = [low if one == high else one for one in label]
    names = case.columns["id"]
    assert case.columns["cluster"] == [names[one] for one in label]


def test_a_revised_run_decides_alike(case: Case) -> None:
    """By its tables alone: the same clusters, and the same pages stay, where nothing was decided otherwise."""
    shape = shape_of(case.run)
    kept = np.flatnonzero(shape.kept).astype(np.uint32)
    # Preferred to all are pages that stay: decided anew, and to the same end.
    again = cut(shape, shape.floor, kept[:1])
    assert again.kept.tolist() == case.columns["kept"]
    row = {name: at for at, name in enumerate(case.columns["id"])}
    assert again.cluster.tolist() == [row[name] for name in case.columns["cluster"]]
    cohesion = dict(
        zip(case.run.clusters["cluster"].to_pylist(), case.run.clusters["cohesion"].to_pylist(), strict=True)
    )
    assert {
        case.columns["id"][first]: share for first, share in zip(again.first, again.cohesion, strict=True)
    } == cohesion
    assert all(0 < share <= 1 for share in cohesion.values())
    # Without one pair: the pages of its two texts are no pair any more, whatever copies there are of them.
    near = sorted(case.accepted - case.identical)
    if near:
        a, b = near[0]
        out = case.folder / "revised"
        revised = revise(case.run.folder or "", out, Decisions(rejected_pairs=[near[0]]), overwrite=True)
        identity = case.columns["identity"]
        left = zip(revised.pairs["row_a"].to_pylist(), revised.pairs["row_b"].to_pylist(), strict=True)
        texts_left = {frozenset((identity[one], identity[other])) for one, other in left}
        assert frozenset((identity[a], identity[b])) not in texts_left
        assert len(texts_left) == len({frozenset((identity[one], identity[other])) for one, other in near}) - 1


def oracle(case: Case, pair: Pair) -> bool | None:
    """What a rule says of two pages that are long enough and not identical, written down; None where a sketch of the
    single terms is so near its threshold that it may say either."""
    truth, (a, b) = case.truth, pair
    parameters = case.detector.parameters()
    c, same = truth.c_similarity[pair], truth.same_site(a, b)
    combined = truth.b_similarity[pair] >= 2 and c >= parameters.get("same_site_t", parameters.get("t", 355))
    confirmed: bool | None = True
    if least := parameters.get("terms", 0):
        one, other = set(truth.tokens[a]), set(truth.tokens[b])
        apart = len(one & other) / len(one | other) - least
        # Four times the deviation of a sketch of 32 bytes.
        confirmed = None if abs(apart) < 4 * 0.055 else apart > 0
    sketch = bool(c >= parameters.get("t", 372) and truth.shares_a_piece(a, b)) and confirmed
    if case.detector.name == "broder":
        return bool(truth.b_similarity[pair] >= 2)
    if case.detector.name == "charikar":
        return sketch
    if case.detector.name == "combined":
        return bool(combined)
    if case.detector.name == "site-aware":
        return bool(combined) if same else sketch
    assert case.detector.name == "exact"
    return False


@pytest.mark.parametrize("case", ["exact", "broder", "charikar", "combined", "site-aware"], indirect=True)
def test_pairs_are_those_of_the_rules_written_down(case: Case) -> None:
    undecided = 0
    for pair in combinations(range(len(case.pages)), 2):
        expected = pair in case.identical or (pair not in case.short and oracle(case, pair))
        undecided += expected is None
        assert expected is None or expected == (pair in case.accepted), pair
    assert undecided < 10


@pytest.mark.parametrize("case", ["minhash"], indirect=True)
def test_pairs_of_minhash_have_the_similarity_it_names(case: Case) -> None:
    sets = [shingles(tokens, 5) for tokens in case.truth.tokens]
    for a, b in case.accepted - case.identical:
        assert len(sets[a] & sets[b]) / len(sets[a] | sets[b]) >= 0.8
    similar = {
        (a, b)
        for a, b in combinations(range(len(sets)), 2)
        if (a, b) not in case.short and len(sets[a] & sets[b]) / len(sets[a] | sets[b]) >= 0.95
    }
    # Bands find these as good as always; texts over a few words are alike as sets and not as texts.
    few = {row for row, tokens in enumerate(case.truth.tokens) if len(set(tokens)) < 5}
    assert {pair for pair in similar if not set(pair) <= few} <= case.accepted


def rows_of_family(pages: list[Page], text: str) -> Iterator[int]:
    return (row for row, page in enumerate(pages) if text in page.get("html", page.get("text", "")))


@pytest.mark.parametrize("case", DETECTORS, indirect=True)
def test_short_pages_are_one_answer_everywhere(case: Case) -> None:
    """Identical stays identical on whatever site; two of a few words that differ are nowhere duplicates."""
    small = list(rows_of_family(case.pages, "one two "))
    assert len(small) == 4
    of_text = defaultdict(list)
    for row in small:
        of_text[case.truth.tokens[row]].append(row)
    assert sorted(map(len, of_text.values())) == [1, 3]
    for rows in of_text.values():
        assert set(combinations(rows, 2)) <= case.accepted
        assert sum(case.columns["kept"][row] for row in rows) == 1
