"""``evaluate curves``: precision and recall over similarity on a revision corpus (Potthast and Stein 2008, §3).

Each article's first revision is compared with its others and with the next article's first. The reference is the cosine
of the two in the vector space model, by tf and by tf-idf. For each threshold the pairs at or above it are the true
ones, and a method's accepted pairs are held against them: precision and recall over similarity (Fig. 3). Beside that,
measured: construction and retrieval time (seconds of processor time, all threads), fingerprint and index size (Table
2), and the corpus's similarity distribution (Fig. 2).

Methods whose fingerprints come from tokens alone are computed from tokens read once; others are run over the corpus,
and their construction is what reading took longer than without them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines import Progress, Settings, Silent, run
from neardup.engines.common.accepted import AcceptedPairs
from neardup.engines.common.page_columns import TOKENS, at_once, fingerprint_columns
from neardup.engines.common.progress import Stopwatch, stages
from neardup.engines.common.tally import Tally
from neardup.engines.local.identity import units_of
from neardup.engines.local.matching import match
from neardup.engines.local.reading import Collection
from neardup.engines.local.scratch import Part
from neardup.engines.local.statistics import prepare
from neardup.engines.local.store import PartStore
from neardup.evaluation.oracle import first_members, tokens_of
from neardup.evaluation.pages import curves_page, write_figures
from neardup.evaluation.plots import Line, Plot, require_plots
from neardup.evaluation.revisions import RevisionPairs, revision_pairs
from neardup.evaluation.scoring import check_all_pairs
from neardup.methods import Detector, detectors, parse
from neardup.plan import Given, Plan, beyond_tokens
from neardup.sinks import write_json, write_table
from neardup.sinks.folder import new_folder
from neardup.sources import Source

REFERENCES: Final = ("tf", "tf-idf")
THRESHOLDS: Final = np.round(np.arange(0, 1.0001, 0.02), 2)
#: A key of the index is 8 bytes, and 4 name its page.
_ENTRY_BYTES: Final = 12
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Method:
    """What one method did: the pairs it accepts, and what it cost; sizes are None where only a run knows them."""

    name: str
    accepted: Flags
    construction_seconds: float
    retrieval_seconds: float
    fingerprint_bytes: float | None
    index_bytes: int | None


@dataclass(frozen=True)
class Curves:
    """The experiment's outcome."""

    pairs: RevisionPairs
    #: Similarity of each pair, by reference.
    similarity: dict[str, Numbers]
    methods: list[Method]
    report: dict[str, Any]

    def curve(self, method: Method, reference: str) -> tuple[Numbers, Numbers]:
        """Precision and recall at each threshold; not a number where nothing was accepted, or nothing is true."""
        true = self.similarity[reference][None, :] >= THRESHOLDS[:, None]
        hits = (true & method.accepted).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return hits / method.accepted.sum(), hits / true.sum(axis=1)

    def curves_table(self) -> pa.Table:
        """One row for each method, reference and threshold."""
        rows: dict[str, list[Any]] = {name: [] for name in ("method", "reference", "threshold", "precision", "recall")}
        for method in self.methods:
            for reference in REFERENCES:
                precision, recall = self.curve(method, reference)
                rows["method"] += [method.name] * len(THRESHOLDS)
                rows["reference"] += [reference] * len(THRESHOLDS)
                rows["threshold"] += THRESHOLDS.tolist()
                rows["precision"] += [None if np.isnan(value) else float(value) for value in precision]
                rows["recall"] += [None if np.isnan(value) else float(value) for value in recall]
        return pa.table(rows)

    def pairs_table(self) -> pa.Table:
        """One row a pair: the two revisions, their similarities, and who accepts them."""
        columns: dict[str, Any] = {
            "first": pa.array(self.pairs.first),
            "other": pa.array(self.pairs.other),
            "next_article": pa.array(self.pairs.across),
        }
        columns |= {name: pa.array(values) for name, values in self.similarity.items()}
        return pa.table(columns | {method.name: pa.array(method.accepted) for method in self.methods})


