"""The tables a run gives back: pages, pairs, clusters; their schemas are a contract that both engines keep.

Pages and pairs are many, so their tables are made group by group as they are written or asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pyarrow as pa

from neardup.record import record

PAGES_OUT: Final = pa.schema(
    [
        pa.field("row", pa.uint64(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("url", pa.string()),
        pa.field("site", pa.string()),
        pa.field("title", pa.string()),
        pa.field("tokens", pa.int64(), nullable=False),
        pa.field("identity", pa.string(), nullable=False),
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("kept", pa.bool_(), nullable=False),
        pa.field("kept_instead", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("offset", pa.int64()),
        pa.field("length", pa.int64()),
    ]
)


PAIRS_OUT: Final = pa.schema(
    [
        pa.field("a", pa.string(), nullable=False),
        pa.field("b", pa.string(), nullable=False),
        pa.field("row_a", pa.uint64(), nullable=False),
        pa.field("row_b", pa.uint64(), nullable=False),
        pa.field("same_site", pa.bool_(), nullable=False),
        pa.field("score", pa.float64(), nullable=False),
        pa.field("b_similarity", pa.int32()),
        pa.field("c_similarity", pa.int32()),
        pa.field("jaccard", pa.float64()),
        pa.field("rule", pa.string(), nullable=False),
        pa.field("tree", pa.bool_(), nullable=False),
    ]
)


#: Pairs with pages of earlier runs: ``a`` is a page of ``run``, ``b`` one of this.
AGAINST_OUT: Final = pa.schema(
    [
        pa.field("a", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        *(PAIRS_OUT.field(name) for name in PAIRS_OUT.names if name not in ("a", "row_a", "tree")),
    ]
)


#: The pages of earlier runs in clusters that a page of this run is in; ``page`` and ``row`` are id and row in ``run``.
EARLIER_OUT: Final = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        pa.field("page", pa.string(), nullable=False),
        pa.field("row", pa.uint64(), nullable=False),
        *(PAGES_OUT.field(name) for name in ("site", "tokens", "identity", "cluster")),
    ]
)


@record(frozen=True, slots=True)
class Groups:
    """A table as groups of rows, which are made again for every use. Texts that repeat may stand in a
    group as a dictionary and places in it.

    >>> table = pa.table({"row": [7]})
    >>> groups = Groups(table.schema, lambda: iter([table]))
    >>> groups.table().to_pylist()
    [{'row': 7}]
    """

    schema: pa.Schema
    make: Callable[[], Iterator[pa.Table]]

    def __iter__(self) -> Iterator[pa.Table]:
        return self.make()

    def table(self) -> pa.Table:
        """All of it."""
        plain = (group.cast(self.schema) for group in self)
        return pa.concat_tables([self.schema.empty_table(), *plain]).combine_chunks()
