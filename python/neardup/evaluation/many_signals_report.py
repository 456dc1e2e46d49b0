"""The tables and figures of Huffman et al. 2007 for labelled pairs: as numbers, as Markdown, as plots."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InputError
from neardup.evaluation.many_signals import (
    PAPER,
    Effort,
    Labelled,
    f_contour,
    figure_3,
    precision_recall,
    table_2,
    table_3,
    table_4,
)
from neardup.evaluation.plots import Bars, Line, Plot, draw_bars, draw_plot, require_plots
from neardup.signals.classifiers.learners import require_learners
from neardup.sinks import write_json
from neardup.sinks.folder import new_folder
from neardup.writing import replacing

#: Huffman et al. 2007, Tables 2 and 3: P, R, F of Jrip and J48, and the mean F.
PUBLISHED: Final = {
    "fetched_simhash_distance": (90.2, 59.9, 72.0, 91.4, 57.6, 70.7, 71.3),
    "fetched_tfidf_distance": (84.4, 65.9, 74.0, 86.1, 63.4, 73.0, 73.5),
    "F": (88.7, 68.7, 77.4, 89.9, 67.8, 77.3, 77.3),
    "F+R": (86.7, 79.1, 82.8, 91.2, 75.2, 82.4, 82.6),
    "F+R+RS": (87.8, 81.4, 84.4, 91.3, 77.3, 83.6, 84.0),
}
#: The F of the paper's best human judge, on the paper's pairs.
HUMAN: Final = (85.5, "the best judge of Huffman et al. 2007, on their pairs")


def read_signals(path: str | os.PathLike[str]) -> pa.Table:
    """A table of signals from its file."""
    try:
        with open(path, "rb") as file:
            return pq.read_table(file)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=os.fspath(path)) from None
    except pa.ArrowException:
        raise InputError(
            "not a table of signals, nor any Parquet file", where=os.fspath(path), hint="neardup signals makes one"
        ) from None


def require_for_tables() -> None:
    """Raises ``MissingExtra`` unless all that tables and figures need is there."""
    require_learners()
    require_plots()


def tables(labelled: Labelled, effort: Effort, *, figure: bool = True) -> dict[str, list[dict[str, Any]]]:
    """Tables 2, 3 and 4, and Fig. 3 with and without the compression of whole bodies."""
    made = {"2": table_2(labelled, effort), "3": table_3(labelled, effort), "4": table_4(labelled, effort)}
    if figure:
        made["figure 3"] = figure_3(labelled, effort)
        made["figure 3 without mcd"] = figure_3(labelled, effort, without_mcd=True)
    return made


def write_tables(labelled: Labelled, out: str | os.PathLike[str], effort: Effort, *, overwrite: bool = False) -> None:
    """All tables and figures into a folder that appears whole or not at all."""
    require_for_tables()
    with new_folder(Path(out), overwrite) as folder:
        made = tables(labelled, effort)
        write_figures(made, folder)
        text = "\n\n".join(f"## {title}\n\n{body}" for title, body in markdown(made).items())
        with replacing(folder / "tables.md") as file:
            file.write((text + "\n").encode())
        write_json({"what": "many signals", "pairs": labelled.summary()} | plain(made), folder / "run.json")


def plain(made: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The tables without the scores of single pairs."""
    rows = {name: [{key: value for key, value in row.items() if key != "runs"} for row in table]
            for name, table in made.items()}  # fmt: skip
    return {f"table {name}" if name.isdigit() else name: table for name, table in rows.items()}


