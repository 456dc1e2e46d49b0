"""The exact oracle: every pair of pages whose similarity reaches a threshold, by an all-pairs join without sketches.

Source: the prefix, length and positional filters of the PPJoin family (Xiao et al. 2008); see ``allpairs.rs``.
Parameters: ``k`` tokens a shingle, a threshold, and the measure: Jaccard, cosine or containment of shingle sets.
Cost: 8 bytes a shingle of every page in memory, a sort of all of them, and what their rare shingles have in common.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines import Progress, Settings, Silent
from neardup.engines.common.progress import Stopwatch, stages
from neardup.engines.local.reading import Collection, collect
from neardup.errors import NeardupError, UsageError
from neardup.evaluation.pages import exact_page
from neardup.methods.combinations import Exact
from neardup.methods.shingles import ShingleSet
from neardup.sinks import write_json, write_table
from neardup.sinks.folder import new_folder
from neardup.sources import InputSpec, Source
from neardup.workers import in_order

Measure = Literal["jaccard", "cosine", "containment"]
MEASURES: Final[tuple[str, ...]] = get_args(Measure)
#: More pairs than this are an error: where most pages are alike the answer grows with the square of them.
MOST_PAIRS: Final = 100_000_000
Rows = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class ExactPairs:
    """All pairs of distinct pages at or above a threshold; ``a`` < ``b`` are rows of first members of identity sets."""

    a: Rows
    b: Rows
    similarity: npt.NDArray[np.float64]
    #: For each page the first page with the same tokens.
    identity: Rows

    def table(self) -> pa.Table:
        """The pairs as a table."""
        rows = {"row_a": pa.array(self.a, pa.uint64()), "row_b": pa.array(self.b, pa.uint64())}
        return pa.table(rows | {"similarity": pa.array(self.similarity)})


def tokens_of(source: Source, settings: Settings | None = None, progress: Progress | None = None) -> Collection:
    """The pages of a source with their tokens, and nothing computed of them.

    >>> from neardup.sources.memory import texts
    >>> len(next(tokens_of(texts(["one two three"])).token_batches())[0])
    3
    """
    return collect(source, Exact(), replace(settings or Settings(), hold_tokens=True), progress or Silent())


def first_members(collection: Collection) -> Rows:
    """For each page the first page with the same tokens."""
    return _native.identity_sets(*collection.identity, collection.column("tokens").to_numpy() == 0)


def exact_pairs(
    source: Source | Collection,
    *,
    k: int = 5,
    threshold: float = 0.8,
    measure: Measure = "jaccard",
    settings: Settings | None = None,
    most: int = MOST_PAIRS,
    progress: Progress | None = None,
) -> ExactPairs:
    """All pairs of pages whose shingle sets are alike to ``threshold``; pages with the same tokens count once.

    Pages too short for a detector to compare (``min_tokens``) take no part, as in a run.

    >>> from neardup.sources.memory import texts
    >>> first = "one two three four five six seven eight nine ten eleven twelve"
    >>> found = exact_pairs(texts([first, "another text of eight words and some more", first + " end"]), k=2)
    >>> found.a.tolist(), found.b.tolist(), found.similarity.round(3).tolist()
    ([0], [2], [0.917])
    """
    settings = settings or Settings()
    if measure not in MEASURES:
        raise UsageError(f"unknown measure {measure!r}", hint=f"one of {', '.join(MEASURES)}")
    if k < 1 or not 0 < threshold <= 1:
        raise UsageError("k must be at least 1, and the threshold above 0 and at most 1")
    collection = source if isinstance(source, Collection) else tokens_of(source, settings, progress)
    identity = first_members(collection)
    lengths = collection.column("tokens").to_numpy()
    compared = (identity == np.arange(len(identity))) & (lengths >= settings.reading.min_tokens)
    sets = list(in_order(collection.chosen_tokens(compared), ShingleSet(k).compute, settings.workers))
    try:
        a, b, similarity = _native.all_pairs(
            sets, measure=measure, threshold=threshold, most=most, threads=settings.workers
        )
    except OverflowError as error:
        raise NeardupError(str(error), hint="raise the threshold, or look at a part of the collection") from None
    rows = np.flatnonzero(compared).astype(np.uint32)
    return ExactPairs(rows[a], rows[b], similarity, identity)


def write_exact_pairs(
    pages: InputSpec,
    out: str | os.PathLike[str],
    *,
    k: int = 5,
    threshold: float = 0.8,
    measure: Measure = "jaccard",
    settings: Settings | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    command: str | None = None,
) -> dict[str, Any]:
    """Joins the pages of files and writes the pairs into a folder; gives back what its ``run.json`` says.

    ``command`` is told as what does it again.
    """
    shown, settings = progress or Silent(), settings or Settings()
    watch = Stopwatch(shown)
    with new_folder(Path(out), overwrite) as folder, pages.open() as source:
        with watch.stage("reading", source.nbytes()):
            collection = tokens_of(source, settings, shown)
        with watch.stage("joining"):
            found = exact_pairs(collection, k=k, threshold=threshold, measure=measure, settings=settings)
        report = {
            "what": "exact pairs",
            "format": _native.FORMAT_VERSION,
            "input": pages.paths,
            "measure": measure,
            "k": k,
            "threshold": threshold,
            "pages": len(found.identity),
            "pairs": len(found.a),
            "settings": {"measure": measure, "k": k, "threshold": threshold, "reading": asdict(settings.reading)},
            "command": command,
            "stages": stages(watch.stages),
        }
        write_table(found.table(), folder / "pairs.parquet")
        exact_page(report, found.table()).write(folder / "report.html")
        write_json(report, folder / "run.json")
    return report
