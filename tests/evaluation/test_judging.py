"""Judging: pairs drawn with known probabilities, what is said is kept, agreement, and estimates that hold."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from neardup import dedup
from neardup.cli.main import application
from neardup.errors import FormatError, InputError, OutputError, UsageError
from neardup.evaluation.agreement import agreement, cohen, fleiss, fleiss_by_class
from neardup.evaluation.judged import read_judged
from neardup.evaluation.judging import Judging
from neardup.evaluation.judging_exchange import export_judgements, import_judgements, judgements
from neardup.evaluation.judging_report import judging_report
from neardup.evaluation.judging_sample import PairSample, Returned, SampledPair, SampledStratum, allocate, draw_pairs
from neardup.evaluation.reasons import REASONS
from neardup.testing import HENZINGER_REASONS, Web
from neardup.web.application import open_workspace


def call(*args: str | Path) -> Result:
    result = CliRunner().invoke(application, [str(arg) for arg in args], prog_name="neardup")
    if result.exception is not None:
        raise result.exception
    return result


@pytest.fixture(scope="module")
def runs(small_web: Web, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Runs of Algs. B and C over the same pages."""
    folder = tmp_path_factory.mktemp("judged")
    rows = ({"id": page.id, "html": page.html, "url": page.url} for page in small_web.pages)
    (folder / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name in ("broder", "charikar"):
        dedup(folder / "pages.jsonl", folder / name, detector=name)
    return folder / "broder", folder / "charikar"


@given(st.lists(st.integers(1, 500), min_size=1, max_size=12), st.integers(1, 2000))
def test_a_sample_is_allocated_in_full_and_no_stratum_is_forgotten(sizes: list[int], sample: int) -> None:
    if sample < len(sizes):
        with pytest.raises(UsageError, match="too few"):
            allocate(sizes, sample)
        return
    counts = allocate(sizes, sample)
    assert counts.sum() == min(sample, sum(sizes))
    assert (counts >= 1).all()
    assert (counts <= sizes).all()


def test_every_pair_has_the_probability_that_its_stratum_says(runs: tuple[Path, Path]) -> None:
    draws = 300
    seen: Counter[tuple[int, int]] = Counter()
    probability: dict[tuple[int, int], float] = {}
    for seed in range(draws):
        sample = draw_pairs([runs[0]], 60, ["site"], seed)
        for pair in sample.pairs:
            key = (pair.row_a, pair.row_b)
            seen[key] += 1
            stratum = sample.strata[pair.stratum]
            probability[key] = stratum.sampled / stratum.population
    # Five standard deviations: among some hundred pairs none should be farther off but once in ten thousand tries.
    for key, p in probability.items():
        assert abs(seen[key] - draws * p) <= 5 * np.sqrt(draws * p * (1 - p)) + 1e-9


def test_strata_part_the_population(runs: tuple[Path, Path]) -> None:
    sample = draw_pairs(runs, 90)
    again = draw_pairs(runs, 90)
    assert sample.pairs == again.pairs, "the same seed draws the same pairs"
    together = {(p["row_a"], p["row_b"]) for run in runs for p in _pairs(run)}
    assert sum(one.population for one in sample.strata) == len(together)
    assert len({(pair.row_a, pair.row_b) for pair in sample.pairs}) == len(sample.pairs) == 90
    assert Counter(pair.stratum for pair in sample.pairs) == {
        at: one.sampled for at, one in enumerate(sample.strata) if one.sampled
    }
    accepted = {
        name: {(p["row_a"], p["row_b"]) for p in _pairs(run)}
        for name, run in zip(("broder", "charikar"), runs, strict=True)
    }
    for pair in sample.pairs:
        names = {one.detector for one in pair.returned}
        assert names == {name for name, found in accepted.items() if (pair.row_a, pair.row_b) in found}
        assert all(name in sample.strata[pair.stratum].name for name in names)
        assert ("same site" in sample.strata[pair.stratum].name) == pair.same_site
    with pytest.raises(UsageError, match="cannot stratify"):
        draw_pairs(runs, 10, ["colour"])
    with pytest.raises(UsageError, match="two runs"):
        draw_pairs([runs[0], runs[0]], 10)


def _pairs(run: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    return pq.read_table(run / "pairs.parquet").to_pylist()


def made(path: Path, strata: list[tuple[int, int]], detector: str = "broder") -> Judging:
    """A judging of strata of (population, sampled)."""
    pairs = []
    for at, (_, sampled) in enumerate(strata):
        for _ in range(sampled):
            returned = [Returned(detector, detector, 0.5, 3, None, None)]
            pairs.append(SampledPair(f"a{len(pairs)}", f"b{len(pairs)}", 0, len(pairs) + 1, at % 2 == 0, at, returned))
    named = [SampledStratum(f"stratum {at}", *sizes) for at, sizes in enumerate(strata)]
    return Judging.create(path, PairSample(["run"], [detector], pairs, named, ["site"], 0), overwrite=True)


def test_precision_is_estimated_back_to_the_population(tmp_path: Path) -> None:
    # Two strata in which precision differs and of which the small one is sampled densely.
    sizes, truth = [(9000, 90), (1000, 60)], (0.9, 0.2)
    whole = (9000 * 0.9 + 1000 * 0.2) / 10_000
    covered, estimates, rounds = 0, [], 80
    generator = np.random.default_rng(7)
    judging = made(tmp_path / "j.sqlite", sizes)
    for _ in range(rounds):
        judging._connection.execute("DELETE FROM clicks")
        judging._connection.execute("BEGIN")
        for number in range(judging.count):
            share = truth[0] if number < 90 else truth[1]
            judging.say("ada", number, "correct" if generator.random() < share else "incorrect")
        judging._connection.execute("COMMIT")
        precision = judging_report(judging)["detectors"]["broder"]["precision"]
        estimates.append(precision["estimate"])
        covered += precision["low"] <= whole <= precision["high"]
    judging.close()
    # The mean of 80 estimates, whose standard deviation is about 0.029 each, within four of its own.
    assert abs(np.mean(estimates) - whole) < 4 * 0.029 / np.sqrt(rounds)
    # At least 95 % are promised; of 80 rounds fewer than 69 would then be one chance in a thousand.
    assert covered >= 69


def test_known_kappas() -> None:
    # Fleiss' own example as it is taught everywhere: 14 raters, ten subjects, five categories.
    table = [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1], [7, 7, 0, 0, 0],
             [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]]  # fmt: skip
    assert fleiss(table) == pytest.approx(0.20993, abs=1e-5)
    # Cohen: 20 yes together, 15 no together, 5 and 10 apart.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen(first, second) == pytest.approx(0.4)
    assert cohen(["yes"], ["yes"]) is None
    assert fleiss([]) is None
    assert fleiss_by_class([[2, 0], [0, 2]]) == [1.0, 1.0]


def test_agreement_by_class_as_huffman_tells_it() -> None:
    said = {0: [("a", "c"), ("b", "c")], 1: [("a", "c"), ("b", "i")], 2: [("a", "i"), ("b", "i")], 3: [("a", "i")]}
    told = agreement(said, {0: "c", 1: "c", 2: "i", 3: "i"}, ["c", "i"])
    assert told["full"] == {"pairs": 3, "agree": 2, "share": 0.6667}
    assert [(row["label"], row["pairs"], row["share"]) for row in told["by class"]] == [("c", 2, 0.5), ("i", 1, 1.0)]
    (two,) = told["cohen"]
    assert (two["pairs"], two["agree"], two["kappa"]) == (3, 2, 0.4)
    # With two labels either against the other is the same thing; the pairs are those that either gave it to.
    assert [(row["label"], row["pairs"], row["agree"], row["kappa"]) for row in two["by class"]] == [
        ("c", 2, 1, 0.4),
        ("i", 2, 1, 0.4),
    ]
    said = {at: [("a", one), ("b", other)] for at, (one, other) in enumerate(zip("ccciiuu", "cciiicu", strict=True))}
    (two,) = agreement(said, {}, ["c", "i", "u"])["cohen"]
    for row in two["by class"]:
        first, second = ([given[side][1] == row["label"] for given in said.values()] for side in (0, 1))
        assert row["kappa"] == round(cohen([str(x) for x in first], [str(x) for x in second]), 4)
        assert row["pairs"] == sum(a or b for a, b in zip(first, second, strict=True))


def test_nothing_that_was_said_is_lost_or_changed(tmp_path: Path) -> None:
    judging = made(tmp_path / "j.sqlite", [(10, 4)])
    judging.say("ada", 0, "correct", "time stamp", "a note")
    judging.say("ada", 0, "incorrect", "main item")
    assert judging.said(judge="ada")[0].label == "incorrect"
    assert judging.undo("ada") == 0
    assert judging.said(judge="ada")[0].reason == "time stamp", "what was said before stands again"
    assert judging.undo("ada") == 0
    assert judging.undo("ada") is None
    assert judging.undo("bob") is None
    assert judging.said() == []
    with sqlite3.connect(tmp_path / "j.sqlite") as raw:
        assert raw.execute("SELECT count(*) FROM clicks").fetchone() == (4,)
    raw.close()
    for bad in ({"label": "maybe"}, {"pair": 4}, {"judge": "a/b"}, {"judge": " "}, {"note": "x" * 20_000}):
        with pytest.raises(UsageError):
            judging.say(**({"judge": "ada", "pair": 0, "label": "correct"} | bad))  # type: ignore[arg-type]
    orders = {name: judging.order(name) for name in ("ada", "bob", "eve", "zoe")}
    assert all(sorted(pair for pair, _ in order) == [0, 1, 2, 3] for order in orders.values())
    assert len({tuple(order) for order in orders.values()}) > 1
    assert judging.order("ada") == orders["ada"]
    judging.close()


def test_a_click_outlives_a_kill(tmp_path: Path) -> None:
    made(tmp_path / "j.sqlite", [(10, 4)]).close()
    code = (
        "import os, signal, sys; from neardup.evaluation.judging import Judging\n"
        "judging = Judging(sys.argv[1]); judging.say('ada', 2, 'correct'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "j.sqlite")], check=False)
    assert done.returncode == -signal.SIGKILL
    judging = Judging(tmp_path / "j.sqlite")
    assert [(one.judge, one.pair) for one in judging.said()] == [("ada", 2)]
    assert judging._connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert judging._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    judging.close()


def test_what_is_no_judging_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no judging"):
        Judging(tmp_path / "none.sqlite")
    (tmp_path / "text.sqlite").write_text("hello " * 500)
    with pytest.raises(FormatError):
        Judging(tmp_path / "text.sqlite")
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE a (b)").connection.close()
    with pytest.raises(FormatError, match="not a judging"):
        Judging(tmp_path / "other.sqlite")
    judging = made(tmp_path / "j.sqlite", [(10, 4)])
    with pytest.raises(OutputError, match="exists already"):
        Judging.create(tmp_path / "j.sqlite", PairSample([], [], [], [], [], 0))
    judging.close()
    assert sorted(os.listdir(tmp_path)) == ["j.sqlite", "other.sqlite", "text.sqlite"]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "parquet"])