def write_figures(made: dict[str, list[dict[str, Any]]], folder: Path, prefix: str = "") -> list[str]:
    """Figs. 1, 2 and 3 as SVG files; gives their names."""
    written = []
    named = {row["signals"]: row for row in made["3"]}
    draw_bars(
        Bars("F by set of signals (mean of rules and tree)", "F", [name.replace("_", " ") for name in named],
             [row["F"] for row in named.values()], line=HUMAN),
        folder / f"{prefix}figure-1.svg",
    )  # fmt: skip
    written.append(f"{prefix}figure-1.svg")
    best = made["3"][-1] if made["3"] else None
    sums = [row for row in made["3"] if row["signals"] == "F+R+RS"] or ([best] if best else [])
    for row in sums:
        lines = []
        for kind, run in row["runs"].items():
            recall, precision = precision_recall(run["scores"], run["labels"])
            lines.append(Line(kind, recall, precision))
        most = max(run["F"] for run in row["runs"].values())
        if most > 0:
            lines.append(Line(f"F {100 * most:.1f}", *f_contour(most), dotted=True))
        draw_plot(
            Plot(f"Precision and recall: {row['signals']}", "recall", "precision", lines,
                 x_range=(0, 1.02), y_range=(0, 1.02)),
            folder / f"{prefix}figure-2.svg",
        )  # fmt: skip
        written.append(f"{prefix}figure-2.svg")
    for key, name in (("figure 3", "figure-3"), ("figure 3 without mcd", "figure-3-without-mcd")):
        if made.get(key):
            rows = made[key]
            low, high = ([sum(row[kind][end] for kind in PAPER) / 2 for row in rows] for end in ("low", "high"))
            draw_bars(
                Bars("F as signals are added in the order of their cost", "F, with quartiles over seeds",
                     [f"+ {row['added']}".replace("_", " ") for row in rows], [row["F"] for row in rows], low, high),
                folder / f"{prefix}{name}.svg",
            )  # fmt: skip
            written.append(f"{prefix}{name}.svg")
    return written


def markdown(made: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """The tables as Markdown, by title."""
    told = {
        "Table 2: each signal alone, over the pairs that have it": _table(made["2"], pairs=True),
        "Table 3: sums of groups, over all pairs": _table(made["3"], paper=True),
    }
    if made["4"]:
        beside = {row["signals"]: row["F"] for row in made["3"]}
        lines = ["| signals | F | F with FS added |", "|---|---:|---:|"]
        for row in made["4"]:
            base = row["signals"].removesuffix("+FS")
            lines.append(f"| {base} | {beside[base]:.1f} | {row['F']:.1f} |")
        told["Table 4: effect of snippets from fetched bodies"] = "\n".join(lines)
    return told


def described(row: dict[str, Any]) -> str:
    """The signals of a row in words, with those of its groups that the table has not.

    >>> described({"signals": "F+R", "without": ["fetched_tfidf_distance"]})
    'F+R without fetched tfidf distance'
    """
    signals, without = str(row["signals"]), ", ".join(row.get("without") or [])
    return (signals + (f" without {without}" if without else "")).replace("_", " ")


def _table(rows: Sequence[dict[str, Any]], *, paper: bool = False, pairs: bool = False) -> str:
    kinds = [kind for kind in (*PAPER, "boosting") if any(kind in row for row in rows)]
    head = ["signals", *(f"{kind} {name}" for kind in kinds for name in "PRF"), "mean F"]
    head += ["the paper's"] * paper + ["pairs"] * pairs
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    for row in rows:
        cells = [f"{row[kind][name]:.1f}" for kind in kinds for name in "PRF"]
        # A row that lacks a signal of its groups is another one than the paper's.
        published = None if row.get("without") else PUBLISHED.get(row["signals"])
        cells += [f"**{row['F']:.1f}**"] + [f"{published[-1]:.1f}" if published else "–"] * paper
        cells += [f"{row['pairs']:,}"] * pairs
        lines.append(f"| {described(row)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def improves(rows: Sequence[dict[str, Any]], sums: Sequence[str]) -> bool:
    """Whether each sum of groups has a higher mean F than the one before."""
    f = {row["signals"]: row["F"] for row in rows}
    return all(f[one] < f[other] for one, other in pairwise(sums))
