"""An explanation in a terminal: in colour, and whole at 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from neardup.cli.printable import printable
from neardup.cli.summary import grid, page
from neardup.report.boilerplate import RULE
from neardup.report.explain_page import HEADLINES
from neardup.report.run_sections import reason_of
from neardup.report.side_by_side import runs, stretches
from neardup.report.verdicts import distance

if TYPE_CHECKING:
    from neardup.report.explain import Explanation, Step

_JUDGED = {"correct": "green", "incorrect": "red", "undecided": "yellow"}
#: Without colour, differing terms must still be told: they are in brackets, then.
_BRACKETS = (("[-", "-]"), ("{+", "+}"))


def print_explanation(told: Explanation, differences: int) -> None:
    """Prints all of it."""
    console = page()
    console.print(Text(HEADLINES[told.relation], style="bold"))
    for letter, side in zip("AB", told.sides, strict=True):
        name = printable(side.url or side.id)
        facts = [f"{len(side.terms):,} terms"]
        if side.title:
            facts.insert(0, f"“{printable(side.title)}”")
        if side.record is not None:
            facts.append(("stays: " if side.record["kept"] else "goes: ") + printable(reason_of(side.record)))
        console.print(Text.assemble((f"{letter}  ", "bold"), name))
        console.print(Text("   " + ", ".join(facts), style="dim"))
    console.print()
    kind = told.kind
    judged = Text(kind.judgement, style=_JUDGED[kind.judgement])
    console.print(Text.assemble("Kind of difference: ", (kind.name, "bold"), " (", judged, f"): {kind.because}"))
    if kind.stands_in:
        console.print(Text(f"Differences: {kind.stands_in}"))
    for sentence in told.because:
        console.print(Text(printable(sentence)))
    if differences:
        _print_texts(console, told, differences)
    _print_scores(console, told)
    _print_verdicts(console, told)
    _print_fates(console, told)


def _print_texts(console: Console, told: Explanation, differences: int) -> None:
    a, b = told.sides
    console.print()
    among = f" among the first {told.beginning:,}" if told.beginning else ""
    console.print(Text.assemble(("Side by side", "bold"), f"  {told.unmatched:,} terms without a counterpart{among}"))
    shown, left = stretches(told.hunks, (len(a.terms), len(b.terms)), most=differences, context=8)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), expand=True, show_header=False)
    for _ in range(2):
        table.add_column(ratio=1, overflow="fold")
    row = (Text(), Text())

    def flush() -> None:
        nonlocal row
        if row[0] or row[1]:
            table.add_row(*row)
            row = (Text(), Text())

    for part in shown:
        if part.skipped:
            flush()
            table.add_row(Text(f"… {part.skipped:,} equal terms …", style="italic dim"), Text())
        for side, (span, colour) in enumerate(((part.a, "red"), (part.b, "green"))):
            page_side, (before, behind) = told.sides[side], _BRACKETS[side]
            for text, repeated in runs(page_side.terms, span, page_side.boilerplate, longest=60):
                style = "bright_black" if repeated else ""
                if part.equal:
                    row[side].append(printable(text) + " ", style=style)
                else:
                    row[side].append(
                        f"{before}{printable(text)}{behind} ", style=f"{colour} {'italic' if repeated else 'bold'}"
                    )
    flush()
    console.print(table)
    if left:
        console.print(Text(f"… {left:,} more differences", style="italic dim"))
    if a.boilerplate is not None or b.boilerplate is not None:
        console.print(Text(f"Grey: boilerplate, {RULE}.", style="dim"))


def _print_scores(console: Console, told: Explanation) -> None:
    found = told.comparison
    table = grid("\nHow alike they are", ("measure", "left"), ("value", "left"))
    table.add_row("B-similarity", "–" if found.b_similarity is None else f"{found.b_similarity} of 6 supershingles")
    table.add_row("C-similarity", "–" if found.c_similarity is None else f"{found.c_similarity} of 384 bits")
    if found.not_compared is not None:
        table.add_row("not compared", found.not_compared)
    shingles = ", ".join(f"{value:.3f} ({k})" for k, value in found.jaccard.items())
    table.add_row("Jaccard, by shingle length", shingles)
    if found.containment is not None:
        table.add_row("containment", f"{found.containment[0]:.3f} of A in B, {found.containment[1]:.3f} of B in A")
    table.add_row("term difference", "–" if found.term_difference is None else f"{found.term_difference:,}")
    console.print(table)


def _print_verdicts(console: Console, told: Explanation) -> None:
    table = grid(
        "\nWhat detectors say", ("detector", "left"), ("says", "left"), ("keys", "right"), ("measured", "left")
    )
    for verdict in told.verdicts:
        word = Text(verdict.word, style="green" if verdict.accepted else "red" if verdict.compared else "dim")
        if verdict.note:
            table.add_row(Text(verdict.detector), word, "", Text(verdict.note, style="dim"))
        for number, rule in enumerate(verdict.rules):
            measured = Text(distance(rule))
            if not rule.speaks:
                measured = Text(f"not asked: {rule.predicate} pairs only", style="dim")
            name, said = (
                (Text(verdict.detector), word) if number == 0 else (Text(f"  {rule.rule}", style="dim"), Text())
            )
            table.add_row(name, said, f"{rule.shared_keys:,}/{rule.all_keys:,}", measured)
    console.print(table)


def _print_fates(console: Console, told: Explanation) -> None:
    if told.path and all(fate.path != told.path for fate in told.fates):
        console.print(Text("\nFrom A to B", style="bold"))
        _print_steps(console, told.path)
    for fate in told.fates:
        page_name, kept_name = printable(fate.url or fate.page), printable(fate.kept_url or fate.kept_instead)
        console.print()
        console.print(Text.assemble((page_name, "bold"), " goes for ", (kept_name, "bold"), f" ({fate.reason})"))
        if fate.path:
            _print_steps(console, fate.path)


def _print_steps(console: Console, path: list[Step]) -> None:
    for step in path:
        ends = f"{printable(step.url_a or step.a)} ~ {printable(step.url_b or step.b)}"
        console.print(Text.assemble("  ", ends, (f"  {step.score:.3f} by {step.rule}", "dim")))
