"""Tables and JSON as files that appear whole or not at all.

The same table gives the same bytes: the codec, its level and the row group size are fixed, and nothing that
varies (a time, a host) is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain
from typing import Any, Final

import pyarrow as pa

from neardup.writing import replacing

#: Rows of a row group: small enough to be read in pieces, large enough to compress.
ROW_GROUP_ROWS: Final = 1 << 17
_ZSTD_LEVEL: Final = 3
#: Columns whose values hardly repeat: a dictionary of them would be built in vain, and makes files larger.
_DISTINCT: Final = {"row", "row_a", "row_b", "offset", "id", "identity", "cluster"}


def write_groups(
    schema: pa.Schema, groups: Iterable[pa.Table], path: str | os.PathLike[str], *, ahead: bool = True
) -> None:
    """Writes a table that comes in groups of at most ``ROW_GROUP_ROWS`` rows as Parquet, a row group each.

    Texts may come with a dictionary, the same columns in every group; who reads the file finds texts. The same groups
    give the same bytes. Where memory is short, a group is not made ``ahead`` while the one before it is written.

    >>> import tempfile, pyarrow.parquet as pq
    >>> from pathlib import Path
    >>> groups = [pa.table({"row": [0, 1]}), pa.table({"row": [2]})]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_groups(groups[0].schema, groups, Path(folder, "pages.parquet"))
    ...     pq.read_table(Path(folder, "pages.parquet"))["row"].to_pylist()
    [0, 1, 2]
    """
    import pyarrow.parquet as pq

    options = {
        "compression": "zstd",
        "compression_level": _ZSTD_LEVEL,
        "version": "2.6",
        "write_statistics": True,
        # For readers that know nothing of the checksums in run.json (``sealed.py``).
        "write_page_checksum": True,
        "use_dictionary": [name for name in schema.names if name not in _DISTINCT],
    }
    with replacing(path) as file, closing(_ahead(groups) if ahead else (group for group in groups)) as made:
        first = next(made, None)
        if first is not None and first.schema != schema:
            # The dictionary is how the column is stored; of an Arrow schema in the file it would become its type.
            schema, options["store_schema"] = first.schema, False
        with pq.ParquetWriter(file, schema, **options) as writer:
            for group in chain([] if first is None else [first], made):
                # One chunk a column: pages of Parquet follow the table's values, not how it was put together.
                writer.write_table(group.combine_chunks(), row_group_size=ROW_GROUP_ROWS)
                del group
                if not ahead:
                    pa.default_memory_pool().release_unused()


def _ahead(groups: Iterable[pa.Table]) -> Generator[pa.Table]:
    """The groups, each made while the one before it is written."""
    left = iter(groups)
    with ThreadPoolExecutor(1, thread_name_prefix="neardup-groups") as maker:
        made = maker.submit(next, left, None)
        while (group := made.result()) is not None:
            made = maker.submit(next, left, None)
            yield group


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Writes a table as Parquet; the same table gives the same bytes.

    >>> import tempfile, pyarrow.parquet as pq
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"row": [0, 1]}), Path(folder, "pages.parquet"))
    ...     pq.read_table(Path(folder, "pages.parquet")).num_rows
    2
    """
    write_groups(table.schema, [table], path)


def write_json(value: Any, path: str | os.PathLike[str], indent: int | None = 2) -> None:
    """Writes a value as JSON, keys in the given order; indented, unless only programs read it and it may be long.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_json({"pages": 2}, Path(folder, "run.json"))
    ...     Path(folder, "run.json").read_text()
    '{\\n  "pages": 2\\n}\\n'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    with replacing(path) as file:
        file.write(text.encode("utf-8", "backslashreplace") + b"\n")
