"""What matching found, as clustering takes it and as a file: a run that is killed behind it need not match again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.engines.common.accepted import RuleCounts
from neardup.errors import FormatError
from neardup.methods.container import read_arrays, write_arrays
from neardup.record import record

Rows = npt.NDArray[np.uint32]

KIND: Final = "matches"


@record(frozen=True, slots=True)
class Matches:
    """Identity sets, units, and the accepted pairs between the units' first members, sorted by (a, b); a < b are
    rows."""

    #: All rows, the most preferred first.
    order: Rows
    #: For each page the first page with the same tokens.
    identity: Rows
    #: For each page the first page that counts as the same one to the detector; see ``neardup.graph.units``.
    unit: Rows
    a: Rows
    b: Rows
    score: npt.NDArray[np.float64]
    same_site: npt.NDArray[np.bool_]
    b_similarity: npt.NDArray[np.uint32] | None
    c_similarity: npt.NDArray[np.uint32] | None
    jaccard: npt.NDArray[np.float64] | None
    #: Which rule accepted each pair, as a place in ``rules``.
    rule: npt.NDArray[np.int8]
    rules: list[RuleCounts]
    #: Pages of which two may have an accepted pair that is not among the pairs, if there are any.
    crowded: npt.NDArray[np.bool_] | None = None

    def save(self, path: str | os.PathLike[str], made_of: Mapping[str, Any]) -> None:
        """Writes them to a file, with what they were made of."""
        about = {"of": dict(made_of), "rules": [asdict(counts) for counts in self.rules]}
        columns = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "rules"}
        write_arrays(path, KIND, about, {name: values for name, values in columns.items() if values is not None})

    @staticmethod
    def load(path: str | os.PathLike[str], made_of: Mapping[str, Any]) -> Matches:
        """Matches from a file, mapped; a ``FormatError`` if it is damaged, or they were made of something else.

        >>> import tempfile
        >>> none = {name: None for name in ("b_similarity", "c_similarity", "jaccard")}
        >>> rows, one = np.array([0, 1], np.uint32), np.array([1], np.uint32)
        >>> found = Matches(
        ...     order=rows, identity=rows, unit=rows, a=one - 1, b=one, score=np.array([0.9]),
        ...     same_site=np.array([True]), rule=np.array([0], np.int8),
        ...     rules=[RuleCounts("exact", 1, 1, 2, 0, 0, None)], **none)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(f"{folder}/matches", {"hot": 20_000})
        ...     again = Matches.load(f"{folder}/matches", {"hot": 20_000})
        >>> again.score.tolist(), again.jaccard, again.rules == found.rules
        ([0.9], None, True)
        """
        about, arrays = read_arrays(path, KIND)
        if about.get("of") != dict(made_of):
            raise FormatError("the matches were made of something else", where=os.fspath(path), hint="make them again")
        try:
            rules = [RuleCounts(**counts) for counts in about["rules"]]
            columns: dict[str, Any] = dict.fromkeys(("b_similarity", "c_similarity", "jaccard")) | arrays
            return Matches(**columns, rules=rules)
        except (KeyError, TypeError):
            raise FormatError("the matches are damaged", where=os.fspath(path), hint="make them again") from None
