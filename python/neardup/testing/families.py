"""What a family of related pages is, and what one has at hand while it is made.

A family makes drafts: facts and content that share what its relation leaves alone and differ in what it
names. The families themselves are in ``relations.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from neardup.testing import items
from neardup.testing.dice import Dice
from neardup.testing.facts import Facts
from neardup.testing.items import Content
from neardup.testing.language import Writer
from neardup.testing.layout import Site

#: A day in seconds.
DAY: Final = 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Draft:
    """A page before it is rendered: where it will stand, when it is fetched, what it is made of."""

    site: Site
    #: The registrable domain and the host under which it appears; a mirror's are not its template's.
    domain: str
    url: str
    #: Seconds since the generated web's first day.
    second: int
    facts: Facts
    content: Content
    #: Whether it belongs with all other drafts of this mark, whatever their family.
    mark: str = ""
    #: Whether it can be a result of a query; what others merely lead to cannot.
    listed: bool = True


@dataclass(slots=True)
class Maker:
    """What a family has at hand: its own dice, the sites, and a number that no other family has."""

    seed: int
    number: int
    sites: tuple[Site, ...]
    words: int
    #: Whom the writers follow, where all pages are about one thing.
    about: Writer | None = None
    dice: Dice = field(init=False)
    site: Site = field(init=False)
    writer: Writer = field(init=False)
    second: int = field(init=False)

    def __post_init__(self) -> None:
        self.dice = Dice(self.seed, "family", self.number)
        self.site = self.dice.pick(self.sites)
        self.writer = Writer(self.site.language, self.dice, self.about)
        self.second = self.dice.below(60 * DAY)

    def length(self) -> int:
        """A length in words around the usual one."""
        return self.words * self.dice.between(40, 200) // 100

    def content(self) -> Content:
        """The main part of some ordinary page."""
        write = self.dice.pick((items.article, items.article, items.product, items.thread, items.press_release))
        return write(self.writer, self.length())

    def facts(self, item: str = "") -> Facts:
        """What all members have in common: the site's template and what it shows as a matter of course."""
        dice = self.dice
        facts = Facts(
            item=f"{self.number} {item}".strip(),
            layout=self.site.name,
            advertisement=str(dice.between(100, 400)) if dice.chance(0.5) else "",
            minor_item=str(dice.between(100, 400)) if dice.chance(0.3) else "",
        )
        return replace(facts, **{name: self.value(name, 0) for name in self.site.habits})

    def value(self, name: str, member: int) -> str:
        """A value for a listed fact, different for each member of the family."""
        dice = self.dice
        if name == "time_stamp":
            return clock(self.second + 60 * (90 * member + dice.below(60)))
        if name == "visitor_count":
            return str(20_000 + 137 * self.number + 100 * member + dice.below(100))
        if name == "execution_time":
            return f"0.{dice.digits(2)}{member:03d}"
        if name == "message_id":
            return f"{dice.digits(6)}.{self.number}.{member}"
        if name == "server_name":
            return f"web{member + 1:02d}"
        return f"{dice.token(12)}{member:04x}"

    def url(self, section: str, ending: str = ".html", host: str = "") -> str:
        """An address of the family's own on its site, or on another host."""
        return f"http://{host or self.site.host}/{section.replace(' ', '-')}/{self.number}{ending}"

    def draft(self, facts: Facts, content: Content, url: str, *, domain: str = "", member: int = 0) -> Draft:
        """A member of the family; later members are fetched later."""
        return Draft(self.site, domain or self.site.name, url, self.second + member * DAY // 3, facts, content)


Make = Callable[[Maker, int], list[Draft]]


@dataclass(frozen=True, slots=True)
class Family:
    """A relation that can be planted: how often it is, the most pages it makes sense for, how it is made."""

    name: str
    weight: int
    largest: int
    make: Make = field(repr=False)


#: Every family by the name of its relation, in a fixed order.
FAMILIES: Final[dict[str, Family]] = {}


def family(name: str, weight: int, largest: int = 40, families: dict[str, Family] = FAMILIES) -> Callable[[Make], Make]:
    """Enters a function in ``FAMILIES``, or in another table.

    >>> import neardup.testing.relations
    >>> FAMILIES["mirror"].largest
    12
    """

    def enter(make: Make) -> Make:
        families[name] = Family(name, weight, largest, make)
        return make

    return enter


def clock(second: int) -> str:
    """A moment of the generated web, counted in seconds from its first day, as a text.

    >>> clock(0), clock(40 * 24 * 3600 + 61)
    ('2006-03-01 00:00:00', '2006-04-10 00:01:01')
    """
    day, rest = divmod(second, DAY)
    month = 3
    for days in (31, 30, 31, 30, 31, 31, 30, 31, 30):
        if day < days:
            break
        day, month = day - days, month + 1
    return f"2006-{month:02d}-{day + 1:02d} {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
