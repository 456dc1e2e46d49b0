"""Why a page is kept or removed: the reasons, and which of them is given where several hold.

What holds is asked in one order whatever the engine: the conditions are arrays of NumPy in the local engine and
columns of Spark, and both know ``~``, ``&`` and ``<``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.record import record

#: Why a page stays or goes, in the column ``reason``.
REASONS: Final = {
    "unique": "stays: nothing like it was found",
    "chosen": "stays: the keep policy prefers it to the pages removed for it",
    "apart": "stays: in a cluster, but accepted against no page that stays",
    "empty": "stays: it has no tokens, and empty pages never match",
    "short": "stays: too few tokens to be compared, and none identical before it",
    "identical": "goes: the same tokens as the page kept instead",
    "near-duplicate": "goes: accepted against the page kept instead",
    "rejected": "stays: a person said that its cluster is none",
    "seen-identical": "goes: the same tokens as the page kept instead, which is of an earlier run",
    "seen-near-duplicate": "goes: accepted against the page kept instead, which is of an earlier run",
    "earlier": "stays: a page that an earlier run kept, shown beside those of this run; in no `pages.parquet`",
}


@record(frozen=True, slots=True)
class Conditions:
    """What is known of pages: arrays, or columns of Spark, of whether it holds for each."""

    #: The page is removed, and what is kept instead is of an earlier run.
    removed: Any
    seen: Any
    #: It has the tokens of the page kept instead.
    identical: Any
    #: It has no tokens; it has fewer than are compared.
    empty: Any
    short: Any
    #: Other pages were removed for it.
    preferred: Any
    #: Its cluster has other pages.
    clustered: Any

    def by_precedence(self) -> dict[str, Any]:
        """When each reason is given, unless one in front of it is; where none is, a page is unique."""
        return {
            "seen-identical": self.removed & self.seen & self.identical,
            "seen-near-duplicate": self.removed & self.seen,
            "identical": self.removed & self.identical,
            "near-duplicate": self.removed,
            "empty": self.empty,
            "chosen": self.preferred,
            "short": self.short,
            "apart": self.clustered,
        }


def page_reasons(
    kept: npt.NDArray[np.bool_],
    instead: npt.NDArray[np.uint32],
    identical: npt.NDArray[np.bool_],
    cluster: npt.NDArray[np.uint32],
    tokens: npt.NDArray[np.int64],
    min_tokens: int,
    seen: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int8]:
    """For each page the place of its reason in ``REASONS``; ``seen``: what is kept instead is of an earlier run.

    >>> kept, instead = np.array([True, False, True]), np.array([0, 0, 2], np.uint32)
    >>> none = np.zeros(3, bool)
    >>> places = page_reasons(kept, instead, none, np.array([0, 0, 2]), np.array([9, 9, 0]), 3, none)
    >>> [list(REASONS)[place] for place in places]
    ['chosen', 'near-duplicate', 'empty']
    """
    conditions = Conditions(
        removed=~kept,
        seen=seen,
        identical=identical,
        empty=tokens == 0,
        short=tokens < min_tokens,
        preferred=kept & (np.bincount(instead, minlength=len(kept)) > 1),
        clustered=np.bincount(cluster, minlength=len(kept))[cluster] > 1,
    ).by_precedence()
    names = list(REASONS)
    places = [np.int8(names.index(name)) for name in conditions]
    return np.select(list(conditions.values()), places, default=np.int8(names.index("unique")))
