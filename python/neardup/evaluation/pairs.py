"""``evaluate pairs``: detectors against judged pairs, from pages and a list to a folder of scores, tables and plots."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines import Settings
from neardup.engines.common.progress import Silent, Stopwatch, stages
from neardup.evaluation import henzinger
from neardup.evaluation.henzinger import LARGE_DIFFERENCE, Measured
from neardup.evaluation.judged import LABELS, Judged
from neardup.evaluation.measures import quality, roc
from neardup.evaluation.pages import pairs_page, write_figures
from neardup.evaluation.plots import Line, Plot, require_plots
from neardup.evaluation.scoring import PagePairs, Scores, rows_of
from neardup.methods import Detector, parse
from neardup.methods.default import compared_detectors
from neardup.sinks import write_json, write_table
from neardup.sinks.folder import new_folder
from neardup.sources import InputSpec
from neardup.text import Reading, read


@dataclass(frozen=True)
class PairEvaluation:
    """What was found: scores a pair, and the tables of each detector."""

    judged: Judged
    measured: Measured
    scores: dict[str, Scores]
    jaccard: npt.NDArray[np.float64]
    #: Which pairs the tables and measures count: those of pages that differ, or all.
    counted: npt.NDArray[np.bool_]
    identical: npt.NDArray[np.bool_]
    #: Why a pair is not compared, where it is not.
    not_compared: list[str | None]
    #: As ``run.json`` tells it.
    report: dict[str, Any]

    def scores_table(self) -> pa.Table:
        """One row a pair in the order of the input, one column a detector; null where the two are not compared."""
        names = pa.array([LABELS[place] for place in self.judged.label.tolist()])
        columns = {"a": pa.array(self.judged.a), "b": pa.array(self.judged.b), "label": names}
        return pa.table(
            columns | {name: pa.array(scores.score, mask=self._missing) for name, scores in self.scores.items()}
        )

    @property
    def _missing(self) -> npt.NDArray[np.bool_]:
        """Pairs that are not compared."""
        return np.array([why is not None for why in self.not_compared], bool)

    def pairs_table(self) -> pa.Table:
        """What else is known of each pair, and whether each detector accepts it (``accepts …``)."""
        columns = {
            "a": pa.array(self.judged.a),
            "b": pa.array(self.judged.b),
            "reason": pa.array(self.judged.reason, pa.string()),
            "query": pa.array(self.judged.query, pa.string()),
            "same_site": pa.array(self.measured.same_site),
            "b_similarity": pa.array(self.measured.b_similarity, mask=self._missing),
            "c_similarity": pa.array(self.measured.c_similarity, mask=self._missing),
            "jaccard": pa.array(self.jaccard),
            "term_difference": pa.array(self.measured.term_difference),
            "identical": pa.array(self.identical),
            "not_compared": pa.array(self.not_compared, pa.string()),
        }
        if self.judged.weights is not None:
            columns["weight"] = pa.array(self.judged.weights)
        return pa.table(columns | {f"accepts {name}": pa.array(s.accepted) for name, s in self.scores.items()})


def evaluate_pairs(
    pages: InputSpec,
    judged: Judged,
    detectors: Sequence[str | Detector] = (),
    *,
    settings: Settings | None = None,
    resamples: int = 500,
    seed: int = 0,
    count_identical: bool = False,
) -> PairEvaluation:
    """Scores judged pairs with every detector, the usual ones unless some are named, and draws up the tables. Pairs of
    pages with the same tokens are left out of measures and tables, as in the paper, which takes such pages for one;
    unless ``count_identical``.

    >>> import json, tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> text = "one two three four five six seven eight nine ten eleven twelve "
    >>> lines = [{"id": "x", "text": text * 3}, {"id": "y", "text": text * 3 + "end"}, {"id": "z", "text": text[:50]}]
    >>> _ = (folder / "p.jsonl").write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> judged = Judged(["x", "x"], ["y", "z"], np.array([0, 1], np.int8))
    >>> found = evaluate_pairs(InputSpec([str(folder / "p.jsonl")]), judged, ["minhash"], resamples=20)
    >>> found.report["detectors"]["minhash"]["quality"]["f"]["estimate"]
    1.0
    """
    chosen = {str(detector): detector for detector in map(parse, detectors or compared_detectors())}
    where = ", ".join(pages.paths)

    def rows(collection: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        return rows_of(collection, judged.a, where), rows_of(collection, judged.b, where)

    watch = Stopwatch(Silent())
    with watch.stage("reading"):
        asked = PagePairs.of(pages.open, rows, settings)
    with watch.stage("measuring"):
        measured, jaccard = _measured(asked, judged), asked.jaccard()
    with watch.stage("scoring"):
        scores = {name: asked.score(detector) for name, detector in chosen.items()}
    identical, not_compared = asked.identical(), asked.not_compared()
    counted = np.ones(len(judged), bool) if count_identical else ~identical
    with watch.stage("tables"):
        of_counted = {name: one.select(counted) for name, one in scores.items()}
        tables = _tables(measured.select(counted), of_counted, resamples, seed)
    about = {
        "what": "judged pairs",
        "format": _native.FORMAT_VERSION,
        "pages": pages.paths,
        "identical": {"pairs": int(identical.sum()), "counted": count_identical},
        "not compared": dict(Counter(why for why in not_compared if why)),
        "weighted": judged.weights is not None,
    }
    about |= tables | {
        "settings": {
            "pages": pages.paths,
            "detectors": list(scores),
            "resamples": resamples,
            "seed": seed,
            "count_identical": count_identical,
            "reading": asdict(asked.settings.reading),
        },
        "stages": stages(watch.stages),
    }
    return PairEvaluation(judged, measured, scores, jaccard, counted, identical, not_compared, about)


def _tables(measured: Measured, scores: dict[str, Scores], resamples: int, seed: int) -> dict[str, Any]:
    judged = measured.judged
    by_detector = {
        name: {
            "quality": quality(judged, one.score, one.accepted, resamples=resamples, seed=seed),
            "returned": henzinger.returned(measured, one),
            "reasons of correct": henzinger.reasons(measured, one.accepted, "correct"),
            "reasons of undecided": henzinger.reasons(measured, one.accepted, "undecided"),
            "term differences": henzinger.term_differences(measured, one.accepted),
            "threshold by halves": henzinger.half_and_half(measured, one.score, seed),
        }
        for name, one in scores.items()
    }
    return {
        "pairs": len(judged),
        "labels": {name: int(judged.is_label(name).sum()) for name in LABELS},
        "same_site": int(measured.same_site.sum()),
        "detectors": by_detector,
        "B against C": henzinger.correlation(measured),
        "combined threshold": henzinger.combined_threshold(measured, seed),
    }


def _measured(asked: PagePairs, judged: Judged) -> Measured:
    difference = asked.term_difference()
    text_difference = np.full(len(difference), -1, np.int64)
    large = np.flatnonzero(difference > LARGE_DIFFERENCE)
    if len(large):
        text_difference[large] = _without_images(asked, large)
    return Measured(judged, asked.same_site(), asked.b_similarity(), asked.c_similarity(), difference, text_difference)


def _without_images(asked: PagePairs, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Term differences of some pairs, their pages read again with all images taken out."""
    wanted = np.unique(asked.rows[np.concatenate([asked.a[pairs], asked.b[pairs]])])
    parts, start = [], 0
    with asked.source() as source:
        for chunk in source.chunks():
            pages = chunk.load().pages
            low, high = np.searchsorted(wanted, [start, start + pages.num_rows])
            if high > low:
                parts.append(_imageless(pages.take(pa.array(wanted[low:high] - start)), asked.settings.reading))
            start += pages.num_rows
    sides = (np.searchsorted(wanted, asked.rows[side[pairs]]).astype(np.uint32) for side in (asked.a, asked.b))
    return _native.term_difference(pa.concat_arrays(parts), *sides).astype(np.int64)


