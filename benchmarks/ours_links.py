"""Builds a graph of N links, and finds its bow tie and what a crawl reaches; the answer is checked.

Pages 0 … 999 are a ring, the core. Every other page has a link to or from a page of smaller number on its own side, and
all further links stay on one side, so that the sizes of in and out are known before.
"""

from __future__ import annotations

import sys

import numpy as np

from neardup.study.links import connect, link_graph

PAGES, CORE, IN = 1_000_000, 1_000, 400_000


def main(links: int) -> None:
    dice = np.random.default_rng(6)
    own = np.unique(dice.integers(1, 2**63, PAGES + PAGES // 100, dtype=np.uint64))[:PAGES]
    dice.shuffle(own)
    pages = np.arange(CORE, PAGES)
    # Those up to IN reach the core, the others are reached from it.
    into, out = pages[pages < IN], pages[pages >= IN]
    fixed = [(np.arange(CORE), (np.arange(CORE) + 1) % CORE), (into, dice.integers(0, into)), (_above(dice, out), out)]
    more = links - sum(len(side[0]) for side in fixed)
    later = dice.integers(CORE + 1, IN, more // 2)
    fixed.append((later, dice.integers(0, later)))
    later = dice.integers(IN + 1, PAGES, more - more // 2)
    fixed.append((_above(dice, later), later))
    source, target = (np.concatenate([side[end] for side in fixed]) for end in (0, 1))
    order = dice.permutation(len(source))
    none = np.empty(0, np.uint64)
    graph = link_graph(own, source[order], own[target[order]], (none, none), by_page=True)
    found = connect(graph).counts
    expected = {"core": CORE, "in": IN - CORE, "out": PAGES - IN, "tube": 0, "tendril": 0, "island": 0}
    if found["bow_tie"] != expected or found["connected"] != CORE + PAGES - IN:
        sys.exit(f"wrong: {found}")
    print(found)


def _above(dice: np.random.Generator, pages: np.ndarray) -> np.ndarray:
    """For each page of the out side a page of the core, or of smaller number on its side."""
    drawn = dice.integers(0, CORE + pages - IN)
    return np.where(drawn < CORE, drawn, drawn - CORE + IN)


if __name__ == "__main__":
    main(int(sys.argv[1]))
