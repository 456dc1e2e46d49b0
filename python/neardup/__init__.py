"""neardup finds near-duplicate web pages and documents, says why, and keeps the right one.

>>> import neardup
>>> result = neardup.find_duplicates(["one and the same short text of nine words here"] * 2)
>>> result.pages["kept"].to_pylist()
[True, False]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.lazy import lazy
from neardup.version import VERSION as __version__

if TYPE_CHECKING:
    from neardup.engines import Settings
    from neardup.index import Index
    from neardup.job import dedup, find_duplicates, statistics_of
    from neardup.methods import Detector, parse, plan_bands
    from neardup.report.explain import explain
    from neardup.results import Result, open_result
    from neardup.sources import Fields
    from neardup.text import Reading, terms

# What is heavy is imported when it is first asked for, so that `neardup --version` answers at once.
_HOMES = {
    "Detector": "neardup.methods",
    "Fields": "neardup.sources",
    "Index": "neardup.index",
    "Reading": "neardup.text",
    "Result": "neardup.results",
    "Settings": "neardup.engines",
    "dedup": "neardup.job",
    "explain": "neardup.report.explain",
    "find_duplicates": "neardup.job",
    "open_result": "neardup.results",
    "parse": "neardup.methods",
    "plan_bands": "neardup.methods",
    "statistics_of": "neardup.job",
    "terms": "neardup.text",
}

__all__ = [
    "Detector",
    "Fields",
    "Index",
    "Reading",
    "Result",
    "Settings",
    "__version__",
    "dedup",
    "explain",
    "find_duplicates",
    "open_result",
    "parse",
    "plan_bands",
    "statistics_of",
    "terms",
]


__getattr__ = lazy(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
