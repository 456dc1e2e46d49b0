"""Which pairs people look at: a stratified sample of the pairs that one or more runs accepted.

The population is every pair that the runs accepted; a run that does not hold all of them is refused. Strata cross what
was asked for: *detector* (which of the runs, and which of their rules, accepted the pair), *similarity* (a quarter of
the scores of the run that accepted it first), *site* (same or different). Every stratum gets its share of the sample,
but at least a few pairs; within a stratum pairs are drawn at random without replacement, so that each has the known
probability n/N of being looked at, and shares of the sample can be carried back to the population (Horvitz and Thompson
1952). Cost: O(pairs).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.engines.common.accepted import require_all_pairs
from neardup.errors import InputError, UsageError
from neardup.results import Result, open_result

STRATIFY: Final = ("detector", "similarity", "site")
#: No stratum is looked at with fewer pairs than this, if it has them and the sample allows.
LEAST: Final = 5
_QUARTERS: Final = (0.25, 0.5, 0.75)
_COLUMNS: Final = ("row_a", "row_b", "same_site", "score", "b_similarity", "c_similarity", "jaccard", "rule")
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Returned:
    """What one run said of a pair."""

    detector: str
    rule: str
    score: float
    b_similarity: int | None
    c_similarity: int | None
    jaccard: float | None


@dataclass(frozen=True, slots=True)
class SampledPair:
    """A pair to look at: its pages, where it was drawn from, and who returned it."""

    a: str
    b: str
    row_a: int
    row_b: int
    same_site: bool
    stratum: int
    returned: list[Returned]


@dataclass(frozen=True, slots=True)
class SampledStratum:
    """A part of the population, and how many of its pairs were drawn."""

    name: str
    population: int
    sampled: int


@dataclass(frozen=True)
class PairSample:
    """Pairs in random order, and the strata they were drawn from."""

    runs: list[str]
    detectors: list[str]
    pairs: list[SampledPair]
    strata: list[SampledStratum]
    stratify: list[str]
    seed: int
    #: What the population is not, in words.
    notes: list[str] = field(default_factory=list)


def draw_pairs(
    folders: Sequence[str | os.PathLike[str]], sample: int, stratify: Sequence[str] = STRATIFY, seed: int = 0
) -> PairSample:
    """Draws ``sample`` of the pairs that the runs in these folders accepted.

    >>> import json, pathlib, tempfile
    >>> from neardup import dedup
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    >>> lines = [{"id": name, "text": text * 3 + name} for name in "abcd"]
    >>> _ = (folder / "pages.jsonl").write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> _ = dedup(folder / "pages.jsonl", folder / "out", detector="minhash")
    >>> drawn = draw_pairs([folder / "out"], 4)
    >>> len(drawn.pairs), [(one.name, one.population) for one in drawn.strata]
    (4, [('minhash; score 0.88; different sites', 6)])
    """
    unknown = [name for name in stratify if name not in STRATIFY]
    if unknown or sample < 1:
        what = f"cannot stratify by {unknown[0]!r}" if unknown else "the sample must have at least one pair"
        raise UsageError(what, hint=f"one of {', '.join(STRATIFY)}")
    runs = [open_result(folder) for folder in folders]
    if not runs:
        raise UsageError("no run was named", hint="give the --out of a dedup run with --from")
    for run in runs:
        require_all_pairs(run.report, str(run.folder), "A sample of pairs")
    _check_same_pages(runs)
    names = _names(runs)
    tables = [run.pairs.select(list(_COLUMNS)) for run in runs]
    pages = int(runs[0].report["counts"]["pages"])
    keys = [_key(table, pages) for table in tables]
    population, first_met = np.unique(np.concatenate(keys), return_index=True)
    if not len(population):
        raise InputError("the run accepted no pairs: there is nothing to judge", where=str(folders[0]))
    # For each run, the place of every pair of the population in its table, or −1.
    places = [_places(key, population) for key in keys]
    labels = [np.zeros(len(population), np.int64)]
    words: list[list[str]] = [[""]]
    for name in stratify:
        classes, called = {"detector": _by_detector, "similarity": _by_similarity, "site": _by_site}[name](
            tables, names, places, first_met
        )
        labels.append(classes)
        words.append(called)
    combined, stratum = np.unique(np.stack(labels), axis=1, return_inverse=True)
    sizes = np.bincount(stratum)
    counts = allocate(sizes, sample)
    generator = np.random.default_rng(seed)
    drawn = [generator.choice(np.flatnonzero(stratum == at), n, replace=False) for at, n in enumerate(counts.tolist())]
    chosen = generator.permutation(np.concatenate(drawn))
    strata = [
        SampledStratum(_stratum_name(combined[:, at], words), int(sizes[at]), int(n)) for at, n in enumerate(counts)
    ]
    pairs = _pairs(chosen, population, pages, stratum, (tables, names, places), runs[0])
    notes = [
        f"{name}: {run.against.num_rows:,} pairs with pages of earlier runs are not among them"
        for name, run in zip(names, runs, strict=True)
        if run.against.num_rows
    ]
    return PairSample([os.fspath(one) for one in folders], names, pairs, strata, list(stratify), seed, notes)


def allocate(sizes: npt.ArrayLike, sample: int) -> Whole:
    """How many to draw from strata of these sizes: in proportion, but ``LEAST`` of each where there are as many.

    >>> allocate([1000, 100, 3], 110).tolist()
    [98, 9, 3]
    >>> allocate([4, 2], 100).tolist()
    [4, 2]
    """
    population = np.asarray(sizes, np.int64)
    if sample < len(population):
        raise UsageError(
            f"{sample} pairs are too few for {len(population)} strata", hint="take a larger --sample or --stratify less"
        )
    wanted = min(sample, int(population.sum()))
    least = min(LEAST, wanted // len(population))
    counts = np.minimum(population, least)
    ideal = wanted * population / population.sum()
    while counts.sum() < wanted:
        # The one that lacks most, of those that have more.
        counts[np.argmax(np.where(counts < population, ideal - counts, -np.inf))] += 1
    return counts


def _check_same_pages(runs: list[Result]) -> None:
    first = runs[0]
    for run in runs[1:]:
        same = run.report["counts"]["pages"] == first.report["counts"]["pages"]
        if not same or not run.pages.column("id").equals(first.pages.column("id")):
            raise InputError(
                "the runs are not of the same pages",
                where=f"{first.folder}, {run.folder}",
                hint="use runs of one input",
            )


def _names(runs: list[Result]) -> list[str]:
    names = [str(run.report["detector"]) for run in runs]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"two runs have the detector {repeated!r}", hint="take runs of different detectors")
    return names


def _key(table: pa.Table, pages: int) -> Whole:
    key: Whole = table.column("row_a").to_numpy().astype(np.int64) * pages
    key += table.column("row_b").to_numpy().astype(np.int64)
    return key


def _places(key: Whole, population: Whole) -> Whole:
    places = np.full(len(population), -1, np.int64)
    places[np.searchsorted(population, key)] = np.arange(len(key))
    return places


Tables = list[pa.Table]


def _by_detector(tables: Tables, names: list[str], places: list[Whole], _: Whole) -> tuple[Whole, list[str]]:
    """Which runs returned the pair, and by which rule where a run has several."""
    codes = np.zeros(len(places[0]), np.int64)
    called = [""]
    for table, name, place in zip(tables, names, places, strict=True):
        rules = table.column("rule").combine_chunks().dictionary_encode()
        words = rules.dictionary.to_pylist()
        said = [f"{name}: {word}" if len(words) > 1 else name for word in words]
        rule = np.where(place >= 0, np.asarray(rules.indices, np.int64)[np.maximum(place, 0)] + 1, 0) if words else 0
        codes = codes * (len(words) + 1) + rule
        called = [" + ".join(filter(None, (before, one))) for before in called for one in ("", *said)]
    return codes, called


def _by_similarity(tables: Tables, names: list[str], places: list[Whole], first: Whole) -> tuple[Whole, list[str]]:
    """Quarters of the scores of the run that returned the pair first; detectors measure in different ways."""
    codes = np.zeros(len(places[0]), np.int64)
    called: list[str] = []
    start = 0
    for table in tables:
        here = (first >= start) & (first < start + table.num_rows)
        score = table.column("score").to_numpy()[first[here] - start]
        start += table.num_rows
        if not len(score):
            continue
        cuts = np.unique(np.quantile(score, _QUARTERS, method="higher"))
        cuts = cuts[cuts > score.min()]
        codes[here] = np.searchsorted(cuts, score, side="right") + len(called)
        edges = [float(score.min()), *cuts.tolist(), float(score.max())]
        called += [f"score {_range(low, high)}" for low, high in pairwise(edges)]
    return codes, called


def _range(low: float, high: float) -> str:
    return f"{low:.2f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f}–{high:.3f}"


def _by_site(tables: Tables, names: list[str], places: list[Whole], _: Whole) -> tuple[Whole, list[str]]:
    same = np.zeros(len(places[0]), np.int64)
    for table, place in zip(tables, places, strict=True):
        flags = table.column("same_site").to_numpy(zero_copy_only=False)
        same[place >= 0] = flags[place[place >= 0]]
    return same, ["different sites", "same site"]


def _stratum_name(classes: Whole, words: list[list[str]]) -> str:
    return "; ".join(word[at] for at, word in zip(classes.tolist(), words, strict=True) if word[at]) or "all"


def _pairs(
    chosen: Whole,
    population: Whole,
    pages: int,
    stratum: Whole,
    told: tuple[Tables, list[str], list[Whole]],
    run: Result,
) -> list[SampledPair]:
    row_a, row_b = (side.tolist() for side in np.divmod(population[chosen], pages))
    rows = run.page_rows()
    ids_a, ids_b = (rows.take(side, ["id"]).column(0).to_pylist() for side in (row_a, row_b))
    returned: list[list[Returned]] = [[] for _ in row_a]
    same = [False] * len(row_a)
    for table, name, place in zip(*told, strict=True):
        here = np.flatnonzero(place[chosen] >= 0)
        said = table.take(pa.array(place[chosen][here])).drop_columns(["row_a", "row_b"])
        for at, row in zip(here.tolist(), said.to_pylist(), strict=True):
            same[at] = row.pop("same_site")
            returned[at].append(Returned(name, **row))
    strata = stratum[chosen].tolist()
    return [SampledPair(*values) for values in zip(ids_a, ids_b, row_a, row_b, same, strata, returned, strict=True)]
