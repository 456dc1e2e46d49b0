"""A study as one HTML page that stands alone: its tables, and the plots of the paper's Figures 2–5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from neardup.graph.power_law import PowerLaw
from neardup.report.findings import law_line
from neardup.report.frame import Content, Html, HtmlPage, figures, html, paragraph, plot, plots, table, warning
from neardup.report.made import add_how_it_was_made

#: Columns in words where their names are not clear by themselves.
_WORDS: Final = {
    "percent": "%",
    "percent_duplicates": "% duplicates",
    "percent_unique": "% unique",
    "percent_in_connected": "% in connected",
    "percent_clustered": "% clustered",
    "percent_of_several_sites": "% of several sites",
    "percent_of_documents": "% of documents",
    "percent_repetitions_counted": "% (2)",
    "duplicates_repetitions_counted": "duplicates (2)",
    "duplicates_by_the_papers_rule_only": "difference",
    "pages_clustered_by_one_rule_only": "pages by one rule only",
    "error_percent": "error, %",
    "low": "from",
    "high": "to",
    "p_value": "p",
    "xmin": "from size",
    "bytes_read": "bytes read",
}
#: What stands below tables.
_NOTES: Final = {
    "table3": "Near-duplicates share at least so much of the paragraphs of the page that has more of them; duplicates "
    "are among them. The paper's rule takes the paragraphs of the later page that are found in the earlier one. (2): "
    "the rule that counts repetitions; the difference is in duplicates, and in pages clustered by one rule only.",
    "table4": "Clusters are computed anew inside each part, so the two parts do not add up to the whole.",
    "bow_tie": "Core: the largest strongly connected component; in reaches it, out is reached from it; tubes lead from "
    "in to out around it; tendrils hang on to these; islands are not joined to them at all.",
    "sites": "Of clusters whose sites are known.",
    "size_laws": "Fitted by likelihood (Clauset, Shalizi and Newman 2009) with a 95 % interval; where p is below 0.1 "
    "there is no power law, and no exponent is told.",
    "estimates": "95 % intervals. By chance: each cluster found stands for those of its size that were missed. By "
    "another collection's growth: the paper's way.",
}


def study_page(report: Mapping[str, Any]) -> HtmlPage:
    """The page of a study, from what ``study.json`` says."""
    tables = report["tables"]
    subtitle = f"{report['name']} · duplicates by {report['detector']} · {report['steps']['done']} of "
    page = HtmlPage(
        "Where and how duplicates occur", f"{subtitle}{report['steps']['steps']} steps", f"neardup {report['neardup']}"
    )
    page.add("short", "In short", _short(report))
    page.add("collection", "The collection", _table(tables, "table1"), _table(tables, "table2"))
    page.add("near", "Near-duplicates", _table(tables, "table3"))
    page.add(
        "parts",
        "Connected and disconnected",
        [_table(tables, name) for name in ("table4", "table5", "table6", "useful")],
    )
    page.add("links", "The link graph", _link_counts(report), _table(tables, "bow_tie"))
    page.add("sizes", "Sizes of clusters", _size_plots(tables), _table(tables, "size_laws"), _table(tables, "sites"))
    page.add("growth", "Growth, step by step", _growth_plot(tables["growth"]["rows"]))
    page.add("estimates", "Estimates from a part", _table(tables, "estimates"))
    page.add("read", "What was read", _read(report))
    settings = {"detector": report["detector"], "levels": report["levels"], "steps": report["steps"]}
    add_how_it_was_made(page, dict(report) | {"settings": settings | dict(report["settings"])})
    return page


def _short(report: Mapping[str, Any]) -> Html:
    told, tables = report["tables"]["table2"]["rows"][0], report["tables"]
    shown: dict[str, Content | tuple[Content, Content]] = {
        "documents": (_number(told["documents"]), f"of {_number(tables['table1']['rows'][0]['documents'])} pages"),
        "duplicates": (_number(told["duplicates"]), f"{_number(told['percent_duplicates'])} %"),
        "clusters": (_number(told["clusters"]), f"the largest has {_number(told['largest_cluster'])}"),
    }
    if "table4" in tables:
        parts = {row["part"]: row for row in tables["table4"]["rows"]}
        useful = tables["useful"]["rows"][0]
        shown["connected"] = (_number(parts["connected"]["documents"]), "documents that links reach")
        shown["useful in connected"] = (f"{_number(useful['percent_in_connected'])} %", "of useful documents")
    return html([figures(shown), [warning(said) for said in report["warnings"]]])


def _table(tables: Mapping[str, Any], name: str) -> Html | None:
    if name not in tables or not tables[name]["rows"]:
        return None
    rows: Sequence[Mapping[str, Any]] = tables[name]["rows"]
    # A column in which nothing stands says nothing.
    columns = [column for column in rows[0] if any(row[column] is not None for row in rows)]
    if len(rows) == 1 and len(columns) > 3:
        told = [[_WORDS.get(column, column.replace("_", " ")), _number(rows[0][column])] for column in columns]
        return table(["", "value"], told, caption=tables[name]["title"])
    made = table(
        [_WORDS.get(column, column.replace("_", " ")) for column in columns],
        [[_number(row[column]) for column in columns] for row in rows],
        caption=tables[name]["title"],
    )
    return html([made, paragraph(_NOTES[name], note=True) if name in _NOTES else None])


def _number(value: Any) -> str:
    """A value as a reader wants it.

    >>> _number(1234567), _number(12.5), _number(None), _number("core")
    ('1,234,567', '12.5', '–', 'core')
    """
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4f}".rstrip("0").rstrip(".")


def _link_counts(report: Mapping[str, Any]) -> Html:
    told = report["link_graph"]
    shown = {
        "links": (_number(told["links"]), f"taken from {report['links_from']}"),
        "inside the collection": _number(told["inside"]),
        "strong components": _number(told["strong_components"]),
        "reached by the crawl": (_number(told["connected"]), f"at most {_number(told['deepest'])} links deep"),
    }
    start = told["seeds"]
    begun = f"{start:,} seeds" if isinstance(start, int) else f"the {start}"
    return html([figures(shown), paragraph(f"The crawl began at {begun}.", note=True)])


def _size_plots(tables: Mapping[str, Any]) -> Html | None:
    laws = {row["part"]: row for row in tables["size_laws"]["rows"]}
    drawn = []
    for part, law in laws.items():
        points = [[row["size"], row["clusters"]] for row in tables["sizes"]["rows"] if row["part"] == part]
        if not points:
            continue
        spec: dict[str, Any] = {"kind": "points", "x": "documents in a cluster", "y": "clusters", "log": True}
        spec["data"] = points
        title = f"{part.capitalize()}"
        fitted = law_of(law)
        if fitted is not None:
            spec["line"] = law_line(fitted, [size for size, _ in points])
            title += f": exponent {fitted.exponent:.2f} ({fitted.low:.2f}–{fitted.high:.2f})"
        else:
            title += f": {law['power_law']}" + ("" if law["p_value"] is None else f" (p = {law['p_value']:.2f})")
        drawn.append(plot(title, spec, ["size", "clusters"], [[_number(cell) for cell in row] for row in points]))
    return plots(drawn) if drawn else None


def law_of(row: Mapping[str, Any]) -> PowerLaw | None:
    """The power law of a row of the table of laws, where there is one."""
    if row["exponent"] is None:
        return None
    return PowerLaw(**{name: row[name] for name in PowerLaw.__dataclass_fields__})


def _growth_plot(rows: Sequence[Mapping[str, Any]]) -> Html:
    series = [
        {"name": name, "data": [[100 * row["share"], row[name]] for row in rows]}
        for name in ("documents", "duplicates", "clusters")
    ]
    spec = {"kind": "lines", "x": "% of the steps", "y": "pages or clusters", "series": series, "named": True}
    columns = list(rows[0])
    told = [[_number(row[column]) for column in columns] for row in rows]
    return plot("Documents compared, duplicates and clusters found", spec, columns, told)


def _read(report: Mapping[str, Any]) -> Html:
    paths = report["input"]["paths"]
    ignored = ", ".join(f"{count:,} {kind}" for kind, count in report["ignored"].items()) or "none"
    more = f" and {len(paths) - 20:,} more" if len(paths) > 20 else ""
    skipped = sum(report["skipped_reasons"].values())
    told = f"Inputs: {', '.join(map(str, paths[:20]))}{more}. Records that could not be read: {skipped:,}. "
    return paragraph(told, f"Records that are no pages: {ignored}.")
