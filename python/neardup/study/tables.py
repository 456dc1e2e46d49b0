"""The numbers of a study: Tables 1–6 of Pereira et al. 2006, and what goes beyond them.

Words: pages in a cluster of two or more are *clustered*, the others *unique*; all clustered pages but one of each
cluster are *duplicates*; one page of each cluster and the unique ones are *useful*. A page is *connected* if the crawl
reaches it. Clusters inside the connected and the disconnected part are computed anew (Table 4); the other tables ask
where the pages of the whole collection's clusters are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.graph.power_law import PowerLaw, fit_power_law
from neardup.study.clustering import DUPLICATES, Clustering, Mask, Rows, cluster_sizes
from neardup.study.estimate import Estimate, Growth, by_chance, by_growth

#: Ranges of cluster sizes, by their first and last.
SIZES: Final = ((2, 2), (3, 5), (6, 10), (11, 100), (101, 1000), (1001, None))
#: Resamples of the test whether a power law is plausible.
RESAMPLES: Final = 50


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the study, as rows of plain values."""

    title: str
    rows: list[dict[str, Any]]

    def arrow(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows)


def percent(part: float, whole: float) -> float | None:
    """Percent, of something.

    >>> percent(1, 3), percent(0, 0)
    (33.33, None)
    """
    return round(100 * part / whole, 2) if whole else None


def general(clustering: Clustering) -> Table:
    """Table 2."""
    level = clustering.levels[DUPLICATES]
    documents, sizes = int(clustering.considered.sum()), cluster_sizes(level.labels)
    clusters, duplicates = len(sizes), int(sizes.sum()) - len(sizes)
    row = {
        "documents": documents,
        "clusters": clusters,
        "duplicates": duplicates,
        "percent_duplicates": percent(duplicates, documents),
        "unique": documents - clusters - duplicates,
        "percent_unique": percent(documents - clusters - duplicates, documents),
        "useful": documents - duplicates,
        "largest_cluster": int(sizes.max(initial=0)),
        "clusters_of_two": int((sizes == 2).sum()),
        "clusters_of_ten_or_fewer": int((sizes <= 10).sum()),
    }
    return Table("Table 2. General statistics about duplicates", [row])


def near_duplicates(clustering: Clustering) -> Table:
    """Table 3, by both rules where there are two."""
    documents = int(clustering.considered.sum())
    rows = []
    for name, level in clustering.levels.items():
        found = _duplicates(level.labels)
        row: dict[str, Any] = {
            "level": name,
            "clusters": len(cluster_sizes(level.labels)),
            "duplicates": found,
            "percent": percent(found, documents),
        }
        if clustering.counted:
            other = clustering.counted[name].labels
            counted = _duplicates(other)
            differ = _clustered(level.labels) != _clustered(other)
            row |= {
                "duplicates_repetitions_counted": counted,
                "percent_repetitions_counted": percent(counted, documents),
                "duplicates_by_the_papers_rule_only": found - counted,
                "pages_clustered_by_one_rule_only": int(differ.sum()),
            }
        rows.append(row)
    return Table("Table 3. Near-duplicates", rows)


def _duplicates(labels: Rows) -> int:
    sizes = cluster_sizes(labels)
    return int(sizes.sum()) - len(sizes)


def _clustered(labels: Rows) -> Mask:
    clustered: Mask = np.bincount(labels, minlength=len(labels))[labels] > 1
    return clustered


@dataclass(frozen=True, slots=True)
class Parts:
    """Cluster labels of the complete collection and inside its two parts."""

    complete: Rows
    connected: Rows
    disconnected: Rows
    is_connected: Mask

    def labels(self) -> dict[str, Rows]:
        return {"complete": self.complete, "connected": self.connected, "disconnected": self.disconnected}


def parts_of(clustering: Clustering, connected: Mask) -> Parts:
    """Clusters anew inside the connected part and inside the rest."""
    return Parts(
        clustering.levels[DUPLICATES].labels, clustering.inside(connected), clustering.inside(~connected), connected
    )


def by_part(clustering: Clustering, parts: Parts) -> Table:
    """Table 4."""
    masks = {"complete": np.ones(len(parts.complete), bool), "connected": parts.is_connected}
    masks["disconnected"] = ~parts.is_connected
    rows = []
    for name, labels in parts.labels().items():
        documents = int((clustering.considered & masks[name]).sum())
        found = _duplicates(labels)
        rows.append(
            {
                "part": name,
                "documents": documents,
                "clusters": len(cluster_sizes(labels)),
                "duplicates": found,
                "percent_duplicates": percent(found, documents),
            }
        )
    return Table("Table 4. Duplicates of the complete collection, and inside its connected and disconnected part", rows)


def coverage(clustering: Clustering, parts: Parts) -> list[Table]:
    """Tables 5 and 6, and how many of the useful documents the connected part has."""
    labels, count = parts.complete, len(parts.complete)
    sizes = np.bincount(labels, minlength=count)
    reached = np.bincount(labels[parts.is_connected], minlength=count)
    clusters = sizes > 1
    with_one = int((clusters & (reached > 0)).sum())
    unique = clustering.considered & (sizes[labels] == 1)
    unique_connected = int((unique & parts.is_connected).sum())
    useful, useful_connected = int(unique.sum() + clusters.sum()), unique_connected + with_one

    def row(total: int, connected: int) -> list[dict[str, Any]]:
        return [{"total": total, "in_connected": connected, "percent_in_connected": percent(connected, total)}]

    return [
        Table("Table 5. Clusters with at least one document in the connected part", row(int(clusters.sum()), with_one)),
        Table("Table 6. Unique documents in the connected part", row(int(unique.sum()), unique_connected)),
        Table("Useful documents in the connected part", row(useful, useful_connected)),
    ]


