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
    """The rows of a table with ``Decision``'s columns, one a page, in order.

    >>> table = pa.table({"identity": ["a"], "cluster": ["a"], "kept": [True], "kept_instead": [None],
    ...                   "reason": [None]})
    >>> Decisions(table).take(1)[0].kept
    True
    """

    def __init__(self, table: pa.Table) -> None:
        self._columns = table.select([name.removeprefix("neardup_") for name in ADDED.names])
        self._at = 0

    def take(self, count: int) -> list[Decision]:
        """The decisions of the next pages."""
        if self._at + count > self._columns.num_rows:
            raise self._changed()
        rows = self._columns.slice(self._at, count).to_pylist()
        self._at += count
        return [Decision(**row) for row in rows]

    def finish(self) -> None:
        """Raises ``OutputError`` unless every decision was taken."""
        if self._at != self._columns.num_rows:
            raise self._changed()

    def _changed(self) -> OutputError:
        return OutputError(
            f"the inputs do not give the {self._columns.num_rows} pages that they gave before",
            hint="they were changed while neardup ran: run it again",
        )
