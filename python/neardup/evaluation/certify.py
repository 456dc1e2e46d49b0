"""Certifies a run: as its last stage, while its tokens are at hand, or later from its folder, reading the inputs again.

Both find the partners of the same sample in the same way, so both say the same. Cost: as a stage, one more pass over
the tokens in memory (or in the scratch folder), a few percent of reading; later, reading the inputs twice: once for the
sampled pages, once past them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.engines import Outcome, Progress, Settings, Silent
from neardup.engines.common.progress import Stopwatch, stages
from neardup.engines.local.reading import Collection
from neardup.errors import InputError, NeardupError, UsageError
from neardup.evaluation.certificate import FindPartners, Notion, Partners, Rows, RunGraph, certificate, notion_of
from neardup.methods import Detector, parse
from neardup.methods.projections import Projection
from neardup.plan.chances import shingle_lengths
from neardup.report.run_report import write_report
from neardup.results import Result, open_result
from neardup.results.earlier import EarlierPages
from neardup.results.texts import page_source
from neardup.sinks.sealed import write_run
from neardup.sources import Source
from neardup.text import Reading, read
from neardup.workers import in_order

SAMPLE: Final = 1000
#: True pairs that may be met from the sample; more would not fit in memory.
MOST_PARTNERS: Final = 50_000_000


@dataclass(frozen=True, slots=True)
class Certifier:
    """How a run is certified: how many pages are looked at, by which seed, and what counts as a partner.

    ``k`` and ``threshold`` replace the detector's own notion (or 5 tokens at 0.8 where it has none).

    >>> Certifier(threshold=0.9).notion(parse("combined")).describe()
    'Jaccard similarity of 5-token shingles at least 0.9'
    """

    sample: int = SAMPLE
    seed: int = 0
    k: int | None = None
    threshold: float | None = None
    threads: int = 0

    def __post_init__(self) -> None:
        if self.sample < 1 or (self.k is not None and self.k < 1):
            raise UsageError("the sample and k must be at least 1")
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise UsageError("the threshold must be above 0 and at most 1")

    def notion(self, detector: Detector) -> Notion:
        """What counts as a true partner."""
        own = notion_of(detector)
        asked = replace(own, k=self.k or own.k, threshold=self.threshold or own.threshold)
        return asked if (asked.k, asked.threshold) == (own.k, own.threshold) else replace(asked, own=False)

    def __call__(self, collection: Collection, outcome: Outcome) -> dict[str, Any]:
        """As the last stage of a run: its tokens are at hand."""
        detector = parse(outcome.report["detector"])
        notion, workers = self.notion(detector), self._workers()

        def find(members: Rows) -> Partners:
            compared = _compared(outcome.pages, outcome.report)
            sample = list(_chosen(collection.token_batches(), members))
            batches = _numbered(collection.token_batches())
            return _stream(_index(sample, notion, detector), members, batches, compared, workers)

        earlier = EarlierPages.of(outcome.report, outcome.earlier, outcome.against)
        return self._state(RunGraph.of(outcome.pages, outcome.pairs, outcome.report, earlier), detector, find)

    def folder(self, folder: str | os.PathLike[str], progress: Progress | None = None) -> Result:
        """Later, from a result folder: the inputs are read again, and ``run.json`` tells the certificate then."""
        result = open_result(folder)
        detector = parse(result.report["detector"])
        notion = self.notion(detector)
        reading = Reading(**result.report["settings"]["reading"])
        watch = Stopwatch(progress or Silent())
        with page_source(result) as source, watch.stage("certifying", source.nbytes()):

            def find(members: Rows) -> Partners:
                compared = _compared(result.pages, result.report)
                counts = result.pages.column("tokens").to_numpy()
                sample = list(_read_chosen(source, members, reading))
                if sum(map(len, sample)) != len(members) or _lengths(sample) != counts[members].tolist():
                    raise InputError("the inputs have changed since the run", where=result.name)
                index = _index(sample, notion, detector)
                batches = _read_all(source, reading, watch.progress)
                return _stream(index, members, batches, compared, self._workers())

            graph = RunGraph.of(result.pages, result.pairs, result.report, result.earlier)
            result.report["certificate"] = self._state(graph, detector, find)
        result.report["stages"] = [one for one in result.report["stages"] if one["name"] != "certifying"]
        result.report["stages"] += stages(watch.stages)
        write_run(Path(folder), result.report)
        # The report tells the certificate too; it is not worth another reading of the input.
        write_report(result, patient=False)
        return result

    def _state(self, graph: RunGraph, detector: Detector, find: FindPartners) -> dict[str, Any]:
        return certificate(graph, detector, self.notion(detector), find, sample=self.sample, seed=self.seed)

    def _workers(self) -> int:
        return Settings(threads=self.threads).workers


def certify(folder: str | os.PathLike[str], certifier: Certifier | None = None) -> dict[str, Any]:
    """Certifies the run of a result folder and gives the certificate back.

    >>> import json, tempfile
    >>> from neardup import dedup
    >>> folder = Path(tempfile.mkdtemp())
    >>> text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    >>> lines = [{"id": "a", "text": text * 2}, {"id": "b", "text": text * 2 + "end"}, {"id": "c", "text": text[:60]}]
    >>> _ = (folder / "pages.jsonl").write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> _ = dedup(folder / "pages.jsonl", folder / "out", detector="minhash")
    >>> certify(folder / "out")["removed"]["without_partner"]["estimate"]
    0.0
    """
    told: dict[str, Any] = (certifier or Certifier()).folder(folder).report["certificate"]
    return told


def _compared(pages: pa.Table, report: dict[str, Any]) -> npt.NDArray[np.bool_]:
    return RunGraph.of(pages, pages.slice(0, 0), report | {"pairs": {"held": ""}}).compared


def _index(
    sample: list[pa.LargeListArray], notion: Notion, detector: Detector
) -> tuple[_native.SampleIndex, int | None]:
    others = sorted(shingle_lengths(detector) - {notion.k})
    other = others[0] if others else None
    index = _native.SampleIndex(
        sample,
        k=notion.k,
        threshold=notion.threshold,
        rabin=notion.rabin,
        other=None if other is None else (other, False),
        cosine=any(isinstance(one, Projection) for one in detector.fingerprints()),
    )
    return index, other


#: A batch of token lists (or a way to have it), and the row of its first page.
Batch = tuple[Callable[[], pa.LargeListArray], int]


def _stream(
    index: tuple[_native.SampleIndex, int | None],
    members: Rows,
    batches: Iterable[Batch],
    compared: npt.NDArray[np.bool_],
    threads: int,
) -> Partners:
    """Streams the collection past the sample, in several threads, results in order."""
    sample_index, other = index

    def pass_by(batch: Batch) -> tuple[npt.NDArray[Any], ...]:
        load, start = batch
        tokens = load()
        taken = np.ascontiguousarray(compared[start : start + len(tokens)])
        if len(taken) < len(tokens):
            raise InputError("the inputs hold more pages than the run read", hint="they have changed since")
        sample, page, *similarities = sample_index.partners(tokens, taken)
        return members[sample], page.astype(np.int64) + start, *similarities

    parts: list[tuple[npt.NDArray[Any], ...]] = []
    met = 0
    for part in in_order(batches, pass_by, threads):
        parts.append(part)
        met += len(part[0])
        if met > MOST_PARTNERS:
            raise NeardupError("the sampled pages have too many partners", hint="take a smaller sample (--sample)")
    columns = [np.concatenate([part[at] for part in parts]) for at in range(5)] if parts else [np.empty(0)] * 5
    sample, partner, jaccard, at_other, cosine = columns
    others = {} if other is None else {other: at_other}
    return Partners(sample.astype(np.int64), partner.astype(np.int64), jaccard, others, cosine)


def _numbered(lists: Iterable[pa.LargeListArray]) -> Iterator[Batch]:
    start = 0
    for tokens in lists:
        yield partial(_as_it_is, tokens), start
        start += len(tokens)


def _chosen(lists: Iterable[pa.LargeListArray], rows: Rows) -> Iterator[pa.LargeListArray]:
    """The lists at these rows, which ascend."""
    start = 0
    for tokens in lists:
        low, high = np.searchsorted(rows, [start, start + len(tokens)])
        if high > low:
            yield tokens.take(pa.array(rows[low:high] - start))
        start += len(tokens)


def _read_chosen(source: Source, rows: Rows, reading: Reading) -> Iterator[pa.LargeListArray]:
    start = 0
    for chunk in source.chunks():
        if start > (rows[-1] if len(rows) else -1):
            return
        pages = chunk.load().pages
        low, high = np.searchsorted(rows, [start, start + pages.num_rows])
        if high > low:
            yield read(pages.take(pa.array(rows[low:high] - start)), reading).tokens
        start += pages.num_rows


def _read_all(source: Source, reading: Reading, progress: Progress) -> Iterator[Batch]:
    start = 0
    for chunk in source.chunks():
        pages = chunk.load().pages
        progress.advance(pages.num_rows, chunk.nbytes)
        yield partial(_read_tokens, pages, reading), start
        start += pages.num_rows


def _as_it_is(tokens: pa.LargeListArray) -> pa.LargeListArray:
    return tokens


def _read_tokens(pages: pa.RecordBatch, reading: Reading) -> pa.LargeListArray:
    return read(pages, reading).tokens


def _lengths(lists: list[pa.LargeListArray]) -> list[int]:
    return [len(tokens) for part in lists for tokens in part]
