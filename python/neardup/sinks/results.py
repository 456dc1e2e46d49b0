"""Files that appear whole or not at all: written under a temporary name, flushed to the disk, then renamed.

The same table gives the same bytes: the codec, its level and the row group size are fixed, and nothing that
varies (a time, a host) is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa

from neardup.errors import OutputError

#: Rows of a row group: small enough to be read in pieces, large enough to compress.
ROW_GROUP_ROWS: Final = 1 << 17
_ZSTD_LEVEL: Final = 3
#: Columns whose values hardly repeat: a dictionary of them would be built in vain, and makes files larger.
_DISTINCT: Final = {"row", "row_a", "row_b", "offset", "id", "identity", "cluster"}


@contextmanager
def replacing(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[IO[bytes]]:
    """A binary file to write to that takes its name only when the block ends well.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "a.txt")) as file:
    ...         before = file.write(b"hello") and os.listdir(folder)
    ...     before, os.listdir(folder)
    (['a.txt.tmp'], ['a.txt'])
    """
    target = Path(path)
    temporary = target.with_name(target.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, target)
        if durable:
            _sync_folder(target.parent)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise output_error(error, target) from error
        raise


def output_error(error: OSError, path: Path) -> OutputError:
    """An operating system's error in writing, as one of ours.

    >>> print(output_error(OSError(28, "No space left on device"), Path("out/pages.parquet")))
    cannot be written: No space left on device (out/pages.parquet): free some space, or name another folder
    """
    hints = {
        27: "allow longer files (ulimit -f), or name a folder on another file system",
        28: "free some space, or name another folder",
        122: "free some space, or name another folder",
        13: "check who may write there",
        30: "name another folder",
    }
    hint = hints.get(error.errno or 0, "check that the folder exists and may be written to")
    return OutputError(f"cannot be written: {error.strerror or error}", where=str(path), hint=hint)


def _sync_folder(folder: Path) -> None:
    """Makes a rename last; where folders cannot be opened (Windows) the system does it by itself."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_groups(
    schema: pa.Schema, groups: Iterable[pa.Table], path: str | os.PathLike[str], *, ahead: bool = True
) -> None:
    """Writes a table that comes in groups of at most ``ROW_GROUP_ROWS`` rows as Parquet, a row group each.

    Texts may come with a dictionary, the same columns in every group; who reads the file finds texts. The same groups
    give the same bytes. Where memory is short, a group is not made ``ahead`` while the one before it is written.

    >>> import tempfile, pyarrow.parquet as pq
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
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"row": [0, 1]}), Path(folder, "pages.parquet"))
    ...     pq.read_table(Path(folder, "pages.parquet")).num_rows
    2
    """
    write_groups(table.schema, [table], path)


def write_json(value: Any, path: str | os.PathLike[str], indent: int | None = 2) -> None:
    """Writes a value as JSON, keys in the given order; indented, unless only programs read it and it may be long.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_json({"pages": 2}, Path(folder, "run.json"))
    ...     Path(folder, "run.json").read_text()
    '{\\n  "pages": 2\\n}\\n'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    with replacing(path) as file:
        file.write(text.encode("utf-8", "backslashreplace") + b"\n")
