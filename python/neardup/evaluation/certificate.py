"""The certificate of a run: how often it is right, stated with 95 % intervals, from an exact look at a sample of pages.

For each sampled page all true partners are known (``partners.rs``: the sample's shingles indexed, the collection
streamed past once, no sketch). From these follow the share of removed pages that have no partner among those that stay,
the share of pages that stay and repeat another that stays, and, of pairs, how many true ones were accepted (recall) and
how many accepted ones are true (precision), by similarity and by site, beside what theory predicts.

A page stands for ``population / drawn`` pages of its stratum. A removed identity set of m pages is in the population m
times, so its pairs count 1/m each time. Every pair can be met from both of its ends, which cancels in a ratio. See
``sampling.py`` for the strata and ``intervals.py`` for the intervals.

A true partner is one whose Jaccard similarity reaches the threshold: the detector's own where it verifies by exact
Jaccard, else 5-token shingles at 0.8. A detector of another notion is not wrong where it differs from that; the
certificate then speaks of agreement, not of truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.common.accepted import AcceptedPairs
from neardup.evaluation.intervals import NOTHING, Share, Stratum, ratio_share, weighted_mean
from neardup.evaluation.sampling import Drawn, draw_sample
from neardup.graph import best_between_sets
from neardup.methods import Detector
from neardup.plan import Plan
from neardup.plan.chances import Alike, predicted
from neardup.results.earlier import EarlierPages

Rows = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
#: Where ranges of similarity begin, as far as they lie above the threshold.
RANGES: Final = (0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Notion:
    """What counts as a true partner."""

    k: int = 5
    threshold: float = 0.8
    rabin: bool = False
    #: Whether this is the detector's own notion.
    own: bool = False

    @property
    def word(self) -> str:
        """What a match of detector and notion is called."""
        return "truth" if self.own else "agreement"

    def describe(self) -> str:
        """In words.

        >>> Notion().describe()
        'Jaccard similarity of 5-token shingles at least 0.8'
        """
        return f"Jaccard similarity of {self.k}-token shingles at least {self.threshold:g}"


def notion_of(detector: Detector) -> Notion:
    """The detector's own exact measure where it has one, else the usual.

    >>> from neardup.methods import parse
    >>> notion_of(parse("minhash(threshold=0.9)")).threshold, notion_of(parse("combined")).word
    (0.9, 'agreement')
    """
    measure = Plan(detector).exact_measure
    if measure is None:
        return Notion()
    shingles, least = measure
    return Notion(shingles.k, least, shingles.rabin, own=True)


@dataclass(frozen=True)
class RunGraph:
    """What a run decided, as arrays by row."""

    pages: pa.Table
    #: For each page the row of the first with the same tokens.
    identity: Rows
    kept: Flags
    #: Whether some page of the identity set that begins here stays.
    kept_set: Flags
    #: Identity sets in each page's cluster.
    cluster_sizes: Rows
    #: Pages of the population with the same tokens.
    copies: Rows
    kept_rows: Rows
    removed_rows: Rows
    #: First members long enough to be compared.
    compared: Flags
    #: Accepted pairs of identity sets, by their first members, with scores; None where not all are known.
    pairs: tuple[Rows, Rows, Numbers] | None
    #: Pages removed for pages of earlier runs, which are not at hand to be compared.
    for_earlier: int = 0

    @staticmethod
    def of(pages: pa.Table, pairs: pa.Table, report: dict[str, Any], earlier: EarlierPages | None = None) -> RunGraph:
        """From the tables of a run; of the texts of ``earlier`` runs only those count that this one read again."""
        count = pages.num_rows
        identity = _rows_of(pages, "identity")
        cluster = _rows_of(pages, "cluster")
        kept = pages.column("kept").to_numpy(zero_copy_only=False)
        tokens = pages.column("tokens").to_numpy()
        long_enough = tokens >= report["settings"]["reading"]["min_tokens"]
        first = identity == np.arange(count)
        kept_set = np.zeros(count, bool)
        kept_set[identity[kept]] = True
        seen = pc.starts_with(pages.column("reason"), "seen-").to_numpy(zero_copy_only=False)
        identical_to_earlier = pc.equal(pages.column("reason"), "seen-identical").to_numpy(zero_copy_only=False)
        kept_set[identity[identical_to_earlier]] = True
        near = pc.equal(pages.column("reason"), "near-duplicate").to_numpy(zero_copy_only=False)
        removed = np.flatnonzero(near)
        stays = np.flatnonzero(kept & long_enough)
        copies = np.bincount(identity[np.concatenate([removed, stays])], minlength=count)
        all_known = AcceptedPairs.of_report(report).complete
        accepted = None
        if all_known:
            a, b = (pairs.column(name).to_numpy().astype(np.int64) for name in ("row_a", "row_b"))
            held = a, b, pairs.column("score").to_numpy()
            if earlier is not None and len(earlier):
                held = _joined(held, _of_earlier(pages, earlier))
            accepted = best_between_sets(identity, *held)
        return RunGraph(
            pages=pages,
            identity=identity,
            kept=kept,
            kept_set=kept_set,
            cluster_sizes=np.bincount(cluster[first], minlength=count)[cluster],
            copies=copies,
            kept_rows=stays,
            removed_rows=removed,
            compared=first & long_enough,
            pairs=accepted,
            for_earlier=int(seen.sum()),
        )

    def same_site(self, a: Rows, b: Rows) -> Flags:
        """Whether two identity sets share a known site, all their members counted."""
        encoded = self.pages.column("site").combine_chunks().dictionary_encode()
        site = np.asarray(encoded.indices.fill_null(-1), np.int64)
        known = site >= 0
        keys = np.unique((self.identity[known] << 32) | site[known])
        start, end = (np.searchsorted(keys >> 32, a, side=side) for side in ("left", "right"))
        lengths = end - start
        pair = np.repeat(np.arange(len(a)), lengths)
        within = np.arange(len(pair)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        own = keys[np.repeat(start, lengths) + within] & 0xFFFFFFFF
        shared = np.zeros(len(a), bool)
        wanted = (b[pair] << 32) | own
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        if len(keys):
            shared[pair[keys[place] == wanted]] = True
        return shared


def _rows_of(pages: pa.Table, column: str) -> Rows:
    """For each page the row of the page it names; of those that name one of an earlier run the first that does."""
    names = pages.column(column).combine_chunks()
    place = pc.index_in(names, value_set=pages.column("id").combine_chunks())
    if place.null_count:
        coded = names.dictionary_encode()
        _, first, number = np.unique(coded.indices.to_numpy(), return_index=True, return_inverse=True)
        place = pc.coalesce(place, pa.array(first[number], pa.int32()))
    return np.asarray(place, np.int64)


_Accepted = tuple[Rows, Rows, Numbers]


def _of_earlier(pages: pa.Table, earlier: EarlierPages) -> _Accepted:
    """Pairs with pages of earlier runs that this run read again: they are pairs of its own first such page."""
    first = pc.index_in(earlier.table.column("id"), value_set=pages.column("identity").combine_chunks())
    own = pc.fill_null(first, -1).to_numpy().astype(np.int64)
    a = own[earlier.pairs.column("row_a").to_numpy().astype(np.int64) - earlier.own]
    b = earlier.pairs.column("row_b").to_numpy().astype(np.int64)
    return a[a >= 0], b[a >= 0], earlier.pairs.column("score").to_numpy()[a >= 0]


def _joined(one: _Accepted, other: _Accepted) -> _Accepted:
    a, b, score = (np.concatenate([mine, theirs]) for mine, theirs in zip(one, other, strict=True))
    return a, b, score


@dataclass(frozen=True, slots=True)
class Partners:
    """True pairs met from the sample: rows of first members, and how alike they are."""

    sample: Rows
    partner: Rows
    jaccard: Numbers
    #: By other shingle lengths, where asked for.
    others: dict[int, Numbers]
    cosine: Numbers


#: Given the first members sampled: all their partners.
FindPartners = Callable[[Rows], Partners]


def certificate(
    graph: RunGraph, detector: Detector, notion: Notion, find: FindPartners, *, sample: int, seed: int
) -> dict[str, Any]:
    """Draws the sample, has its partners found, and states what follows."""
    drawn = draw_sample(graph.kept_rows, graph.removed_rows, graph.cluster_sizes, sample, seed)
    members = np.unique(graph.identity[np.concatenate([np.empty(0, np.int64), *(one.rows for one in drawn)])])
    found = _without_self(find(members))
    place = np.searchsorted(members, found.sample)
    stays = graph.kept_set[found.partner]
    has_kept = np.zeros(len(members), bool)
    has_kept[place[stays]] = True
    looked = _Looked(graph, drawn, members)
    wrong = ratio_share(looked.strata(~has_kept, np.ones(len(members)), kept=False, by_set=False))
    removed = int((~graph.kept).sum()) - graph.for_earlier
    return {
        "notion": {"k": notion.k, "threshold": notion.threshold, "word": notion.word, "text": notion.describe()},
        "sample": {
            "pages": sum(len(one.rows) for one in drawn),
            "seed": seed,
            "strata": [_told(one) for one in drawn],
        },
        "removed": {
            "pages": removed,
            "identical": removed - len(graph.removed_rows),
            "near_duplicates": len(graph.removed_rows),
            "without_partner": _scaled(wrong, len(graph.removed_rows) / removed if removed else 0).to_json(),
            "near_duplicates_without_partner": wrong.to_json(),
            "for_earlier_runs": graph.for_earlier,
        },
        "kept": {
            "pages": len(graph.kept_rows),
            "repeats": ratio_share(looked.strata(has_kept, np.ones(len(members)), kept=True, by_set=False)).to_json(),
        },
        "pairs": _pairs(graph, detector, notion, looked, found),
    }


def _told(one: Drawn) -> dict[str, Any]:
    return {"kept": one.kept, "cluster_size": one.cluster_size, "pages": one.population, "drawn": len(one.rows)}


def _scaled(share: Share, factor: float) -> Share:
    """Of the near-duplicates removed, put as a share of all removed pages: identical ones are right."""
    if share.estimate is None or share.low is None or share.high is None:
        return Share(0.0, 0.0, 0.0, 0) if factor == 0 else share
    return Share(share.estimate * factor, share.low * factor, share.high * factor, share.count)


def _without_self(found: Partners) -> Partners:
    other = found.sample != found.partner
    return Partners(
        found.sample[other],
        found.partner[other],
        found.jaccard[other],
        {k: values[other] for k, values in found.others.items()},
        found.cosine[other],
    )


@dataclass(frozen=True, slots=True)
class _Looked:
    """The sample, and how values of its identity sets become strata."""

    graph: RunGraph
    drawn: Sequence[Drawn]
    members: Rows

    def strata(
        self,
        hits: npt.NDArray[Any],
        base: npt.NDArray[Any],
        *,
        kept: bool | None = None,
        by_set: bool = True,
        clustered: bool = False,
    ) -> list[Stratum]:
        """Values of the sampled sets, page by page; a set that is in the population m times counts 1/m each time."""
        strata = []
        for one in self.drawn:
            if (kept is None or one.kept == kept) and (one.cluster_size > 1 or not clustered):
                sets = self.graph.identity[one.rows]
                place = np.searchsorted(self.members, sets)
                share = 1 / np.maximum(self.graph.copies[sets], 1) if by_set else np.ones(len(sets))
                strata.append(Stratum(one.population, hits[place] * share, base[place] * share))
        return strata


def _pairs(graph: RunGraph, detector: Detector, notion: Notion, looked: _Looked, found: Partners) -> dict[str, Any]:
    if graph.pairs is None:
        return {"known": False, "why": "not all accepted pairs of this run were held; see --max-pairs"}
    a, b, score = graph.pairs
    members, count = looked.members, len(graph.identity)
    keys = np.sort(np.concatenate([a * count + b, b * count + a]))
    wanted = found.sample * count + found.partner
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    accepted = keys[at] == wanted if len(keys) else np.zeros(len(wanted), bool)
    same = graph.same_site(found.sample, found.partner)
    place = np.searchsorted(members, found.sample)
    alike = Alike({notion.k: found.jaccard, **found.others}, found.cosine, same)
    chance = predicted(detector, alike)

    def per_member(flags: npt.NDArray[Any]) -> Numbers:
        return np.bincount(place, flags, len(members)).astype(np.float64)

    def recall(group: Flags) -> dict[str, Any]:
        base = per_member(group)
        share = ratio_share(looked.strata(per_member(accepted & group), base))
        theory = None if chance is None else weighted_mean(looked.strata(per_member(chance * group), base))
        return share.to_json() | {"theory": None if theory is None else round(theory, 6)}

    every = np.ones(len(place), bool)
    edges = [notion.threshold, *(edge for edge in RANGES if edge > notion.threshold + 1e-9), np.inf]
    by_similarity = {}
    for low, high in pairwise(edges):
        name = f"{low:g}–{high:g}" if high < 1 else f"{low:g}–1"
        by_similarity[name] = recall((found.jaccard >= low) & (found.jaccard < high))
    return {
        "known": True,
        "recall": {
            "all": recall(every),
            "same_site": recall(same),
            "different_site": recall(~same),
            "by_similarity": by_similarity,
        },
        "precision": _precision(graph, looked, found, (a, b, score)),
    }


def _precision(graph: RunGraph, looked: _Looked, found: Partners, pairs: tuple[Rows, Rows, Numbers]) -> dict[str, Any]:
    """Of the accepted pairs of sampled pages, how many are true; by site and by quarters of the score."""
    members, count = looked.members, len(graph.identity)
    a, b, score = pairs
    sample, partner = np.concatenate([a, b]), np.concatenate([b, a])
    place = np.minimum(np.searchsorted(members, sample), max(len(members) - 1, 0))
    mine = members[place] == sample if len(members) else np.zeros(len(sample), bool)
    sample, partner, place, score = sample[mine], partner[mine], place[mine], np.concatenate([score, score])[mine]
    true_keys = np.sort(found.sample * count + found.partner)
    wanted = sample * count + partner
    at = np.minimum(np.searchsorted(true_keys, wanted), max(len(true_keys) - 1, 0))
    true = true_keys[at] == wanted if len(true_keys) else np.zeros(len(wanted), bool)
    same = graph.same_site(sample, partner)

    def precision(group: Flags) -> dict[str, Any]:
        hits, base = (np.bincount(place, flags, len(members)).astype(np.float64) for flags in (true & group, group))
        # A page that is alone has no accepted pair, and none that was not drawn has one.
        strata = looked.strata(hits, base, clustered=True)
        return (ratio_share(strata) if group.any() else NOTHING).to_json()

    values = np.unique(score)
    if len(values) > 6:
        values = np.unique(np.quantile(score, [0, 0.25, 0.5, 0.75]))
    by_score = {}
    for low, high in pairwise([*values.tolist(), np.inf]):
        by_score[f"{low:.4g}"] = precision((score >= low) & (score < high))
    return {
        "all": precision(np.ones(len(place), bool)),
        "same_site": precision(same),
        "different_site": precision(~same),
        "by_score_from": by_score,
    }
