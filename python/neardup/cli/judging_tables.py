"""What a judging says, as tables that a person reads in a terminal."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from neardup.cli.printable import printable
from neardup.cli.summary import grid, page

if TYPE_CHECKING:
    from neardup.evaluation.judging_sample import PairSample


def print_strata(sample: PairSample, path: str, folder: str, elsewhere: bool = False) -> None:
    """What was drawn, and what to do next; the judging may be ``elsewhere`` than in the run's folder."""
    console = page()
    population = sum(one.population for one in sample.strata)
    console.print(f"{len(sample.pairs):,} of {population:,} pairs drawn, in {len(sample.strata):,} strata")
    table = grid("", ("drawn", "right"), ("of pairs", "right"), ("stratum", "left"))
    for one in sample.strata:
        table.add_row(f"{one.sampled:,}", f"{one.population:,}", Text(one.name))
    console.print(table)
    for note in sample.notes:
        console.print(Text(f"! {note}", style="yellow"))
    words = ["neardup", "ui", folder, *(["--judging", path] if elsewhere else [])]
    # In one line, so that it can be copied.
    console.print(Text.assemble(("\nJudging", "bold"), f"  {printable(path)}; judge in the browser:"), soft_wrap=True)
    console.print(Text(f"  {printable(shlex.join(words))}"), soft_wrap=True)


def print_judging(told: dict[str, Any]) -> None:
    """Progress, agreement, judges, detectors, and the paper's tables."""
    console = page()
    labels = ", ".join(f"{count:,} {name}" for name, count in told["labels"].items())
    console.print(
        f"{told['final']:,} of {told['pairs']:,} pairs have a final label: {labels}; "
        f"{told['adjudicated']:,} adjudicated, {told['disputes']:,} in dispute"
    )
    for note in told["notes"]:
        console.print(Text(f"! {note}", style="yellow"))
    _judges(console, told)
    _agreement(console, told["agreement"])
    for name, detector in told["detectors"].items():
        _detector(console, name, detector)


def _judges(console: Any, told: dict[str, Any]) -> None:
    columns = ("pairs", "as final", "precision", "recall", "F")
    table = grid("\nJudges against the final label", *((name, "right") for name in columns), ("judge", "left"))
    for row in told["against final"]:
        name = row["judge"] if row["kind"] == "person" else f"whoever looked {row['judge']}"
        cells = [_number(row[key]) for key in ("as final", "precision", "recall", "f")]
        table.add_row(f"{row['pairs']:,}", *cells, Text(printable(name)))
    if told["against final"]:
        console.print(table)


def _agreement(console: Any, told: dict[str, Any]) -> None:
    if not told["full"]["pairs"]:
        return
    table = grid("\nAgreement", ("pairs", "right"), ("agree", "right"), ("kappa", "right"), ("of", "left"))
    table.add_row(
        f"{told['full']['pairs']:,}", _percent(told["full"]["share"]), _number(told["fleiss"]), "all (Fleiss)"
    )
    for row in told["by class"]:
        table.add_row(f"{row['pairs']:,}", _percent(row["share"]), _number(row["kappa"]), f"{row['label']} (Fleiss)")
    for row in told["cohen"]:
        name = Text(printable(f"{row['judges']} (Cohen)"))
        table.add_row(f"{row['pairs']:,}", _percent(row["share"]), _number(row["kappa"]), name)
        for one in row["by class"]:
            label = f"  {one['label']} by either (Cohen)"
            table.add_row(f"{one['pairs']:,}", _percent(one["share"]), _number(one["kappa"]), label)
    console.print(table)


def _detector(console: Any, name: str, told: dict[str, Any]) -> None:
    first, second, third = told["tables"] or ("2", "3", "4")
    like = "" if told["tables"] else "as "
    table = grid(
        f"\nReturned by {name}: all its pairs, 95 % intervals ({like}Table {first})",
        ("judged", "right"), ("correct", "right"), ("interval", "right"), ("incorrect", "right"),
        ("undecided", "right"), ("(forms)", "right"), ("pairs of", "left"),
    )  # fmt: skip
    for row in told["returned"]:
        share = row["correct"]
        interval = "" if share["estimate"] is None else f"{share['low']:.2f}–{share['high']:.2f}"
        rest = [_number(row[key]["estimate"]) for key in ("incorrect", "undecided", "forms")]
        table.add_row(f"{row['pairs']:,}", _number(share["estimate"]), interval, *rest, row["pairs of"])
    console.print(table)
    with_forms = told["precision with forms"]
    if with_forms["estimate"] is not None and with_forms != told["precision"]:
        console.print(f"With forms counted as correct: {with_forms['estimate']:.2f}")
    for number, label in ((second, "correct"), (third, "undecided")):
        if told[f"reasons of {label}"]:
            console.print(_reasons(f"\nReasons of {label} pairs ({like}Table {number})", told[f"reasons of {label}"]))


def _reasons(title: str, rows: list[dict[str, Any]]) -> Table:
    columns = ("judged", "share", "same site", "share there")
    table = grid(title, *((name, "right") for name in columns), ("reason", "left"))
    for row in rows:
        shares = _percent(row["share"]), f"{row['same site']:,}", _percent(row["share on the same site"])
        table.add_row(f"{row['pairs']:,}", *shares, Text(printable(row["reason"])))
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
