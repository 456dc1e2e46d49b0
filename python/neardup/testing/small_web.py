"""The generated small web: sites, pages, and the true label of every pair of them.

Families of related pages are planted among unrelated ones (``relations.py``), rendered in their sites'
templates (``layout.py``) and put in random order. Every relation is planted at least once where there is
room, then families are added as long as they are fewer than the share of related pages that was asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple

from neardup.errors import UsageError
from neardup.testing import writers
from neardup.testing.dice import Dice
from neardup.testing.facts import Page
from neardup.testing.families import FAMILIES, Draft, Maker, clock
from neardup.testing.labels import Label, label_of
from neardup.testing.layout import LANGUAGES, Site, make_site, render
from neardup.testing.relations import unrelated

#: The relations that can be planted, by name.
RELATIONS: Final = tuple(FAMILIES)

_GREEK: Final = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu",
    "nu", "xi", "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
)  # fmt: skip


class Pair(NamedTuple):
    """Two pages of one group and what is true of them."""

    a: Page
    b: Page
    label: Label


@dataclass(frozen=True)
class Web:
    """A generated web. Its pages are in the order in which a crawl would have met them.

    >>> small = web(seed=1, pages=200)
    >>> len(small.pages), small.pages[0].id
    (200, 'page-000000')
    >>> a, b, label = small.pairs[0]
    >>> small.label(a, b) == small.label(b.id, a.id) == label
    True
    """

    seed: int
    pages: tuple[Page, ...]

    @cached_property
    def _by_id(self) -> dict[str, Page]:
        return {page.id: page for page in self.pages}

    @cached_property
    def groups(self) -> dict[int, list[Page]]:
        """The pages of each group of two or more, in page order.

        >>> min(len(members) for members in web(pages=100).groups.values())
        2
        """
        groups: defaultdict[int, list[Page]] = defaultdict(list)
        for page in self.pages:
            groups[page.group].append(page)
        return {group: members for group, members in groups.items() if len(members) > 1}

    @cached_property
    def pairs(self) -> list[Pair]:
        """All pairs inside groups, labelled. Every other pair is incorrect, and not a duplicate.

        >>> sorted({pair.label.henzinger for pair in web(pages=200).pairs})
        ['correct', 'incorrect', 'undecided']
        """
        return [
            Pair(a, b, label_of(a.facts, b.facts))
            for members in self.groups.values()
            for a, b in combinations(members, 2)
        ]

    def page(self, page_id: str) -> Page:
        """The page of this id.

        >>> web(pages=5).page("page-000003").id
        'page-000003'
        """
        try:
            return self._by_id[page_id]
        except KeyError:
            raise UsageError(f"no page {page_id!r} in this web", hint="ids run from page-000000") from None

    def label(self, a: Page | str, b: Page | str) -> Label:
        """The true label of any pair of pages, given as pages or by their ids.

        >>> web(pages=5, related=0).label("page-000001", "page-000002").huffman
        False
        """
        one = self.page(a) if isinstance(a, str) else a
        other = self.page(b) if isinstance(b, str) else b
        return label_of(one.facts, other.facts)

    def write_jsonl(self, path: str | PathLike[str]) -> None:
        """One page a line; see ``neardup.testing.writers.write_jsonl``."""
        writers.write_jsonl(self.pages, path)

    def write_warc(self, path: str | PathLike[str]) -> None:
        """A WARC/1.1 file; see ``neardup.testing.writers.write_warc``."""
        writers.write_warc(self.pages, path)

    def write_tree(self, folder: str | PathLike[str]) -> list[Path]:
        """A folder a host, a file a page; see ``neardup.testing.writers.write_tree``."""
        return writers.write_tree(self.pages, folder)

    def write_labels(self, path: str | PathLike[str]) -> None:
        """The labels of ``pairs`` as CSV; see ``neardup.testing.writers.write_labels``."""
        writers.write_labels(self.pairs, path)


def web(
    seed: int = 0,
    sites: int = 12,
    pages: int = 600,
    *,
    related: float = 0.5,
    words: int = 250,
    languages: Sequence[str] = tuple(LANGUAGES),
    relations: Sequence[str] = RELATIONS,
) -> Web:
    """A small web with true labels, the same for the same arguments on every machine.

    ``related`` is the share of pages in planted families, ``words`` the usual length of a page's main text,
    ``languages`` the codes that the sites are written in (half of them in the first), ``relations`` the kinds
    of families. To have every relation at least once takes 150 pages at the usual share and two sites of one
    language.

    >>> small = web(seed=7, sites=4, pages=100, languages=["en"], relations=["mirror", "parked domain"])
    >>> sorted({page.relation for page in small.pages})
    ['mirror', 'parked domain', 'unrelated']
    """
    _check(sites, pages, related, words, languages, relations)
    places = tuple(_sites(seed, sites, languages))
    drafts: list[tuple[int, str, Draft]] = []
    number_of_mark: dict[str, int] = {}
    for number, (relation, family) in enumerate(_families(seed, places, pages, related, words, relations)):
        for draft in family:
            group = number_of_mark.setdefault(draft.mark, number) if draft.mark else number
            drafts.append((group, relation, draft))
    ordered = Dice(seed, "order").shuffled(drafts)
    return Web(seed, tuple(_page(place, *entry) for place, entry in enumerate(ordered)))


def _page(place: int, group: int, relation: str, draft: Draft) -> Page:
    return Page(
        id=f"page-{place:06d}",
        url=draft.url,
        html=render(draft.site, draft.facts, draft.content),
        date=clock(draft.second).replace(" ", "T") + "Z",
        site=draft.domain,
        kind=draft.content.kind,
        relation=relation,
        group=group,
        language=draft.site.language.code,
        title=draft.content.title,
        facts=draft.facts,
    )


def _sites(seed: int, count: int, languages: Sequence[str]) -> Iterator[Site]:
    """Sites under reserved names only: nothing here can be mistaken for somebody's."""
    for number in range(count):
        name = _GREEK[number] if number < len(_GREEK) else f"{_GREEK[number % len(_GREEK)]}{number // len(_GREEK)}"
        domain, host = f"{name}.example", f"{('www.', 'news.', '', 'forum.')[number % 4]}{name}.example"
        if number == 0:
            domain, host = "example.org", "shop.example.org"
        others = languages[1:]
        code = others[number // 2 % len(others)] if others and number % 2 else languages[0]
        yield make_site(seed, domain, host, LANGUAGES[code])


def _families(
    seed: int, sites: tuple[Site, ...], pages: int, share: float, words: int, relations: Sequence[str]
) -> Iterator[tuple[str, list[Draft]]]:
    """Families and single pages until there are as many pages as asked for."""
    dice = Dice(seed, "plan")
    first = dice.shuffled(relations) if share > 0 else []
    weighted = [name for name in relations for _ in range(FAMILIES[name].weight)]
    made = planted = number = 0
    while made < pages:
        maker = Maker(seed, number, sites, words)
        number += 1
        room = pages - made
        if room > 1 and weighted and planted < share * pages and (first or planted <= share * made):
            early = bool(first)
            name = first.pop() if early else dice.pick(weighted)
            largest = min(FAMILIES[name].largest, room, 2 + pages // 40)
            # Early families are small, so that every relation finds room.
            size = dice.between(2, min(3, largest)) if early else dice.zipf(2, largest)
            drafts = FAMILIES[name].make(maker, size)
            planted += len(drafts)
            # A press release that no other site could take is a page like any other.
            name = name if len(drafts) > 1 else "unrelated"
        else:
            name, drafts = "unrelated", unrelated(maker)
        made += len(drafts)
        yield name, drafts


def _check(
    sites: int, pages: int, related: float, words: int, languages: Sequence[str], relations: Sequence[str]
) -> None:
    if sites < 1 or pages < 0 or words < 1:
        raise UsageError(
            f"web of {sites} sites, {pages} pages, {words} words", hint="sites and words must be at least 1"
        )
    if not 0 <= related <= 1:
        raise UsageError(f"related is a share of the pages, not {related}", hint="give a number from 0 to 1")
    if not languages:
        raise UsageError("a web needs a language", hint=f"known are {', '.join(LANGUAGES)}")
    for given, known, what in ((languages, LANGUAGES, "language"), (relations, FAMILIES, "relation")):
        for name in given:
            if name not in known:
                raise UsageError(f"unknown {what} {name!r}", hint=f"known are {', '.join(known)}")
