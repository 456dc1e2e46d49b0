"""The columns of a run as Spark declares them; which they are, ``neardup.engines.common.layout`` says.

A number without a sign has no type there, so all are declared as signed, and what is wider as bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from neardup.engines.common.layout import Layout
from neardup.methods import Statistical

#: What is kept of a page as it was read, beside fingerprints.
PAGE: Final = (
    "part int, position bigint, told string, id string, url string, source string, record bigint, `offset` bigint, "
    "length bigint, title string, site string, tokens bigint, identity binary, preference bigint"
)


#: Key columns are numbered over all rules: rule × this + column.
COLUMNS_A_RULE: Final = 8192


def fingerprint_columns(layout: Layout, late: bool) -> list[str]:
    """The declared columns of fingerprints that wait for statistics, or of those that do not."""
    declared = []
    for at, kind in enumerate(layout.kinds):
        if isinstance(kind, Statistical) == late:
            if kind in layout.sets:
                declared += [f"n{at} int", f"p{at} binary", f"s{at} binary"]
            if kind in layout.fixed:
                declared.append(f"f{at} binary")
    return declared


def page_columns(layout: Layout) -> str:
    """The declared columns of pages as they are read."""
    declared = [PAGE, *fingerprint_columns(layout, late=False)]
    if layout.detector.counted():
        # Tokens, or streams of content with what names the page.
        declared.append("t binary, label bigint, address bigint" if layout.detector.counts_blocks() else "t binary")
    if layout.settings.keep == "most-linked":
        declared.append("own_url bigint, links binary")
    return ", ".join(declared)


def names_of(declared: Sequence[str]) -> list[str]:
    """The names of declared columns.

    >>> names_of(["f0 binary", "n1 int"])
    ['f0', 'n1']
    """
    return [column.split()[0] for column in declared]
