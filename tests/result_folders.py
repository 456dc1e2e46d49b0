"""Every kind of result folder, and every verb that opens one, with what must be true of what it says.

A verb is a function that is given a folder: it asserts by the folder's tables, which are read here with pyarrow alone,
or lets the program's own error through. ``test_folders.py`` runs each verb on each kind; the tests of Spark on theirs.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner

from neardup import Index, dedup, open_result
from neardup.cli.main import application
from neardup.evaluation.judging import Judging
from neardup.results.revision import Decisions, revise
from neardup.web.application import application as browser_application
from neardup.web.application import open_workspace

DETECTOR = "minhash(threshold=0.6)"


def run(*words: str | Path) -> str:
    """What a call of the program prints; an error is raised."""
    done = CliRunner().invoke(application, [str(word) for word in words], prog_name="neardup")
    if done.exception is not None:
        raise done.exception
    assert done.exit_code == 0
    return " ".join(done.output.split())


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """A table of a folder as it is, whichever engine wrote it."""
    path = folder / f"{name}.parquet"
    if not path.exists():
        return []
    parts = sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]
    found = pa.concat_tables([pq.read_table(part) for part in parts]).to_pylist()
    key = "place" if found and "place" in found[0] else "row" if name == "pages" else None
    return sorted(found, key=lambda row: row[key]) if key else found


@dataclass(frozen=True)
class Told:
    """What a folder's tables say."""

    folder: Path

    @cached_property
    def pages(self) -> list[dict[str, Any]]:
        return rows(self.folder, "pages")

    @cached_property
    def earlier(self) -> dict[str, dict[str, Any]]:
        return {row["id"]: row for row in rows(self.folder, "earlier")}

    @cached_property
    def accepted(self) -> dict[frozenset[str], float]:
        """The score of each pair of identity sets."""
        pairs = [*rows(self.folder, "pairs"), *rows(self.folder, "against")]
        return {frozenset((pair["a"], pair["b"])): pair["score"] for pair in pairs}

    @cached_property
    def identity(self) -> dict[str, str]:
        every = [*self.pages, *self.earlier.values()]
        return {page["id"]: page["identity"] for page in every}

    @cached_property
    def clusters(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for page in [*self.pages, *self.earlier.values()]:
            found.setdefault(page["cluster"], []).append(page["id"])
        return {name: members for name, members in found.items() if len(members) > 1}

    @property
    def removed(self) -> list[dict[str, Any]]:
        return [page for page in self.pages if not page["kept"]]

    def check(self) -> None:
        """The tables fit together, whatever was done to the run."""
        names = [page["id"] for page in self.pages] + list(self.earlier)
        assert len(set(names)) == len(names), "an id names one page"
        kept = {page["id"] for page in self.pages if page["kept"]} | set(self.earlier)
        for page in self.pages:
            assert {page["identity"], page["cluster"]} <= set(names)
            assert page["kept"] == (page["kept_instead"] is None)
            assert page["kept_instead"] in kept | {None}
            assert page["reason"].startswith("seen-") == (page["kept_instead"] in self.earlier)
        sizes = {row["cluster"]: row["size"] for row in rows(self.folder, "clusters")}
        assert sizes == {name: len(members) for name, members in self.clusters.items()}


@dataclass(frozen=True)
class Kind:
    """A kind of folder: what is different about it."""

    folder: Path
    #: Whether all accepted pairs are in ``pairs.parquet``.
    complete: bool = True
    #: How many pairs there truly are.
    accepted: int | None = None
    tables: Told = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", Told(self.folder))


def by_size(tables: Told) -> list[tuple[str, list[str]]]:
    return sorted(tables.clusters.items(), key=lambda one: (-len(one[1]), one[0]))


def accepted_pairs(kind: Kind) -> list[tuple[int, str]]:
    """How many pairs are accepted, and which these are: a run against others has two numbers."""
    own = kind.accepted if kind.accepted is not None else len(rows(kind.folder, "pairs"))
    if not json.loads((kind.folder / "run.json").read_text(encoding="utf-8"))["against"]:
        return [(own, "")]
    return [(own, " between pages of this run"), (len(rows(kind.folder, "against")), " with pages of earlier runs")]


def show(kind: Kind, place: Path) -> None:
    said, tables = run("show", kind.folder), kind.tables
    assert f"{len(tables.removed)} of {len(tables.pages)} pages" in said
    numbers = re.findall(r"([\d,]+) pairs of near-duplicates accepted( between.*?run| with.*?runs|)\b", said)
    assert numbers == [(f"{number:,}", pairs) for number, pairs in accepted_pairs(kind)]
    names = {page["id"]: page for page in tables.pages}
    for name, members in by_size(tables)[:5]:
        assert f"{len(members)} " in said
        # The first page of a cluster by its URL, if that fits a line; the run of an earlier one is said.
        if name in tables.earlier:
            assert "of the earlier run" in said.replace("- ", "-") or "earlier" in said
        elif names[name]["url"] is None and len(name) < 20:
            assert name in said
    for run_name in {page["run"] for page in tables.earlier.values()}:
        assert run_name.split("/")[-1] in said.replace(" ", "")


def explain(kind: Kind, place: Path) -> None:
    tables = kind.tables
    assert tables.removed
    seen = [page for page in tables.removed if page["reason"].startswith("seen-")]
    for page in [*tables.removed[:4], *seen[:6]]:
        instead = page["kept_instead"]
        told = json.loads(run("explain", page["id"], instead, "--run", kind.folder, "--json", "-d", "exact"))
        ends = frozenset((tables.identity[page["id"]], tables.identity[instead]))
        expected = "identical" if len(ends) == 1 else "paired" if ends in tables.accepted else "connected"
        assert told["relation"] == expected
        (fate,) = told["fates"]
        assert (fate["page"], fate["kept_instead"]) == (page["id"], instead)
        assert [step["score"] for step in fate["path"][:1]] == ([tables.accepted[ends]] if expected == "paired" else [])
        assert "terms" in told["pages"][1]
        if instead in tables.earlier:
            assert told["pages"][1]["record"]["reason"] == "earlier"
            assert told["pages"][1]["record"]["source"] == tables.earlier[instead]["run"]
            assert "earlier run" in run("explain", page["id"], instead, "--run", kind.folder)


def compare(kind: Kind, place: Path) -> None:
    for page in [page for page in kind.tables.removed if page["reason"].endswith("identical")][:2]:
        told = json.loads(run("compare", page["id"], page["kept_instead"], "--run", kind.folder, "--json"))
        assert told["identical"]
    for page in [page for page in kind.tables.removed if page["reason"].endswith("near-duplicate")][-2:]:
        told = json.loads(run("compare", page["id"], page["kept_instead"], "--run", kind.folder, "--json"))
        assert not told["identical"]
        assert told["tokens"][0] == page["tokens"]


def report(kind: Kind, place: Path) -> None:
    run("report", kind.folder)
    page = (kind.folder / "report.html").read_text(encoding="utf-8")
    tables = kind.tables
    assert f"{len(tables.removed):,} of {len(tables.pages):,} pages repeat another" in page
    numbers = re.findall(r"<dt>pairs accepted(.*?)</dt><dd>([^<]*)", page)
    assert numbers == [(pairs, f"{number:,}") for number, pairs in accepted_pairs(kind)]
    for _, members in by_size(tables)[:5]:
        assert f"pages ({len(members):,})" in page
    assert ("pages of earlier runs in its clusters" in page) == bool(tables.earlier)
    assert ("earlier run" in page) == any("earlier" in pairs for _, pairs in accepted_pairs(kind))
    # Two pages that are no copies are not said to be.
    texts = {name for name, members in by_size(tables)[:5] if len({tables.identity[one] for one in members}) == 1}
    assert page.count("Two of them, the same tokens") <= 2 * len(texts)


def ui(kind: Kind, place: Path) -> None:
    """Every page of the application that can be reached."""
    space = open_workspace(kind.folder, decisions=place / "decisions.sqlite")
    app = browser_application(space)

    async def walk() -> dict[str, str]:
        found: dict[str, str] = {}
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            waiting = ["/", "/clusters"]
            while waiting and len(found) < 150:
                path = waiting.pop(0)
                answer = await client.get(path)
                assert answer.status_code == 200, (path, answer.text)
                found[path] = answer.text
                links = re.findall(r'href="(/(?:cluster|pair|page)/[0-9/]+)"', answer.text)
                waiting += [link for link in dict.fromkeys(links) if link not in found and link not in waiting]
        return found

    try:
        found = asyncio.run(walk())
        rows_there = len(space.run.pages)
    finally:
        space.close()
    tables = kind.tables
    assert rows_there == len(tables.pages) + len(tables.earlier)
    assert sum(path.startswith("/cluster/") for path in found) >= min(len(tables.clusters), 50)
    everything = "\n".join(found.values())
    assert ("of the earlier run" in everything) == bool(tables.earlier)
    assert "could not be read" not in everything


def revision(kind: Kind, place: Path) -> None:
    """Without decisions the run itself, with some a run that fits together, and that every verb opens again."""
    tables = kind.tables
    revise(kind.folder, place / "same", Decisions())
    same = Told(place / "same")
    assert same.pages == tables.pages
    assert same.accepted == tables.accepted
    assert same.clusters == tables.clusters
    same.check()
    scores = sorted(tables.accepted.values())
    threshold = scores[len(scores) // 2]
    first = {page["id"]: page["row"] for page in tables.pages}
    _, members = by_size(tables)[0]
    decisions = Decisions(
        threshold=threshold,
        # The last page of the largest cluster is to stay.
        representatives={
            min(first[one] for one in members if one in first): first[[m for m in members if m in first][-1]]
        },
    )
    revise(kind.folder, place / "revised", decisions)
    revised = Kind(place / "revised", kind.complete)
    revised.tables.check()
    assert set(revised.tables.accepted.values()) == {score for score in scores if score >= threshold}
    for page in revised.tables.removed:
        ends = frozenset((revised.tables.identity[page["id"]], revised.tables.identity[page["kept_instead"]]))
        if kind.complete:
            assert len(ends) == 1 or revised.tables.accepted[ends] >= threshold
    show(revised, place)


def judge(kind: Kind, place: Path) -> None:
    count = kind.accepted if kind.accepted is not None else len(rows(kind.folder, "pairs"))
    run("judge", "new", "--from", kind.folder, "--sample", "20", "--out", place / "judging.sqlite")
    judging = Judging(place / "judging.sqlite")
    try:
        assert sum(population for _, population, _ in judging.strata()) == count
    finally:
        judging.close()


def certify(kind: Kind, place: Path) -> None:
    run("certify", kind.folder)
    told = json.loads((kind.folder / "run.json").read_text(encoding="utf-8"))["certificate"]
    seen = [page for page in kind.tables.removed if page["reason"].startswith("seen-")]
    assert told["removed"]["for_earlier_runs"] == len(seen)
    assert told["removed"]["pages"] == len(kind.tables.removed) - len(seen)
    if kind.complete:
        # The detector verifies each pair exactly, and finds nearly all.
        assert told["pairs"]["precision"]["all"]["estimate"] in (None, 1.0)
        recall = told["pairs"]["recall"]["all"]["estimate"]
        assert recall is None or recall > 0.9
    show(kind, place)


def build(kind: Kind, place: Path) -> None:
    run("index", "build", place / "index", "--from", kind.folder)
    with Index(place / "index") as index:
        assert index.stats().pages == len(kind.tables.pages)
        assert set(index.ids()) == {page["id"] for page in kind.tables.pages}


def graph(kind: Kind, place: Path) -> None:
    said = json.loads(run("evaluate", "graph", kind.folder, "--json", "--resamples", "0", "--out", place / "graph"))
    count = kind.accepted if kind.accepted is not None else len(rows(kind.folder, "pairs"))
    assert said["edges"] == count


def filtered(kind: Kind, place: Path) -> None:
    ids = [page["id"] for page in kind.tables.pages]
    assert open_result(kind.folder).filter(ids) == [page["id"] for page in kind.tables.pages if page["kept"]]


def against(kind: Kind, place: Path) -> None:
    """The same pages once more against this run: nothing is kept but what has no tokens, or too few that are new."""
    told = json.loads((kind.folder / "run.json").read_text(encoding="utf-8"))
    result = dedup(told["input"]["paths"], place / "again", detector=DETECTOR, against=[kind.folder])
    seen = [page for page in result.pages.to_pylist() if page["reason"].startswith("seen-")]
    assert len(seen) >= sum(page["kept"] and page["tokens"] >= 8 for page in kind.tables.pages)
    again = Kind(place / "again")
    again.tables.check()
    show(again, place)


VERBS: dict[str, Callable[[Kind, Path], None]] = {
    "show": show, "explain": explain, "compare": compare, "report": report, "ui": ui, "revise": revision,
    "judge new": judge, "certify": certify, "index build": build, "evaluate graph": graph, "filter": filtered,
    "against": against,
}  # fmt: skip
