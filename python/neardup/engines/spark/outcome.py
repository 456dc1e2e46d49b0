"""What a run of the Spark engine gives: frames, while its working folder is there, or a result folder of parts."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.common.earlier import FILE, STATISTICS
from neardup.engines.common.tables import AGAINST_OUT, EARLIER_OUT, PAGES_OUT, PAIRS_OUT
from neardup.engines.spark.working import Working
from neardup.graph.clusters import CLUSTERS
from neardup.methods.statistics import CollectionStatistics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The tables of a result.
TABLES = ("pages.parquet", "pairs.parquet", "clusters.parquet")


@dataclass
class SparkOutcome:
    """What a run found, as frames; they are there until ``close``.

    ``pages``, ``pairs`` and ``clusters`` have the columns of the local engine's tables, ``report`` is what ``run.json``
    says.
    """

    pages: DataFrame
    pairs: DataFrame
    clusters: DataFrame
    report: dict[str, Any]
    working: Working
    #: Pairs with pages of earlier runs, where the run was against such.
    against: DataFrame | None = None
    #: These pages of earlier runs.
    earlier: DataFrame | None = None
    #: What fingerprints were computed with, where the detector needs statistics.
    statistics: CollectionStatistics | None = None

    def to_arrow(self) -> dict[str, pa.Table]:
        """The tables, brought here, as the local engine has them."""
        wanted = [("pages", PAGES_OUT, ["row"]), ("pairs", PAIRS_OUT, ["row_a", "row_b"]), ("clusters", CLUSTERS, [])]
        if self.against is not None:
            wanted += [("against", AGAINST_OUT, ["row_b", "a"]), ("earlier", EARLIER_OUT, ["place"])]
        tables: dict[str, pa.Table] = {}
        for name, schema, order in wanted:
            frame = getattr(self, name)
            frame = frame.orderBy(*order) if order else frame
            tables[name] = frame.toArrow().select(schema.names).cast(schema)
        # In the order of their first pages, whose rows this table does not have; those of earlier runs come first.
        first = [tables[name].column("id") for name in ("earlier", "pages") if name in tables]
        names = pa.chunked_array([chunk for column in first for chunk in column.chunks], pa.string())
        places = pc.index_in(tables["clusters"].column("cluster"), value_set=names.combine_chunks())
        tables["clusters"] = tables["clusters"].take(pc.sort_indices(places))
        return tables

    def move_to(self, folder: Path) -> None:
        """Moves the tables to a folder, each a folder of parts in order."""
        for name in (*TABLES, "against.parquet", "earlier.parquet", FILE):
            if not self.working.has(name):
                continue
            made = Path(self.working.path(name))
            for other in [*made.glob(".*.crc"), made / "_SUCCESS"]:
                other.unlink(missing_ok=True)
            shutil.move(made, folder / name)
        if self.statistics is not None:
            self.statistics.save(folder / STATISTICS)

    def close(self) -> None:
        """Removes the working folder and the tables in it."""
        self.working.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
