"""A web to be searched: sites that a browser can visit, queries, result lists, and the true label of every pair.

It is the generated web (``small_web.py``) seen from a searcher's end. All results of a query are about the same thing;
among them are planted pages that are duplicates by Huffman's rules, and others that are merely alike. Pages reach the
visitor in several ways (``delivery.py``), so what a plain fetch gets may be next to nothing, or misleading. What is on
the pages, and every label, follows from the seed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from os import PathLike
from typing import Final, NamedTuple

from neardup.errors import UsageError
from neardup.testing import search_writers
from neardup.testing.delivery import Delivered, Order, Resource, deliver
from neardup.testing.dice import Dice
from neardup.testing.facts import Page
from neardup.testing.families import Draft, Maker, clock
from neardup.testing.items import prose
from neardup.testing.labels import Label, label_of
from neardup.testing.language import Writer
from neardup.testing.layout import LANGUAGES, Site, make_site
from neardup.testing.links import index_pages, with_links
from neardup.testing.result_lists import ENGINES, Entry, grade_of, judged, ranked
from neardup.testing.search_relations import ALIKE, DUPLICATES, SEARCH_FAMILIES, unrelated
from neardup.testing.skeletons import SKELETONS

#: The sets of templates, each with its ways of delivery; a site has one, by which most of its pages come.
TEMPLATES: Final = {
    "classic": ("plain",) * 7 + ("inserted", "inserted", "application", "frames", "frames", "embedded", "baited"),
    "modern": ("plain",) * 6
    + ("asked for", "asked for", "application", "application", "embedded", "embedded", "baited"),
}
_OTHERWISE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Query:
    """A query, by its id, with its words and their language."""

    id: str
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class SearchPage(Page):
    """A result of a query. ``html`` is what a fetch of its address gets."""

    query: str
    #: How its content reaches the browser: one of ``DELIVERIES``, or "redirect".
    delivery: str
    #: What a visitor sees in the end, for tests of rendering; no part of the files.
    shown: str
    #: How well it answers the query, from 0 to 3.
    grade: int


class SearchPair(NamedTuple):
    """Two results of one query, what is true of them, and what kind of pair they are."""

    query: Query
    a: SearchPage
    b: SearchPage
    label: Label
    #: The name of the planted relation, else "same site" or "same topic".
    relation: str


@dataclass(frozen=True)
class SearchWeb:
    """A generated web with queries and result lists.

    >>> made = search_web(seed=1, queries=4)
    >>> len(made.pages), len(made.pairs), made.queries[0].id
    (60, 420, 'q001')
    """

    seed: int
    templates: str
    queries: tuple[Query, ...]
    #: The results of all queries, in the order of the queries.
    pages: tuple[SearchPage, ...]
    #: What is served beside them: scripts, data, frames, the pages that redirects lead to, the sites' indexes.
    resources: tuple[Resource, ...]
    #: What the engines returned.
    run: tuple[Entry, ...]

    @cached_property
    def pairs(self) -> list[SearchPair]:
        """Every pair of results of every query, labelled.

        >>> pairs = search_web(seed=1, queries=40, languages=["en"]).pairs
        >>> 0.01 < sum(pair.label.huffman for pair in pairs) / len(pairs) < 0.03
        True
        """
        of_query: defaultdict[str, list[SearchPage]] = defaultdict(list)
        for page in self.pages:
            of_query[page.query].append(page)
        return [
            SearchPair(query, a, b, label_of(a.facts, b.facts), _relation(a, b))
            for query in self.queries
            for a, b in combinations(of_query[query.id], 2)
        ]

    @cached_property
    def answers(self) -> dict[str, tuple[str, bytes]]:
        """What is served at each address: media type and body.

        >>> made = search_web(seed=1, queries=2)
        >>> made.answers[made.pages[0].url][1] == made.pages[0].html.encode()
        True
        """
        answers = {resource.url: (resource.media_type, resource.body) for resource in self.resources}
        answers.update({page.url: ("text/html; charset=utf-8", page.html.encode()) for page in self.pages})
        return answers

    def judgements(self, *, true: bool = False) -> Iterator[tuple[str, str, int]]:
        """Query, page and grade of every result: as a judge gave it who saw that page alone, or the true one.

        >>> made = search_web(seed=1, queries=2)
        >>> len(list(made.judgements())), next(made.judgements(true=True))[2] == made.pages[0].grade
        (30, True)
        """
        for page in self.pages:
            yield page.query, page.id, page.grade if true else judged(self.seed, page.id, page.grade)

    def write(self, folder: str | PathLike[str]) -> None:
        """All files into a folder that exists; see ``neardup.testing.search_writers``."""
        search_writers.write(self, folder)


def _relation(a: SearchPage, b: SearchPage) -> str:
    if a.group == b.group:
        return a.relation
    return "same site" if a.facts.layout == b.facts.layout else "same topic"


def search_web(
    seed: int = 0,
    queries: int = 100,
    *,
    results: int = 15,
    sites: int = 12,
    engines: int = 3,
    depth: int = 10,
    words: int = 200,
    languages: Sequence[str] = tuple(LANGUAGES),
    templates: str = "classic",
    restless: float = 0.015,
) -> SearchWeb:
    """A web to be searched, the same for the same arguments on every machine.

    Each query has so many ``results``; half of the queries are in the first of the ``languages``, and each language
    has so many ``sites``. An engine returns ``depth`` results, now and then a few more, so that every result is one of
    some engine's. ``words`` is the usual length of a page's main text. ``templates`` is "classic" or "modern": what
    was learned on the one can be tested on the other. ``restless`` is the share of pages that load themselves again
    and again, and so cannot be rendered.

    >>> made = search_web(seed=7, queries=6, languages=["en", "ja"], templates="modern")
    >>> sorted({query.language for query in made.queries})
    ['en', 'ja']
    """
    _check(queries, results, sites, engines, depth, words, languages, templates, restless)
    skeletons = sorted(SKELETONS) if templates == "modern" else ()
    places = {code: tuple(_sites(seed, code, sites, skeletons)) for code in languages}
    asked: list[Query] = []
    entries: list[_Entry] = []
    number = 0
    for place in range(queries):
        others = languages[1:]
        code = others[place // 2 % len(others)] if others and place % 2 else languages[0]
        about = Writer(LANGUAGES[code], Dice(seed, "query", place))
        query = Query(f"q{place + 1:03d}", f"{about.companies[0]} {about.nouns[0]}", code)
        asked.append(query)
        met: list[_Entry] = []
        for relation, drafts in _families(seed, place, number, results, places[code], words, about):
            met += [_Entry(number, relation, query, place, draft) for draft in drafts]
            number += 1
        entries += Dice(seed, "order", place).shuffled(met)
    linked = with_links(seed, [(entry.group, entry.draft) for entry in entries])
    pages, resources = _delivered(seed, entries, linked, templates, places, restless)
    for resource in index_pages([site for some in places.values() for site in some], pages):
        resources.setdefault(resource.url, resource)
    return SearchWeb(
        seed, templates, tuple(asked), tuple(pages), tuple(resources.values()),
        tuple(_run(seed, asked, pages, engines, depth)),
    )  # fmt: skip


class _Entry(NamedTuple):
    """A draft and where it belongs."""

    group: int
    relation: str
    query: Query
    #: The query's place among the queries.
    place: int
    draft: Draft


def _sites(seed: int, code: str, count: int, skeletons: Sequence[str]) -> Iterator[Site]:
    """The sites of one language, under reserved names."""
    dice = Dice(seed, "names", code)
    for number in range(count):
        name = f"{Writer(LANGUAGES[code], dice).companies[0].lower()}-{code}{number}.example"
        host = f"{('www.', '', 'shop.', 'portal.')[number % 4]}{name}"
        yield make_site(seed, name, host, LANGUAGES[code], skeletons)


def _families(
    seed: int, place: int, number: int, results: int, sites: tuple[Site, ...], words: int, about: Writer
) -> Iterator[tuple[str, list[Draft]]]:
    """The results of one query: a few planted families, and single pages for the rest."""
    dice = Dice(seed, "plan", place)
    planned: list[str] = []
    for weights, counts in ((DUPLICATES, (0, 1, 1, 2, 2)), (ALIKE, (1, 1, 2, 2))):
        names = [name for name, weight in weights.items() for _ in range(weight)]
        planned += [dice.pick(names) for _ in range(dice.pick(counts))]
    room = results
    while room > 0:
        maker = Maker(seed, number, sites, words, about)
        number += 1
        if planned and room > 1:
            name = planned.pop()
            size = min(3 if dice.chance(0.2) else 2, SEARCH_FAMILIES[name].largest, room)
            drafts = SEARCH_FAMILIES[name].make(maker, size)
        else:
            name, drafts = "unrelated", unrelated(maker)
        listed = sum(draft.listed for draft in drafts)
        room -= listed
        # A press release that no other site could take is a page like any other.
        yield name if listed > 1 else "unrelated", drafts


def _delivered(
    seed: int,
    entries: Sequence[_Entry],
    drafts: Sequence[Draft],
    templates: str,
    places: dict[str, tuple[Site, ...]],
    restless: float,
) -> tuple[list[SearchPage], dict[str, Resource]]:
    """Every draft, delivered: the results, and everything that is asked for beside them."""
    ways, usual = TEMPLATES[templates], {}
    for code, sites in places.items():
        deck = Dice(seed, "deck", code).shuffled(ways)
        usual.update({site.name: deck[number % len(deck)] for number, site in enumerate(sites)})
    pages: list[SearchPage] = []
    resources: dict[str, Resource] = {}
    for number, (entry, draft) in enumerate(zip(entries, drafts, strict=True)):
        dice = Dice(seed, "delivery", number)
        delivery = dice.pick(ways) if dice.chance(_OTHERWISE) else usual.get(draft.facts.layout, "plain")
        if dice.chance(restless):
            delivery = "restless"
        made = deliver(delivery, Order(draft, number, _bait(seed, entry, draft.site), dice))
        resources.update({resource.url: resource for resource in made.resources})
        if not draft.listed:
            resources[draft.url] = Resource(draft.url, "text/html; charset=utf-8", made.fetched.encode())
            continue
        if draft.facts.redirect:
            delivery = "redirect"
        elif made.fetched == made.shown:
            delivery = "plain"
        pages.append(_page(seed, len(pages), entry, draft, made, delivery))
    return pages, resources


def _bait(seed: int, entry: _Entry, site: Site) -> str:
    """Words for search engines: the same for all pages of a site that want to be found for the query."""
    # Which writer it follows does not matter; what counts is that the query's words are in it.
    about = Writer(site.language, Dice(seed, "query", entry.place))
    writer = Writer(site.language, Dice(seed, "bait", entry.query.id, site.name), about)
    return f"<h2>{entry.query.text}</h2>\n{prose(writer, 4)}"


def _page(seed: int, place: int, entry: _Entry, draft: Draft, made: Delivered, delivery: str) -> SearchPage:
    return SearchPage(
        id=f"page-{place:06d}",
        url=draft.url,
        html=made.fetched,
        date=clock(draft.second).replace(" ", "T") + "Z",
        site=draft.domain,
        kind=draft.content.kind,
        relation=entry.relation,
        group=entry.group,
        language=draft.site.language.code,
        title=draft.content.title,
        facts=draft.facts,
        query=entry.query.id,
        delivery=delivery,
        shown=made.shown,
        # Nobody who searches wants a domain that is for sale, or a form to log in.
        grade=0 if draft.content.kind == "parked domain" or draft.facts.login else grade_of(seed, draft.facts.item),
    )


def _run(seed: int, queries: Sequence[Query], pages: Sequence[SearchPage], engines: int, depth: int) -> Iterator[Entry]:
    of_query: defaultdict[str, list[SearchPage]] = defaultdict(list)
    for page in pages:
        of_query[page.query].append(page)
    by_id = {page.id: page for page in pages}

    def repeats(a: str, b: str) -> bool:
        return label_of(by_id[a].facts, by_id[b].facts).huffman

    for query in queries:
        found = [(page.id, page.facts.item, page.grade) for page in of_query[query.id]]
        yield from ranked(seed, query.id, found, repeats, engines, depth)


def _check(
    queries: int, results: int, sites: int, engines: int, depth: int, words: int,
    languages: Sequence[str], templates: str, restless: float,
) -> None:  # fmt: skip
    if queries < 1 or results < 2 or sites < 1 or words < 1 or depth < 1:
        raise UsageError(
            f"a web of {queries} queries with {results} results of {words} words from {sites} sites, {depth} a list",
            hint="there is at least one of each, and two results",
        )
    if not 1 <= engines <= len(ENGINES):
        raise UsageError(f"{engines} engines", hint=f"there are from 1 to {len(ENGINES)}")
    if not 0 <= restless <= 1:
        raise UsageError(f"restless is a share of the pages, not {restless}", hint="give a number from 0 to 1")
    if not languages:
        raise UsageError("a web needs a language", hint=f"known are {', '.join(LANGUAGES)}")
    for name in languages:
        if name not in LANGUAGES:
            raise UsageError(f"unknown language {name!r}", hint=f"known are {', '.join(LANGUAGES)}")
    if templates not in TEMPLATES:
        raise UsageError(f"unknown templates {templates!r}", hint=f"known are {', '.join(TEMPLATES)}")


__all__ = ["TEMPLATES", "Query", "SearchPage", "SearchPair", "SearchWeb", "search_web"]
