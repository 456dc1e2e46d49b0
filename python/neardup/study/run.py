"""A study, end to end: inputs → a folder of tables, ``study.json`` and a page to look at, whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup import _native
from neardup.engines import Progress, Settings, Silent
from neardup.engines.common.page_columns import LIST
from neardup.engines.common.progress import Stopwatch, stages
from neardup.engines.common.statistics import frozen
from neardup.engines.common.unread import FILE as SKIPPED_FILE
from neardup.engines.common.unread import all_of, unread_of
from neardup.engines.local.identity import site_numbers, unique_ids
from neardup.engines.local.matching import match
from neardup.engines.local.reading import Collection, collect
from neardup.engines.local.scratch import Scratch, discard
from neardup.engines.local.statistics import prepare
from neardup.errors import FormatError, InputError, UsageError
from neardup.methods import Detector, parse
from neardup.methods.paragraphs import ShingleParagraphing, ShingleParagraphs
from neardup.sinks import write_groups, write_json, write_table
from neardup.sinks.folder import new_folder
from neardup.sources import Fields, InputSpec, Loaded
from neardup.spreadsheet import write_csv
from neardup.study import tables
from neardup.study.clustering import DUPLICATES, Clustering, Plan
from neardup.study.detected import cluster_by_matches
from neardup.study.link_files import Links, read_links, redirect_hashes
from neardup.study.links import PARTS, Connection, connect, link_graph, read_seeds
from neardup.study.page import study_page
from neardup.study.paragraphs import TABLE_BYTES, ParagraphLists, cluster_by_paragraphs
from neardup.version import VERSION
from neardup.writing import replacing

STEPS: Final = 20
LEVELS: Final = (0.9, 0.7, 0.5)
#: A folder is a study if it has this file.
REPORT: Final = "study.json"
_PARAGRAPHS: Final = f"{LIST}paragraphs"
_LINKS: Final = f"{LIST}links"


@dataclass(frozen=True)
class Study:
    """What a study found: its tables by name, what ``study.json`` says, and where it was written."""

    tables: dict[str, tables.Table]
    report: dict[str, Any]
    #: A row for each page: its clusters, and where it is in the link graph.
    pages: pa.Table
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What to take down of pages while they are at hand; redirects come in any order and are sorted later."""

    paragraphs: ShingleParagraphs | None
    links: bool
    redirects: list[tuple[str, str]]

    def __call__(self, loaded: Loaded) -> dict[str, pa.Array]:
        columns: dict[str, pa.Array] = {}
        if self.paragraphs is not None:
            columns[_PARAGRAPHS], characters = self.paragraphs.lists(loaded.pages)
            columns["characters"] = pa.array(characters)
        names = ("content", "html", "charset", "url")
        if self.links:
            own, columns[_LINKS] = _native.links(*(loaded.pages.column(name) for name in names), all=True)
            columns["own_url"] = pa.array(own)
        else:
            columns["own_url"] = pa.array(_native.url_hashes(loaded.pages.column("url")))
        self.redirects.extend(loaded.redirects)
        return columns


