"""Clusters by any detector of the project, in place of paragraphs: the study at another notion of "duplicate".

The pairs are found at once; a pair counts as found in the step of whichever of its pages comes first, as it would be if
they were found in steps. Pages with the same tokens are one page, in the earliest of their steps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.engines.local.matching import Matches
from neardup.study.clustering import DUPLICATES, Clustering, Level, Mask, Plan, Rows, cluster_sizes


def cluster_by_matches(matches: Matches, considered: Mask, plan: Plan) -> Clustering:
    """The clusters of accepted pairs and identity sets."""
    count = len(considered)
    rows = np.arange(count, dtype=np.uint32)
    step_of = plan.step_of(considered)
    by_unit = step_of.copy()
    np.minimum.at(by_unit, matches.unit, step_of)
    np.minimum.at(step_of, matches.identity, step_of.copy())
    copies = np.flatnonzero(considered & (matches.identity != rows)).astype(np.uint32)
    a = np.concatenate([matches.a, matches.identity[copies]])
    b = np.concatenate([matches.b, copies])
    found_in = np.concatenate([np.minimum(by_unit[matches.a], by_unit[matches.b]), step_of[matches.identity[copies]]])
    clusters, duplicates = _native.growth(count, a, b, found_in.astype(np.uint32), plan.steps)
    done = found_in < plan.done
    level = Level(
        labels=_native.components(count, a[done], b[done]),
        clusters=clusters[: plan.done].tolist(),
        duplicates=duplicates[: plan.done].tolist(),
        sizes_after={
            step: cluster_sizes(_native.components(count, a[found_in < step], b[found_in < step]))
            for step in plan.told()
        },
    )

    def inside(part: Mask) -> Rows:
        """Identical pages take part by those of them that do."""
        chosen = np.flatnonzero(considered & part)

        def first_inside(name: Rows) -> npt.NDArray[np.int64]:
            member = np.full(count, count, np.int64)
            np.minimum.at(member, name[chosen], chosen)
            return member

        of_set, of_unit = first_inside(matches.identity), first_inside(matches.unit)
        both = (of_unit[matches.a] < count) & (of_unit[matches.b] < count)
        left = np.concatenate([of_unit[matches.a[both]], of_set[matches.identity[chosen]]]).astype(np.uint32)
        right = np.concatenate([of_unit[matches.b[both]], chosen]).astype(np.uint32)
        return _native.components(count, left, right)

    return Clustering(considered, plan, {DUPLICATES: level}, {}, inside)
