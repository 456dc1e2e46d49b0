"""Hot buckets in pieces: links of pages two salts at a time give the clusters, and each resolved alone gives the pairs
that all of them together give. Without Spark: what its tasks call, on batches as they get them."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations_with_replacement

import numpy as np
import pyarrow as pa
import pytest

from neardup import Settings, _native
from neardup.engines.common.layout import Layout, computed
from neardup.engines.common.progress import Silent
from neardup.engines.local.reading import collect
from neardup.engines.spark import keys, matching
from neardup.methods import parse
from neardup.plan import Limits
from neardup.sources.memory import texts

HOT, SALTS = 5, 3
HOT_TYPE = pa.list_(pa.struct([("column", pa.int32()), ("key", pa.int64()), ("site", pa.string())]))


def pages_of_a_template(count: int) -> list[dict[str, str]]:
    """A frame that most keys come of, and bodies of which some are nearly the same."""
    generator = random.Random(3)

    def words(number: int) -> list[str]:
        return [f"w{generator.randrange(5_000)}" for _ in range(number)]

    frame, bodies = words(90), [words(24) for _ in range(4)]
    pages = []
    for at in range(count):
        body = list(generator.choice(bodies))
        body[generator.randrange(24)] = f"new{at}"
        pages.append({"text": " ".join([*frame, *body]), "url": f"http://t{at % 2}.example/{at}"})
    return pages


def batch_of(layout: Layout, count: int) -> pa.RecordBatch:
    """Pages, all different, as a task gets them, with their entries in hot buckets."""
    collection = collect(texts(pages_of_a_template(count)), layout.detector, layout.settings, Silent())
    rows = np.arange(count, dtype=np.uint32)
    columns = {
        "row": pa.array(rows.astype(np.int64)), "best": pa.array(rows.astype(np.int64)),
        "preference": pa.array(np.zeros(count, np.int64)), "unknown": pa.array(np.zeros(count, bool)),
        "sites": pa.array([[site] for site in collection.column("site").to_pylist()], pa.list_(pa.string())),
    }  # fmt: skip
    for at, kind in enumerate(layout.kinds):
        if kind in layout.sets:
            sets = pa.chunked_array(collection.sets(kind, in_memory=True).sets).combine_chunks()
            columns |= computed(sets, at)
        else:
            columns |= computed(collection.fingerprint(kind, rows), at)
    batch = pa.RecordBatch.from_pydict(columns)
    buckets = defaultdict(list)
    for entry in pa.Table.from_batches(list(keys._entries(batch, layout))).to_pylist():
        buckets[entry["column"], entry["key"], entry["site"]].append(entry["row"])
    hot: dict[int, list[dict[str, object]]] = defaultdict(list)
    for bucket, members in buckets.items():
        for row in members if len(members) > HOT else []:
            hot[row].append(dict(zip(keys.BUCKET, bucket, strict=True)))
    return batch.append_column("hot", pa.array([hot.get(row) for row in range(count)], HOT_TYPE))


def resolved(batch: pa.RecordBatch, layout: Layout) -> set[tuple[object, ...]]:
    found = pa.Table.from_batches(list(matching._resolve(batch, layout, 10**6))).to_pylist()
    return {(pair["rule"], pair["a"], pair["b"], pair["score"]) for pair in found if pair["a"] is not None}


@pytest.mark.parametrize("detector", ["minhash(threshold=0.7)", "site-aware", "charikar"])
def test_pieces_give_what_the_whole_gives(detector: str) -> None:
    layout = Layout(parse(detector), Settings())
    batch = batch_of(layout, 60)
    rows = np.arange(60)
    links: list[tuple[int, int]] = []
    for salts in combinations_with_replacement(range(SALTS), 2):
        piece = batch.filter(pa.array(np.isin(rows % SALTS, salts)))
        sites, numbers = matching.sites_of(piece)
        of_piece = piece.column("row").to_numpy()
        a, b = layout.plan.native.hot_links(
            matching.group_arrays(piece, layout, sites),
            matching.hot_entries(piece, numbers),
            (of_piece % SALTS).astype(np.uint32),
        )
        assert len(a) < piece.num_rows, "a forest"
        links += zip(of_piece[a].tolist(), of_piece[b].tolist(), strict=True)
    # Pairs of the other buckets are known before.
    sites, _ = matching.sites_of(batch)
    every = np.arange(60, dtype=np.uint32)
    limits = Limits(hot=HOT, accepted=10**9, possible=10**9)
    found = layout.plan.native.match(matching.group_arrays(batch, layout, sites), every, limits)
    whole = resolved(batch, layout)
    assert len(whole) > 1
    known = {
        (rule, a, b)
        for rule, pairs in enumerate(found)
        for a, b in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)
    }
    assert {pair[:3] for pair in whole} <= known
    edges = links + [(a, b) for _, a, b in known - {pair[:3] for pair in whole}]
    ends = np.array(edges, np.uint32)
    label = _native.components(60, np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]))
    assert len(set(label.tolist())) > 1, "several clusters"
    apart = [resolved(batch.filter(pa.array(label == cluster)), layout) for cluster in set(label.tolist())]
    assert set().union(*apart) == whole
