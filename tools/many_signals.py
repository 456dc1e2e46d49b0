"""Writes docs/many-signals.md: the tables of Huffman et al. 2007 on a generated web and on real pages, by one command.

    python tools/many_signals.py [DATA]            DATA (or NEARDUP_DATA): the folder with the real pages
    python tools/many_signals.py DATA --work DIR   keep what was computed there, and take what is there already

The generated web has two halves, of other seeds and other templates: what is learned on the first is tested on the
second. All its pages are rendered by a real browser (``neardup render``), from an archive; as root give --no-sandbox.
Real pages that are missing are told, and their part left out. Plots go to many-signals/ beside the page.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import many_signals_texts as texts
import numpy as np
import pyarrow as pa

from neardup.evaluation.judged import Judged, Labels, read_judged
from neardup.evaluation.many_signals import (
    PAPER,
    SEEDS,
    SUMS,
    Effort,
    Labelled,
    experiments,
    figure_3,
    held_out,
    table_2,
    table_3,
    table_4,
    train,
)
from neardup.evaluation.many_signals_report import improves, markdown, read_signals, write_figures
from neardup.evaluation.searches import evaluate_searches, groups_of
from neardup.evaluation.trec import read_qrels, read_run

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = "many-signals.md"
PLOTS: Final = "many-signals"
NOTE: Final = "<!-- Written by tools/many_signals.py from what it measured; do not edit. -->"
KINDS: Final = (*PAPER, "boosting")
#: Seed and templates of the two halves.
HALVES: Final = {"train": ("1", "classic"), "test": ("2", "modern")}
#: Pairs of each set of real pages that are taken, of more than ten thousand: long pages take their time.
REAL_PAIRS: Final = 3000
#: How the pages of each set of real pages are rendered. Those of services are thousands, and most of them ask in vain
#: for scripts that nobody stored: a second is enough for what they can do.
RENDERED: Final = {"petclinic": (), "ota": ("--delay", "1", "--at-a-time", "8")}


class Workshop:
    """Runs commands, each once, and holds what they wrote."""

    def __init__(self, work: Path, queries: Sequence[int], sandbox: bool) -> None:
        self.work, self.queries, self.sandbox = work, queries, sandbox

    def neardup(self, made: str, *command: str | Path) -> Path:
        """The file or folder that ``neardup COMMAND --out WORK/MADE`` writes."""
        out = self.work / made
        if not out.exists():
            print("neardup", *command, file=sys.stderr)
            program = Path(sys.executable).with_name("neardup")
            subprocess.run([program, *command, "--out", out], check=True, stdout=subprocess.DEVNULL)
        return out

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What ``make`` gives, computed once."""
        path = self.work / f"{name}.kept"
        if not path.exists():
            path.write_bytes(pickle.dumps(make()))
        return pickle.loads(path.read_bytes())

    def rendered(self, name: str, *pages: str | Path) -> Path:
        """The pages, rendered; a run that was interrupted finds again what it had."""
        free = [] if self.sandbox else ["--no-sandbox"]
        return self.neardup(
            f"{name}.rendered.jsonl.gz", "render", *pages, "--quiet", "--cache", self.work / "cache", *free
        )

    def half(self, name: str) -> Labelled:
        """A half of the generated web: made, rendered, its signals computed."""
        (seed, templates), queries = HALVES[name], str(self.queries[list(HALVES).index(name)])
        web = self.neardup(name, "testing", "web", "--queries", queries, "--seed", seed, "--templates", templates)
        pages = web / "pages.jsonl.gz"
        rendered = self.rendered(name, pages, "--archive", web / "web.warc.gz")
        # The table is of the first half: the second is not to be known beforehand.
        first = self.work / "train"
        idf = self.neardup("train.idf", "idf", "build", first / "pages.jsonl.gz", self.work / "train.rendered.jsonl.gz")
        signals = self.neardup(
            f"{name}.parquet", "signals", "--pages", pages, "--rendered", rendered, "--pairs", web / "pairs.csv",
            "--query-field", "query_text", "--idf", idf, "--quiet",
        )  # fmt: skip
        return Labelled.read(read_signals(signals), web / "pairs.csv")


def tested_row(learned: Labelled, groups: str, tested: Labelled, effort: Effort) -> dict[str, Any]:
    """What each learner makes of a sum of groups on other pairs than it learned from, in per cent."""
    found = dict(zip(KINDS, effort.run(partial(_tested, learned, tested, groups, effort.seeds), KINDS), strict=True))
    row: dict[str, Any] = {
        kind: {name: round(100 * told[name], 1) for name in ("P", "R", "F", "low", "high")}
        | {"interval": [round(100 * end, 1) for end in told["interval"]]}
        for kind, told in found.items()
    }
    return row | {"F": round(sum(row[kind]["F"] for kind in PAPER) / 2, 1)}


def _tested(learned: Labelled, tested: Labelled, groups: str, seeds: int, kind: str) -> dict[str, Any]:
    return held_out(learned, groups, kind, tested, seeds)