def study(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str] | None = None,
    *,
    detector: str | Detector | None = None,
    steps: int = 0,
    levels: Sequence[float] = LEVELS,
    stop_at: float | None = None,
    like: Sequence[str | os.PathLike[str]] = (),
    links: str | os.PathLike[str] | None = None,
    seeds: Sequence[str] = (),
    seed: int = 0,
    name: str | None = None,
    settings: Settings | None = None,
    fields: Fields | None = None,
    base_url: str | None = None,
    format: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    command: str | None = None,
) -> Study:
    """Studies the pages of files, folders or globs.

    Duplicates are told by shingle paragraphs, in ``steps`` steps (0: 20, or as many as ``settings.memory`` asks for),
    near-duplicates at ``levels``; or by any ``detector``. ``stop_at`` (0.2: after a fifth of the steps) gives estimates
    of the totals, also by the growth of other studies (``like``). Links come from the pages, or from a file of
    ``links``; the crawl begins at ``seeds``, else in the largest strongly connected component. ``command`` is told as
    what does it again.

    >>> import json, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "".join(f"This is sentence number {number} of the page. " for number in range(20))
    >>> lines = [{"id": i, "url": f"http://a.example/{i}", "text": text} for i in ("a", "b")]
    >>> _ = (folder / "pages.jsonl").write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> study(folder / "pages.jsonl").tables["table2"].rows[0]["duplicates"]
    1
    """
    paths = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    chosen = parse(detector if detector is not None else "shingle-paragraphs")
    shares = sorted({float(share) for share in levels}, reverse=True)
    if any(not 0 < share < 1 for share in shares):
        raise UsageError("levels are shares between 0 and 1", hint="give them as 0.9,0.7,0.5 or 90,70,50")
    if stop_at is not None and not 0 < stop_at <= 1:
        raise UsageError("stop_at is a share above 0 and at most 1", hint="give it as 20% or 0.2")
    if steps < 0 or steps > 100_000:
        raise UsageError("steps must be between 1 and 100,000")
    settings, progress = settings or Settings(), progress or Silent()
    start, others = read_seeds(seeds), [_growth_of(place) for place in like]
    told = None if links is None else read_links(os.fspath(links))
    spec = InputSpec([os.fspath(path) for path in paths], fields or Fields(), base_url, format, settings.max_page)
    with ExitStack() as stack:
        folder = scratch = None
        if out is not None:
            folder = stack.enter_context(new_folder(Path(out), overwrite, mark=REPORT))
            place = Path(out).parent / f".{Path(out).name}.scratch"
            scratch = Scratch.start(place, {"study": VERSION})
            stack.callback(discard, place)
        source = stack.enter_context(spec.open())
        watch = Stopwatch(progress)
        paragraphs = chosen.paragraphs() if isinstance(chosen, ShingleParagraphing) else None
        wanted = _Wanted(paragraphs, told is None, [])
        base = parse("exact") if paragraphs is not None else chosen
        with watch.stage("reading", source.nbytes()):
            collection = collect(source, base, settings, progress, scratch, wanted)
        with watch.stage("comparing"):
            clustering = _clustering(collection, chosen, settings, shares, (steps, seed, stop_at))
        with watch.stage("links"):
            connection = _connection(collection, told, wanted.redirects, start)
        with watch.stage("tables"):
            made = _tables(collection, clustering, connection, others, name or _named(paths))
            pages = _pages_table(collection, clustering, connection)
        sources = (batch.column(0) for batch in collection.store.columns(["source"]))
        unread = unread_of(collection.skipped(), sources, source.unread)
        report = {
            "neardup": VERSION,
            "format": _native.FORMAT_VERSION,
            "name": name or _named(paths),
            "detector": str(chosen),
            "levels": shares if paragraphs is not None else [],
            "steps": {**asdict(clustering.plan), "paragraphs": _paragraph_count(collection, paragraphs)},
            "settings": asdict(settings),
            "input": asdict(spec),
            "links_from": "the pages" if links is None else os.fspath(links),
            "link_graph": connection.counts | ({} if told is None else {"unreadable_links": told.unreadable}),
            "tables": {key: {"title": table.title, "rows": table.rows} for key, table in made.items()},
            **unread.to_json(collection.tally),
            "ignored": collection.tally.ignored,
            "warnings": _warnings(collection, clustering, connection),
            "stages": stages(watch.stages),
            "command": command,
        }
        if folder is not None:
            with watch.stage("writing"):
                _write(folder, made, pages, report)
                if unread.is_more_than_named(collection.tally):
                    everything = all_of(collection.skipped(), source.unread)
                    write_groups(everything.schema, everything, folder / SKIPPED_FILE)
    return Study(made, report, pages, None if out is None else Path(out))


def _named(paths: Sequence[str | os.PathLike[str]]) -> str:
    first = Path(os.fspath(paths[0])).name if paths else "collection"
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"


def _paragraph_count(collection: Collection, paragraphs: ShingleParagraphs | None) -> int | None:
    if paragraphs is None:
        return None
    return sum(
        int(lists.offsets[-1].as_py() - lists.offsets[0].as_py()) for lists in collection.list_batches(_PARAGRAPHS)
    )


