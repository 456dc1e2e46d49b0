"""Judgements out of a judging and into it, as the pairs file that ``neardup evaluate pairs`` reads.

A pair is a row with ``a``, ``b``, ``label``, ``reason`` and ``note``; the final labels also tell how many looked,
the stratum, and how many pairs of the runs each one stands for (``weight``): those of its stratum, divided by the pairs
of it that have a label. A stratum without any is not spoken of.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.errors import InputError, UsageError
from neardup.evaluation.judged import LABELS, Labels, read_judged
from neardup.evaluation.judging import Judging
from neardup.sinks import write_table
from neardup.spreadsheet import write_csv
from neardup.writing import replacing

_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("a", "b", "label", "reason", "note", "judge")]
    + [("judges", pa.int64()), ("stratum", pa.string()), ("weight", pa.float64())]
)


def judgements(judging: Judging, judge: str | None = None) -> pa.Table:
    """The final labels, or those of one judge, as rows of a pairs file."""
    pairs, strata, by_pair = judging.pairs(), judging.strata(), judging.by_pair()
    said = judging.final().values() if judge is None else judging.said(judge=judge)
    labelled = sorted(said, key=lambda one: one.pair)
    judged = Counter(pairs[one.pair].stratum for one in labelled)
    rows = []
    for one in labelled:
        pair = pairs[one.pair]
        name, population, _ = strata[pair.stratum]
        row = {"a": pair.a, "b": pair.b, "label": one.label, "reason": one.reason, "note": one.note, "judge": judge}
        rows.append(
            row
            | {"judges": len(by_pair.get(one.pair, [])), "stratum": name, "weight": population / judged[pair.stratum]}
        )
    return pa.Table.from_pylist(rows, _SCHEMA)


def export_judgements(judging: Judging, out: str | os.PathLike[str], judge: str | None = None) -> int:
    """Writes them as .jsonl, .csv, .tsv or .parquet, and tells how many."""
    table, path = judgements(judging, judge), Path(out)
    if judge is not None and not table.num_rows:
        raise UsageError(f"nothing was said by {judge!r}", hint=f"there are {', '.join(judging.judges()) or 'none'}")
    if judge is None:
        table = table.drop_columns(["judge"])
    if path.suffix == ".parquet":
        write_table(table, path)
    elif path.suffix in (".csv", ".tsv"):
        with replacing(path) as file:
            write_csv(table, file, "\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".jsonl":
        with replacing(path) as file:
            for row in table.to_pylist():
                file.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
    else:
        raise UsageError(
            "the name does not say how to write it", where=str(out), hint="one of .jsonl .csv .tsv .parquet"
        )
    return int(table.num_rows)


def import_judgements(
    judging: Judging, file: str | os.PathLike[str], judge: str, labels: Labels | None = None
) -> tuple[int, int]:
    """Takes the labels of a pairs file as what a judge said; tells how many, and how many pairs are not in the sample.

    Pages are known by id, and it does not matter which comes first.
    """
    read = read_judged(file, labels or Labels())
    place: dict[frozenset[str], int] = {}
    for number, pair in enumerate(judging.pairs()):
        place[frozenset((pair.a, pair.b))] = number
    known: list[tuple[int, Any]] = []
    for at, sides in enumerate(zip(read.a, read.b, strict=True)):
        number_of = place.get(frozenset(sides))
        if number_of is not None:
            known.append((number_of, at))
    if not known:
        raise InputError("none of its pairs is in the judging", where=str(file), hint="are its ids those of the run?")
    for number, at in known:
        judging.say(judge, number, LABELS[read.label[at]], read.reason[at])
    return len(known), len(read) - len(known)