def site_clusters(labels: Rows, sites: npt.NDArray[np.int64]) -> Table:
    """Clusters of one site against those of several, by their size; a page whose site is unknown stands for none."""
    sizes = np.bincount(labels, minlength=len(labels))
    known = sites >= 0
    distinct = np.unique(np.stack([labels[known].astype(np.int64), sites[known]]), axis=1)
    site_count = np.bincount(distinct[0], minlength=len(labels))
    rows = []
    for low, high in SIZES:
        chosen = (sizes >= low) & (sizes <= (high or sizes.max(initial=0)))
        of_one, of_several = chosen & (site_count == 1), chosen & (site_count > 1)
        told = int(of_one.sum() + of_several.sum())
        rows.append(
            {
                "size": str(low) if low == high else f"{low} and more" if high is None else f"{low}–{high}",
                "clusters": int(chosen.sum()),
                "documents": int(sizes[chosen].sum()),
                "of_one_site": int(of_one.sum()),
                "of_several_sites": int(of_several.sum()),
                "percent_of_several_sites": percent(int(of_several.sum()), told),
            }
        )
    return Table("Clusters of one site and of several, by size", rows)


def size_distribution(labels: Mapping[str, Rows]) -> tuple[Table, Table]:
    """How many clusters have each size, and the power law that fits, for each part."""
    counts, laws = [], []
    for part, found in labels.items():
        sizes = cluster_sizes(found)
        for size, clusters in zip(*np.unique(sizes, return_counts=True), strict=True):
            counts.append({"part": part, "size": int(size), "clusters": int(clusters)})
        law = fit_power_law(sizes, resamples=RESAMPLES)
        laws.append({"part": part, "clusters": len(sizes), **_law_row(law)})
    return Table("Clusters by size", counts), Table("Power laws fitted to the sizes of clusters", laws)


def _law_row(law: PowerLaw | None) -> dict[str, Any]:
    """A law as a row has it: no exponent where there is no law."""
    numbers = {} if law is None else law.to_json()
    of_exponent, of_fit = ("exponent", "low", "high"), ("xmin", "tail", "distance", "p_value")
    verdict = "too few clusters" if law is None else "plausible" if law.plausible else "no power law"
    shown = (*of_exponent, *of_fit) if verdict == "plausible" else of_fit
    return {"power_law": verdict} | {
        name: numbers.get(name) if name in shown else None for name in (*of_exponent, *of_fit)
    }


def growth(clustering: Clustering) -> Table:
    """Clusters and duplicates after each step (Fig. 5)."""
    plan = clustering.plan
    documents = plan.documents(clustering.considered)
    rows = []
    for step in range(plan.done):
        row: dict[str, Any] = {
            "step": step + 1,
            "share": round((step + 1) / plan.steps, 6),
            "documents": documents[step],
        }
        for name, level in clustering.levels.items():
            ending = "" if name == DUPLICATES else f"_{name.removesuffix('%')}"
            row |= {f"clusters{ending}": level.clusters[step], f"duplicates{ending}": level.duplicates[step]}
        rows.append(row)
    return Table("Growth of clusters and duplicates, step by step", rows)


def estimates(clustering: Clustering, like: Sequence[Mapping[str, Any]] = ()) -> Table:
    """What the totals are expected to be after some of the steps, by chance and by the growth of other collections,
    each given as the rows of its table of growth; and how far off that was, where all steps were done."""
    plan, level = clustering.plan, clustering.levels[DUPLICATES]
    pages = int(clustering.considered.sum())
    documents = plan.documents(clustering.considered)
    sizes_in_all = cluster_sizes(level.labels)
    true = {"duplicates": int(sizes_in_all.sum()) - len(sizes_in_all), "clusters": len(sizes_in_all)}
    rows = []
    for step in plan.told():
        sizes, compared = level.sizes_after[step], documents[step - 1]
        whats = {"duplicates": level.duplicates, "clusters": level.clusters}
        chances = dict(zip(whats, by_chance(sizes, pages, compared), strict=True))
        for what, values in whats.items():
            ways = {"by chance": chances[what]}
            # After all steps nothing is left that another collection could tell.
            if like and step < plan.steps:
                own = Growth([(at + 1) / plan.steps for at in range(step)], values[:step])
                others = [Growth(other["share"], other[what]) for other in like]
                ways["by another collection's growth"] = by_growth(own, others, sizes, pages, compared, what)
            finished = plan.done == plan.steps
            rows += [
                _estimate_row(step / plan.steps, what, way, told, pages, true[what] if finished else None)
                for way, told in ways.items()
            ]
    return Table("Totals estimated from a part of the steps", rows)


def _estimate_row(share: float, what: str, way: str, told: Estimate, pages: int, true: int | None) -> dict[str, Any]:
    return {
        "share_of_steps": round(share, 4),
        "of": what,
        "way": way,
        **told.to_json(),
        "percent_of_documents": percent(told.estimate, pages),
        "true": true,
        "error_percent": None if not true else round(100 * (told.estimate - true) / true, 2),
    }
