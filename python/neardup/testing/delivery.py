"""How a page reaches the visitor: what a plain fetch gets, and what else the browser has to ask for.

A page's facts and content say what a visitor sees. A delivery says how it gets there: as it is, inserted by a script,
in frames, behind a redirect. The true label of a pair follows from the facts alone, so a delivery never changes it;
it changes what somebody sees who only fetches: next to nothing, the same shell for different items, or words that are
there for search engines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from typing import Final
from urllib.parse import urlsplit

from neardup.testing.dice import Dice
from neardup.testing.facts import Facts
from neardup.testing.families import Draft
from neardup.testing.items import Content
from neardup.testing.language import Writer
from neardup.testing.layout import Site, render

HTML: Final = "text/html; charset=utf-8"
_SCRIPT: Final = "text/javascript; charset=utf-8"
_JSON: Final = "application/json"
_BODY: Final = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Resource:
    """What a server answers at an address."""

    url: str
    media_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Delivered:
    """A page as it is fetched, as it is shown, and what is asked for in between."""

    fetched: str
    shown: str
    resources: tuple[Resource, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be delivered: a draft, under a number that no other page has."""

    draft: Draft
    number: int
    #: Words about the query, for pages that show one thing to search engines and another to visitors.
    bait: str
    dice: Dice

    @property
    def site(self) -> Site:
        return self.draft.site

    @property
    def facts(self) -> Facts:
        return self.draft.facts

    @property
    def content(self) -> Content:
        return self.draft.content

    @property
    def shown(self) -> str:
        """What a visitor sees: the page itself, or the one that it leads to."""
        return render(self.site, replace(self.facts, redirect=""), self.content)

    def resource(self, path: str, media_type: str, body: str) -> Resource:
        """Something beside the page, on its own host."""
        parts = urlsplit(self.draft.url)
        return Resource(f"{parts.scheme}://{parts.netloc}{path}", media_type, body.encode())

    def with_body(self, body: str) -> str:
        """The page with something else where its content stands."""
        return render(self.site, self.facts, replace(self.content, body=body))


def deliver(delivery: str, order: Order) -> Delivered:
    """The page, delivered in one of the ``DELIVERIES``; a redirect, a login or a print version has its own way.

    >>> from neardup.testing.english import ENGLISH
    >>> from neardup.testing.layout import make_site
    >>> site = make_site(0, "alpha.example", "www.alpha.example", ENGLISH)
    >>> content = Content("article", "Ferries", "<p>The quay is closed.</p>")
    >>> draft = Draft(site, site.name, "http://www.alpha.example/1.html", 0, Facts("1", site.name), content)
    >>> page = deliver("inserted", Order(draft, 1, "", Dice(0)))
    >>> "quay" in page.fetched, "quay" in page.shown, len(page.resources)
    (False, True, 1)
    """
    facts = order.facts
    if facts.redirect:
        return _redirect(order)
    if facts.login or facts.printer or not facts.layout:
        return _plain(order)
    return DELIVERIES[delivery](order)


def _plain(order: Order) -> Delivered:
    return Delivered(order.shown, order.shown)


def _inserted(order: Order) -> Delivered:
    """A script from another file puts the content into an empty element."""
    place = f"part{order.number}"
    script = f'document.getElementById("{place}").innerHTML = {json.dumps(order.content.body)};\n'
    source = f"/content/{order.number}.js"
    shell = f'<div id="{place}"></div>\n<script type="text/javascript" src="{source}"></script>'
    return Delivered(order.with_body(shell), order.shown, (order.resource(source, _SCRIPT, script),))


def _asked_for(order: Order) -> Delivered:
    """The page asks its server for the content once it is there, and builds it from what comes back."""
    data = f"/data/{order.number}.json"
    shell = (
        '<div class="loading" id="slot">&hellip;</div>\n<script>\n'
        f'fetch("{data}").then(function (answer) {{ return answer.json(); }}).then(function (data) {{\n'
        '  var slot = document.getElementById("slot");\n  slot.className = "";\n  slot.innerHTML = data.content;\n'
        "});\n</script>"
    )
    body = json.dumps({"content": order.content.body})
    return Delivered(order.with_body(shell), order.shown, (order.resource(data, _JSON, body),))


#: Fills the whole page, title included, with what the server has under the page's number.
_APPLICATION: Final = """window.addEventListener("DOMContentLoaded", function () {
  var root = document.getElementById("application");
  var request = new XMLHttpRequest();
  request.onload = function () {
    var page = JSON.parse(request.responseText);
    document.title = page.title;
    root.innerHTML = page.body;
  };
  request.open("GET", "/pages/" + root.getAttribute("data-page") + ".json");
  request.send();
});
"""