_IMAGE: Final = re.compile(rb"<(?=img[\s/>])", re.IGNORECASE)


def _imageless(pages: pa.RecordBatch, reading: Reading) -> pa.LargeListArray:
    """An image under another name is an unknown element: white space, as it was, and no term."""
    content = [_IMAGE.sub(b"<x-", page) for page in pages.column("content").to_pylist()]
    at = pages.schema.get_field_index("content")
    return read(pages.set_column(at, pages.schema.field(at), pa.array(content, pa.large_binary())), reading).tokens


def write_evaluation(
    found: PairEvaluation, out: str | os.PathLike[str], *, overwrite: bool = False, command: str | None = None
) -> Path:
    """Writes scores, measures, tables and plots into a folder that appears whole or not at all. ``command`` is told as
    what does it again.
    """
    require_plots()
    report = found.report | {"command": command}
    with new_folder(Path(out), overwrite) as folder:
        write_table(found.scores_table(), folder / "scores.parquet")
        write_table(found.pairs_table(), folder / "pairs.parquet")
        drawn = plots(found)
        write_figures(drawn, folder)
        pairs_page(report, drawn).write(folder / "report.html")
        write_json(report, folder / "run.json")
    return Path(out)


def plots(found: PairEvaluation) -> dict[str, Plot]:
    """ROC curves, term differences (Figs. 2, 4), B against C (Fig. 5), thresholds (Figs. 6, 7)."""
    curves = []
    judged = found.judged.select(found.counted)
    for name, scores in found.scores.items():
        false, true, _ = roc(judged, scores.select(found.counted).score)
        curves.append(Line(name, false.tolist(), true.tolist()))
    drawn = {"roc": Plot("ROC", "incorrect pairs accepted", "correct pairs accepted", curves)}
    lines = []
    for name in found.scores:
        histogram = found.report["detectors"][name]["term differences"].get("histogram", {})
        if histogram:
            lines.append(Line(name, [int(value) for value in histogram], list(histogram.values()), marks=True))
    if lines:
        drawn["term_differences"] = Plot("Term differences of returned pairs", "term difference", "pairs", lines)
    figure = found.report["B against C"]["C-similarities by B-similarity"]
    lines = [
        Line(f"B-similarity {value}", [int(level) for level in levels], _shares(levels), marks=True)
        for value, levels in figure.items()
        if levels
    ]
    if lines:
        drawn["b_against_c"] = Plot("C-similarity at fixed B-similarity", "C-similarity", "share of pairs", lines)
    threshold = found.report["combined threshold"]
    if threshold:
        rows = [row for row in threshold["curve"] if row["precision"] is not None and row["R"] is not None]
        at, precision, kept = (
            [row["threshold"] for row in rows],
            [row["precision"] for row in rows],
            [row["R"] for row in rows],
        )
        by_threshold = [Line("precision", at, precision), Line("R", at, kept)]
        drawn["threshold"] = Plot("Combined: precision and R by threshold", "least C-similarity", "share", by_threshold)
        against = [Line("", kept, precision, marks=True)]
        drawn["precision_against_r"] = Plot("Combined: precision against R", "R", "precision", against)
    return drawn


def _shares(levels: dict[str, int]) -> list[float]:
    total = sum(levels.values())
    return [count / total for count in levels.values()]
