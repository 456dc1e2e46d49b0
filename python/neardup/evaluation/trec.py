"""Result lists and judgements as TREC writes them: ``query Q0 page rank score engine`` and ``query 0 page grade``.

Results are ordered by their score, highest first, as evaluation programs do; equal scores by rank, then by name. A line
that does not parse, or a page that stands twice in one list, is an error that names it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from neardup.errors import InputError


@dataclass(frozen=True)
class Run:
    """What one engine returned: pages in order, by query."""

    name: str
    results: dict[str, list[str]]


def _lines(path: str | os.PathLike[str], fields: int, form: str) -> Iterator[tuple[int, list[str]]]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=os.fspath(path)) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", where=os.fspath(path)) from None
    for number, line in enumerate(text.split("\n"), 1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != fields:
            raise InputError(f"{len(parts)} fields", where=f"{path}, line {number}", hint=f"a line is {form}")
        yield number, parts


def read_run(path: str | os.PathLike[str]) -> Run:
    """A run file.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = file.write_text("q1 Q0 x 1 0.5 engine\\nq1 Q0 y 2 0.9 engine\\n")
    >>> read_run(file).results
    {'q1': ['y', 'x']}
    """
    found: defaultdict[str, list[tuple[float, float, str]]] = defaultdict(list)
    names: set[str] = set()
    for number, (query, _, page, rank, score, engine) in _lines(path, 6, "query Q0 page rank score engine"):
        try:
            found[query].append((-float(score), float(rank), page))
        except ValueError:
            raise InputError("rank and score must be numbers", where=f"{path}, line {number}") from None
        names.add(engine)
    if not found:
        raise InputError("no results were found", where=os.fspath(path), hint="is it a run file?")
    results = {}
    for query, entries in found.items():
        pages = [page for _, _, page in sorted(entries)]
        if len(set(pages)) < len(pages):
            twice = next(page for page in pages if pages.count(page) > 1)
            raise InputError(f"{twice!r} stands twice in the list of {query!r}", where=os.fspath(path))
        results[query] = pages
    return Run(names.pop() if len(names) == 1 else Path(path).stem, results)


def read_qrels(path: str | os.PathLike[str]) -> dict[str, dict[str, int]]:
    """Grades by query and page.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "q.txt"
    >>> _ = file.write_text("q1 0 x 2\\nq1 0 y 0\\n")
    >>> read_qrels(file)
    {'q1': {'x': 2, 'y': 0}}
    """
    grades: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for number, (query, _, page, grade) in _lines(path, 4, "query 0 page grade"):
        try:
            grades[query][page] = int(grade)
        except ValueError:
            raise InputError("a grade must be a whole number", where=f"{path}, line {number}") from None
    if not grades:
        raise InputError("no judgements were found", where=os.fspath(path), hint="is it a qrels file?")
    return dict(grades)
