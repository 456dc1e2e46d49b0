"""Accepted pairs → clusters, keep policies, removals; all of it pure functions over arrays."""

from neardup.graph.clusters import cluster_diameters, clusters_table
from neardup.graph.keep import POLICIES, KeepPolicy, keep_order
from neardup.graph.removal import Removal, remove, set_numbers, set_order
from neardup.graph.units import best_between_sets, between_sets, ends_of_sets, site_units

__all__ = [
    "POLICIES",
    "KeepPolicy",
    "Removal",
    "best_between_sets",
    "between_sets",
    "cluster_diameters",
    "clusters_table",
    "ends_of_sets",
    "keep_order",
    "remove",
    "set_numbers",
    "set_order",
    "site_units",
]
