"""Writes docs/study.md: the tables and plots of studies, by one command.

    python tools/study.py [DATA]     the folder with real data, or NEARDUP_DATA in the environment

Studied are a collection of which everything was planted, the generated web of the project, and, where it is there, the
collection debian_docs_en of DATA. Without it the page is not written, for it would lose what it says of it. Plots go to
docs/study/.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from neardup.engines import Settings
from neardup.evaluation.plots import Line, Plot, draw_plot
from neardup.report.findings import law_line
from neardup.study import Study, study
from neardup.study.page import law_of
from neardup.testing import search_web
from neardup.testing.planted import planted
from neardup.text import Reading

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "study.md"
PLOTS: Final = ROOT / "docs" / "study"
NOTE: Final = "<!-- Written by tools/study.py from what it measured; do not edit. -->"
HEAD: Final = """# Where and how duplicates occur

What `neardup study` says of three collections, in the tables of Pereira, Baeza-Yates & Ziviani (2006) and beyond them;
[the method](explanation/shingle-paragraphs.md), and [how to do this with your own](how-to/study-a-collection.md).

Their three crawls of the Chilean web (2003–2005, about 2.1 million documents of more than 450 characters each) had 35.8
to 43.1 % duplicates; 25.9 to 29.3 % inside the connected part and 41.1 to 50.4 % inside the disconnected one; 62.6 to
73.6 % of the useful documents were connected."""
ABOUT: Final = {
    "planted": "## A planted collection\n\n4,000 pages whose clusters (sizes by a power law of exponent 2.5) and "
    "places in the bow tie were decided before they were written; a test holds the study to exactly these numbers.",
    "web": "## The generated web\n\nThe web of `neardup testing web`, 100 queries and all that is served: "
    "pages link to others of their site, and few to another, so that the core of the bow tie is one site and most are "
    "islands.",
    "debian": "## Manuals of Debian\n\n64,041 HTML pages of seven packages of Debian (openjdk, php-doc, libboost, "
    "postgresql, llvm, sqlite3, python), three versions of most; hosts are made up, one for each version, and links "
    "lead from page to page of one version. DFSG-free licences. The crawl begins at the first page of each manual; "
    "the core of the bow tie is one of them.",
}
#: What is to be seen in the tables.
FOUND: Final = {
    "debian": "Small clusters are a page in several versions of its manual, which are sites of their own here; the few "
    "larger ones are inside one manual: what the paper saw in its clusters by hand. The growth of a collection with "
    "quite other clusters (the planted one) is a poor guide, which its intervals say; chance is right without one.",
}
#: Tables shown, and the columns left out.
SHOWN: Final = (
    "table1", "table2", "table3", "table4", "table5", "table6", "useful", "bow_tie", "sites", "size_laws", "estimates",
)  # fmt: skip


def cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.4f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    columns = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    lines = ["| " + " | ".join(name.replace("_", " ") for name in columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell(row[name]) for name in columns) + " |" for row in rows]
    return "\n".join(lines)


def sizes_plot(made: Study, name: str) -> str:
    laws = {row["part"]: row for row in made.tables["size_laws"].rows}
    lines = []
    for part, law in laws.items():
        points = [(row["size"], row["clusters"]) for row in made.tables["sizes"].rows if row["part"] == part]
        if not points:
            continue
        lines.append(Line(part, [size for size, _ in points], [count for _, count in points], marks=True))
        fitted = law_of(law)
        if fitted is not None:
            ends = law_line(fitted, [size for size, _ in points])
            lines.append(Line(f"exponent {fitted.exponent:.2f}", [end[0] for end in ends], [end[1] for end in ends]))
    draw_plot(Plot("Clusters by size", "documents", "clusters", lines, logarithmic=True), PLOTS / f"{name}-sizes.svg")
    return f"![clusters by size](study/{name}-sizes.svg)"


def growth_plot(made: Study, name: str) -> str:
    rows = made.tables["growth"].rows
    shares = [100 * row["share"] for row in rows]
    lines = [Line(what, shares, [row[what] for row in rows]) for what in ("documents", "duplicates", "clusters")]
    draw_plot(Plot("Growth", "% of the steps", "found", lines), PLOTS / f"{name}-growth.svg")
    return f"![growth of clusters and duplicates](study/{name}-growth.svg)"


def section(made: Study, name: str) -> list[str]:
    parts = [ABOUT[name]]
    for key in SHOWN:
        if key in made.tables and made.tables[key].rows:
            parts += [f"**{made.tables[key].title}**", table(made.tables[key].rows)]
        if key == "size_laws":
            parts += [sizes_plot(made, name), growth_plot(made, name)]
    return [*parts, FOUND[name]] if name in FOUND else parts


def first_pages(made: Study) -> list[str]:
    """Of each host the page where a reader begins: the shortest address of an index page."""
    begins: dict[str, str] = {}
    for url in made.pages.column("url").to_pylist():
        host = url.split("/")[2]
        if url.endswith("/index.html") and (len(url), url) < (len(begins.get(host, url + " ")), begins.get(host, "")):
            begins[host] = url
    return sorted(begins.values())


def main() -> None:
    arguments = argparse.ArgumentParser(description="Writes docs/study.md")
    arguments.add_argument("data", nargs="?", default=os.environ.get("NEARDUP_DATA"))
    given = arguments.parse_args()
    manuals = Path(given.data or "", "debian_docs_en")
    if not given.data or not manuals.is_dir():
        sys.exit("no data: name the folder with debian_docs_en, or set NEARDUP_DATA; nothing was written")
    PLOTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        planted(seed=1, pages=4000).write_jsonl(folder / "planted.jsonl")
        (folder / "searched").mkdir()
        search_web(seed=0).write(folder / "searched")
        planted_study = study(folder / "planted.jsonl", folder / "planted", name="planted")
        files = sorted(manuals.glob("*.jsonl.zst"))
        # By the registrable domain all manuals would be one site.
        hosts = Settings(reading=Reading(site="henzinger"))
        core = study(files, name="manuals of Debian", settings=hosts, steps=1, levels=[])
        studies = {
            "planted": planted_study,
            "web": study(folder / "searched" / "web.warc.gz", name="generated web"),
            "debian": study(
                files, name="manuals of Debian", like=[folder / "planted"], settings=hosts, seeds=first_pages(core)
            ),
        }
    parts = [HEAD, NOTE]
    for name, made in studies.items():
        parts += section(made, name)
    PAGE.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    print("written:", PAGE.relative_to(ROOT))


if __name__ == "__main__":
    main()
