"""Writes docs/evaluation.md: every figure and table of the laboratory on real data, by one command.

    python tools/evaluation.py DATA              the folder with the data; or NEARDUP_DATA in the environment
    python tools/evaluation.py DATA --work DIR   keep what was computed there, and take what is there already

The data are not part of the repository; ``evaluation_texts.py`` names each source and licence. A folder that is missing
is told, and its part left out. Plots go to docs/evaluation/.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import evaluation_texts as texts

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "evaluation.md"
PLOTS: Final = ROOT / "docs" / "evaluation"
NOTE: Final = "<!-- Written by tools/evaluation.py from what it measured; do not edit. -->"
CORPORA: Final = ("rev_peps", "rev_ota_contrib", "rev_k8s_ja_ko", "rev_mdn_zh_ja_ko_ru")
MANUALS: Final = ("llvm", "postgresql", "python", "sqlite3")
DETECTORS: Final = ("broder", "charikar", "combined", "site-aware", "minhash")
#: Alg. C as the paper has it, for its tables.
PAPERS_C: Final = "charikar(terms=0.0)"


class Laboratory:
    """Runs commands, each once, and holds what they wrote."""

    def __init__(self, data: Path, work: Path) -> None:
        self.data, self.work = data, work

    def has(self, *names: str) -> bool:
        missing = [name for name in names if not (self.data / name).exists()]
        if missing:
            print(f"left out, for it is not there: {', '.join(missing)}", file=sys.stderr)
        return not missing

    def run(self, name: str, *command: str) -> dict[str, Any]:
        """What ``neardup COMMAND --out WORK/NAME`` says in its run.json."""
        out = self.work / name
        if not (out / "run.json").exists():
            print("neardup", *command, file=sys.stderr)
            program = Path(sys.executable).with_name("neardup")
            subprocess.run([program, *command, "--out", out, "--quiet"], check=True)
        told: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
        return told

    def graph(self, name: str) -> dict[str, Any]:
        """The graph of an earlier run."""
        path = self.work / f"{name}.graph.json"
        if not path.exists():
            program = Path(sys.executable).with_name("neardup")
            done = subprocess.run(
                [program, "evaluate", "graph", self.work / name, "--json"], check=True, capture_output=True
            )
            path.write_bytes(done.stdout)
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return told

    def plot(self, name: str, plot: str, shown: str) -> str:
        """A plot of a run, copied into the documentation, as Markdown."""
        PLOTS.mkdir(exist_ok=True)
        target = PLOTS / f"{name}_{plot}.svg"
        shutil.copyfile(self.work / name / f"{plot}.svg", target)
        return f"![{shown}](evaluation/{target.name})"


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""

    def line(cells: Iterable[Any]) -> str:
        return "| " + " | ".join(cell(value) for value in cells) + " |"

    head = list(head)
    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


def cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def share(told: dict[str, Any], digits: int = 3) -> str:
    """An estimate with its interval."""
    if told["estimate"] is None:
        return "–"
    low, high = told["low"], told["high"]
    return f"{told['estimate']:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


# Potthast and Stein -------------------------------------------------------------------------------------------------


def curves(laboratory: Laboratory) -> list[str]:
    import pyarrow.parquet as pq

    parts = [texts.CURVES]
    for name in CORPORA:
        file = f"{name}/versions.jsonl.zst"
        if not laboratory.has(file):
            continue
        told = laboratory.run(name, "evaluate", "curves", str(laboratory.data / file))
        points = pq.read_table(laboratory.work / name / "curves.parquet").to_pylist()
        at = {(row["method"], row["reference"], row["threshold"]): row for row in points}
        tenths = {key: ", ".join(f"{count:,}" for count in counts) for key, counts in told["similarity"].items()}
        parts += [
            f"### {texts.SOURCES[name].title}",
            f"{told['revisions']:,} revisions of {told['articles']:,} articles, {told['pairs']:,} pairs. Pairs by "
            f"cosine similarity, in tenths from 0 to 1, tf: {tenths['tf']}; tf-idf: {tenths['tf-idf']}.",
        ]
        rows = []
        for method in told["methods"]:
            cells = [method["method"], method["accepted"]]
            for reference in ("tf", "tf-idf"):
                for threshold in (0.8, 0.9, 0.98):
                    row = at[method["method"], reference, threshold]
                    cells.append(f"{cell(row['precision'])} / {cell(row['recall'])}")
            rows.append(cells)
        head = ["method", "accepted", *(f"{r} ≥ {t}" for r in ("tf", "tf-idf") for t in (0.8, 0.9, 0.98))]
        parts += ["Precision / recall at three thresholds (Fig. 3):", table(head, rows)]
        if name == CORPORA[0]:
            parts += [
                laboratory.plot(name, "precision_tf", "precision over similarity"),
                laboratory.plot(name, "recall_tf", "recall over similarity"),
                laboratory.plot(name, "similarity", "similarity of the pairs"),
                "Table 2, measured: construction and retrieval in seconds of processor time for all revisions, sizes "
                "of one fingerprint and of the index (8 bytes a key, 4 bytes a page).",
                table(
                    ("method", "construction", "µs a page", "retrieval", "bytes a page", "index bytes"),
                    (
                        (
                            method["method"],
                            method["construction_seconds"],
                            method["construction_microseconds_a_page"],
                            method["retrieval_seconds"],
                            None
                            if method["fingerprint_bytes_a_page"] is None
                            else int(method["fingerprint_bytes_a_page"]),
                            method["index_bytes"],
                        )
                        for method in told["methods"]
                    ),
                ),
            ]
    return [*parts, texts.CURVES_FOUND]


# Henzinger ----------------------------------------------------------------------------------------------------------


def terms_pairs(laboratory: Laboratory) -> Path:
    """The judged pairs of the terms archive as one file: labels by what its README says of them."""
    folder, path = laboratory.data / "ota_contrib_html", laboratory.work / "terms_pairs.jsonl"
    rows = []
    for pair in _lines(folder / "pairs.jsonl"):
        if not pair["verified"]:
            continue
        if pair["label"] == "same-content":
            label, reason = "correct", "main text the same"
        elif pair["version_jaccard5"] >= 0.9:
            label, reason = "undecided", "main text changed a little"
        else:
            label, reason = "incorrect", "main text changed"
        rows.append({"a": pair["a"], "b": pair["b"], "label": label, "reason": reason, "query": pair["doc"]})
    for name, other in (
        ("same_site_pairs", "another document of the service"),
        ("cross_pairs", "another service's document"),
    ):
        for pair in _lines(folder / f"{name}.jsonl"):
            alike = pair["version_jaccard5"]
            label = "correct" if alike >= 0.98 else "undecided" if alike >= 0.9 else "incorrect"
            rows.append({"a": pair["a"], "b": pair["b"], "label": label, "reason": other, "query": pair["doc_a"]})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def judged(laboratory: Laboratory) -> list[str]:
    parts = [texts.PAIRS]
    runs: list[tuple[str, Callable[[], tuple[str, ...]]]] = [
        ("ota_contrib_html", lambda: ("docs.jsonl.zst", str(terms_pairs(laboratory)))),
        ("ndstudy_petclinic", lambda: ("docs.jsonl", "pairs.jsonl", *_labels("correct", "0", "1"), "--incorrect", "2")),
        (
            "clough_stevenson",
            lambda: (
                "docs.jsonl", "pairs.jsonl", *_labels("correct", "cut", "light"), "--undecided", "heavy",
                "--incorrect", "non",
            ),
        ),
    ]  # fmt: skip
    for name, arguments in runs:
        if not laboratory.has(name):
            continue
        pages, pairs, *labels = arguments()
        folder = laboratory.data / name
        chosen = [part for detector in (*DETECTORS, PAPERS_C) for part in ("--detector", detector)]
        command = ("--pages", str(folder / pages), "--pairs", str(folder / pairs), *labels, *chosen)
        told = laboratory.run(f"pairs_{name}", "evaluate", "pairs", *command)
        counts = ", ".join(f"{count:,} {label}" for label, count in told["labels"].items())
        parts += [
            f"### {texts.SOURCES[name].title}",
            texts.LABELS[name],
            f"{told['pairs']:,} pairs: {counts}; {told['same_site']:,} on one site. Pairs of identical pages, "
            f"{told['identical']['pairs']:,} more, are left out.",
            table(
                ("detector", "accepted", "precision", "recall", "F", "AUC"),
                (
                    (
                        detector,
                        one["quality"]["accepted"],
                        *(share(one["quality"][measure]) for measure in ("precision", "recall", "f", "auc")),
                    )
                    for detector, one in told["detectors"].items()
                ),
            ),
        ]
        if name == "ota_contrib_html":
            parts += henzinger(laboratory, told, f"pairs_{name}")
    return [*parts, texts.PAIRS_FOUND]


def _labels(kind: str, *words: str) -> tuple[str, ...]:
    return tuple(part for word in words for part in (f"--{kind}", word))


def henzinger(laboratory: Laboratory, told: dict[str, Any], name: str) -> list[str]:
    """The paper's tables, for the collection that has sites and enough pairs."""
    parts = [laboratory.plot(name, "roc", "ROC curves")]
    for detector, title in (("broder", "Table 2, Alg. B"), (PAPERS_C, "Table 5, Alg. C"), ("combined", "combined")):
        rows = told["detectors"][detector]["returned"]
        columns = ("pairs of", "pairs", "correct", "incorrect", "undecided")
        parts += [
            f"{title}: labels of the returned pairs.",
            table(columns, ([row[c] for c in columns] for row in rows)),
        ]
    rows = []
    for detector in ("broder", PAPERS_C):
        for label in ("correct", "undecided"):
            for row in told["detectors"][detector][f"reasons of {label}"]:
                rows.append((detector, label, row["reason"], row["pairs"], row["share"], row["same site"]))
    parts += [
        "Tables 3, 4, 6 and 7: reasons of correct and of undecided pairs.",
        table(("detector", "label", "reason", "pairs", "share", "same site"), rows),
        "Figs. 2 and 4 and Table 8: term differences of the returned pairs.",
        table(
            ("detector", "mean", "median", "share of 2", "90 % below", "over 200: correct", "incorrect", "undecided"),
            (
                (
                    detector,
                    *(one["term differences"].get(key) for key in ("mean", "median", "share of 2", "90 % are below")),
                    *one["term differences"].get("labels beyond", {}).values(),
                )
                for detector, one in told["detectors"].items()
            ),
        ),
        "Table 9: the mean C-similarity at each B-similarity; Table 10: the reverse.",
        table(
            ("B-similarity", "pairs", "mean C-similarity"), (r.values() for r in told["B against C"]["by B-similarity"])
        ),
        table(
            ("C-similarity", "pairs", "mean B-similarity"), (r.values() for r in told["B against C"]["by C-similarity"])
        ),
        laboratory.plot(name, "b_against_c", "C-similarity at fixed B-similarity"),
    ]
    threshold = told["combined threshold"]
    if threshold:
        told_of = ("pairs of", "pairs", "correct", "incorrect", "undecided", "R")
        strict = threshold["B-similarity ≥ 3 on the same pairs"]
        parts += [
            f"Tables 11 and 12: on {threshold['chosen on']:,} of Alg. B's pairs the largest C-similarity that still "
            f"returns 80 % of the correct ones is **{threshold['threshold']}**; around it, and on the other "
            f"{threshold['tested on']:,} pairs:",
            table(("threshold", "pairs", "precision", "R"), (row.values() for row in threshold["near the threshold"])),
            table(told_of, ([row[column] for column in told_of] for row in threshold["tested"])),
            f"Alg. B with B-similarity of at least 3, on the same pairs: {strict['pairs']:,} returned, precision "
            f"{cell(strict['correct'])}.",
            laboratory.plot(name, "threshold", "precision and R by threshold"),
        ]
    return parts


