"""The certificate: its intervals cover the truth as often as they say, and with all pages looked at it is the truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from generated import generate

import neardup
from brute_force import BruteForce, pairs_of
from neardup.errors import InputError, UsageError
from neardup.evaluation.certificate import Notion, certificate
from neardup.evaluation.certify import Certifier, certify
from neardup.methods import parse
from neardup.testing import Web

TRIALS = 100
#: Of 100 trials of 95 %, fewer than 88 in about one of 1,000 cases: a failure is a fault, not bad luck.
LEAST_COVERED = 88


@pytest.mark.parametrize(
    ("exponent", "per_cluster"), [(1.9, True), (3.2, True), (2.3, False)], ids=lambda value: str(value)
)
def test_intervals_cover_the_truth(exponent: float, per_cluster: bool) -> None:
    covered = dict.fromkeys(("without_partner", "repeats", "recall", "precision"), 0)
    widths = dict.fromkeys(covered, 0.0)
    for seed in range(TRIALS):
        made = generate(seed, pages=1000, exponent=exponent, per_cluster=per_cluster)
        told = certificate(made.graph, parse("combined"), Notion(), made.find, sample=120, seed=seed)
        stated = {
            "without_partner": told["removed"]["without_partner"],
            "repeats": told["kept"]["repeats"],
            "recall": told["pairs"]["recall"]["all"],
            "precision": told["pairs"]["precision"]["all"],
        }
        for name, share in stated.items():
            covered[name] += share["low"] - 1e-6 <= getattr(made.truth, name) <= share["high"] + 1e-6
            widths[name] += (share["high"] - share["low"]) / TRIALS
    assert min(covered.values()) >= LEAST_COVERED, covered
    # Intervals that say nothing would cover too; of 120 pages few have most pairs.
    assert max(widths.values()) < 0.6, widths


def test_estimates_lie_around_the_truth() -> None:
    made = generate(1, pages=1500)
    told = [certificate(made.graph, parse("combined"), Notion(), made.find, sample=150, seed=s) for s in range(60)]
    for name, values in {
        "recall": [one["pairs"]["recall"]["all"]["estimate"] for one in told],
        "repeats": [one["kept"]["repeats"]["estimate"] for one in told],
        "without_partner": [one["removed"]["without_partner"]["estimate"] for one in told],
    }.items():
        mean = sum(values) / len(values)
        assert mean == pytest.approx(getattr(made.truth, name), abs=0.03), name


@pytest.fixture(scope="module")
def pages(small_web: Web) -> list[dict[str, Any]]:
    return [{"id": str(at), "html": page.html, "url": page.url} for at, page in enumerate(small_web.pages)]


@pytest.fixture(scope="module")
def corpus(pages: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "pages.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    return path


@pytest.mark.parametrize("detector", ["combined", "site-aware", "minhash(threshold=0.9)", "broder", "charikar"])
def test_all_pages_looked_at_give_the_truth(detector: str, corpus: Path, pages: list[dict[str, Any]]) -> None:
    result = neardup.dedup(corpus, detector=detector, certify=Certifier(sample=10**6))
    told = result.report["certificate"]
    threshold = told["notion"]["threshold"]
    brute = BruteForce(pages)
    true = {pair for pair, jaccard in brute.jaccard().items() if jaccard >= threshold}
    accepted = pairs_of(result.pairs)
    assert true, "a test of nothing"
    kept_sets = {brute.identity[row] for row, kept in enumerate(result.pages["kept"].to_pylist()) if kept}
    partners: dict[int, set[int]] = {}
    for a, b in true:
        partners.setdefault(a, set()).add(b)
        partners.setdefault(b, set()).add(a)

    def has_kept(row: int) -> bool:
        return bool(partners.get(brute.identity[row], set()) & kept_sets)

    reasons = result.pages["reason"].to_pylist()
    near = [row for row, reason in enumerate(reasons) if reason == "near-duplicate"]
    removed = [row for row, kept in enumerate(result.pages["kept"].to_pylist()) if not kept]
    stays = [r for r, kept in enumerate(result.pages["kept"].to_pylist()) if kept and len(brute.tokens[r]) >= 8]
    expected = {
        "without_partner": sum(not has_kept(row) for row in near) / len(removed),
        "repeats": sum(map(has_kept, stays)) / len(stays),
        "recall": len(true & accepted) / len(true),
        "precision": len(true & accepted) / len(accepted),
    }
    for name, share in {
        "without_partner": told["removed"]["without_partner"],
        "repeats": told["kept"]["repeats"],
        "recall": told["pairs"]["recall"]["all"],
        "precision": told["pairs"]["precision"]["all"],
    }.items():
        assert share["estimate"] == pytest.approx(expected[name], abs=2e-6), name
        assert share["low"] == share["high"] == share["estimate"], name
    same = {pair for pair in true if brute.on_one_site(*pair)}
    on_one_site = told["pairs"]["recall"]["same_site"]["estimate"]
    assert on_one_site == pytest.approx(len(same & accepted) / len(same), abs=2e-6)


def test_a_detector_is_held_to_its_own_notion() -> None:
    own, other = Certifier().notion(parse("minhash(k=3,threshold=0.7)")), Certifier().notion(parse("charikar"))
    assert (own.k, own.threshold, own.word) == (3, 0.7, "truth")
    assert (other.k, other.threshold, other.word) == (5, 0.8, "agreement")
    assert Certifier(threshold=0.75).notion(parse("minhash")).word == "agreement"


def test_later_says_what_the_run_itself_says(corpus: Path, tmp_path: Path) -> None:
    certifier = Certifier(sample=120, seed=3, threads=2)
    during = neardup.dedup(corpus, tmp_path / "a", certify=certifier).report["certificate"]
    neardup.dedup(corpus, tmp_path / "b")
    later = certify(tmp_path / "b", certifier)
    assert later == during
    assert certify(tmp_path / "b", Certifier(sample=120, seed=3, threads=1)) == during
    report = neardup.open_result(tmp_path / "b").report
    assert report["certificate"] == during
    assert [stage["name"] for stage in report["stages"]].count("certifying") == 1


def test_theory_agrees_with_what_minhash_does(corpus: Path) -> None:
    told = neardup.dedup(corpus, detector="minhash", certify=Certifier(sample=10**6)).report["certificate"]
    recall = told["pairs"]["recall"]["all"]
    assert recall["theory"] == pytest.approx(recall["estimate"], abs=0.02)


def test_inputs_that_changed_are_told(corpus: Path, tmp_path: Path) -> None:
    copy = tmp_path / "pages.jsonl"
    copy.write_bytes(corpus.read_bytes())
    neardup.dedup(copy, tmp_path / "out")
    lines = copy.read_text(encoding="utf-8").splitlines(keepends=True)
    copy.write_text("".join(lines[10:]), encoding="utf-8")
    with pytest.raises(InputError, match="changed"):
        certify(tmp_path / "out", Certifier(sample=10**6))


def test_pairs_that_were_not_held_are_not_spoken_of(corpus: Path) -> None:
    settings = neardup.Settings(max_pairs=1, hot=1)
    told = neardup.dedup(corpus, detector="broder", settings=settings, certify=Certifier()).report["certificate"]
    assert told["pairs"]["known"] is False
    assert told["removed"]["without_partner"]["estimate"] is not None


def test_a_collection_without_duplicates_is_certified_too(tmp_path: Path) -> None:
    words = [f"page {row} has words of its own: " + " ".join(f"w{row}x{at}" for at in range(20)) for row in range(30)]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in words))
    told = neardup.dedup(path, certify=Certifier()).report["certificate"]
    assert told["kept"]["repeats"]["estimate"] == 0
    assert told["pairs"]["recall"]["all"]["estimate"] is None
    assert told["removed"]["without_partner"]["estimate"] == 0


def test_wrong_settings_are_told() -> None:
    with pytest.raises(UsageError, match="sample"):
        Certifier(sample=0)
    with pytest.raises(UsageError, match="threshold"):
        Certifier(threshold=1.5)
