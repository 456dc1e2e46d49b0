"""What a study found, as tables that a person reads in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from neardup.cli.printable import printable
from neardup.cli.summary import grid, page, titled

if TYPE_CHECKING:
    from neardup.study import Study


def print_study(made: Study, out: str) -> None:
    """The headline, near-duplicates, parts, sites and estimates."""
    console, tables, report = page(), made.tables, made.report
    general, collection = tables["table2"].rows[0], tables["table1"].rows[0]
    console.print(
        f"{collection['documents']:,} pages, of which {general['documents']:,} were compared: "
        f"{general['duplicates']:,} duplicates ({_share(general['percent_duplicates'])}) in "
        f"{general['clusters']:,} clusters; the largest has {general['largest_cluster']:,} pages"
    )
    near = grid(None, ("clusters", "right"), ("duplicates", "right"), ("share", "right"), ("level", "left"))
    for row in tables["table3"].rows:
        near.add_row(f"{row['clusters']:,}", f"{row['duplicates']:,}", _share(row["percent"]), row["level"])
    console.print(titled("Near-duplicates (the paper's Table 3)", near))
    if "table4" in tables:
        parts = grid(
            None, *((name, "right") for name in ("documents", "clusters", "duplicates", "share")), ("part", "left")
        )
        for row in tables["table4"].rows:
            numbers = (f"{row[name]:,}" for name in ("documents", "clusters", "duplicates"))
            parts.add_row(*numbers, _share(row["percent_duplicates"]), row["part"])
        console.print(titled("Where duplicates are (Table 4; clusters anew inside each part)", parts))
        useful = tables["useful"].rows[0]
        console.print(
            f"Following links reaches {_share(useful['percent_in_connected'])} of the {useful['total']:,} "
            "useful documents."
        )
    tie = grid(None, ("pages", "right"), ("share", "right"), ("clustered", "right"), ("part", "left"))
    for row in tables["bow_tie"].rows:
        tie.add_row(f"{row['documents']:,}", _share(row["percent"]), _share(row["percent_clustered"]), row["part"])
    told = report["link_graph"]
    console.print(titled(f"Bow tie of {told['inside']:,} links inside the collection, of {told['links']:,}", tie))
    console.print(titled("Totals estimated from a part of the steps", _estimates(tables["estimates"].rows)))
    for said in report["warnings"]:
        console.print(Text(f"! {said}", style="yellow"))
    place = printable(out)
    console.print(Text.assemble(("\nStudy", "bold"), f"  {place}/  (report.html, study.json, pages.parquet, tables/)"))


def _estimates(rows: list[dict[str, Any]]) -> Any:
    table = grid(
        None,
        *((name, "right") for name in ("steps", "found", "estimate", "95 % interval", "true")),
        ("of", "left"),
    )
    for row in rows:
        way = "" if row["way"] == "by chance" else ", by another's growth"
        table.add_row(
            f"{row['share_of_steps']:.0%}",
            f"{row['found']:,}",
            f"{row['estimate']:,.0f}",
            f"{row['low']:,.0f}–{row['high']:,.0f}",
            "–" if row["true"] is None else f"{row['true']:,}",
            row["of"] + way,
        )
    return table


def print_comparison(counts: dict[str, Any]) -> None:
    """Pages and clusters of two studies."""
    console, pages = page(), counts["pages"]
    console.print(
        f"{pages['in_first']:,} pages, then {pages['in_second']:,}; {pages['in_both']:,} in both\n"
        f"{counts['clusters_in_first']:,} clusters, then {counts['clusters_in_second']:,}"
    )
    table = grid("\nClusters of duplicates", ("groups", "right"), ("are", "left"))
    for kind, count in counts["clusters"].items():
        table.add_row(f"{count:,}", kind)
    console.print(table)
    if counts["clusters"]["dead"]:
        console.print(
            f"Of the dead, {counts['dead_with_all_but_one_page_gone']:,} lost their pages; in "
            f"{counts['dead_though_pages_are_there']:,} the pages are there and no longer alike."
        )


def _share(percent: float | None) -> str:
    return "–" if percent is None else f"{percent:.1f} %"