# Graphs and certificates --------------------------------------------------------------------------------------------


def runs(laboratory: Laboratory) -> list[str]:
    files = [f"debian_docs_en/{name}.jsonl.zst" for name in MANUALS]
    if not laboratory.has(*files):
        return []
    inputs = [str(laboratory.data / file) for file in files]
    told = {
        name: laboratory.run(f"run_{name}", "dedup", *inputs, "--detector", name, "--certify") for name in DETECTORS
    }
    graphs = {name: laboratory.graph(f"run_{name}") for name in DETECTORS}
    pages = told["minhash"]["counts"]["pages"]
    parts = [texts.GRAPHS, f"{pages:,} pages of four manuals, three versions each."]
    rows = []
    for name, graph in graphs.items():
        law = graph["degree_law"]
        if law is None:
            exponent = "too few"
        elif law["plausible"]:
            exponent = f"{law['exponent']:.2f} ({law['low']:.2f}–{law['high']:.2f}) from {law['xmin']}"
        else:
            exponent = "no power law"
        rows.append(
            (
                name, graph["nodes"], graph["edges"], graph["average_degree"], graph["high_degree_share"],
                graph["same_site_share"], exponent, None if law is None else law["p_value"],
            )
        )  # fmt: skip
    head = ("detector", "nodes", "pairs", "mean degree", "degree ≥ 100", "same site", "exponent", "p")
    labels = graphs["broder"]["labels"]["values"]
    total = sum(labels.values())
    parts += [
        table(head, rows),
        "Table 1: Alg. B's pairs by B-similarity.",
        table(("B-similarity", "pairs", "share"), ((key, count, count / total) for key, count in labels.items())),
        texts.GRAPHS_FOUND,
        texts.CERTIFICATES,
    ]
    rows = []
    for name, one in told.items():
        certificate = one["certificate"]
        recall, precision = certificate["pairs"]["recall"], certificate["pairs"]["precision"]
        seconds = {stage["name"]: stage["seconds"] for stage in one["stages"]}
        rows.append(
            (
                name, certificate["notion"]["word"], share(certificate["removed"]["without_partner"]),
                share(certificate["kept"]["repeats"]), share(precision["all"]), share(recall["all"]),
                recall["all"]["theory"], f"{seconds['certifying'] / sum(seconds.values()):.0%}",
            )
        )  # fmt: skip
    head = ("detector", "", "removed without partner", "kept that repeat", "precision", "recall", "theory", "time")
    parts.append(table(head, rows))
    ranges = list(told["broder"]["certificate"]["pairs"]["recall"]["by_similarity"])
    by_similarity: list[tuple[str, ...]] = []
    for name, one in told.items():
        by_range = one["certificate"]["pairs"]["recall"]["by_similarity"]
        cells = [
            "–"
            if by_range[key]["estimate"] is None
            else f"{by_range[key]['estimate']:.3f} [{cell(by_range[key]['theory'])}]"
            for key in ranges
        ]
        by_similarity.append((name, *cells))
    parts += ["Recall by similarity, in brackets what theory predicts:", table(("detector", *ranges), by_similarity)]
    return [*parts, texts.CERTIFICATES_FOUND]


def main() -> None:
    arguments = argparse.ArgumentParser(description="Writes docs/evaluation.md")
    arguments.add_argument("data", nargs="?", default=os.environ.get("NEARDUP_DATA"))
    arguments.add_argument("--work")
    given = arguments.parse_args()
    if not given.data or not Path(given.data).is_dir():
        sys.exit("no data: name their folder, or set NEARDUP_DATA; nothing was written")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(given.work or temporary)
        work.mkdir(parents=True, exist_ok=True)
        laboratory = Laboratory(Path(given.data), work)
        parts = [texts.HEAD, NOTE, sources(), *curves(laboratory), *judged(laboratory), *runs(laboratory)]
    PAGE.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    print("written:", PAGE.relative_to(ROOT))


def sources() -> str:
    rows = ((one.title, one.what, one.origin, one.licence) for one in texts.SOURCES.values())
    return texts.SOURCES_HEAD + "\n\n" + table(("data", "what", "from", "licence"), rows)


if __name__ == "__main__":
    main()
