"""Links between the pages of a web to be searched, and the index pages by which a crawler or a visitor finds them.

Every page links to a few others, those of its own site before those of other sites; members of one family have the
same links, so that no label changes. Each site has a home page and a page for each section of its navigation.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import Final

from neardup.testing.delivery import HTML, Resource
from neardup.testing.dice import Dice
from neardup.testing.facts import Facts, Page
from neardup.testing.families import Draft
from neardup.testing.items import Content
from neardup.testing.layout import Site, render

_SECTION: Final = re.compile(r'href="/([a-z]+)/\0"')
_LINKS: Final = 3


def with_links(seed: int, entries: Sequence[tuple[int, Draft]]) -> list[Draft]:
    """The drafts, given with the numbers of their groups, with links to others at the end of their content."""
    of_site: defaultdict[str, list[tuple[int, Draft]]] = defaultdict(list)
    of_language: defaultdict[str, list[tuple[int, Draft]]] = defaultdict(list)
    for group, draft in entries:
        if draft.listed:
            of_site[draft.site.name].append((group, draft))
            of_language[draft.site.language.code].append((group, draft))
    lists: dict[int, str] = {}
    linked = []
    for group, draft in entries:
        if group not in lists:
            dice = Dice(seed, "links", group)
            pool = [*dice.sample(of_site[draft.site.name], 4), *dice.sample(of_language[draft.site.language.code], 6)]
            targets = {target.url: target.content.title for other, target in pool if other != group}
            lists[group] = link_list(list(targets.items())[:_LINKS], "related")
        body = f"{draft.content.body}\n{lists[group]}"
        linked.append(replace(draft, content=replace(draft.content, body=body)))
    return linked


def link_list(targets: Sequence[tuple[str, str]], name: str) -> str:
    """Links with their titles, as a list.

    >>> link_list([("http://alpha.example/", "Quays & ferries")], "related").count("&amp;")
    1
    """
    links = "".join(f'<li><a href="{escape(url)}">{escape(title)}</a></li>\n' for url, title in targets)
    return f'<ul class="{name}">\n{links}</ul>' if targets else ""


def index_pages(sites: Sequence[Site], pages: Sequence[Page]) -> Iterator[Resource]:
    """The home page of each site, with links to all its pages, and a page for each of its sections."""
    of_host: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for page in pages:
        of_host[page.host].append((page.url, page.title))
    for site in sites:
        sections = _SECTION.findall(site.navigation)
        yield _index(site, "/", site.name, of_host[site.host])
        for number, section in enumerate(sections):
            title = f"{site.name}: {site.language.words[section]}"
            yield _index(site, f"/{section}/", title, of_host[site.host][number :: len(sections)])


def _index(site: Site, path: str, title: str, targets: Sequence[tuple[str, str]]) -> Resource:
    content = Content("index", title, f"<h1>{escape(title)}</h1>\n{link_list(targets, 'index')}")
    html = render(site, Facts(item=f"index {path}", layout=site.name), content)
    return Resource(f"http://{site.host}{path}", HTML, html.encode())