def on_the_other_half(train_half: Labelled, test_half: Labelled, effort: Effort) -> list[dict[str, Any]]:
    """Each sum of groups, learned on all of the first half and tested on the second."""
    return [{"signals": groups} | tested_row(train_half, groups, test_half, effort) for groups in SUMS]


def transfer(
    web: Path, train_half: Labelled, test_half: Labelled, test_web: Path, effort: Effort
) -> list[dict[str, Any]]:
    """Learned on the English queries of the first half, tested on each language of the second (Table 5)."""
    english = of_language(train_half, web, "en")
    rows = []
    for language in sorted({row["language"] for row in pairs_rows(test_web)}):
        other = of_language(test_half, test_web, language)
        row: dict[str, Any] = {"language": language, "pairs": len(other), "duplicates": int(other.duplicate.sum())}
        rows.append(row | tested_row(english, "F+R+RS", other, effort))
    return rows


def pairs_rows(web: Path) -> list[dict[str, str]]:
    with open(web / "pairs.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of_language(half: Labelled, web: Path, language: str) -> Labelled:
    wanted = {(row["a"], row["b"]) for row in pairs_rows(web) if row["language"] == language}
    names = zip(half.table["a"].to_pylist(), half.table["b"].to_pylist(), strict=True)
    kept = np.array([pair in wanted for pair in names])
    query = np.unique(half.query[kept], return_inverse=True)[1]
    return Labelled(half.table.filter(pa.array(kept)), half.duplicate[kept], query, {})


def searches(workshop: Workshop, train_half: Labelled, test_half: Labelled) -> list[dict[str, Any]]:
    """nDCG@10 of the engines of the second half, by who says what repeats what."""
    web = workshop.work / "test"
    runs = [read_run(path) for path in sorted((web / "runs").iterdir())]
    grades = read_qrels(web / "qrels.txt")
    query_of = {(row["a"], row["b"]): row["query"] for row in pairs_rows(web)}
    names = list(zip(test_half.table["a"].to_pylist(), test_half.table["b"].to_pylist(), strict=True))
    classifier = train(train_half, "F+R+RS", "tree")
    judges = {
        "the truth": test_half.duplicate,
        "a tree of F+R+RS": classifier.classify(test_half.table)[1],
        "a tree of F": train(train_half, "F", "tree").classify(test_half.table)[1],
        "nobody": np.zeros(len(test_half), bool),
    }
    rows = []
    for judge, accepted in judges.items():
        chosen = [(query_of[names[at]], *names[at]) for at in np.flatnonzero(accepted).tolist()]
        report = evaluate_searches(runs, grades, groups_of(chosen), ["nDCG@10"]).report
        twice = report["judged twice"]
        for row in report["measures"]["nDCG@10"]["runs"]:
            repeats = sum(one["run"] == row["run"] for one in report["repeats"])
            rows.append(row | {"judge": judge, "repeats": repeats, "judged twice": twice["groups"],
                               "differ": twice["differ"]})  # fmt: skip
    return rows


def cross_validated(
    workshop: Workshop, half: Labelled, effort: Effort, quick: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """All tables and figures of the paper, each kept as soon as it is there."""
    made = {
        "3": workshop.kept("table-3", partial(table_3, half, effort)),
        "4": workshop.kept("table-4", partial(table_4, half, effort)),
        "2": workshop.kept("table-2", partial(table_2, half, effort)),
    }
    if not quick:
        made["figure 3"] = workshop.kept("figure-3", partial(figure_3, half, effort))
        made["figure 3 without mcd"] = workshop.kept(
            "figure-3-without", partial(figure_3, half, effort, without_mcd=True)
        )
    return made


def real_ota(data: Path, workshop: Workshop) -> Labelled | None:
    """Pages fetched again and again: the same content or changed, and other documents of the same service."""
    folder = data / "ota_contrib_html"
    if not folder.exists():
        return None
    pairs = [json.loads(line) for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    chosen = [row | {"label": row["label"] == "same-content"} for row in pairs if row["verified"]]
    order = np.random.default_rng(0).permutation(len(chosen))[:REAL_PAIRS]
    rows = [chosen[at] for at in sorted(order.tolist())]
    other = (folder / "same_site_pairs.jsonl").read_text(encoding="utf-8").splitlines()
    rows += [row | {"label": False, "doc": row["doc_a"]} for row in map(json.loads, other) if not row["same_url"]]
    return _real(workshop, "ota", [folder / "docs.jsonl.zst"], rows, lambda row: str(row["doc"]).split("/")[0])


def real_petclinic(data: Path, workshop: Workshop) -> Labelled | None:
    """States of a web application; a duplicate is what its judges called a clone or a (functional) near-duplicate."""
    folder = data / "ndstudy_petclinic"
    if not folder.exists():
        return None
    bins = {}
    for line in (folder / "docs.jsonl").read_text(encoding="utf-8").splitlines():
        page = json.loads(line)
        bins[page["id"]] = str(page["bin"])
    rows = [json.loads(line) for line in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    order = np.random.default_rng(0).permutation(len(rows))[:REAL_PAIRS]
    rows = [rows[at] | {"label": rows[at]["label"] < 2} for at in sorted(order.tolist())]
    return _real(workshop, "petclinic", [folder / "docs.jsonl"], rows, lambda row: bins[row["a"]])


def _real(
    workshop: Workshop, name: str, pages: list[Path], rows: list[dict[str, Any]], group: Callable[[dict[str, Any]], str]
) -> Labelled:
    file = workshop.work / f"{name}.pairs.jsonl"
    lines = [{"a": row["a"], "b": row["b"], "label": row["label"], "group": group(row)} for row in rows]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    rendered = workshop.rendered(name, *pages, *RENDERED[name])
    idf = workshop.neardup(f"{name}.idf", "idf", "build", *pages, rendered)
    given = [part for path in pages for part in ("--pages", path)]
    signals = workshop.neardup(
        f"{name}.parquet", "signals", *given, "--rendered", rendered, "--pairs", file, "--idf", idf,
        "--signals", "F+R+L+O+RO", "--quiet",
    )  # fmt: skip
    judged: Judged = read_judged(file, Labels())
    labelled = Labelled.of(read_signals(signals), judged)
    # No queries here; pairs of one service, or of one kind of state, never straddle folds.
    of_pair = {(line["a"], line["b"]): line["group"] for line in lines}
    names = zip(labelled.table["a"].to_pylist(), labelled.table["b"].to_pylist(), strict=True)
    query = np.unique([of_pair[pair] for pair in names], return_inverse=True)[1].astype(np.int64)
    return Labelled(labelled.table, labelled.duplicate, query, labelled.left_out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default=os.environ.get("NEARDUP_DATA"), type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder that the page is written to")
    parser.add_argument("--queries", type=int, nargs=2, default=(150, 90), help="queries of the two halves")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of folds and learners")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--quick", action="store_true", help="leave the plots of Fig. 3, the longest part, as they are")
    parser.add_argument("--no-sandbox", action="store_true", help="for the browser, as root must")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, ProcessPoolExecutor(asked.processes) as pool:
        work = asked.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        workshop = Workshop(work, asked.queries, not asked.no_sandbox)
        # Boosting is tested on the second half; cross-validated it would take most of the time.
        effort = Effort(seeds=asked.seeds, kinds=PAPER, run=partial(in_processes, pool))
        write_page(workshop, asked.data, effort, asked.quick, asked.docs)


def in_processes(
    pool: ProcessPoolExecutor, work: Callable[[str], dict[str, Any]], items: Sequence[str]
) -> Iterable[dict[str, Any]]:
    """``map`` in several processes."""
    return pool.map(work, items)


def write_page(workshop: Workshop, data: Path | None, effort: Effort, quick: bool, docs: Path) -> None:
    halves = {name: workshop.half(name) for name in HALVES}
    train_half, test_half = halves["train"], halves["test"]
    plots = docs / PLOTS
    plots.mkdir(exist_ok=True)
    tested = workshop.kept("held-out", partial(on_the_other_half, train_half, test_half, effort))
    moved = workshop.kept(
        "transfer",
        partial(transfer, workshop.work / "train", train_half, test_half, workshop.work / "test", effort),
    )
    searched = workshop.kept("searches", partial(searches, workshop, train_half, test_half))
    made = cross_validated(workshop, train_half, effort, quick)
    write_figures(made, plots)
    reals = {}
    for name, load in (("ota", real_ota), ("petclinic", real_petclinic)):
        labelled = load(data, workshop) if data is not None else None
        if labelled is None:
            print(f"left out, for it is not there: {name}", file=sys.stderr)
            continue
        alone = workshop.kept(f"{name}.2", partial(table_2, labelled, effort))
        sums = ["fetched_simhash_distance", "fetched_tfidf_distance", "F", "F+R", "F+R+O+RO"]
        together = workshop.kept(f"{name}.3", partial(experiments, labelled, sums, effort))
        reals[name] = (labelled.summary(), markdown({"2": alone, "3": together, "4": []}))
    judges = train(train_half, "F+R+RS", "rules").text(), train(train_half, "F+R+RS", "tree").text()
    counts = {name: half.summary() for name, half in halves.items()}
    missing = {name: half.table.column("rendered_mcd").null_count for name, half in halves.items()}
    grows = improves(tested, SUMS[:3]), improves([row for row in made["3"] if row["signals"] in SUMS], SUMS[:3])
    drawn = (plots / "figure-3.svg").exists()
    text = texts.page(
        counts, missing, tested, moved, searched, drawn, markdown(made), reals, judges, grows, effort.seeds
    )
    (docs / PAGE).write_text(f"{NOTE}\n\n{text}", encoding="utf-8")
    print("written:", PAGE, "and", len(list(plots.iterdir())), "plots")


if __name__ == "__main__":
    main()
