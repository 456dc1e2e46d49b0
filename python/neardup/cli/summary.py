"""A result as a page of text that a person reads."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from neardup.cli.printable import printable
from neardup.engines.common.default import described
from neardup.results import Result
from neardup.results.earlier import REASON as EARLIER
from neardup.sources.skipped import NAMED, WHOLE_FILE
from neardup.text import Reading


def print_json(value: Any) -> None:
    """One JSON document on standard output; where that is not UTF-8, in ASCII with escapes."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    json.dump(value, sys.stdout, indent=2, ensure_ascii=not utf8)
    sys.stdout.write("\n")


class _Page(Console):
    """Leaves it to the program what happens when the reader of its output has gone."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def page() -> Console:
    """Where tables are printed."""
    return _Page(highlight=False, soft_wrap=False)


def print_summary(result: Result, largest: int = 5) -> None:
    """The summary of a run."""
    console = page()
    report, counts = result.report, result.report["counts"]
    for line in _named(report["failed_files"], counts["failed_files"], "! "):
        console.print(line)
    console.print(_headline(counts))
    console.print()
    console.print(_numbers(result))
    if result.clusters.num_rows and largest:
        console.print(_largest(result, largest))
    sites = _sites(result)
    if sites is not None:
        console.print(sites)
    if report.get("certificate"):
        console.print(certificate_table(report["certificate"]))
    console.print(_stages(report))
    for warning in report["warnings"]:
        console.print(Text(f"! {warning}", style="yellow"))
    for line in [
        *_named(report["skipped"], counts["skipped"], "  "),
        *_named(report["left_out_files"], counts["left_out_files"], "  left out: "),
    ]:
        console.print(line)
    if result.folder is not None:
        place = printable(str(result.folder))
        console.print(Text.assemble(("Result", "bold"), f"  {place}/  (report.html to look at; .parquet; run.json)"))


def _named(entries: list[dict[str, str]], count: int, before: str, most: int = 3) -> Iterator[Text]:
    """A line for each of the first entries, and how many more there are."""
    for bad in entries[:most]:
        place = bad["source"] if bad["position"] == WHOLE_FILE else f"{bad['source']}, {bad['position']}"
        yield Text(printable(f"{before}{place}: {bad['reason']}"), style="yellow")
    if count > most:
        where = "run.json" if count <= NAMED else "skipped.parquet"
        yield Text(f"  … {count - most:,} more in {where}", style="yellow")


def titled(title: str, table: Table) -> Group:
    """A table under a title that may be wider than it."""
    return Group(Text(f"\n{title}", style="bold"), table)


def certificate_table(certificate: dict[str, Any]) -> Group:
    """A certificate as a table: each statement with its 95 % interval, and what theory predicts beside it."""
    notion, pairs = certificate["notion"], certificate["pairs"]
    title = f"Certificate: {notion['word']} with {notion['text']}, from {certificate['sample']['pages']:,} pages"
    table = grid(
        None,
        ("share", "right"),
        ("95 % interval", "right"),
        ("theory", "right"),
        ("of", "left"),
    )

    def add(share: dict[str, Any], text: str) -> None:
        if share["estimate"] is not None:
            theory = share.get("theory")
            table.add_row(
                f"{share['estimate']:.1%}",
                f"{share['low']:.1%}–{share['high']:.1%}",
                "" if theory is None else f"{theory:.1%}",
                text,
            )

    add(certificate["removed"]["without_partner"], "removed pages without a partner among those that stay")
    if certificate["removed"].get("for_earlier_runs"):
        seen = certificate["removed"]["for_earlier_runs"]
        table.add_row("–", "", "", f"{seen:,} pages removed for pages of earlier runs: not looked at")
    add(certificate["kept"]["repeats"], "pages that stay and repeat another that stays")
    if not pairs["known"]:
        table.add_row("–", "", "", f"pairs: {pairs['why']}")
        return titled(title, table)
    recall, precision = pairs["recall"], pairs["precision"]
    add(precision["all"], "accepted pairs that are true")
    add(precision["same_site"], "  on the same site")
    add(precision["different_site"], "  on different sites")
    add(recall["all"], "true pairs that are accepted")
    add(recall["same_site"], "  on the same site")
    add(recall["different_site"], "  on different sites")
    for name, share in recall["by_similarity"].items():
        add(share, f"  of similarity {name}")
    return titled(title, table)


def _headline(counts: dict[str, int]) -> Text:
    share = counts["removed"] / counts["pages"]
    return Text.assemble(
        (f"{counts['removed']:,} of {counts['pages']:,} pages", "bold"),
        f" repeat another and can go ({share:.1%}); ",
        (f"{counts['kept']:,} stay.", "bold"),
    )


def grid(title: str | None, *columns: tuple[str, str]) -> Table:
    """A table without lines, under a title."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, justify in columns:
        table.add_column(name, justify=justify, header_style="dim", overflow="fold")  # type: ignore[arg-type]
    return table


