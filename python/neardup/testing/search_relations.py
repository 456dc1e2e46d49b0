"""The relations among results of one query: those of ``relations.py`` that a searcher meets, and a few more.

The further ones are Huffman's (§3.1, §4): pages that lead the browser elsewhere, always or only under a condition,
pages that differ in what surrounds the content, and pages of one template that answer different needs.
"""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from typing import Final

from neardup.testing import items
from neardup.testing.families import FAMILIES, Draft, Family, Maker, family
from neardup.testing.items import Content
from neardup.testing.relations import unrelated

#: The further relations, by name.
FURTHER: Final[dict[str, Family]] = {}


@family("surroundings", 3, 3, FURTHER)
def _surroundings(maker: Maker, size: int) -> list[Draft]:
    """The same content with another advertisement, another text box and another date (duplicates)."""
    content, facts, drafts = maker.content(), maker.facts(), []
    for member in range(size):
        own = replace(
            facts,
            advertisement=str(2000 + 10 * maker.number + member),
            minor_item=str(2000 + 10 * maker.number + member),
            time_stamp=maker.value("time_stamp", member),
        )
        url = maker.url(content.kind, f".html?from={member}")
        drafts.append(maker.draft(own, content, url, member=member))
    return drafts


@family("redirect farm", 3, 3, FURTHER)
def _redirect_farm(maker: Maker, size: int) -> list[Draft]:
    """Several pages, each with words of its own, that all lead to one place (duplicates)."""
    content, facts = maker.content(), maker.facts()
    target = maker.url(content.kind)
    drafts = [replace(maker.draft(facts, content, target), listed=False)]
    for member in range(size):
        own = replace(facts, redirect=target, wording=f"{maker.seed} {maker.number} {member}")
        host = f"{maker.writer.companies[0].lower()}-{maker.dice.token(4)}{member}.example"
        drafts.append(maker.draft(own, content, f"http://{host}/", domain=host, member=member))
    return drafts


@family("same bait", 3, 3, FURTHER)
def _same_bait(maker: Maker, size: int) -> list[Draft]:
    """Pages of the same words that lead to different places (no duplicates)."""
    drafts = []
    for member in range(size):
        content, facts = maker.content(), maker.facts(f"bait {member}")
        target = maker.url(content.kind, f"/{member}.html")
        drafts.append(replace(maker.draft(facts, content, target, member=member), listed=False))
        own = replace(facts, redirect=target, wording=f"{maker.seed} {maker.number}")
        drafts.append(maker.draft(own, content, maker.url("go", f"-{member}.html"), member=member))
    return drafts


@family("conditional redirect", 2, 2, FURTHER)
def _conditional_redirect(maker: Maker, size: int) -> list[Draft]:
    """Two pages that lead to each other only in a certain browser (no duplicates)."""
    company, common = maker.writer.companies[0], items.story(maker.writer, maker.words // 2)
    browsers = (("Firefox", "firefox"), ("Opera", "opera"))
    urls = [maker.url("download", f"/{name}.html") for _, name in browsers]
    facts, drafts = maker.facts(), []
    for member, (browser, _) in enumerate(browsers[:size]):
        other, elsewhere = browsers[1 - member][0], json.dumps(urls[1 - member])
        title = f"{company} {maker.dice.digits(1)}.{member} – {browser}"
        body = (
            f'<script type="text/javascript">if (navigator.userAgent.indexOf("{other}") >= 0) '
            f"{{ location.replace({elsewhere}); }}</script>\n"
            f"<h1>{escape(title)}</h1>\n<p>{company} {browser}: {escape(maker.writer.sentence(), quote=False)} "
            f"{escape(maker.writer.sentence(), quote=False)}</p>\n{common}"
        )
        own = replace(facts, item=f"{facts.item} {browser}")
        drafts.append(maker.draft(own, Content("download", title, body), urls[member], member=member))
    return drafts


@family("branches", 4, 3, FURTHER)
def _branches(maker: Maker, size: int) -> list[Draft]:
    """The branches of one company: what differs stands beside its name, the rest is common (no duplicates)."""
    writer, dice, company = maker.writer, maker.dice, maker.writer.companies[0]
    words = maker.site.language.words
    common, facts, drafts = items.story(writer, maker.words), maker.facts(), []
    places = dice.sample(maker.site.language.places, size)
    for member, place in enumerate(places):
        manager = dice.pick(writer.names)
        body = (
            f"<h1>{company}</h1>\n<p>{company} {escape(place)}: {escape(manager)}, {words['phone']} "
            f"+1 555 {dice.digits(3)}{member:02d}, {words['street']} {dice.between(1, 90)}. {words['hours']}. "
            f"{escape(writer.paragraph(2), quote=False)}</p>\n{common}"
        )
        own = replace(facts, item=f"{facts.item} {place}")
        url = maker.url("branches", f"/{member}.html")
        drafts.append(maker.draft(own, Content("branch", company, body), url, member=member))
    return drafts


#: Relations whose pages are duplicates of each other by Huffman's rules, and how often each is planted. Entry pages
#: are not among them: whether a searcher gains anything from a second one is anybody's guess.
DUPLICATES: Final = {
    "url only": 1, "time stamp": 2, "execution time": 1, "visitor count": 2, "session id": 2, "message id": 1,
    "server name": 1, "invisible": 1, "combination": 2, "exact copy": 2, "mirror": 5, "parked domain": 1,
    "advertisement": 4, "minor item": 2, "form": 1, "printer friendly": 3, "redirect": 5, "surroundings": 4,
    "redirect farm": 3,
}  # fmt: skip

#: Relations whose pages are alike and yet no duplicates, and how often each is planted.
ALIKE: Final = {
    "login wall": 2, "sort order": 2, "syndicated": 4, "records": 2, "catalogue": 4, "same bait": 3,
    "conditional redirect": 2, "branches": 5,
}  # fmt: skip

__all__ = ["ALIKE", "DUPLICATES", "FURTHER", "SEARCH_FAMILIES", "unrelated"]

#: Every relation of a search web, by name.
SEARCH_FAMILIES: Final = {name: (FAMILIES | FURTHER)[name] for name in (*DUPLICATES, *ALIKE)}