def test_labels_go_out_and_come_in(tmp_path: Path, ending: str) -> None:
    judging = made(tmp_path / "j.sqlite", [(100, 3), (7, 2)])
    for pair, label in enumerate(("correct", "incorrect", "undecided", "correct")):
        judging.say("ada", pair, label, REASONS[label][0], 'odd, "note"')
    assert export_judgements(judging, tmp_path / f"out.{ending}") == 4
    read = read_judged(tmp_path / f"out.{ending}")
    assert read.label.tolist() == [0, 1, 2, 0]
    assert read.reason == [REASONS[label][0] for label in ("correct", "incorrect", "undecided", "correct")]
    assert import_judgements(judging, tmp_path / f"out.{ending}", "bob") == (4, 0)
    assert [one.label for one in judging.said(judge="bob")] == [one.label for one in judging.said(judge="ada")]
    judging.close()


def test_the_verbs_from_a_run_to_the_tables_of_the_paper(
    runs: tuple[Path, Path], small_web: Web, tmp_path: Path
) -> None:
    judging = tmp_path / "judging.sqlite"
    told = call("judge", "new", "--from", runs[0], "--from", runs[1], "--sample", "60", "--out", judging)
    assert told.stdout.startswith("60 of ")
    opened = Judging(judging)
    truth = tmp_path / "truth.csv"
    lines = ["a,b,label,reason"]
    for pair in opened.pairs():
        label = small_web.label(pair.a, pair.b)
        lines.append(f"{pair.a},{pair.b},{label.henzinger},{label.henzinger_reason}")
    opened.close()
    truth.write_text("\n".join(lines))
    assert "60 labels of ada" in call("judge", "import", judging, truth, "--judge", "ada").stdout
    report = call("judge", "report", judging).stdout
    for words in ("Returned by broder: all its pairs, 95 % intervals (Table 2)", "Reasons of correct pairs (Table 3)",
                  "Returned by charikar: all its pairs, 95 % intervals (Table 5)", "Reasons of correct pairs (Table 6)",
                  "B-similarity 2", "C-similarity 372–375", "same site", "different sites"):  # fmt: skip
        assert words in report, words
    numbers = json.loads(call("judge", "report", judging, "--json").stdout)
    assert numbers["final"] == 60
    for detector in numbers["detectors"].values():
        first = detector["returned"][0]
        assert sum(first[label]["estimate"] for label in ("correct", "incorrect", "undecided")) == pytest.approx(1)
    out = tmp_path / "labels.jsonl"
    assert call("judge", "export", judging, "--out", out).stdout.startswith("60 labels")
    pages = runs[0].parent / "pages.jsonl"
    quality = call("evaluate", "pairs", "--pages", pages, "--pairs", out, "-d", "broder", "-o", tmp_path / "quality",
                   "--resamples", "10")  # fmt: skip
    assert "60 judged pairs" in quality.stdout
    assert "the pairs that the judged ones stand for" in quality.stdout
    # Both carry the sample back to all pairs of the runs, and say the same of them.
    evaluated = json.loads((tmp_path / "quality" / "run.json").read_text())["detectors"]["broder"]
    reported = numbers["detectors"]["broder"]
    assert evaluated["quality"]["precision"]["estimate"] == pytest.approx(reported["precision"]["estimate"], abs=1e-4)
    assert evaluated["quality"]["intervals"].startswith("a conservative bound for weighted pairs")
    for ours, theirs in zip(evaluated["returned"][:3], reported["returned"][:3], strict=True):
        assert (ours["pairs of"], ours["pairs"]) == (theirs["pairs of"], theirs["pairs"])
        for label in ("correct", "incorrect", "undecided", "forms"):
            assert ours[label] == pytest.approx(theirs[label]["estimate"], abs=1e-4)
    for label in ("correct", "undecided"):
        assert evaluated[f"reasons of {label}"] == reported[f"reasons of {label}"]
    signals, model = tmp_path / "signals.parquet", tmp_path / "model.json"
    call("signals", "--pages", pages, "--pairs", out, "--signals", "F", "--out", signals, "--quiet")
    call("train", "--signals", signals, "--labels", out, "--groups", "F", "--learner", "tree", "--seeds", "0",
         "--out", model)  # fmt: skip
    assert json.loads(model.read_text())["kind"] == "tree"