def _application(order: Order) -> Delivered:
    """One shell for all pages of the site; nothing of the page is in it but a number."""
    shown, site = order.shown, order.site
    found = _BODY.search(shown)
    body = found.group(1) if found else shown
    shell = (
        f'<!DOCTYPE html>\n<html lang="{site.language.code}">\n<head>\n<title>{escape(site.name)}</title>\n'
        f'<meta charset="utf-8">\n<script src="/application.js"></script>\n</head>\n'
        f'<body><div id="application" data-page="{order.number}"><p>{site.language.words["home"]} &hellip;</p></div>'
        "</body>\n</html>\n"
    )
    data = json.dumps({"title": order.content.title, "body": body})
    resources = (
        order.resource("/application.js", _SCRIPT, _APPLICATION),
        order.resource(f"/pages/{order.number}.json", _JSON, data),
    )
    return Delivered(shell, shown, resources)


def _frames(order: Order) -> Delivered:
    """A frameset: the fetched page is a description of frames, the same for all pages of the site but for a number."""
    site, words = order.site, order.site.language.words
    framed = render(site, replace(order.facts, printer="framed"), order.content).replace(' onload="window.print()"', "")
    content = f"/frames/{order.number}.html"
    menu = f"<html><head>{site.head}</head>\n<body>\n{site.navigation}\n{site.side}\n{site.footer}\n</body></html>\n"
    menu = menu.replace("\0", "")
    title = f"<title>{escape(site.name)}</title>"
    head = f'<html lang="{site.language.code}">\n<head>\n{title}\n<meta charset="utf-8">\n</head>\n'
    fetched = (
        f'{head}<frameset cols="20%,80%">\n<frame name="menu" src="/frames/menu.html">\n'
        f'<frame name="content" src="{content}">\n'
        f'<noframes><body><a href="{content}">{words["enter"]}</a></body></noframes>\n</frameset>\n</html>\n'
    )
    inside = [found.group(1) for page in (menu, framed) if (found := _BODY.search(page))]
    shown = f"{head}<body>\n" + "\n".join(inside) + "\n</body>\n</html>\n"
    resources = (order.resource("/frames/menu.html", HTML, menu), order.resource(content, HTML, framed))
    return Delivered(fetched, shown, resources)


def _embedded(order: Order) -> Delivered:
    """The content stands in an inline frame."""
    source = f"/embedded/{order.number}.html"
    inside = (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head>\n<body>\n{order.content.body}\n</body></html>\n'
    )
    fetched = order.with_body(f'<iframe src="{source}" width="100%" height="800" frameborder="0"></iframe>')
    return Delivered(fetched, order.shown, (order.resource(source, HTML, inside),))


def _baited(order: Order) -> Delivered:
    """Words for search engines, which a script replaces by the content."""
    place = f"main{order.number}"
    source = f"/content/{order.number}.js"
    shell = f'<div id="{place}">\n{order.bait}\n</div>\n<script type="text/javascript" src="{source}"></script>'
    script = (
        "window.onload = function () {\n"
        f'  document.getElementById("{place}").innerHTML = {json.dumps(order.content.body)};\n}};\n'
    )
    return Delivered(order.with_body(shell), order.shown, (order.resource(source, _SCRIPT, script),))


def _restless(order: Order) -> Delivered:
    """A page that loads itself again and again: what is on it can be fetched, and never stands still in a browser."""
    again = '<script type="text/javascript">setTimeout(function () { location.reload(); }, 20);</script>'
    return Delivered(order.with_body(f"{order.content.body}\n{again}"), order.shown)


def _redirect(order: Order) -> Delivered:
    """A page of words for search engines that sends the browser on, by an element of its head or by a script."""
    target, dice, language = order.facts.redirect, order.dice, order.site.language
    head = f'<!DOCTYPE html>\n<html lang="{language.code}">\n<head>\n<meta charset="utf-8">\n'
    # Which words, is decided by the wording alone: pages that lead to different places may have the same.
    writer = Writer(language, Dice("bait", language.code, order.facts.wording or order.draft.url))
    title = f"<title>{escape(order.content.title if not order.facts.wording else writer.headline())}</title>\n"
    if dice.chance(0.5):
        seconds = dice.pick((0, 0, 0, 1, 2))
        sends = f'<meta http-equiv="refresh" content="{seconds}; url={escape(target)}">\n'
    else:
        call = dice.pick(("location.replace({});", "window.location.href = {};", "self.location = {};"))
        sends = f'<script type="text/javascript">{call.format(json.dumps(target))}</script>\n'
    paragraph = f"<p>{escape(writer.paragraph(5), quote=False)}</p>" if order.facts.wording else ""
    body = f"{order.bait}\n{paragraph}\n<p>{language.words['moved']}</p>"
    return Delivered(f"{head}{title}{sends}</head>\n<body>\n{body}\n</body>\n</html>\n", order.shown)


#: Every delivery by its name.
DELIVERIES: Final[dict[str, Callable[[Order], Delivered]]] = {
    "plain": _plain,
    "inserted": _inserted,
    "asked for": _asked_for,
    "application": _application,
    "frames": _frames,
    "embedded": _embedded,
    "baited": _baited,
    "restless": _restless,
}
