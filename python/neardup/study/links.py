"""The link graph of a collection: who links to whom, the bow tie, and what a crawl reaches.

A node is an address: pages with the same URL are one node, a page without any is alone. A link is one from a node to
another that is there; where an address answered with another (a redirect), a link to it leads there. Addresses are
64-bit hashes of normalised URLs, so ten million links take 160 MB and are never held as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.errors import InputError, UsageError

#: Parts of the bow tie, as the kernel numbers them.
PARTS: Final = ("core", "in", "out", "tube", "tendril", "island")
_HOPS: Final = 20
_UNREACHED: Final = 2**32 - 1

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Links between the addresses of a collection."""

    #: The node of each page.
    node: npt.NDArray[np.int64]
    nodes: int
    from_: Places
    to: Places
    #: Links found, those inside the collection, redirects followed.
    counts: dict[str, int]
    #: Hashes of addresses, ascending, and their nodes, to look seeds up.
    addresses: Hashes


def link_graph(
    own: Hashes,
    source: Hashes | npt.NDArray[np.int64],
    target: Hashes,
    redirects: tuple[Hashes, Hashes],
    *,
    by_page: bool = False,
) -> LinkGraph:
    """The graph of pages with addresses ``own`` (0: none) and links between addresses; with ``by_page`` the source of a
    link is the number of its page.

    >>> hashes = lambda *values: np.array(values, np.uint64)
    >>> graph = link_graph(hashes(5, 6, 0), hashes(5, 6, 6), hashes(9, 5, 77), (hashes(9), hashes(6)))
    >>> graph.node.tolist(), list(zip(graph.from_.tolist(), graph.to.tolist()))
    ([0, 1, 2], [(0, 1), (1, 0)])
    """
    known = own != 0
    addresses, place = np.unique(own[known], return_inverse=True)
    node = np.empty(len(own), np.int64)
    node[known] = place
    node[~known] = len(addresses) + np.arange(int((~known).sum()))
    found = len(target)
    target, followed = _followed(target, addresses, redirects)
    if by_page:
        from_place, from_known = node[source], np.ones(len(source), bool)
    else:
        from_place, from_known = _looked_up(addresses, source.astype(np.uint64, copy=False))
    to_place, to_known = _looked_up(addresses, target)
    inside = from_known & to_known & (from_place != to_place)
    counts = {"links": found, "inside": int(inside.sum()), "through_redirects": followed}
    return LinkGraph(
        node=node,
        nodes=len(addresses) + int((~known).sum()),
        from_=from_place[inside].astype(np.uint32),
        to=to_place[inside].astype(np.uint32),
        counts=counts,
        addresses=addresses,
    )


def _looked_up(addresses: Hashes, wanted: Hashes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    if not len(addresses):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    place = np.minimum(np.searchsorted(addresses, wanted), len(addresses) - 1)
    return place, addresses[place] == wanted


def _followed(target: Hashes, addresses: Hashes, redirects: tuple[Hashes, Hashes]) -> tuple[Hashes, int]:
    """Targets that are no page, as where they lead to in the end; a loop, or too long a way, leads nowhere."""
    moved, first = np.unique(redirects[0], return_index=True)
    if not len(moved):
        return target, 0
    leads_to = redirects[1][first]
    followed = 0
    for _ in range(_HOPS):
        place, is_moved = _looked_up(moved, target)
        is_moved &= ~_looked_up(addresses, target)[1]
        if not is_moved.any():
            break
        target = np.where(is_moved, leads_to[place], target)
        followed += int(is_moved.sum())
    return target, followed


@dataclass(frozen=True, slots=True)
class Connection:
    """Where each page is in the link graph."""

    #: Of each page: its part of the bow tie, whether the crawl reached it, and in how many links (−1: not).
    part: npt.NDArray[np.uint8]
    connected: npt.NDArray[np.bool_]
    depth: npt.NDArray[np.int64]
    counts: dict[str, Any]


def connect(graph: LinkGraph, seeds: Sequence[str] = ()) -> Connection:
    """The bow tie, and the crawl from seeds, or from the largest strongly connected component."""
    part, strong = _native.bow_tie(graph.nodes, graph.from_, graph.to)
    if seeds:
        hashes = _native.url_hashes(pa.array(seeds, pa.string()))
        place, known = _looked_up(graph.addresses, hashes)
        if not known.any():
            raise InputError(
                f"no page has the URL of a seed, {seeds[0]!r} for one", hint="name URLs as they are in the input"
            )
        start = place[known].astype(np.uint32)
    else:
        start = np.flatnonzero(part == 0)[:1].astype(np.uint32)
    depth = _native.crawl(graph.nodes, graph.from_, graph.to, start)
    reached = np.where(depth == _UNREACHED, -1, depth.astype(np.int64))[graph.node]
    pages = part[graph.node]
    counts = {
        **graph.counts,
        "addresses": graph.nodes,
        "strong_components": len(np.unique(strong)),
        "bow_tie": {name: int((pages == number).sum()) for number, name in enumerate(PARTS)},
        "seeds": len(start) if seeds else "largest strongly connected component",
        "unknown_seeds": int((~known).sum()) if seeds else 0,
        "connected": int((reached >= 0).sum()),
        "deepest": int(reached.max(initial=0)),
    }
    return Connection(pages, reached >= 0, reached, counts)


def read_seeds(given: Sequence[str]) -> list[str]:
    """Seeds as URLs; one that names a file stands for its lines.

    >>> read_seeds(["https://a.example/"])
    ['https://a.example/']
    """
    seeds: list[str] = []
    for seed in given:
        if "://" in seed:
            seeds.append(seed)
            continue
        try:
            lines = Path(seed).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            raise UsageError(f"{seed!r} is neither a URL nor a file of URLs", hint="write https://… in full") from None
        seeds += [line.strip() for line in lines if line.strip()]
    if given and not seeds:
        raise UsageError("the file of seeds is empty", where=", ".join(given))
    return seeds
