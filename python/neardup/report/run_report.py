"""``report.html``: a run to look at, in one file.

The same run gives the same bytes but for the section ``stages``, which tells seconds and memory. Texts of pages come
from the input by offset and length; where that is not possible (rows of tables, compressed streams, standard input) the
report does without them, and says so, unless it may be patient (a small input, ``neardup report``) and read the input
once more.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines.common.tables import PAGES_OUT, PAIRS_OUT
from neardup.errors import InputError
from neardup.report import made
from neardup.report import run_sections as sections
from neardup.report.findings import Findings, ShownCluster, example_rows
from neardup.report.frame import Content, Html, HtmlPage, element, html, paragraph
from neardup.report.kinds import Page, kind_of
from neardup.report.side_by_side import pair_html, without_cut_end
from neardup.results import Result
from neardup.results.pages import RunPages
from neardup.results.texts import together
from neardup.text import Reading, read, structures, term_lists

FILE: Final = "report.html"
#: An input of at most so many bytes, as stored, is read once more for the report if it has to be.
SMALL_INPUT: Final = 8_000_000
#: Of longer pages no text is shown: all that are shown are held.
SHOWN_BYTES: Final = 4 << 20
#: Of longer pages the beginning is shown and compared.
_MOST_TERMS: Final = 30_000
#: Differences of an example that are shown.
_DIFFERENCES: Final = 6
#: Terms of a difference that are shown.
_LONGEST: Final = 80
#: Term differences are counted until so many pairs of terms were looked at: about a second, however long pages are.
_MOST_WORK: Final = 20_000_000_000

#: Gives the pages of records (``row``, ``source``, ``offset``, ``length`` …) as batches of one, or None.
Fetch = Callable[[Sequence[dict[str, Any]]], Sequence[pa.RecordBatch | None]]


class Texts:
    """The pages that the report shows or measures, read once; terms as text only of those that are ``shown``."""

    def __init__(
        self, records: dict[int, dict[str, Any]], shown: Collection[int], fetch: Fetch, reading: Reading
    ) -> None:
        rows = sorted(records)
        try:
            found = fetch([records[row] for row in rows])
        except InputError:
            found = [None] * len(rows)
        self._at: dict[int, int] = {}
        batches: list[pa.RecordBatch] = []
        for row, batch in zip(rows, found, strict=True):
            if batch is not None:
                self._at[row] = len(batches)
                batches.append(batch)
        if batches:
            self._pages = together(batches)
            self._found = read(self._pages, reading)
            there = [row for row in shown if row in self._at]
            lists = term_lists(self._pages.take([self._at[row] for row in there])) if there else []
            self._terms = dict(zip(there, lists, strict=True))
        # A file that has changed since gives other pages; what cannot be trusted is not shown.
        for row, at in list(self._at.items()):
            if len(self._found.tokens[at]) != records[row]["tokens"]:
                del self._at[row]

    def __contains__(self, row: int) -> bool:
        return row in self._at

    def term_difference(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """Of the pairs both of whose pages are there, from the first on, as far as that is cheap."""
        known = [pair for pair in pairs if pair[0] in self and pair[1] in self]
        if not known:
            return []
        a, b = (np.array([self._at[pair[side]] for pair in known], np.uint32) for side in (0, 1))
        tokens = _cut(self._found.tokens)
        lengths = np.diff(tokens.offsets.to_numpy())
        most = 1 + int(np.searchsorted(np.cumsum(lengths[a] * lengths[b]), _MOST_WORK))
        found: list[int] = _native.term_difference(tokens, a[:most], b[:most]).tolist()
        return found

    def page(self, row: int, url: str | None) -> Page:
        at = self._at[row]
        told = self._pages.slice(at, 1).to_pylist()[0]
        title, site = self._found.title[at].as_py(), self._found.site[at].as_py()
        terms = self._terms[row].values[:_MOST_TERMS].to_pylist()
        (structure,) = structures(self._pages.slice(at, 1))
        return Page(told["content"], told["html"], url, site, title, terms, structure=structure.beginning(_MOST_TERMS))

    def hunks(self, a: int, b: int) -> npt.NDArray[np.uint32]:
        tokens = self._found.tokens
        whole = [len(tokens[self._at[row]]) for row in (a, b)]
        hunks = _native.align(_cut(tokens), self._at[a], self._at[b])
        lengths = (min(whole[0], _MOST_TERMS), min(whole[1], _MOST_TERMS))
        return without_cut_end(hunks, lengths) if max(whole) > _MOST_TERMS else hunks


def _cut(tokens: pa.LargeListArray) -> pa.LargeListArray:
    """Lists of tokens without what is beyond the beginning of very long ones."""
    offsets = tokens.offsets.to_numpy()
    if int(np.diff(offsets).max(initial=0)) <= _MOST_TERMS:
        return tokens
    lists = [tokens[at].values[:_MOST_TERMS] for at in range(len(tokens))]
    ends = np.cumsum([0, *map(len, lists)])
    return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), pa.concat_arrays(lists))


class RunReport:
    """The report of a run: what takes time is made at once, from what was gathered of its tables and the settings that
    ``run.json`` tells; the page when all is told."""

    def __init__(self, findings: Findings, report: dict[str, Any], fetch: Fetch) -> None:
        self._findings = findings
        records = findings.records
        wanted = {row: records[row] for row in findings.looked_at()}
        shown = sorted({row for one in [*findings.largest, *findings.doubtful] for row in example_rows(one)})
        texts = Texts(wanted, shown, fetch, Reading(**report["settings"]["reading"]))
        # Term differences are counted by other cores while the examples are told apart, mostly in Python.
        with ThreadPoolExecutor(1, thread_name_prefix="neardup") as beside:
            differences = beside.submit(texts.term_difference, findings.sample)
            self._largest = [_without_texts(shown, texts), _clusters(findings.largest, records, texts)]
            self._doubtful = _doubtful(findings, records, texts)
        self._similarity = sections.similarity(findings, report, differences.result())
        self._graph = sections.graph(findings, report)
        self._sites = sections.by_site(findings)

    def page(self, report: dict[str, Any]) -> HtmlPage:
        """The page, with all that ``run.json`` says by now."""
        page = HtmlPage(
            sections.title(report),
            sections.subtitle(report),
            html(["neardup ", report.get("neardup"), f", fingerprint format {report['format']}. "
                  "This file loads nothing from anywhere."]),
        )  # fmt: skip
        page.add("found", "What was found", sections.found(report, self._findings))
        page.add("largest", "Largest clusters", *self._largest)
        page.add("doubtful", "Most doubtful clusters", self._doubtful)
        page.add("similarity", "How alike the pairs are", self._similarity)
        page.add("graph", "Degrees and cluster sizes", self._graph)
        page.add("sites", "By site", self._sites)
        page.add("certificate", "Certificate", sections.certificate(report))
        page.add("read", "What was read", sections.what_was_read(report))
        page.add("stages", "Time and memory", made.stages(report))
        page.add("settings", "Settings, and how to repeat the run", sections.settings(report), repeat(report))
        return page


def _without_texts(shown: Sequence[int], texts: Texts) -> Content:
    if not shown or any(row in texts for row in shown):
        return None
    return paragraph(
        "What the pages say is not shown, and their terms are not compared: they could not be read again one by one. ",
        element("code", "neardup report DIR"),
        " reads the whole input once more for it.",
        note=True,
    )


def _doubtful(findings: Findings, records: dict[int, dict[str, Any]], texts: Texts) -> Content:
    if not findings.doubtful:
        if findings.clusters.column("cohesion").null_count:
            return paragraph("Of some clusters it is not known, for not all pairs of their pages were scored.")
        return paragraph("In every cluster every page was accepted against every other.") if findings.largest else None
    return [
        paragraph(
            "Clusters in which few of the possible pairs were accepted (cohesion): pages may be tied together only "
            "by others between them. Shown is the accepted pair that is least alike, of those that are held.",
            note=True,
        ),
        _clusters(findings.doubtful, records, texts),
    ]


def _clusters(shown: Sequence[ShownCluster], records: dict[int, dict[str, Any]], texts: Texts) -> Content:
    return [_card(one, records, texts) for one in shown]


def _card(one: ShownCluster, records: dict[int, dict[str, Any]], texts: Texts) -> Html:
    cluster = one.cluster
    first = one.members[0] if one.members else {"title": None, "url": None, "id": cluster["cluster"]}
    facts = (
        f"{cluster['size']:,} pages on {cluster['sites']:,} {'site' if cluster['sites'] == 1 else 'sites'}, "
        f"{cluster['kept']:,} {'stays' if cluster['kept'] == 1 else 'stay'}; "
    )
    if cluster["cohesion"] is None:
        facts += "cohesion not known, for not all pairs of its pages were scored"
    else:
        facts += f"cohesion {cluster['cohesion']:.2f}, diameter {cluster['diameter']}"
    parts: list[Content] = [element("h3", first["title"] or first["url"] or first["id"]), paragraph(facts, note=True)]
    parts.append(sections.members(one))
    rows = example_rows(one)
    if len(rows) == 2 and rows[0] in texts and rows[1] in texts:
        parts.append(_example(one, rows[0], rows[1], records, texts))
    return element("div", *parts, class_="card")


def _example(one: ShownCluster, a: int, b: int, records: dict[int, dict[str, Any]], texts: Texts) -> Html:
    pages = [texts.page(row, records[row]["url"]) for row in (a, b)]
    kind = kind_of(pages[0], pages[1])
    pair = one.weakest
    score = "the same tokens" if pair is None else f"score {pair['score']:.3f}, rule {pair['rule']}"
    said: list[Content] = [f"Two of them, {score}. "]
    if kind.name != "rest":
        said += ["Kind of difference: ", element("b", kind.name), "."]
    heads = [html([element("b", page.title or "(no title)"), records[row]["url"] or records[row]["id"]])
             for row, page in zip((a, b), pages, strict=True)]  # fmt: skip
    drawn = pair_html(
        (heads[0], heads[1]),
        (pages[0].terms, pages[1].terms),
        (None, None),
        texts.hunks(a, b),
        most=_DIFFERENCES,
        longest=_LONGEST,
    )
    return html([paragraph(*said), drawn])


def repeat(report: dict[str, Any]) -> Html:
    """The command that does the same again."""
    return html([paragraph("The same once more:"), element("pre", element("code", command_line(report)))])


def command_line(report: dict[str, Any], out: str = "again") -> str:
    """The command line of a run, with what differs from the defaults.

    >>> from neardup import find_duplicates
    >>> told = find_duplicates(["some text"], detector="broder").report
    >>> told["input"]["paths"] = ["my crawl.warc.gz"]
    >>> command_line(told)
    "neardup dedup 'my crawl.warc.gz' --out again --detector broder"
    """
    told, settings = report["input"], report["settings"]
    words = ["neardup", "dedup", *told["paths"], "--out", out, "--detector", report["detector"]]
    reading = settings["reading"]
    options: list[tuple[str, Any, Any]] = [
        ("--keep", settings["keep"], "first"),
        ("--removal", settings["removal"], "direct"),
        ("--max-pairs", settings["max_pairs"], 0),
        ("--statistics", settings["statistics"], None),
        ("--site-rule", reading["site"], "registrable"),
        ("--token-hash", reading["hash"], "fold"),
        ("--min-tokens", reading["min_tokens"], _native.MIN_TOKENS),
        *((f"--{name}-field", value, name) for name, value in told["fields"].items()),
        ("--base-url", told["base_url"], None),
        ("--format", told["format"], None),
    ]
    for option, value, default in options:
        if value != default:
            words += [option, str(value)]
    return " ".join(map(shlex.quote, words))


def is_patient(report: dict[str, Any]) -> bool:
    """Whether a run reads its input once more for its report, if it has to."""
    return bool(report["bytes"] <= SMALL_INPUT) and "-" not in report["input"]["paths"]


def write_report(run: str | os.PathLike[str] | Result | RunPages, *, patient: bool = True) -> Path:
    """Writes ``report.html`` into a result folder anew; where texts cannot be had one by one the input is read again,
    if ``patient``.

    >>> import pathlib, tempfile
    >>> from neardup import dedup
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("one page of some words and no other page")
    >>> _ = dedup(folder / "a.txt", folder / "out")
    >>> write_report(folder / "out").name
    'report.html'
    """
    pages = run if isinstance(run, RunPages) else RunPages(run)
    folder = pages.result.folder
    if folder is None:
        raise InputError("the run was not written to a folder", hint="give dedup an out=")
    findings = Findings(pages.result.clusters, len(pages))
    tables = pages.result.tables
    for _, group in tables["pages"].groups(PAGES_OUT.names):
        findings.add_pages(group)
    for _, group in tables["pairs"].groups(PAIRS_OUT.names):
        findings.add_pairs(group)
    findings.add_earlier(pages.result.earlier)
    missing = findings.missing().tolist()
    findings.records |= dict(zip(missing, pages.at(missing), strict=True))
    made_of = RunReport(findings, pages.report, partial(pages.texts_for_report, patient=patient, most=SHOWN_BYTES))
    made_of.page(pages.report).write(folder / FILE)
    return folder / FILE
