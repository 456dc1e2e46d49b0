"""Two crawls of one web: which clusters of duplicates are stable, born, dead, merged or split.

Pages are the same if they have the same URL (those without one, the same id). A cluster of the one study and a cluster
of the other belong together if they share a page. Both belonging to no other: *stable*, and *unchanged* if they also
have the same pages. A cluster of the second that several of the first went into is *merged*; one of the first that went
into several is *split*; one that belongs to none is *born*, or *dead*: its pages are gone, or are no longer alike, and
both are told apart.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.study.run import Study, open_study

KINDS: Final = ("unchanged", "stable", "merged", "split", "merged and split", "born", "dead")


@dataclass(frozen=True)
class StudyComparison:
    """The clusters of two studies, side by side."""

    #: How many clusters of each kind, and pages of both studies.
    counts: dict[str, Any]
    #: A row a group of clusters that belong together: its kind, the clusters of each study, and their pages.
    clusters: pa.Table


def compare_studies(first: str | os.PathLike[str] | Study, second: str | os.PathLike[str] | Study) -> StudyComparison:
    """Compares the clusters of duplicates of two studies.

    >>> import json, pathlib, tempfile
    >>> from neardup.study import study
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "".join(f"This is sentence number {number} of the page. " for number in range(20))
    >>> def crawl(name, pages):
    ...     lines = (json.dumps({"url": f"http://a.example/{url}", "text": text + body}) for url, body in pages.items())
    ...     _ = (folder / name).write_text(chr(10).join(lines))
    ...     return study(folder / name)
    >>> before = crawl("1.jsonl", {"a": "One.", "b": "One.", "c": "Two.", "d": "Two."})
    >>> after = crawl("2.jsonl", {"a": "One.", "b": "One.", "c": "One.", "d": "One.", "e": "Three.", "f": "Three."})
    >>> {kind: count for kind, count in compare_studies(before, after).counts["clusters"].items() if count}
    {'merged': 1, 'born': 1}
    """
    one = first if isinstance(first, Study) else open_study(first)
    other = second if isinstance(second, Study) else open_study(second)
    sides = [_clustered(one.pages), _clustered(other.pages)]
    names = [pc.unique(pages.column("key")) for pages in (_keyed(one.pages), _keyed(other.pages))]
    count = [len(side["names"]) for side in sides]
    shared = _shared(*sides)
    ends = shared.column("a").to_numpy(), shared.column("b").to_numpy() + count[0]
    labels = _native.components(sum(count), *(end.astype(np.uint32) for end in ends))
    table = _groups(sides, labels, shared)
    in_second = pc.is_in(names[0], value_set=names[1])
    kept = int(pc.sum(in_second).as_py() or 0)
    kinds = {kind: int(pc.sum(pc.equal(table.column("kind"), kind)).as_py() or 0) for kind in KINDS}
    gone = _all_gone(sides[0], table, names[1])
    counts = {
        "pages": {
            "in_first": len(names[0]),
            "in_second": len(names[1]),
            "in_both": kept,
            "only_in_first": len(names[0]) - kept,
            "only_in_second": len(names[1]) - kept,
        },
        "clusters_in_first": count[0],
        "clusters_in_second": count[1],
        "clusters": kinds,
        "dead_with_all_but_one_page_gone": gone,
        "dead_though_pages_are_there": kinds["dead"] - gone,
    }
    return StudyComparison(counts, table)


def _keyed(pages: pa.Table) -> pa.Table:
    """Pages with what they are known by in both studies, each once."""
    key = pc.coalesce(pages.column("url"), pages.column("id"))
    keyed = pa.table({"key": key, "cluster": pages.column("cluster")})
    first = keyed.group_by("key", use_threads=False).aggregate([("cluster", "first")])
    return first.rename_columns(["key", "cluster"])


def _clustered(pages: pa.Table) -> dict[str, Any]:
    """The clusters of two pages or more: names, and the key and number of the cluster of each of their pages."""
    keyed = _keyed(pages)
    sizes = keyed.group_by("cluster", use_threads=False).aggregate([("key", "count")])
    names = sizes.filter(pc.greater(sizes.column("key_count"), 1)).column("cluster").combine_chunks()
    place = pc.index_in(keyed.column("cluster"), value_set=names)
    members = pa.table({"key": keyed.column("key"), "cluster": place}).filter(pc.is_valid(place))
    return {"names": names, "members": members}


def _shared(one: dict[str, Any], other: dict[str, Any]) -> pa.Table:
    """For clusters that share pages: how many."""
    second = other["members"].rename_columns(["key", "b"])
    joined = one["members"].rename_columns(["key", "a"]).join(second, "key", join_type="inner", use_threads=False)
    return (
        joined.group_by(["a", "b"], use_threads=False)
        .aggregate([("key", "count")])
        .sort_by([("a", "ascending"), ("b", "ascending")])
    )


def _groups(sides: list[dict[str, Any]], labels: Any, shared: pa.Table) -> pa.Table:
    sizes = [np.bincount(side["members"].column("cluster").to_numpy(), minlength=len(side["names"])) for side in sides]
    before = len(sides[0]["names"])
    common = dict(
        zip(
            zip(shared.column("a").to_pylist(), shared.column("b").to_pylist(), strict=True),
            shared.column("key_count").to_pylist(),
            strict=True,
        )
    )
    members: dict[int, tuple[list[int], list[int]]] = {}
    for place, label in enumerate(labels.tolist()):
        first, second = members.setdefault(label, ([], []))
        (first if place < before else second).append(place if place < before else place - before)
    rows = []
    for first, second in members.values():
        kind = _kind(first, second, sizes, common)
        rows.append(
            {
                "kind": kind,
                "first": [sides[0]["names"][at].as_py() for at in first],
                "second": [sides[1]["names"][at].as_py() for at in second],
                "pages_in_first": int(sizes[0][first].sum()),
                "pages_in_second": int(sizes[1][second].sum()),
            }
        )
    schema = pa.schema(
        [
            ("kind", pa.string()),
            ("first", pa.list_(pa.string())),
            ("second", pa.list_(pa.string())),
            ("pages_in_first", pa.int64()),
            ("pages_in_second", pa.int64()),
        ]
    )
    return pa.Table.from_pylist(rows, schema=schema)


def _kind(first: list[int], second: list[int], sizes: list[Any], common: dict[tuple[int, int], int]) -> str:
    if not second:
        return "dead"
    if not first:
        return "born"
    if len(first) > 1 and len(second) > 1:
        return "merged and split"
    if len(first) > 1:
        return "merged"
    if len(second) > 1:
        return "split"
    alike = common[first[0], second[0]]
    return "unchanged" if alike == sizes[0][first[0]] == sizes[1][second[0]] else "stable"


def _all_gone(side: dict[str, Any], table: pa.Table, still_there: pa.Array) -> int:
    """How many dead clusters have at most one page left in the second study."""
    dead = table.filter(pc.equal(table.column("kind"), "dead")).column("first").combine_chunks().flatten()
    members = side["members"]
    there = members.filter(pc.is_in(members.column("key"), value_set=still_there))
    left = np.bincount(there.column("cluster").to_numpy(), minlength=len(side["names"]))
    places = pc.index_in(dead, value_set=side["names"]).to_numpy(zero_copy_only=False)
    return int((left[places] <= 1).sum()) if len(places) else 0
