"""Whatever holds rows: a list, a table of any library, a dataset; and rows chosen out of it by their number.

The answer is of the same kind, and nothing is matched by an index, a key or an id: a frame that was sorted or joined
first has another index than its rows have places.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import UsageError
from neardup.several import check_several

Rows = TypeVar("Rows")


def rows_where(rows: Rows, wanted: npt.NDArray[np.bool_]) -> Rows:
    """The rows whose flag is set, in their order.

    >>> rows_where(["a", "b", "c"], np.array([True, False, True]))
    ['a', 'c']
    >>> rows_where(["a", "b"], np.array([True, False, True]))
    Traceback (most recent call last):
    neardup.errors.UsageError: 2 rows were given, and the result is of 3 pages: give the rows that it is of, in order
    """
    check_several(rows)
    library = {kind.__module__.partition(".")[0] for kind in type(rows).__mro__}
    table: Any = rows
    if library & {"duckdb", "_duckdb"}:
        relation: Rows = _of_relation(table, wanted)
        return relation
    if not isinstance(rows, Sized):
        raise UsageError(
            f"rows cannot be chosen from a {type(rows).__name__}",
            hint="give a list, a table or a dataset that has a length",
        )
    _check_length(len(rows), wanted)
    chosen: Any
    if isinstance(rows, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
        chosen = table.filter(pa.array(wanted))
    elif hasattr(rows, "iloc"):
        chosen = table.iloc[np.flatnonzero(wanted)]
    elif "datasets" in library:
        chosen = table.select(np.flatnonzero(wanted))
    elif "polars" in library:
        chosen = table.filter(pa.array(wanted).to_pylist())
    elif isinstance(rows, np.ndarray):
        chosen = rows[wanted]
    elif isinstance(rows, list | tuple):
        chosen = type(rows)(row for row, flag in zip(rows, wanted.tolist(), strict=True) if flag)
    else:
        raise UsageError(f"rows cannot be chosen from a {type(rows).__name__}", hint="give a list or a table")
    return chosen  # type: ignore[no-any-return]


def _check_length(count: int, wanted: npt.NDArray[np.bool_]) -> None:
    if count != len(wanted):
        raise UsageError(
            f"{count:,} rows were given, and the result is of {len(wanted):,} pages",
            hint="give the rows that it is of, in order",
        )


def _of_relation(relation: Any, wanted: npt.NDArray[np.bool_]) -> Any:
    """As a relation on the same connection. It is read once: run twice, a query may give its rows in another order."""
    table = pa.table(relation)
    _check_length(table.num_rows, wanted)
    neardup_rows = table.filter(pa.array(wanted))  # noqa: F841  (DuckDB finds it by its name)
    return relation.query("neardup_relation", "SELECT * FROM neardup_rows")
