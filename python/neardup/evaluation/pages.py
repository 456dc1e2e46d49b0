"""What an evaluation found as an HTML page that stands alone: the same tables and plots as its other files, to read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.evaluation.plots import Plot, draw_plot
from neardup.graph.power_law import PowerLaw
from neardup.graph.statistics import HIGH_DEGREE
from neardup.report.frame import (
    Content,
    Html,
    HtmlPage,
    element,
    figures,
    folded,
    html,
    number,
    paragraph,
    plot,
    plots,
    table,
)
from neardup.report.frame import records as rows_of
from neardup.report.made import add_how_it_was_made
from neardup.report.run_sections import law_words, points
from neardup.spreadsheet import write_csv
from neardup.version import VERSION
from neardup.writing import replacing

#: Rows of the table behind a figure; of more, the others are in a file.
_LISTED: Final = 2000


def figure(name: str, drawn: Plot) -> Html:
    """A plot of an evaluation as a figure with its numbers behind it: all of them, or the first rows and the name of
    the file that has all.

    >>> from neardup.evaluation.plots import Line
    >>> figure("roc", Plot("ROC", "false", "true", [Line("broder", [0, 1], [0, 1])])).count("<td")
    4
    """
    series = [
        {
            "name": line.name,
            "marks": line.marks,
            "data": [[_short(x), _short(y)] for x, y in zip(line.x, line.y, strict=True)],
        }
        for line in drawn.lines
    ]
    spec: dict[str, Any] = {"kind": "lines", "x": drawn.x, "y": drawn.y, "series": series}
    if drawn.logarithmic:
        spec["log"] = True
    if drawn.x_range:
        spec["domain"] = list(drawn.x_range)
    if drawn.y_range:
        spec["range"] = list(drawn.y_range)
    points = figure_rows(drawn)
    rows = [(line, number(_short(x)), number(_short(y))) for line, x, y in points[:_LISTED]]
    if len(points) > _LISTED:
        rows.append((f"and {len(points) - _LISTED:,} more: {figure_file(name)} has all", "", ""))
    return plot(drawn.title, spec, ["line", drawn.x, drawn.y], rows)


def figure_file(name: str) -> str:
    """The file that has all numbers of a figure, beside ``report.html``."""
    return f"{name}.csv"


def figure_rows(drawn: Plot) -> list[tuple[str, float, float]]:
    """All numbers of a figure: line, x, y."""
    return [(line.name or drawn.y, x, y) for line in drawn.lines for x, y in zip(line.x, line.y, strict=True)]


def write_figures(drawn: Mapping[str, Plot], folder: Path) -> None:
    """Each plot as an SVG file, and its numbers as CSV."""
    for name, one in drawn.items():
        draw_plot(one, folder / f"{name}.svg")
        rows = figure_rows(one)
        kinds = {"line": pa.string(), one.x: pa.float64(), one.y: pa.float64()}
        columns = [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds.values())]
        with replacing(folder / figure_file(name)) as file:
            write_csv(pa.table(columns, list(kinds)), file)


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def notes_on_pairs(report: Mapping[str, Any]) -> list[str]:
    """What a reader of the tables of judged pairs must know of what they count."""
    notes = []
    identical = report["identical"]
    if identical["pairs"] and identical["counted"]:
        notes.append(f"Pairs of identical pages among them: {identical['pairs']:,}.")
    elif identical["pairs"]:
        notes.append(f"Left out: {identical['pairs']:,} pairs of identical pages (--count-identical counts them).")
    if report["weighted"]:
        notes.append("Shares are of the pairs that the judged ones stand for (their weights).")
    return notes


def intervals_of(report: Mapping[str, Any]) -> str:
    """How the intervals of the shares were made, in words."""
    return next((str(one["quality"]["intervals"]) for one in report["detectors"].values()), "none")


def pairs_page(report: dict[str, Any], drawn: Mapping[str, Plot]) -> HtmlPage:
    """The page of judged pairs scored by detectors."""
    page = HtmlPage(
        f"{len(report['detectors'])} detectors on {report['pairs']:,} judged pairs",
        ", ".join(report["pages"]),
        _footer(),
    )
    labels = {name: f"{count:,}" for name, count in report["labels"].items()}
    page.add(
        "pairs",
        "The pairs",
        figures({"pairs": f"{report['pairs']:,}", **labels, "on one site": f"{report['same_site']:,}"}),
        *(paragraph(note, note=True) for note in notes_on_pairs(report)),
    )
    quality = [
        {"detector": name, "accepted": told["quality"]["accepted"]}
        | {measure: _interval(told["quality"][measure]) for measure in ("precision", "recall", "f", "auc")}
        for name, told in report["detectors"].items()
    ]
    how = paragraph(f"Intervals: {intervals_of(report)}; of AUC a bootstrap.", note=True)
    page.add("quality", "Quality, with 95 % intervals", rows_of(quality), how)
    page.add("plots", "Plots", plots(*(figure(*one) for one in drawn.items())))
    for at, (name, told) in enumerate(report["detectors"].items()):
        page.add(f"detector-{at}", name, _detector(told))
    against = report["B against C"]
    page.add(
        "b-against-c",
        "B-similarity against C-similarity",
        [rows_of(value, caption=name) for name, value in against.items() if isinstance(value, list)],
    )
    threshold = report["combined threshold"]
    if threshold:
        chosen = f"Chosen on {threshold['chosen on']:,} pairs: C-similarity ≥ {threshold['threshold']}."
        near = rows_of(threshold["near the threshold"], caption="Near the threshold")
        tested = rows_of(threshold["tested"], caption=f"On the other {threshold['tested on']:,} pairs")
        page.add(
            "threshold",
            "Combined: the threshold, chosen on one half and tested on the other",
            paragraph(chosen),
            near,
            tested,
        )
    add_how_it_was_made(page, report)
    return page


def _detector(told: dict[str, Any]) -> Content:
    parts: list[Content] = [rows_of(told["returned"], caption="Pairs it returns")]
    parts += [rows_of(told[name], caption=name.capitalize()) for name in ("reasons of correct", "reasons of undecided")]
    differences = {name: value for name, value in told["term differences"].items() if not isinstance(value, dict)}
    parts.append(
        folded("term differences", table(["", "value"], [(name, number(value)) for name, value in differences.items()]))
    )
    return parts


def curves_page(report: dict[str, Any], drawn: Mapping[str, Plot]) -> HtmlPage:
    """The page of precision and recall over similarity on a revision corpus."""
    title = f"{len(report['methods'])} methods on {report['revisions']:,} revisions of {report['articles']:,} articles"
    page = HtmlPage(title, f"{report['pairs']:,} pairs compared", _footer())
    page.add("curves", "Precision and recall over similarity", plots(*(figure(*one) for one in drawn.items())))
    page.add("methods", "Methods and their cost", rows_of(report["methods"]))
    add_how_it_was_made(page, report)
    return page


def exact_page(report: dict[str, Any], pairs: pa.Table) -> HtmlPage:
    """The page of an exact join: how many pairs, and how alike they are."""
    page = HtmlPage(
        f"{report['pairs']:,} pairs of {report['pages']:,} pages, exactly", ", ".join(report["input"][:5]), _footer()
    )
    told = {name: number(report[name]) for name in ("measure", "k", "threshold")}
    page.add("join", "The join", figures({"pages": number(report["pages"]), "pairs": number(report["pairs"])} | told))
    scores = pairs.column("similarity").to_numpy()
    if len(scores):
        steps = np.minimum(np.floor(np.round(scores * 50, 9)), 49).astype(int)
        found, counts = np.unique(steps, return_counts=True)
        data = [
            [at / 50, (at + 1) / 50, int(count), f"{at / 50:.2f}"]
            for at, count in zip(found.tolist(), counts, strict=True)
        ]
        spec = {"kind": "histogram", "x": report["measure"], "y": "pairs", "data": data}
        drawn = plot(
            "How alike the pairs are",
            spec,
            [f"{report['measure']}, from", "pairs"],
            [(row[3], f"{row[2]:,}") for row in data],
        )
        page.add("similarity", "How alike the pairs are", drawn)
    add_how_it_was_made(page, report)
    return page


def graph_page(report: dict[str, Any]) -> HtmlPage:
    """The page of a run's similarity graph: labels, degrees and cluster sizes with their laws."""
    title = f"{report['nodes']:,} pages with a near-duplicate, {report['edges']:,} pairs"
    page = HtmlPage(title, f"The similarity graph of {report['run']}", _footer())
    if not report["edges"]:
        page.add("graph", "The graph", paragraph("The run accepted no pair: its graph has no edge."))
        add_how_it_was_made(page, report)
        return page
    shown: dict[str, Content | tuple[Content, Content]] = {
        "pages with a near-duplicate": f"{report['nodes']:,}",
        "pairs": f"{report['edges']:,}",
        "average degree": number(report["average_degree"]),
        f"of degree {HIGH_DEGREE} or more": f"{report['high_degree_share']:.1%}",
        "pairs on one site": f"{report['same_site_share']:.1%}",
    }
    page.add("graph", "The graph", figures(shown))
    labels = report["labels"]
    rows = [(label, f"{count:,}", f"{count / report['edges']:.1%}") for label, count in labels["values"].items()]
    spec = {"kind": "bars", "x": labels["label"], "y": "pairs", "data": [list(one) for one in labels["values"].items()]}
    name = labels["label"].replace("_", "-").replace("b-s", "B-s").replace("c-s", "C-s")
    page.add("labels", "Pairs by label", plot(f"Pairs by {name}", spec, [name, "pairs", "share"], rows))
    drawn, laws = [], []
    for title, x, y, values, law in (
        ("Degrees", "near-duplicates of a page", "pages", "degrees", "degree_law"),
        ("Cluster sizes", "pages in a cluster", "clusters", "cluster_sizes", "cluster_size_law"),
    ):
        counted = np.array([int(value) for value in report[values]]), np.array(list(report[values].values()))
        fitted = None if report[law] is None else PowerLaw.of_json(report[law])
        drawn.append(points(title, x, y, counted, fitted))
        laws.append(law_words(title, fitted))
    page.add("laws", "Degrees and cluster sizes", [paragraph(said) for said in laws], plots(*drawn))
    add_how_it_was_made(page, report)
    return page


def _interval(told: dict[str, float | None]) -> str:
    if told["estimate"] is None:
        return "–"
    ends = "–".join("?" if told[end] is None else f"{told[end]:.3f}" for end in ("low", "high"))
    return f"{told['estimate']:.3f} ({ends})"


def _footer() -> Html:
    return html([f"neardup {VERSION}. ", element("span", "This file loads nothing from anywhere.")])
