"""A result folder laid out as the Spark engine leaves it, made of one of the local engine, without Spark.

Each table is a folder of parts, one of them without rows; numbers are signed, every column may be null, texts have no
dictionary, ``earlier.parquet`` has the ``place`` it is sorted by. ``tests/spark`` holds real ones against the same
tests.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.sinks.sealed import read_run, seal

_PARTS = 3


def as_spark_leaves_it(folder: Path, copy: Path) -> Path:
    """The copy; without texts, which the Spark engine does not store."""
    copy.mkdir(parents=True)
    for path in sorted(folder.glob("*.parquet")):
        if path.name in ("texts.parquet", "skipped.parquet"):
            continue
        table = pq.read_table(path)
        if path.name == "earlier.parquet":
            place = np.arange(-table.num_rows, 0, dtype=np.int64)
            table = table.append_column("place", pa.array(place))
        fields = [pa.field(one.name, pa.int64() if one.type == pa.uint64() else one.type) for one in table.schema]
        table = table.cast(pa.schema(fields))
        (copy / path.name).mkdir()
        size = -(-table.num_rows // _PARTS) or 1
        for at in range(_PARTS + 1):
            name = f"part-{at:05}-2f0c1d7e-5b0a-4d53-9f5e-0b9f1c6f3a11-c000.snappy.parquet"
            part = table.slice(at * size, size) if at < _PARTS else table.slice(0, 0)
            pq.write_table(part, copy / path.name / name, compression="snappy", use_dictionary=False)
    for name in ("collection.statistics", "report.html"):
        if (folder / name).exists():
            shutil.copyfile(folder / name, copy / name)
    report = read_run(folder)
    seal(copy, report | {"engine": "spark", "spark": {"version": "4.0.0", "salted": {"groups": 0, "tasks": 0}}})
    return copy
