"""Texts of pages in CSV files that people open in a spreadsheet.

A cell that begins with ``=``, ``+``, ``-`` or ``@``, or with a tab or a line end, may be a formula there, and ids, URLs
and queries come from the web. Such a text gets an apostrophe in front, which spreadsheets take for "this is text". So
does one that has apostrophes before such a character: what is read back is what was written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from neardup.lazy import later

if TYPE_CHECKING:
    from typing import IO

pc = later("pyarrow.compute")

_ESCAPED: Final = re.compile(r"'*[=+\-@\t\r\n]")
_PATTERN: Final = r"^('*[=+\-@\t\r\n])"


def as_text(value: str) -> str:
    """The text as a cell that is no formula.

    >>> as_text("=HYPERLINK(1)"), as_text("-5"), as_text("page-5"), as_text("'=x")
    ("'=HYPERLINK(1)", "'-5", 'page-5', "''=x")
    """
    return f"'{value}" if _ESCAPED.match(value) else value


def from_text(value: str) -> str:
    """What such a cell was.

    >>> [from_text(as_text(value)) for value in ("=1", "'=1", "x", "'x", "''")]
    ['=1', "'=1", 'x', "'x", "''"]
    """
    return value[1:] if value.startswith("'") and _ESCAPED.match(value) else value


def write_csv(table: pa.Table, file: IO[bytes], delimiter: str = ",") -> None:
    """Writes a table as CSV whose texts are no formulas; numbers are as they are.

    >>> import io
    >>> file = io.BytesIO()
    >>> write_csv(pa.table({"id": ["=1", "a"], "score": [-1, 2]}), file)
    >>> file.getvalue().decode().splitlines()
    ['"id","score"', '"\\'=1",-1', '"a",2']
    """
    import pyarrow.csv

    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            table = table.set_column(at, field, pc.replace_substring_regex(table.column(at), _PATTERN, r"'\1"))
    pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(delimiter=delimiter))