def test_a_pair_stands_for_those_of_its_stratum_that_have_no_label(tmp_path: Path) -> None:
    judging = made(tmp_path / "j.sqlite", [(100, 4), (6, 2)])
    for pair, label in enumerate(("correct", "incorrect", "correct")):
        judging.say("ada", pair, label)
    strata = [pair.stratum for pair in judging.pairs()[:3]]
    weights = judgements(judging)["weight"].to_pylist()
    for stratum, population in enumerate((100, 6)):
        if stratum in strata:
            assert sum(w for w, at in zip(weights, strata, strict=True) if at == stratum) == pytest.approx(population)
    judging.close()


def test_reasons_are_the_words_of_the_generated_labels() -> None:
    known = {reason for reasons in REASONS.values() for reason in reasons}
    assert known == set(HENZINGER_REASONS) - {"identical"}


@pytest.mark.parametrize("name", [None, "judging elsewhere.sqlite"])
def test_the_printed_command_opens_the_judging(runs: tuple[Path, Path], tmp_path: Path, name: str | None) -> None:
    run = tmp_path / "a run"
    shutil.copytree(runs[0], run)
    words = ["judge", "new", "--from", run, "--sample", "4", *(["--out", tmp_path / name] if name else [])]
    printed = call(*words).output.splitlines()[-1].strip()
    program, verb, *rest = shlex.split(printed)
    assert (program, verb) == ("neardup", "ui")
    asked = importlib.import_module("neardup.cli.ui").command.make_context("ui", rest).params
    space = open_workspace(Path(asked["folder"]), judging=Path(asked["judging"]) if asked["judging"] else None)
    try:
        assert space.judging is not None
        assert space.judging.count == 4
    finally:
        space.close()
