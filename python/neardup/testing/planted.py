"""A collection whose study is known beforehand: clusters of duplicates of Zipf-like sizes, and pages in a bow tie.

Every page's part of the bow tie and its cluster are decided first, then pages are written that have them: sentences
that say which cluster they are of, and links that make the parts what they are. ``Planted`` tells the numbers that a
study must find, counted from those decisions and not by looking at the pages.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from neardup.testing.dice import Dice

Item = TypeVar("Item")
PARTS: Final = ("core", "in", "out", "tube", "tendril", "island")
#: How many of a hundred pages are in each part.
_SHARES: Final = {"core": 30, "in": 15, "out": 25, "tube": 5, "tendril": 10, "island": 15}
_SENTENCES: Final = 12


@dataclass(frozen=True, slots=True)
class PlantedPage:
    """A page, and what was decided of it."""

    url: str
    html: str
    part: str
    #: The number of its cluster; that of a unique page is its own.
    cluster: int

    @property
    def connected(self) -> bool:
        """Whether a crawl that begins in the core reaches it."""
        return self.part in ("core", "out")


@dataclass(frozen=True)
class Planted:
    """The pages, in an order that says nothing."""

    pages: list[PlantedPage] = field(repr=False)

    def write_jsonl(self, path: str | Path) -> None:
        """One page a line."""
        lines = (json.dumps({"id": str(at), "url": page.url, "html": page.html}) for at, page in enumerate(self.pages))
        Path(path).write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def parts(self) -> dict[str, int]:
        """How many pages each part of the bow tie has."""
        counted = Counter(page.part for page in self.pages)
        return {part: counted[part] for part in PARTS}

    def sizes(self, pages: Sequence[PlantedPage] | None = None) -> list[int]:
        """The sizes of the clusters of two pages or more, of all pages or among some, the largest first."""
        counted = Counter(page.cluster for page in (self.pages if pages is None else pages))
        return sorted((size for size in counted.values() if size > 1), reverse=True)

    def connected(self) -> list[PlantedPage]:
        return [page for page in self.pages if page.connected]

    def disconnected(self) -> list[PlantedPage]:
        return [page for page in self.pages if not page.connected]

    def clusters_with_connected(self) -> int:
        """How many clusters have a page that a crawl reaches."""
        clustered = {cluster for cluster, size in Counter(page.cluster for page in self.pages).items() if size > 1}
        return len(clustered & {page.cluster for page in self.connected()})

    def unique(self) -> list[PlantedPage]:
        """Pages that are alone in their cluster."""
        counted = Counter(page.cluster for page in self.pages)
        return [page for page in self.pages if counted[page.cluster] == 1]


def planted(seed: int = 0, pages: int = 2000, exponent: float = 2.5, unique: float = 0.5) -> Planted:
    """A collection of ``pages`` pages; a share of them is unique, the others in clusters of sizes by a power law.

    >>> made = planted(seed=1, pages=300)
    >>> len(made.pages), sum(made.parts().values()), len(made.unique()) >= 150
    (300, 300, True)
    """
    dice = Dice(seed, "planted")
    clusters = _clusters(dice, pages, exponent, unique)
    parts = [part for part, share in _SHARES.items() for _ in range(pages * share // 100)]
    parts += ["island"] * (pages - len(parts))
    _shuffle(dice, parts)
    _shuffle(dice, clusters)
    urls = [f"http://site{dice.below(40)}.example/{part}/{number}.html" for number, part in enumerate(parts)]
    links = _links(dice, parts, urls)
    made = [
        PlantedPage(url, _html(cluster, links[number]), part, cluster)
        for number, (url, part, cluster) in enumerate(zip(urls, parts, clusters, strict=True))
    ]
    return Planted(made)


def _clusters(dice: Dice, pages: int, exponent: float, unique: float) -> list[int]:
    """The cluster of each page: first the unique ones, then clusters until there are enough pages."""
    clusters = list(range(int(pages * unique)))
    name = len(clusters)
    while len(clusters) < pages:
        # A power law of real numbers from 2 on, cut to whole ones.
        size = int(2 * (1 - dice.random()) ** (-1 / (exponent - 1)))
        clusters += [name] * min(size, pages - len(clusters))
        name += 1
    return clusters


def _shuffle(dice: Dice, items: list[Item]) -> None:
    for last in range(len(items) - 1, 0, -1):
        other = dice.below(last + 1)
        items[last], items[other] = items[other], items[last]


def _links(dice: Dice, parts: Sequence[str], urls: Sequence[str]) -> list[list[str]]:
    """Links that make each part what it is: the core a ring, the others hung on to it one by one."""
    of: dict[str, list[int]] = {part: [] for part in PARTS}
    for number, part in enumerate(parts):
        of[part].append(number)
    links: list[list[str]] = [[] for _ in urls]

    def link(source: int, target: int) -> None:
        links[source].append(urls[target])

    core = of["core"]
    for number, page in enumerate(core):
        link(page, core[(number + 1) % len(core)])
        link(page, dice.pick(core))
    for page in of["in"]:
        link(page, dice.pick(core))
    for page in of["out"]:
        link(dice.pick(core), page)
    for page in of["tube"]:
        link(dice.pick(of["in"]), page)
        link(page, dice.pick(of["out"]))
    for number, page in enumerate(of["tendril"]):
        # Half of them are reached from in, half of them reach out; neither does both.
        link(dice.pick(of["in"]), page) if number % 2 else link(page, dice.pick(of["out"]))
    islands = of["island"]
    for one, other in zip(islands[::2], islands[1::2], strict=False):
        link(one, other)
    return links


def _html(cluster: int, links: Sequence[str]) -> str:
    """A page that says nothing but what its cluster says; links have no text."""
    sentences = (
        f"This is sentence {number} of what all pages of group {cluster} have to say." for number in range(_SENTENCES)
    )
    anchors = "".join(f'<a href="{url}"></a>' for url in links)
    return f"<html><body><p>{' '.join(sentences)}</p>{anchors}</body></html>"