def _clustering(
    collection: Collection,
    detector: Detector,
    settings: Settings,
    shares: list[float],
    cut: tuple[int, int, float | None],
) -> Clustering:
    steps, seed, stop_at = cut
    if not isinstance(detector, ShingleParagraphing):
        if detector.counted():
            prepare(collection, detector, settings, frozen(settings, detector))
        matches = match(collection, detector, settings)
        considered = collection.column("tokens").to_numpy() > 0
        return cluster_by_matches(matches, considered, Plan.of(steps or STEPS, seed, stop_at))
    lists = ParagraphLists.of(lambda: collection.list_batches(_PARAGRAPHS), settings.workers)
    # With the memory that was promised, the table of a step has a quarter of it.
    least = -(-lists.paragraphs() * TABLE_BYTES // max(settings.memory_budget // 4, 1))
    return cluster_by_paragraphs(lists, Plan.of(steps or max(STEPS, least), seed, stop_at), shares)


def _connection(
    collection: Collection, told: Links | None, redirects: list[tuple[str, str]], seeds: Sequence[str]
) -> Connection:
    own = np.concatenate([batch.column(0).to_numpy() for batch in collection.store.columns(["own_url"])])
    moved = redirect_hashes(redirects)
    if told is not None:
        both = tuple(np.concatenate([one, other]) for one, other in zip(told.redirects, moved, strict=True))
        return connect(link_graph(own, told.source, told.target, (both[0], both[1])), seeds)
    sources, targets = [np.empty(0, np.int64)], [np.empty(0, np.uint64)]
    start = 0
    for lists in collection.list_batches(_LINKS):
        lengths = np.diff(lists.offsets.to_numpy())
        sources.append(np.repeat(np.arange(start, start + len(lists)), lengths))
        targets.append(lists.flatten().to_numpy())
        start += len(lists)
    return connect(link_graph(own, np.concatenate(sources), np.concatenate(targets), moved, by_page=True), seeds)


def _tables(
    collection: Collection,
    clustering: Clustering,
    connection: Connection,
    like: Sequence[dict[str, Any]],
    name: str,
) -> dict[str, tables.Table]:
    made = {
        "table1": _collection_table(collection, clustering, name),
        "table2": tables.general(clustering),
        "table3": tables.near_duplicates(clustering),
    }
    labels = {"complete": clustering.levels[DUPLICATES].labels}
    finished = clustering.plan.done == clustering.plan.steps
    if finished:
        parts = tables.parts_of(clustering, connection.connected)
        made["table4"] = tables.by_part(clustering, parts)
        made["table5"], made["table6"], made["useful"] = tables.coverage(clustering, parts)
        labels = parts.labels()
    made["bow_tie"] = _bow_tie_table(clustering, connection)
    made["sites"] = tables.site_clusters(labels["complete"], site_numbers(collection.column("site")))
    made["sizes"], made["size_laws"] = tables.size_distribution(labels)
    made["growth"] = tables.growth(clustering)
    made["estimates"] = tables.estimates(clustering, like)
    return made


def _collection_table(collection: Collection, clustering: Clustering, name: str) -> tables.Table:
    dates = pc.min_max(collection.column("date")).as_py()
    first, last = (date and date[:10] for date in (dates["min"], dates["max"]))
    row = {
        "collection": name,
        "first_date": first,
        "last_date": last,
        "documents": collection.count,
        "considered": int(clustering.considered.sum()),
        "bytes_read": collection.tally.nbytes,
    }
    return tables.Table("Table 1. The collection", [row])


def _bow_tie_table(clustering: Clustering, connection: Connection) -> tables.Table:
    """The documents of each part of the bow tie, and how many of them are clustered."""
    labels = clustering.levels[DUPLICATES].labels
    clustered = np.bincount(labels, minlength=len(labels))[labels] > 1
    rows = []
    for number, part in enumerate(PARTS):
        there = connection.part == number
        considered = there & clustering.considered
        rows.append(
            {
                "part": part,
                "documents": int(there.sum()),
                "percent": tables.percent(int(there.sum()), len(there)),
                "considered": int(considered.sum()),
                "clustered": int((considered & clustered).sum()),
                "percent_clustered": tables.percent(int((considered & clustered).sum()), int(considered.sum())),
            }
        )
    return tables.Table("The bow tie", rows)


def _pages_table(collection: Collection, clustering: Clustering, connection: Connection) -> pa.Table:
    ids, _ = unique_ids(collection.columns(["id", "source", "record"]))
    told = {
        "row": pa.array(np.arange(collection.count), pa.uint64()),
        "id": ids,
        "url": collection.column("url"),
        "site": collection.column("site"),
        "considered": pa.array(clustering.considered),
        "connected": pa.array(connection.connected),
        "part": pa.array(PARTS, pa.string()).take(pa.array(connection.part)),
        "depth": pa.array(connection.depth, mask=connection.depth < 0),
    }
    for level, found in clustering.levels.items():
        name = "cluster" if level == DUPLICATES else f"cluster_{level.removesuffix('%')}"
        told[name] = ids.take(pa.array(found.labels))
    return pa.table(told)


def _warnings(collection: Collection, clustering: Clustering, connection: Connection) -> list[str]:
    said = []
    if collection.tally.skipped:
        said.append(f"records that could not be read: {collection.tally.skipped:,}; 'skipped' names the first of them")
    if collection.column("url").null_count == collection.count:
        said.append("no page has a URL, so there is no link graph: all but one page count as disconnected")
    elif not connection.counts["inside"]:
        said.append("no link leads from a page to another: all but one page count as disconnected")
    if clustering.plan.done < clustering.plan.steps:
        share = clustering.plan.done / clustering.plan.steps
        said.append(f"stopped after {share:.0%} of the steps: counts are what was found so far; see the estimates")
    if connection.counts["unknown_seeds"]:
        said.append(f"seeds that are no page of the collection: {connection.counts['unknown_seeds']:,}")
    return said


def _write(folder: Path, made: dict[str, tables.Table], pages: pa.Table, report: dict[str, Any]) -> None:
    write_table(pages, folder / "pages.parquet")
    (folder / "tables").mkdir()
    for name, table in made.items():
        arrow = table.arrow()
        write_table(arrow, folder / "tables" / f"{name}.parquet")
        with replacing(folder / "tables" / f"{name}.csv") as file:
            write_csv(arrow, file)
    study_page(report).write(folder / "report.html")
    write_json(report, folder / REPORT)


def open_study(folder: str | os.PathLike[str]) -> Study:
    """Reads a study back.

    >>> open_study("no-such-folder")
    Traceback (most recent call last):
    neardup.errors.InputError: not a study (no-such-folder): it has no study.json; give the --out of a study
    """
    place = Path(folder)
    if not (place / REPORT).exists():
        raise InputError("not a study", where=str(place), hint="it has no study.json; give the --out of a study")
    try:
        report = json.loads((place / REPORT).read_text(encoding="utf-8"))
        made = {name: tables.Table(told["title"], told["rows"]) for name, told in report["tables"].items()}
        with open(place / "pages.parquet", "rb") as file:
            pages = pq.read_table(file)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(f"the study is damaged: {reason}", where=str(place), hint="run neardup study again") from None
    return Study(made, report, pages, place)


def _growth_of(folder: str | os.PathLike[str]) -> dict[str, npt.NDArray[np.float64]]:
    """The growth of another study's collection, all steps done."""
    other = open_study(folder)
    rows = other.tables["growth"].rows
    try:
        grown = {
            name: np.array([row[name] for row in rows], np.float64) for name in ("share", "duplicates", "clusters")
        }
    except (KeyError, TypeError, ValueError):
        raise FormatError(
            "the study is damaged: its growth", where=str(folder), hint="run neardup study again"
        ) from None
    if not len(rows) or grown["share"][-1] < 1:
        raise UsageError("only a study of all steps tells how a collection grows", where=str(folder))
    return grown