def evaluate_curves(
    source: Callable[[], Source],
    methods: Sequence[str | Detector] | None = None,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Curves:
    """Runs the experiment; without ``methods``, with every registered detector.

    >>> from neardup.sources.memory import texts
    >>> text = "one two three four five six seven eight nine ten eleven twelve "
    >>> other = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty "
    >>> pages = [{"text": text * 3, "url": "A"}, {"text": text * 3 + "end", "url": "A"}, {"text": other, "url": "B"}]
    >>> found = evaluate_curves(lambda: texts(pages), ["minhash"])
    >>> found.methods[0].accepted.tolist(), found.similarity["tf"].round(2).tolist()
    ([True, False], [1.0, 0.0])
    """
    settings, progress = settings or Settings(), progress or Silent()
    chosen = [parse(method) for method in methods] if methods else [kind() for kind in detectors().values()]
    watch = Stopwatch(Silent())
    with watch.stage("reading and reference similarities"):
        corpus = _Corpus.read(source, settings, progress)
    done = []
    with watch.stage("methods"):
        for detector in chosen:
            progress.begin(str(detector))
            try:
                done.append(corpus.method(detector))
            finally:
                progress.end()
    report = {
        "what": "curves over a revision corpus",
        "format": _native.FORMAT_VERSION,
        "articles": corpus.pairs.articles,
        "revisions": corpus.collection.count,
        "tokens": int(corpus.collection.column("tokens").to_numpy().sum()),
        "pairs": len(corpus.pairs.first),
        "skipped": corpus.collection.tally.skipped,
        "similarity": {name: _histogram(values) for name, values in corpus.similarity.items()},
        "methods": [_told(method, corpus.collection.count) for method in done],
        "settings": {"methods": [str(detector) for detector in chosen], "reading": asdict(settings.reading)},
        "stages": stages(watch.stages),
    }
    return Curves(corpus.pairs, corpus.similarity, done, report)


def _histogram(values: Numbers) -> list[int]:
    """How many pairs lie in each tenth."""
    counts = np.bincount(np.minimum((values * 10 + 1e-9).astype(int), 9), minlength=10)
    return [int(count) for count in counts]


def _told(method: Method, pages: int) -> dict[str, Any]:
    return {
        "method": method.name,
        "accepted": int(method.accepted.sum()),
        "construction_seconds": round(method.construction_seconds, 3),
        "construction_microseconds_a_page": round(method.construction_seconds / pages * 1e6, 1),
        "retrieval_seconds": round(method.retrieval_seconds, 3),
        "fingerprint_bytes_a_page": method.fingerprint_bytes,
        "index_bytes": method.index_bytes,
    }


@dataclass(frozen=True)
class _Corpus:
    """The corpus read once, and what every method is held against."""

    source: Callable[[], Source]
    settings: Settings
    collection: Collection
    first_member: npt.NDArray[np.uint32]
    pairs: RevisionPairs
    similarity: dict[str, Numbers]
    reading: _Clock

    @staticmethod
    def read(source: Callable[[], Source], settings: Settings, progress: Progress) -> _Corpus:
        clock = _Clock(progress)
        clock.begin("reading")
        with source() as opened:
            collection = tokens_of(opened, settings, clock)
        clock.end()
        pairs = revision_pairs(collection)
        progress.begin("reference similarities")
        sides = pairs.first.astype(np.uint32), pairs.other.astype(np.uint32)
        lists = list(collection.token_batches())
        similarity = {
            name: _native.cosines(lists, *sides, inverse=name == "tf-idf", threads=settings.workers)
            for name in REFERENCES
        }
        progress.end()
        first = first_members(collection)
        return _Corpus(source, settings, collection, first, pairs, similarity, clock)

    def method(self, detector: Detector) -> Method:
        if beyond_tokens(detector.fingerprints()):
            # Tokens hide what these look at.
            return self._by_a_run(detector)
        return self._from_tokens(detector)

    def _from_tokens(self, detector: Detector) -> Method:
        kinds = at_once(detector.fingerprints())
        start = time.process_time()
        store = PartStore()
        for rows in self.collection.store.columns(self.collection.store.names()):
            tokens = rows.column(TOKENS)
            for name, column in fingerprint_columns(kinds, Given(None, tokens=tokens)):
                rows = rows.append_column(name, column)
            store.add(Part(rows, Tally(pages=rows.num_rows)))
        collection = Collection(store, kinds, self.collection.count, self.collection.tally)
        prepare(collection, detector, self.settings)
        construction = time.process_time() - start
        start = time.process_time()
        matches = match(collection, detector, self.settings.every_pair())
        check_all_pairs(
            {"pairs": AcceptedPairs.of(len(matches.a), matches.rules, False, len(matches.a)).to_json()}, detector
        )
        retrieval = time.process_time() - start
        accepted = self._accepted(matches.a.astype(np.int64), matches.b.astype(np.int64), detector)
        size = sum(collection.fingerprint_bytes(kind) for kind in detector.fingerprints()) / self.collection.count
        # Numbers that the chunk index of each rule holds, each with a page.
        plan, count = Plan(detector), self.collection.count
        entries = (
            collection.fingerprint_bytes(plan.set_kind(at)) // 8 if plan.by_rarity(at) else count * columns
            for at, columns in enumerate(plan.native.key_columns)
        )
        index = sum(entries) * _ENTRY_BYTES
        return Method(str(detector), accepted, construction, retrieval, size, index)

    def _by_a_run(self, detector: Detector) -> Method:
        clock = _Clock(Silent())
        with self.source() as source:
            outcome = run(source, detector, self.settings.every_pair(), clock)
        check_all_pairs(outcome.report, detector)
        a, b = (outcome.pairs.column(name).to_numpy().astype(np.int64) for name in ("row_a", "row_b"))
        construction = max(0.0, clock.seconds["reading"] - self.reading.seconds["reading"])
        return Method(
            str(detector), self._accepted(a, b, detector), construction, clock.seconds["matching"], None, None
        )

    def _accepted(self, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], detector: Detector) -> Flags:
        """Which of the experiment's pairs are among the accepted ones, or have the same tokens."""
        identity = self.first_member
        count = len(identity)
        unit = units_of(self.collection.column("site"), identity, detector).astype(np.int64)
        ends = unit[self.pairs.first], unit[self.pairs.other]
        low, high = np.minimum(*ends), np.maximum(*ends)
        found = np.sort(a * count + b)
        place = np.minimum(np.searchsorted(found, low * count + high), max(len(found) - 1, 0))
        accepted = found[place] == low * count + high if len(found) else np.zeros(len(low), bool)
        flags: Flags = accepted | (identity[self.pairs.first] == identity[self.pairs.other])
        return flags


