"""Pages of one site that share a template: Henzinger's three databases, and texts put into frames that move.

``directory`` makes the cases that both algorithms of Henzinger 2006 fail on: pages that agree in nearly all their words
and are about something else (§3.2, §3.3). ``framed`` puts a main text into a page whose menus, banners, dates and
counters come from a seed: the same text under two seeds is the same content, fetched twice.
"""

from __future__ import annotations

from html import escape
from typing import Final, Literal

from neardup.testing.dice import Dice

Case = Literal["businessline", "nih", "herefordshire"]
#: Words that all pages share, how many of a page are its own, and whether these stand in one place.
CASES: Final[dict[Case, tuple[int, int, bool]]] = {
    "businessline": (1000, 4, False),
    "nih": (280, 20, True),
    "herefordshire": (1500, 20, True),
}
_SYLLABLES: Final = ("ba", "do", "fi", "gu", "ka", "lo", "me", "nu", "pi", "ra", "so", "te", "vi", "wa", "xe", "zu")
_TRADES: Final = ("plumbers", "bakers", "florists", "opticians", "printers", "builders", "dentists", "locksmiths")


def _word(dice: Dice) -> str:
    return "".join(dice.pick(_SYLLABLES) for _ in range(dice.between(2, 4)))


def _words(dice: Dice, count: int) -> list[str]:
    return [_word(dice) for _ in range(count)]


def directory(case: Case, pages: int, *, seed: int = 0, fetched: int = 0) -> list[dict[str, str]]:
    """Pages of one database, each about another item, as ``find_duplicates`` takes them.

    What they share stands in paragraphs like any text, not in menus: only the siblings give it away. ``fetched`` is
    told by a date on every page, and changes nothing else.

    >>> first, second = directory("nih", 2)
    >>> first["id"], first["html"] == second["html"]
    ('nih 0', False)
    """
    shared, own, together = CASES[case]
    words = _words(Dice(seed, case), shared)
    paragraphs = [" ".join(words[at : at + 50]) for at in range(0, shared, 50)]
    made = []
    for number in range(pages):
        dice = Dice(seed, case, number)
        item = _words(dice, own)
        if case == "businessline":
            phone = f"{dice.between(100, 999)} {dice.between(1000, 9999)}"
            item = [_TRADES[number % len(_TRADES)], f"0{1200 + number}", *phone.split()]
        title = f"{case} {' '.join(item[:2])} {number}"
        middle = len(paragraphs) // 2
        if together:
            body = [*paragraphs[:middle], " ".join(item), *paragraphs[middle:]]
        else:
            line = f"for {item[0]} in the area of {item[1]} call {item[2]} {item[3]} at any time"
            body = [*paragraphs[:middle], line, *paragraphs[middle:]]
        html = "".join(f"<p>{text}</p>\n" for text in body)
        date = f"<p>Page printed {fetched % 28 + 1} March {2020 + fetched % 9}</p>"
        made.append(
            {
                "id": f"{case} {number}" + (f" again {fetched}" if fetched else ""),
                "url": f"http://www.{case}.example/item/{number}",
                "html": f"<html><head><title>{title}</title></head><body>{html}{date}</body></html>",
            }
        )
    return made


def framed(text: str, *, host: str, path: str, title: str, seed: int) -> dict[str, str]:
    """A main text (paragraphs by empty lines) in a page of the host, as it was fetched the ``seed``-th time.

    The host decides how its pages are built; the seed decides what stands in menus, banner, sidebar and footer.

    >>> page = framed("One.", host="a.example", path="x", title="X", seed=1)
    >>> "<p>One.</p>" in page["html"], page["url"]
    (True, 'http://a.example/x')
    """
    site, dice = Dice("frame", host), Dice("frame", host, path, seed)
    modern = site.chance(0.6)
    inner = "".join(f"<p>{escape(part)}</p>\n" for part in text.split("\n\n") if part.strip())
    menu_words = _words(site, 30)
    menu = "".join(
        f'<li><a href="/{word}">{word}</a></li>' for word in [*menu_words, *_words(dice, dice.between(0, 12))]
    )
    news = "".join(f'<li><a href="/n">{" ".join(_words(dice, 7))}</a></li>' for _ in range(dice.between(3, 9)))
    banner = " ".join(_words(dice, dice.between(10, 60)))
    footer = " ".join(_words(site, 25))
    counter = f"<p>{dice.between(100, 99999)} visitors</p><p>Printed {dice.between(1, 28)} May {2020 + seed % 8}</p>"
    if modern:
        body = (
            f"<header><nav><ul>{menu}</ul></nav></header><div role=dialog>{banner}</div>"
            f"<main><h1>{escape(title)}</h1>\n"
            f"{inner}{counter}</main><aside><ul>{news}</ul></aside><footer>{footer} {banner[:40]}</footer>"
        )
    else:
        body = (
            f"<table><tr><td><ul>{menu}</ul></td><td><h1>{escape(title)}</h1>\n{inner}{counter}</td>"
            f"<td><ul>{news}</ul></td></tr></table><div>{footer}</div>"
        )
    return {
        "id": f"{host}/{path}@{seed}",
        "url": f"http://{host}/{path}",
        "html": f"<html><head><title>{escape(title)} - {host}</title></head><body>{body}</body></html>",
    }
