"""Who says which results repeat each other: a classifier of signals, or any detector."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines import Progress, Settings
from neardup.engines.local.identity import unique_ids
from neardup.errors import InputError
from neardup.evaluation.scoring import PagePairs, rows_of
from neardup.evaluation.searches import Pair, groups_of, pairs_of
from neardup.methods import Detector
from neardup.page import Kinds
from neardup.signals.classifiers import Classifier
from neardup.signals.computing import compute
from neardup.signals.idf import Idf
from neardup.sources import Source

Open = Callable[[], Source]


@dataclass(frozen=True)
class Found:
    """The groups of each query, and what could not be looked at."""

    groups: dict[str, dict[str, str]]
    pairs: int
    accepted: int
    #: Results whose pages are not there.
    missing: list[str]


def kinds_of(source: Open) -> Kinds:
    """How many of all pages are markup, and how many plain text."""
    with source() as opened:
        kinds = [Kinds.of(chunk.load().pages) for chunk in opened.chunks()]
    return Kinds(sum(some.html for some in kinds), sum(some.text for some in kinds))


def _there(source: Open, names: Sequence[str]) -> set[str]:
    """Those names that are an id or a URL of a page."""
    wanted = pa.array(names, pa.string())
    read: list[pa.RecordBatch] = []
    columns: list[pa.Array] = []
    with source() as opened:
        for chunk in opened.chunks():
            pages = chunk.load().pages
            read.append(pages.select(["id", "source", "record"]))
            columns.append(pages.column("url").filter(pc.is_in(pages.column("url"), wanted)))
    if read:
        ids, _ = unique_ids(pa.Table.from_batches(read))
        columns.append(ids.filter(pc.is_in(ids, wanted)))
    return {name for column in columns for name in column.to_pylist()}


def _comparable(pages: Mapping[str, Sequence[str]], source: Open) -> tuple[list[Pair], list[str]]:
    names = sorted({page for found in pages.values() for page in found})
    there = _there(source, names)
    kept = {query: [page for page in found if page in there] for query, found in pages.items()}
    return pairs_of(kept), [name for name in names if name not in there]


def by_detector(
    pages: Mapping[str, Sequence[str]], source: Open, detector: Detector, settings: Settings | None = None
) -> Found:
    """Groups by a detector's decision on every two results of a query.

    >>> from neardup.methods import parse
    >>> from neardup.sources.memory import texts
    >>> text = "one two three four five six seven eight nine ten"
    >>> three = [{"id": "x", "text": text}, {"id": "y", "text": text}, {"id": "z", "text": text[:13]}]
    >>> by_detector({"q": ["x", "y", "z", "w"]}, lambda: texts(three), parse("exact")).groups
    {'q': {'x': 'x', 'y': 'x'}}
    """
    pairs, missing = _comparable(pages, source)
    if not pairs:
        return Found({}, 0, 0, missing)

    def rows(collection: object) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        sides = ([pair[1] for pair in pairs], [pair[2] for pair in pairs])
        first, second = (rows_of(collection, side, "pages") for side in sides)  # type: ignore[arg-type]
        return first, second

    accepted = PagePairs.of(source, rows, settings).score(detector).accepted
    return _found(pairs, accepted, missing)


def by_classifier(
    pages: Mapping[str, Sequence[str]],
    source: Open,
    classifier: Classifier,
    *,
    rendered: Open | None = None,
    idf: Idf | None = None,
    queries: Mapping[str, str] | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> Found:
    """Groups by a classifier's decision; ``queries`` are the words of each query, for snippets."""
    pairs, missing = _comparable(pages, source)
    if not pairs:
        return Found({}, 0, 0, missing)
    words = queries or {}
    signals = compute(
        [(a, b, words.get(query, "")) for query, a, b in pairs],
        source,
        rendered=rendered,
        idf=idf,
        signals=classifier.signals,
        threads=threads,
        progress=progress,
    )
    return _found(pairs, classifier.classify(signals)[1], missing)


def _found(pairs: list[Pair], accepted: npt.NDArray[np.bool_], missing: list[str]) -> Found:
    chosen = [pairs[at] for at in np.flatnonzero(accepted).tolist()]
    return Found(groups_of(chosen), len(pairs), len(chosen), missing)


def read_queries(path: str | os.PathLike[str]) -> dict[str, str]:
    """The words of queries: JSON lines with ``query`` and ``text``, or lines of an id, a tab, and the words.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "queries.tsv"
    >>> _ = file.write_text("q1\\tred apples\\n")
    >>> read_queries(file)
    {'q1': 'red apples'}
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=os.fspath(path)) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", where=os.fspath(path)) from None
    words: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        if line.lstrip().startswith("{"):
            try:
                row = json.loads(line)
                words[str(row["query"])] = str(row["text"])
            except (ValueError, KeyError, TypeError, RecursionError):
                raise InputError("no query", where=where, hint='a line has "query" and "text"') from None
        else:
            name, tab, text = line.partition("\t")
            if not tab:
                raise InputError("no query", where=where, hint="a line is an id, a tab, and the words")
            words[name.strip()] = text.strip()
    return words
