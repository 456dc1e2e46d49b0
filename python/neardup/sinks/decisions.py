"""What a run decided of each page, taken in the order of the pages while the inputs are read again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from neardup.errors import OutputError

#: What is added to each page, in this order.
_FIELDS: list[pa.Field[Any]] = [
    pa.field("neardup_identity", pa.string()),
    pa.field("neardup_cluster", pa.string()),
    pa.field("neardup_kept", pa.bool_()),
    pa.field("neardup_kept_instead", pa.string()),
    pa.field("neardup_reason", pa.string()),
]
ADDED: Final = pa.schema(_FIELDS)

#: Rows that are turned into decisions at a time where they are taken one by one.
_NEAR: Final = 4096


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of one page; the fields are those of ``ADDED``, without their prefix."""

    identity: str | None
    cluster: str | None
    kept: bool
    kept_instead: str | None
    reason: str | None

    def added(self) -> dict[str, Any]:
        """The fields to add to the page.

        >>> Decision("a", "a", True, None, None).added()["neardup_kept"]
        True
        """
        return {name: getattr(self, name.removeprefix("neardup_")) for name in ADDED.names}

    def texts(self) -> list[str]:
        """The same as texts: true and false, and nothing for what is absent.

        >>> Decision("a", None, False, "b", "exact").texts()
        ['a', '', 'false', 'b', 'exact']
        """
        values = self.added().values()
        return ["" if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values]


class Decisions:
    """The rows of a table with ``Decision``'s columns, one a page, in order; and where each page is stored, if there is
    a column ``offset``.

    >>> table = pa.table({"identity": ["a"], "cluster": ["a"], "kept": [True], "kept_instead": [None],
    ...                   "reason": [None]})
    >>> Decisions(table).take(1)[0].kept
    True
    """

    def __init__(self, table: pa.Table) -> None:
        self._columns = table.select([name.removeprefix("neardup_") for name in ADDED.names])
        self._offsets = table.column("offset") if "offset" in table.column_names else None
        self._at = 0
        #: The next rows, from the row ``_near_from`` on: one by one is dear.
        self._near: list[Decision] = []
        self._near_offsets: list[int | None] = []
        self._near_from = 0

    def take(self, count: int) -> list[Decision]:
        """The decisions of the next pages."""
        return [Decision(**row) for row in self._next(count).to_pylist()]

    def take_kept(self, count: int) -> list[bool]:
        """Of the next pages no more than whether they stay."""
        kept: list[bool] = self._next(count).column("kept").to_pylist()
        return kept

    def take_one(self) -> Decision:
        """The decision of the next page."""
        self._look()
        self._at += 1
        return self._near[self._at - 1 - self._near_from]

    def offset(self) -> int | None:
        """Where the next page is stored, if that is known and there is one."""
        if self._at == self._columns.num_rows or self._offsets is None:
            return None
        self._look()
        return self._near_offsets[self._at - self._near_from]

    def _look(self) -> None:
        if not self._near_from <= self._at < self._near_from + len(self._near):
            self._near_from = self._at
            self._near = self.take(max(1, min(_NEAR, self._columns.num_rows - self._at)))
            self._at = self._near_from
            if self._offsets is not None:
                self._near_offsets = self._offsets.slice(self._at, len(self._near)).to_pylist()

    def _next(self, count: int) -> pa.Table:
        if self._at + count > self._columns.num_rows:
            raise self._changed()
        self._at += count
        return self._columns.slice(self._at - count, count)

    def finish(self) -> None:
        """Raises ``OutputError`` unless every decision was taken."""
        if self._at != self._columns.num_rows:
            raise self._changed()

    def _changed(self) -> OutputError:
        return OutputError(
            f"the inputs do not give the {self._columns.num_rows} pages that they gave before",
            hint="they were changed while neardup ran: run it again",
        )
