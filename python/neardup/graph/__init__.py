"""Accepted pairs → clusters, keep policies, removals; all of it pure functions over arrays."""

from neardup.graph.clusters import cluster_diameters, clusters_table
from neardup.graph.keep import POLICIES, KeepPolicy, keep_order
from neardup.graph.removal import Removal, remove, set_numbers, set_order

__all__ = [
    "POLICIES",
    "KeepPolicy",
    "Removal",
    "cluster_diameters",
    "clusters_table",
    "keep_order",
    "remove",
    "set_numbers",
    "set_order",
]
