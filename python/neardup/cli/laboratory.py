"""What evaluations found, as tables that a person reads in a terminal."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table
from rich.text import Text

from neardup.cli.printable import printable
from neardup.cli.summary import grid, page, titled
from neardup.evaluation.pages import intervals_of, notes_on_pairs


def print_pairs(report: dict[str, Any], out: str) -> None:
    """The quality of each detector over judged pairs, and the paper's first table of each."""
    console = page()
    labels = ", ".join(f"{count:,} {name}" for name, count in report["labels"].items())
    console.print(f"{report['pairs']:,} judged pairs: {labels}; {report['same_site']:,} on one site")
    for note in notes_on_pairs(report):
        console.print(note)
    table = grid(
        "\nQuality, with 95 % intervals",
        *((name, "right") for name in ("accepted", "precision", "recall", "F", "AUC")),
        ("detector", "left"),
    )
    for name, told in report["detectors"].items():
        quality = told["quality"]
        cells = [_interval(quality[measure]) for measure in ("precision", "recall", "f", "auc")]
        table.add_row(f"{quality['accepted']:,}", *cells, Text(name))
    console.print(table)
    console.print(f"Intervals: {intervals_of(report)}; of AUC a bootstrap.")
    for name, told in report["detectors"].items():
        if told["quality"]["accepted"]:
            console.print(_returned(name, told["returned"]))
    threshold = report["combined threshold"]
    if threshold:
        tested = threshold["tested"][0]
        console.print(
            f"\nCombined, its threshold chosen on {threshold['chosen on']:,} of Alg. B's pairs: "
            f"C-similarity ≥ {threshold['threshold']}; on the other {threshold['tested on']:,}: "
            f"precision {_number(tested['correct'])}, R {_number(tested['R'])}"
        )
    _where(out)


def _returned(name: str, rows: list[dict[str, Any]]) -> Table:
    columns = ("pairs", "correct", "incorrect", "undecided", "(forms)")
    table = grid(f"\nReturned by {name}", *((column, "right") for column in columns), ("pairs of", "left"))
    for row in rows:
        shares = [_number(row[key]) for key in ("correct", "incorrect", "undecided", "forms")]
        table.add_row(f"{row['pairs']:,}", *shares, row["pairs of"])
    return table


def print_curves(report: dict[str, Any], out: str) -> None:
    """What each method costs; the curves themselves are in the plots."""
    console = page()
    console.print(
        f"{report['revisions']:,} revisions of {report['articles']:,} articles, {report['pairs']:,} pairs compared"
    )
    table = grid(
        "\nMethods (seconds of processor time)",
        *((name, "right") for name in ("accepted", "construction", "retrieval", "bytes a page", "index MB")),
        ("method", "left"),
    )
    for row in report["methods"]:
        size, index = row["fingerprint_bytes_a_page"], row["index_bytes"]
        table.add_row(
            f"{row['accepted']:,}",
            f"{row['construction_seconds']:.2f}",
            f"{row['retrieval_seconds']:.2f}",
            "–" if size is None else f"{size:,.0f}",
            "–" if index is None else f"{index / 1e6:.2f}",
            Text(row["method"]),
        )
    console.print(table)
    _where(out)


def print_graph(told: dict[str, Any], out: str) -> None:
    """The similarity graph in a few lines."""
    if told["edges"]:
        _print_edges(told)
    else:
        page().print("The run accepted no pair: its graph has no edge.")
    _where(out)


def _print_edges(told: dict[str, Any]) -> None:
    console = page()
    console.print(
        f"{told['nodes']:,} pages with a near-duplicate, {told['edges']:,} pairs, average degree "
        f"{told['average_degree']:.1f}; {told['high_degree_share']:.1%} of degree 100 or more; "
        f"{told['same_site_share']:.1%} of pairs on one site"
    )
    labels = grid(None, ("label", "right"), ("pairs", "right"), ("share", "right"))
    for label, count in told["labels"]["values"].items():
        labels.add_row(label, f"{count:,}", f"{count / told['edges']:.1%}")
    console.print(titled(f"Pairs by {told['labels']['label']}", labels))
    laws = grid(
        "\nPower laws",
        *((name, "right") for name in ("exponent", "95 % interval", "from", "values", "p")),
        ("of", "left"),
    )
    for name, law in (("degrees", told["degree_law"]), ("cluster sizes", told["cluster_size_law"])):
        if law is None:
            laws.add_row("–", "", "", "", "", f"{name}: too few to tell")
            continue
        rest = str(law["xmin"]), f"{law['tail']:,}", _number(law["p_value"])
        if law["plausible"] is False:
            laws.add_row("–", "", *rest, f"{name}: no power law")
        else:
            laws.add_row(f"{law['exponent']:.2f}", f"{law['low']:.2f}–{law['high']:.2f}", *rest, name)
    console.print(laws)


def _interval(told: dict[str, float | None]) -> str:
    if told["estimate"] is None:
        return "–"
    return f"{told['estimate']:.3f} ({_number(told['low'], 3)}–{_number(told['high'], 3)})"


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _where(out: str) -> None:
    click.echo(f"\nResult  {printable(out)}/  (report.html to look at; run.json)")