@dataclass(slots=True)
class _Clock:
    """A progress display that also measures the processor time of each stage, of all threads."""

    shown: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    _stage: str = ""
    _start: float = 0.0

    def begin(self, stage: str, total_bytes: int | None = None, unit: str = "pages") -> None:
        self._stage, self._start = stage, time.process_time()
        self.shown.begin(stage, total_bytes)

    def advance(self, pages: int, nbytes: int) -> None:
        self.shown.advance(pages, nbytes)

    def end(self) -> None:
        self.seconds[self._stage] = time.process_time() - self._start
        self.shown.end()


def write_curves(
    found: Curves, out: str | os.PathLike[str], *, overwrite: bool = False, command: str | None = None
) -> Path:
    """Writes tables and plots into a folder that appears whole or not at all. ``command`` is told as what does it
    again.
    """
    require_plots()
    report = found.report | {"command": command}
    with new_folder(Path(out), overwrite) as folder:
        write_table(found.curves_table(), folder / "curves.parquet")
        write_table(found.pairs_table(), folder / "pairs.parquet")
        write_table(pa.Table.from_pylist(found.report["methods"]), folder / "methods.parquet")
        drawn = plots(found)
        write_figures(drawn, folder)
        curves_page(report, drawn).write(folder / "report.html")
        write_json(report, folder / "run.json")
    return Path(out)


def plots(found: Curves) -> dict[str, Plot]:
    """Precision and recall over similarity for both references, and the similarity distribution."""
    drawn = {}
    for reference in REFERENCES:
        for at, name in enumerate(("precision", "recall")):
            lines = []
            for method in found.methods:
                values = found.curve(method, reference)[at]
                known = ~np.isnan(values)
                lines.append(Line(method.name, THRESHOLDS[known].tolist(), values[known].tolist()))
            title = f"{name.capitalize()} over similarity"
            drawn[f"{name}_{reference}"] = Plot(
                title, f"cosine similarity ({reference})", name, lines, x_range=(0, 1), y_range=(-0.02, 1.02)
            )
    middles = [(tenth + 0.5) / 10 for tenth in range(10)]
    total = max(len(found.pairs.first), 1)
    lines = [
        Line(name, middles, [count / total for count in _histogram(values)])
        for name, values in found.similarity.items()
    ]
    drawn["similarity"] = Plot("Similarity of the pairs", "cosine similarity", "share of pairs", lines)
    return drawn
