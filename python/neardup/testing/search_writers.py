"""A web to be searched as files: pages, archive, pairs with both labels, queries, runs and judgements.

| file | what it holds |
|---|---|
| `pages.jsonl.gz` | the results as they were fetched: id, url, date, html, and what is true of each |
| `web.warc.gz` | everything that is served, scripts and frames too: for rendering without a network |
| `pairs.csv` | every pair of results of a query, with Huffman's and Henzinger's label |
| `queries.jsonl` | id, words and language of each query |
| `runs/ENGINE.txt` | what an engine returned, as TREC writes it: query, Q0, page, rank, score, engine |
| `qrels.txt` | grades as judges gave them, page by page, as TREC writes them: query, 0, page, grade |
| `qrels.true.txt` | the true grades |
| `run.json` | how all of it was made, and how much there is |
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neardup.errors import OutputError
from neardup.testing.writers import write_jsonl, write_warc

if TYPE_CHECKING:
    from neardup.testing.search_web import SearchPair, SearchWeb

#: The columns of the pairs. ``label`` is Huffman's as a number; ``henzinger`` is the other column.
PAIR_COLUMNS: Final = (
    "a", "b", "label", "reason", "query", "query_text", "language", "relation",
    "huffman", "huffman_reason", "henzinger", "henzinger_reason",
)  # fmt: skip


def write(made: SearchWeb, folder: str | PathLike[str]) -> None:
    """All files of a web to be searched, into a folder that exists.

    >>> import tempfile, neardup.testing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(neardup.testing.search_web(queries=2), folder)
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['pages.jsonl.gz', 'pairs.csv', 'qrels.true.txt', 'qrels.txt', 'queries.jsonl', 'run.json', 'runs', 'web.warc.gz']
    """
    folder = Path(folder)
    write_jsonl(made.pages, folder / "pages.jsonl.gz")
    others = ((resource.url, resource.media_type, resource.body) for resource in made.resources)
    write_warc(made.pages, folder / "web.warc.gz", others)
    write_pairs(made.pairs, folder / "pairs.csv")
    queries = ({"query": query.id, "text": query.text, "language": query.language} for query in made.queries)
    _write(folder / "queries.jsonl", (json.dumps(query, ensure_ascii=False) for query in queries))
    try:
        (folder / "runs").mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(error.strerror or str(error), where=str(folder), hint="check the folder") from error
    for engine in dict.fromkeys(entry.engine for entry in made.run):
        entries = (entry for entry in made.run if entry.engine == engine)
        lines = (f"{entry.query} Q0 {entry.page} {entry.rank} {entry.score:.4f} {engine}" for entry in entries)
        _write(folder / "runs" / f"{engine}.txt", lines)
    for name, true in (("qrels.txt", False), ("qrels.true.txt", True)):
        judgements = made.judgements(true=true)
        _write(folder / name, (f"{query} 0 {page} {grade}" for query, page, grade in judgements))
    about = {
        "seed": made.seed,
        "templates": made.templates,
        "queries": len(made.queries),
        "pages": len(made.pages),
        "other addresses": len(made.resources),
        "pairs": len(made.pairs),
        "duplicates (Huffman)": sum(pair.label.huffman for pair in made.pairs),
        "correct (Henzinger)": sum(pair.label.henzinger == "correct" for pair in made.pairs),
    }
    _write(folder / "run.json", [json.dumps(about, indent=2)])


def write_pairs(pairs: Iterable[SearchPair], path: str | PathLike[str]) -> None:
    """The pairs as a table with commas, as ``neardup evaluate pairs`` reads it.

    >>> import tempfile, neardup.testing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pairs(neardup.testing.search_web(queries=2).pairs, Path(folder, "pairs.csv"))
    ...     Path(folder, "pairs.csv").read_text(encoding="utf-8").splitlines()[0].split(",")[:3]
    ['a', 'b', 'label']
    """
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(PAIR_COLUMNS)
            for query, a, b, label, relation in pairs:
                duplicate = "duplicate" if label.huffman else "not duplicate"
                table.writerow(
                    (
                        a.id, b.id, int(label.huffman), label.huffman_reason, query.id, query.text, query.language,
                        relation, duplicate, label.huffman_reason, label.henzinger, label.henzinger_reason,
                    )
                )  # fmt: skip
    except OSError as error:
        raise OutputError(error.strerror or str(error), where=str(path), hint="check the folder") from error


def _write(path: Path, lines: Iterable[str]) -> None:
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise OutputError(error.strerror or str(error), where=str(path), hint="check the folder") from error