def _numbers(result: Result) -> Table:
    report, counts = result.report, result.report["counts"]
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(justify="right")
    table.add_column()
    earlier = f" ({len(result.earlier):,} of them of earlier runs)" if len(result.earlier) else ""
    rows = [
        (counts["pages"], f"pages read, with the detector [bold]{described(report)}[/bold]"),
        (
            counts["identity_sets"],
            f"identity sets: {counts['identical']:,} pages have the same tokens as one before them",
        ),
        *((number, f"pairs of near-duplicates accepted{pairs}") for number, pairs in result.accepted.counts()),
        (counts["clusters"], f"clusters, {counts['clustered']:,} pages in them{earlier}"),
        (counts["removed"], f"pages removed, keeping the {report['settings']['keep']}"),
    ]
    reading = Reading(**report["settings"]["reading"])
    how = f"\nto compare them: {reading.for_short}" if reading.for_short else ""
    optional = [
        ("short", f"pages too short to compare (under {reading.min_tokens} tokens){how}"),
        ("empty", "pages without a single token"),
        ("undated", "pages without a date that can be read: taken for the oldest"),
        ("ignored", "records that are no pages (requests, images, redirects …)"),
        ("skipped", "records that could not be read"),
        ("left_out_files", "files left out of the folders (no known format, no file, or a link that leads out)"),
    ]
    rows += [(counts[name], text) for name, text in optional if counts.get(name)]
    if len(result.earlier):
        seen = pc.sum(pc.starts_with(result.pages.column("reason"), "seen-")).as_py() or 0
        runs = ", ".join(printable(one["run"]) for one in report["against"])
        rows.append((seen, f"of the removed for pages of earlier runs ({runs})"))
    for number, text in rows:
        table.add_row(number if isinstance(number, str) else f"{number:,}", text)
    return table


def _largest(result: Result, count: int) -> Table:
    table = grid(
        "\nLargest clusters",
        ("pages", "right"),
        ("sites", "right"),
        ("kept", "right"),
        ("cohesion", "right"),
        ("first page", "left"),
    )
    order = pc.sort_indices(result.clusters, [("size", "descending"), ("cluster", "ascending")])
    chosen = result.clusters.take(order[:count]).to_pylist()
    names = pa.array([row["cluster"] for row in chosen], pa.string())
    columns = ["id", "url", "title", "reason", "source"]
    told: dict[str, dict[str, Any]] = {}
    for pages in (result.pages, result.earlier.pages):
        first = pages.select(columns).filter(pc.is_in(pages.column("id"), names))
        told |= {page["id"]: page for page in first.to_pylist()}
    for row in chosen:
        page = told[row["cluster"]]
        title = f"  {printable(page['title'])}" if page["title"] else ""
        run = f"  of the earlier run {printable(page['source'])}" if page["reason"] == EARLIER else ""
        name = Text.assemble(printable(page["url"] or page["id"]), (title + run, "dim"))
        cohesion = "–" if row["cohesion"] is None else f"{row['cohesion']:.2f}"
        table.add_row(f"{row['size']:,}", str(row["sites"]), str(row["kept"]), cohesion, name)
    return table


def _sites(result: Result, count: int = 5) -> Table | None:
    removed = pc.cast(pc.invert(result.pages.column("kept")), pa.int64())
    by_site = pa.table({"site": result.pages.column("site"), "removed": removed}).filter(
        pc.is_valid(result.pages.column("site"))
    )
    if not by_site.num_rows:
        return None
    totals = by_site.group_by("site").aggregate([("removed", "sum"), ("removed", "count")])
    order = pc.sort_indices(totals, [("removed_sum", "descending"), ("site", "ascending")])
    table = grid(
        f"\nBy site ({totals.num_rows:,} in all)",
        ("removed", "right"),
        ("of pages", "right"),
        ("site", "left"),
    )
    for row in totals.take(order[:count]).to_pylist():
        table.add_row(f"{row['removed_sum']:,}", f"{row['removed_count']:,}", Text(printable(row["site"])))
    return table


def _stages(report: dict[str, Any]) -> Table:
    table = grid("\nStages", ("seconds", "right"), ("peak MB", "right"), ("stage", "left"))
    for stage in report["stages"]:
        memory = f"{stage['peak_memory'] / 1e6:,.0f}" if stage["peak_memory"] else "?"
        table.add_row(f"{stage['seconds']:.2f}", memory, stage["name"])
    return table
