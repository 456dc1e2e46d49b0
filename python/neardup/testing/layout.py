"""A site's own template: head, navigation, side column, footer, and how much boilerplate there is of it all.

A page's HTML is a function of the site, the page's facts and its content, and of nothing else. Pages with
equal facts are therefore equal byte for byte. Links are relative, so that a mirror under another name is a
true copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Final

from neardup.testing.dice import Dice
from neardup.testing.english import ENGLISH
from neardup.testing.facts import Facts
from neardup.testing.french import FRENCH
from neardup.testing.german import GERMAN
from neardup.testing.items import Content
from neardup.testing.japanese import JAPANESE
from neardup.testing.language import Language, Writer
from neardup.testing.russian import RUSSIAN
from neardup.testing.skeletons import SKELETONS, Parts

#: The languages of the generated web, by their codes.
LANGUAGES: Final = {language.code: language for language in (ENGLISH, GERMAN, FRENCH, JAPANESE, RUSSIAN)}

#: Facts that are shown in a line of their own at the top or at the bottom of the page, in this order.
STATUS: Final = ("url", "time_stamp", "visitor_count", "execution_time", "message_id", "server_name")

_SECTIONS: Final = (
    "home", "products", "news", "forum", "contact", "about", "search", "help", "links", "archive", "events",
    "gallery", "newsletter", "directory", "privacy", "jobs", "press", "terms",
)  # fmt: skip

# Stands where a link may carry a session id. It cannot occur in a text.
_SESSION: Final = "\0"


@dataclass(frozen=True, slots=True)
class Site:
    """A site with its template, ready to be filled in."""

    #: The registrable domain.
    name: str
    host: str
    language: Language
    head: str
    navigation: str
    side: str
    footer: str
    tables: bool
    side_first: bool
    status_on_top: bool
    session_in_text: bool
    #: The listed facts that its pages show as a matter of course.
    habits: tuple[str, ...]
    #: How the parts stand together: the name of one of ``SKELETONS``; empty for the plain ones of ``web()``.
    skeleton: str = ""


def make_site(seed: int, name: str, host: str, language: Language, skeletons: Sequence[str] = ()) -> Site:
    """A site with a template of its own; sites of equal arguments are equal.

    >>> make_site(0, "alpha.example", "www.alpha.example", ENGLISH).name
    'alpha.example'
    """
    dice = Dice(seed, "site", name)
    writer = Writer(language, dice)
    words = language.words
    sections = dice.sample(_SECTIONS, dice.between(5, 12))
    links = [(words[section], f"/{section}/{_SESSION}") for section in sections]
    amount = dice.pick((0, 1, 1, 2, 4))
    topics = [
        (noun, f"/topics/{dice.between(1, 400)}.html{_SESSION}") for noun in dice.sample(writer.topic.nouns, 5 * amount)
    ]
    remarks = dice.sample(language.boilerplate, 1 + 2 * amount)
    side = f"<h3>{words['see_also']}</h3>\n{_list(topics)}" if topics else ""
    if amount > 1:
        side += f"\n<p>{escape(writer.paragraph(2 * amount), quote=False)}</p>"
    footer = "\n".join(f"<p><small>{escape(remark, quote=False)}</small></p>" for remark in remarks)
    banner = f'<img src="http://banners.example.edu/{dice.digits(4)}.gif" alt="">' if dice.chance(0.4) else ""
    head = (
        f'<meta http-equiv="Content-Type" content="text/html; charset=utf-8">\n'
        f'<link rel="stylesheet" type="text/css" href="/style/{dice.digits(2)}.css">\n'
        f"<style>body {{ font-family: {dice.pick(('serif', 'sans-serif'))}; "
        f"margin: {dice.between(0, 30)}px }}</style>\n"
        f'<script type="text/javascript">var account = "{dice.token(8)}";\n'
        "if (top != self) { track(account); }</script>"
    )
    return Site(
        name=name,
        host=host,
        language=language,
        head=head,
        navigation=f'<a href="/{_SESSION}"><img src="/images/logo.gif" alt=""></a>\n{_list(links)}',
        side=side,
        footer=f"{banner}\n{footer}\n<p>&copy; 2006 {escape(writer.companies[0])}</p>",
        tables=dice.chance(0.5),
        side_first=dice.chance(0.5),
        status_on_top=dice.chance(0.3),
        session_in_text=dice.chance(0.5),
        habits=tuple(dice.sample([name for name in STATUS if name != "url"], dice.pick((0, 0, 1, 2)))),
        skeleton=Dice(seed, "skeleton", name).pick(skeletons) if skeletons else "",
    )


def _list(links: Sequence[tuple[str, str]]) -> str:
    return "<ul>\n" + "".join(f'<li><a href="{to}">{escape(text)}</a></li>\n' for text, to in links) + "</ul>"


@lru_cache(maxsize=4096)
def _small_text(code: str, purpose: str, name: str) -> str:
    """The text of an advertisement or of a text box; the name alone decides it."""
    writer = Writer(LANGUAGES[code], Dice(purpose, code, name))
    return f"<b>{escape(writer.headline())}</b> {escape(writer.sentence(), quote=False)} ({escape(name)})"


def render(site: Site, facts: Facts, content: Content) -> str:
    """The page's HTML.

    >>> site = make_site(0, "alpha.example", "www.alpha.example", ENGLISH)
    >>> facts = Facts(item="1", layout=site.name, visitor_count="8128")
    >>> html = render(site, facts, Content("article", "Ferries & quays", "<h1>Ferries &amp; quays</h1>"))
    >>> "You are visitor number 8128" in html, "<title>Ferries &amp; quays</title>" in html
    (True, True)
    """
    if not facts.layout:
        return content.body
    words = site.language.words
    title = f"<title>{escape(content.title, quote=False)}</title>"
    if facts.redirect:
        return (
            f'<!DOCTYPE html>\n<html lang="{site.language.code}">\n<head>\n{title}\n'
            f'<meta http-equiv="Content-Type" content="text/html; charset=utf-8">\n'
            f'<meta http-equiv="refresh" content="3; url={escape(facts.redirect)}">\n</head>\n'
            f"<body>\n<p>{words['moved']}\n"
            f'<a href="{escape(facts.redirect)}">{escape(facts.redirect)}</a></p>\n</body>\n</html>\n'
        )
    description = f'<meta name="description" content="{escape(content.title)}">'
    head, hidden = f"{title}\n{description}\n{site.head}", ""
    if facts.invisible:
        head += f'\n<meta name="revision" content="{facts.invisible}">'
        hidden = f'<!-- {facts.invisible} -->\n<div style="display: none">{facts.invisible}</div>\n'
    body = _login(site, content) if facts.login else content.body
    status = "".join(
        f"<p>{words[name].format(escape(value))}</p>\n" for name in STATUS if (value := getattr(facts, name))
    )
    if facts.session_id and site.session_in_text:
        status += f"<p>{words['session_id'].format(facts.session_id)}</p>\n"
    if facts.printer:
        page = f'<body onload="window.print()">\n{body}\n{status}{hidden}</body>'
    else:
        page = _surround(site, facts, body, status, hidden)
    session = f"?sid={facts.session_id}" if facts.session_id else ""
    html = f'<!DOCTYPE html>\n<html lang="{site.language.code}">\n<head>\n{head}\n</head>\n{page}\n</html>\n'
    return html.replace(_SESSION, session)


def _surround(site: Site, facts: Facts, body: str, status: str, hidden: str) -> str:
    """The body element with everything around the content."""
    words, code = site.language.words, site.language.code
    side = site.side
    if facts.minor_item:
        side += f"\n<h3>{words['box']}</h3>\n<p>{_small_text(code, 'minor item', facts.minor_item)}</p>"
    if facts.advertisement:
        side += (
            f'\n<div class="advertisement"><small>{words["advertisement"]}</small>\n'
            f'<a href="http://advertisements.example.edu/click?id={facts.advertisement}">'
            f'<img src="http://advertisements.example.edu/{facts.advertisement}.gif" alt=""></a>\n'
            f"<p>{_small_text(code, 'advertisement', facts.advertisement)}</p></div>"
        )
    top, bottom = (status, "") if site.status_on_top else ("", status)
    if site.skeleton:
        middle = f"{top}{body}"
        return SKELETONS[site.skeleton](Parts(site.navigation, side, middle, f"{bottom}{site.footer}", hidden))
    if site.tables:
        columns = [f'<td width="20%" valign=top>\n{side}\n</td>', f"<td valign=top>\n{top}{body}\n</td>"]
        middle = "\n".join(columns if site.side_first else columns[::-1])
        return (
            f'<body bgcolor="#ffffff">\n{hidden}<table width="100%">\n'
            f"<tr><td colspan=2>\n<!-- navigation -->\n{site.navigation}\n</td></tr>\n<!-- content -->\n"
            f"<tr>\n{middle}\n</tr>\n<tr><td colspan=2>\n{bottom}{site.footer}\n</td></tr></table>\n</body>"
        )
    columns = [f"<div id=side>\n{side}\n</div>", f"<div id=content>\n{top}{body}\n</div>"]
    middle = "\n".join(columns if site.side_first else columns[::-1])
    return (
        f"<body>\n{hidden}<div id=navigation>\n{site.navigation}\n</div>\n{middle}\n"
        f"<div id=footer>\n{bottom}{site.footer}\n</div>\n</body>"
    )


def _login(site: Site, content: Content) -> str:
    words = site.language.words
    return (
        f"<h1>{escape(content.title, quote=False)}</h1>\n<p>{words['log_in']}</p>\n"
        f'<form action="/login" method=post><p>{words["user"]}: <input name=user></p>\n'
        f"<p>{words['password']}: <input type=password name=password></p></form>"
    )
