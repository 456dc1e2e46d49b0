"""What training and search evaluation found, as tables that a person reads in a terminal."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import click
from rich.text import Text

from neardup.cli.printable import printable
from neardup.cli.summary import grid, page, titled

#: Lines of a classifier that are printed; its file has all of them.
_MOST_LINES = 40
_LEARNERS = {"rules": "rules (RIPPER)", "tree": "decision tree", "boosting": "gradient boosting"}


def print_training(classifier: Any, told: dict[str, Any], out: str, options: dict[str, Any]) -> None:
    """The pairs, the cross-validation, and the classifier as text."""
    console = page()
    pairs = told["pairs"]
    console.print(
        f"{pairs['pairs']:,} pairs of {pairs['queries']:,} queries; {pairs['duplicates']:,} are duplicates "
        f"({pairs['share']:.1%})"
    )
    for what, count in pairs["left out"].items():
        if count:
            console.print(f"  left out: {count:,} {what}")
    for name, count in told["nulls"].items():
        console.print(f"  no value: {name.replace('_', ' ')} of {count:,} pairs")
    if "cross-validation" in told:
        from neardup.evaluation.many_signals_report import described

        row = told["cross-validation"]
        title = f"{options['folds']}-fold cross-validation by query, median F of {options['seeds']}: {described(row)}"
        table = grid(None, *((name, "right") for name in ("P", "R", "F", "quartiles of F")), ("learner", "left"))
        for kind, words in _LEARNERS.items():
            if kind in row:
                found = row[kind]
                numbers = (f"{found[name]:.1f}" for name in ("P", "R", "F"))
                table.add_row(*numbers, f"{found['low']:.1f}–{found['high']:.1f}", words)
        console.print(titled(title, table))
    console.print(Text(f"\nTrained on all pairs: {_LEARNERS[classifier.kind]}", style="bold"))
    lines = classifier.text().splitlines()
    for line in lines[:_MOST_LINES]:
        # What does not fit goes on further in than its beginning, so that it is not taken for a line of its own.
        further = " " * (len(line) - len(line.lstrip()) + 6)
        for part in wrap(f"  {line}", console.width, subsequent_indent=further, break_long_words=False):
            console.print(Text(part))
    if len(lines) > _MOST_LINES:
        console.print(f"  … {len(lines) - _MOST_LINES} more lines")
    if options["tables"]:
        click.echo(f"\nTables  {printable(options['tables'])}/")
    click.echo(f"\nResult  {printable(out)}")


def print_searches(report: dict[str, Any], out: str | None) -> None:
    """Each engine in all four ways, who profits, and both errors."""
    console = page()
    console.print(
        f"{report['queries']:,} queries, {len(report['runs'])} runs; {report['duplicates']:,} of {report['pairs']:,} "
        f"pairs of results are duplicates, by {printable(report['judge'])}"
    )
    if report["missing"]:
        console.print(f"! {len(report['missing']):,} results have no page here and could not be compared")
    for measure, told in report["measures"].items():
        table = grid(
            f"\n{measure}",
            *((name, "right") for name in ("every", "once", "shared", "shared once", "undue credit", "p", "queries")),
            ("run", "left"),
        )
        for row in told["runs"]:
            values = (f"{row[way]:.3f}" for way in ("every", "once", "shared", "shared once"))
            table.add_row(*values, f"{row['undue credit']:+.3f}", _p(row["p"]), str(row["queries"]), Text(row["run"]))
        console.print(table)
        most = max(told["runs"], key=lambda row: row["undue credit"])
        if most["undue credit"] > 0:
            console.print(f"  {printable(most['run'])} profits most from repeats")
        before, after = told["order"]["every"], told["order"]["shared once"]
        if len(before) > 1:
            verdict = "the same" if before == after else "another"
            console.print(f"  order with every result counted: {' > '.join(map(printable, before))}")
            console.print(f"  with repeats known, {verdict}: {' > '.join(map(printable, after))}")
            for row in told["between"]:
                if row["way"] in ("every", "shared once"):
                    one, other = map(printable, row["runs"])
                    console.print(f"    {one} − {other}, {row['way']}: {row['difference']:+.3f}, p {_p(row['p'])}")
    repeats, twice = report["repeats"], report["judged twice"]
    console.print(
        f"\nUndue credit: {len(repeats):,} results repeat one further up their list, "
        f"{sum(bool(row['grade'] and row['grade'] > 0) for row in repeats):,} of them judged relevant"
    )
    for row in repeats[:3]:
        console.print(
            Text(f"  {printable(row['run'])}, {printable(row['query'])}: rank {row['rank']} {printable(row['page'])} "
                 f"repeats {printable(row['repeats'])}, grade {row['grade']}")
        )  # fmt: skip
    console.print(
        f"Two judgements for one page: {twice['groups']:,} groups were judged more than once, "
        f"{twice['differ']:,} of them differently"
    )
    for row in twice["which"][:3]:
        grades = ", ".join(f"{printable(name)} {grade}" for name, grade in row["grades"].items())
        console.print(Text(f"  {printable(row['query'])}: {grades}"))
    if out:
        click.echo(f"\nResult  {printable(out)}/")


def _p(value: float) -> str:
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
