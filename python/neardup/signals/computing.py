"""Signals of given pairs, from pages to a table: the pages are read once, then pairs are compared in blocks.

Pairs are taken query by query, so that a block's pages are few; blocks run in several threads (compressing, cutting
snippets and comparing sets release the GIL) and come back in order: the table is the same for any number of threads.
Cost: per page one reading and one compression of it with itself, per pair one compression of both bodies.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines import Progress, Settings, Silent
from neardup.errors import InputError, UsageError
from neardup.signals.bodies import Bodies, Needs, Rows, blocks, read_bodies, require
from neardup.signals.catalogue import BODIES, SIGNALS, by_name, names_of
from neardup.signals.comparisons import (
    SNIPPET_TERMS,
    SNIPPET_WINDOW,
    b_similarity,
    c_similarity,
    length_distance,
    same_title,
    set_similarity,
    simhash_distance,
    snippet_mcd,
)
from neardup.signals.compression import METHODS, mcd, sizes
from neardup.signals.idf import Idf
from neardup.signals.tfidf import tfidf_distance
from neardup.signals.urls import OF_ADDRESSES, address, same_canonical
from neardup.sinks import write_table
from neardup.sources import Source
from neardup.sources.memory import texts
from neardup.workers import in_order

_BLOCK_BYTES: Final = 16 << 20
_BLOCK_PAIRS: Final = 512
#: What needs the bodies, texts or sets themselves.
_HEAVY: Final = (*METHODS.values(), "snippet_mcd", "main_jaccard", "layout_similarity")
#: The key under which a table says how it was made.
METADATA: Final = b"neardup.signals"

Numbers = npt.NDArray[np.float64]
Pages = Sequence[Mapping[str, Any]] | Callable[[], Source]


@dataclass(frozen=True)
class _Asked:
    """Pairs as rows of the two kinds of bodies; a row is −1 where a body is missing."""

    a: list[str]
    b: list[str]
    query: list[str | None]
    #: Pairs in the order in which they are compared.
    order: Rows


def compute(
    pairs: pa.Table | Iterable[Mapping[str, Any] | Sequence[str]],
    pages: Pages,
    *,
    rendered: Pages | None = None,
    idf: Idf | None = None,
    signals: str | Sequence[str] | None = None,
    query_field: str = "query",
    threads: int = 0,
    progress: Progress | None = None,
) -> pa.Table:
    """The signals of pairs, a row a pair in the given order: ``a``, ``b``, ``query``, then a column a signal.

    A pair has ``a`` and ``b`` (ids or URLs of pages) and, for snippets, a query. ``pages`` (and ``rendered``, the same
    pages as a browser shows them) are mappings with ``html`` or ``text``, ``id`` and ``url``, or a function that opens
    a source. ``signals`` are groups or names, all by default; tf-idf distances are there only with an ``idf`` table,
    those of rendered bodies only with ``rendered``. A rendered body that is missing gives nulls.

    >>> pages = [{"id": "x", "url": "http://a.example/1", "html": "<title>T</title><p>one two three"},
    ...          {"id": "y", "url": "http://a.example/2", "html": "<title>T</title><p>one two four"}]
    >>> table = compute([("x", "y")], pages)
    >>> table["same_domain"].to_pylist(), table["fetched_same_title"].to_pylist()
    ([1.0], [1.0])
    """
    asked = _asked(pairs, query_field)
    wanted = _wanted(signals, idf, rendered is not None)
    progress = progress or Silent()
    workers = Settings(threads=threads).workers
    columns: dict[str, Numbers] = {}
    skipped = 0
    with tempfile.TemporaryDirectory(prefix="neardup-signals-") as folder:
        for body, given in zip(BODIES, (pages, rendered), strict=True):
            if given is None:
                continue
            own = OF_ADDRESSES if body == "fetched" else {}
            names = frozenset(name for name in wanted if name.startswith(f"{body}_") or name in own)
            if not names:
                continue
            with _open(given) as source:
                bodies = read_bodies(
                    source, {*asked.a, *asked.b}, Needs(body, idf, names), Path(folder, body), workers, progress
                )
            skipped += bodies.skipped
            # The page with the smaller name comes first: a signal has no direction.
            ordered = [sorted(names_of_pair) for names_of_pair in zip(asked.a, asked.b, strict=True)]
            rows = tuple(bodies.rows_of([pair[side] for pair in ordered]) for side in (0, 1))
            if body == "rendered":
                # A page that would not render has a row without HTML: it is missing, not empty.
                rows = tuple(np.where(_is_empty(bodies, side), -1, side) for side in rows)
            else:
                require(np.concatenate(rows), [pair[side] for side in (0, 1) for pair in ordered], "pages")
            columns |= _compare(bodies, body, asked, rows, names, workers, progress)
            del bodies  # its file is mapped
    made = [signal for signal in SIGNALS if signal.name in columns]
    table = pa.table(
        {"a": pa.array(asked.a, pa.string()), "b": pa.array(asked.b, pa.string()),
         "query": pa.array(asked.query, pa.string())}
        | {signal.name: pa.array(columns[signal.name], from_pandas=True) for signal in made}
    )  # fmt: skip
    about = {
        "signals": {signal.name: signal.version for signal in made},
        "format": _native.FORMAT_VERSION,
        "idf": None if idf is None else idf.digest,
        "snippet": {"window": SNIPPET_WINDOW, "terms": SNIPPET_TERMS},
        "skipped": skipped,
        "query_field": query_field,
    }
    return table.replace_schema_metadata({METADATA: json.dumps(about)})


def write_signals(table: pa.Table, out: str | os.PathLike[str]) -> None:
    """Writes a table of signals as Parquet; it says how it was made."""
    write_table(table, out)


def told(table: pa.Table, where: str = "") -> dict[str, Any]:
    """How a table of signals was made.

    >>> told(compute([("x", "x")], [{"id": "x", "text": "one"}]))["signals"]["same_domain"]
    1
    """
    try:
        about: Any = json.loads((table.schema.metadata or {}).get(METADATA, b""))
    except (ValueError, RecursionError):
        about = None
    columns = {"a", "b", "query"} <= set(table.column_names)
    if not isinstance(about, dict) or not isinstance(about.get("signals"), dict) or not columns:
        raise InputError("not a table of signals", where=where or None, hint="neardup signals makes one")
    return {"idf": None, "query_field": "query"} | about


def _is_empty(bodies: Bodies, rows: Rows) -> npt.NDArray[np.bool_]:
    """Whether each row is missing, or a page without any content."""
    if not len(bodies):
        return np.ones(len(rows), bool)
    empty: npt.NDArray[np.bool_] = (rows < 0) | (bodies.fixed["length"][rows] == 0)
    return empty


def _open(pages: Pages) -> Source:
    return pages() if callable(pages) else texts(pages)


def _asked(pairs: Any, query_field: str) -> _Asked:
    rows = pairs.to_pylist() if isinstance(pairs, pa.Table) else list(pairs)
    a: list[str] = []
    b: list[str] = []
    query: list[str | None] = []
    for number, row in enumerate(rows):
        if isinstance(row, Mapping):
            one, other, words = row.get("a"), row.get("b"), row.get(query_field)
        else:
            one, other, words = (*row, None)[:3]
        if one is None or other is None:
            raise InputError("the pair has no 'a' or no 'b'", where=f"pair {number + 1}", hint="a pair names two pages")
        a.append(str(one))
        b.append(str(other))
        query.append(None if words in (None, "") else str(words))
    if not a:
        raise InputError("no pairs were given", hint="give pairs of pages to compare")
    keys = [words or "" for words in query]
    order = sorted(range(len(a)), key=lambda at: (keys[at], a[at], b[at]))
    return _Asked(a, b, query, np.array(order, np.int64))


def _wanted(signals: str | Sequence[str] | None, idf: Idf | None, rendered: bool) -> list[str]:
    if signals is None:
        names = [signal.name for signal in SIGNALS]
    else:
        names = names_of(signals)
        asked = signals.split("+") if isinstance(signals, str) else list(signals)
        single = [name for name in asked if name in by_name()]
        if idf is None and any(name.endswith("tfidf_distance") for name in single):
            raise UsageError("tf-idf distance needs an idf table", hint="neardup idf build makes one; give it as idf")
        if not rendered and any(name.startswith("rendered") for name in single):
            raise UsageError("a signal of rendered bodies was asked for, but none are given", hint="give rendered")
    if idf is None:
        names = [name for name in names if not name.endswith("tfidf_distance")]
    return names if rendered else [name for name in names if not name.startswith("rendered")]


def _compare(
    bodies: Bodies,
    body: str,
    asked: _Asked,
    rows: tuple[Rows, ...],
    names: frozenset[str],
    workers: int,
    progress: Progress,
) -> dict[str, Numbers]:
    count = len(asked.a)
    found = {name: np.full(count, np.nan) for name in names}
    both = np.flatnonzero((rows[0] >= 0) & (rows[1] >= 0))
    if len(both):
        a, b = rows[0][both], rows[1][both]
        for name, values in _of_fixed(bodies, body, a, b, names).items():
            found[name][both] = values
    order = asked.order[np.isin(asked.order, both)]
    heavy = sorted(names & {f"{body}_{signal}" for signal in _HEAVY})
    if not heavy or not len(order):
        return found
    lengths = bodies.fixed["length"]
    pair_bytes = lengths[rows[0][order]] + lengths[rows[1][order]]

    def work(part: slice) -> tuple[Rows, dict[str, Numbers]]:
        chosen = order[part]
        return chosen, _of_stored(bodies, body, asked, chosen, rows, heavy)

    progress.begin(f"comparing {body}", count, "pairs")
    try:
        for chosen, made in in_order(blocks(pair_bytes, _BLOCK_BYTES, _BLOCK_PAIRS), work, workers):
            for name in heavy:
                found[name][chosen] = made[name]
            progress.advance(len(chosen), len(chosen))
    finally:
        progress.end()
    return found


def _of_fixed(bodies: Bodies, body: str, a: Rows, b: Rows, names: frozenset[str]) -> dict[str, Numbers]:
    """Signals that need only what is held in memory."""
    fixed = bodies.fixed
    made: dict[str, Numbers] = {}
    tokens = fixed["tokens"]
    for name in names:
        match name.removeprefix(f"{body}_"):
            case "same_title":
                made[name] = _equal_titles(bodies.strings["title"], a, b)
            case "length_distance":
                made[name] = length_distance(fixed["length"][a], fixed["length"][b])
            case "simhash_distance":
                made[name] = simhash_distance(fixed["simhash"], tokens, a, b)
            case "tfidf_distance":
                top, counts = fixed["top"], fixed["top_count"]
                made[name] = tfidf_distance(top[a], counts[a], top[b], counts[b])
            case "b_similarity":
                made[name] = b_similarity(fixed["b"], tokens, a, b)
            case "c_similarity":
                made[name] = c_similarity(fixed["c"], tokens, a, b)
            case "same_canonical":
                canonical = bodies.strings["canonical"]
                made[name] = np.array(
                    [same_canonical(bodies.url[i], bodies.url[j], canonical[i], canonical[j])
                     for i, j in zip(a.tolist(), b.tolist(), strict=True)]
                )  # fmt: skip
            case other if other in OF_ADDRESSES:
                made[name] = _of_addresses(OF_ADDRESSES[other], bodies.url, a, b)
    return made


def _equal_titles(titles: list[str | None], a: Rows, b: Rows) -> Numbers:
    return np.array([same_title(titles[i], titles[j]) for i, j in zip(a.tolist(), b.tolist(), strict=True)])


def _of_addresses(compare: Callable[[Any, Any], float], urls: list[str | None], a: Rows, b: Rows) -> Numbers:
    values = []
    for i, j in zip(a.tolist(), b.tolist(), strict=True):
        one, other = address(urls[i]), address(urls[j])
        values.append(float("nan") if one is None or other is None else compare(one, other))
    return np.array(values)


def _of_stored(
    bodies: Bodies, body: str, asked: _Asked, chosen: Rows, rows: tuple[Rows, ...], heavy: list[str]
) -> dict[str, Numbers]:
    """Signals of a block of pairs that need the bodies, texts or sets themselves."""
    first, second = rows[0][chosen], rows[1][chosen]
    pages, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    at_first, at_second = (part.astype(np.uint32) for part in np.split(places, 2))
    made: dict[str, Numbers] = {}
    compressed = {method: name for method, signal in METHODS.items() if (name := f"{body}_{signal}") in heavy}
    if compressed:
        content = bodies.take("content", pages)
        for method, name in compressed.items():
            own = bodies.fixed[method]
            made[name] = mcd(sizes(content, at_first, at_second, method), own[first], own[second])
    for column, ending in (("main", "main_jaccard"), ("layout", "layout_similarity")):
        if f"{body}_{ending}" in heavy:
            made[f"{body}_{ending}"] = set_similarity(bodies.take(column, pages), at_first, at_second)
    if f"{body}_snippet_mcd" in heavy:
        queries = [asked.query[at] for at in chosen.tolist()]
        made[f"{body}_snippet_mcd"] = snippet_mcd(bodies.take("text", pages), at_first, at_second, queries)
    return made
