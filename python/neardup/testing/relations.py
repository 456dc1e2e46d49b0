"""The relations that are planted in the generated web, one family each, in the papers' words.

Nothing here says "duplicate" or "correct": labels follow from the facts (``labels.py``). A new relation is
one more function with ``@family``; the order of the functions is part of what a seed means.
"""

from __future__ import annotations

from dataclasses import replace
from html import escape

from neardup.testing import items
from neardup.testing.facts import Facts
from neardup.testing.families import DAY, Draft, Make, Maker, clock, family
from neardup.testing.items import Content
from neardup.testing.labels import LISTED
from neardup.testing.language import Writer
from neardup.testing.layout import make_site


def unrelated(maker: Maker) -> list[Draft]:
    """A single page that has nothing to do with any other but for its site's template."""
    content = maker.content()
    return [maker.draft(maker.facts(), content, maker.url(content.kind))]


def _copies(maker: Maker, size: int, names: tuple[str, ...]) -> list[Draft]:
    """Copies on one site that differ in all the listed facts named, and in nothing else."""
    content, facts, drafts = maker.content(), maker.facts(), []
    for member in range(size):
        values = {name: maker.value(name, member) for name in names if name != "url"}
        query = f"?sid={values['session_id']}" if "session_id" in values else f"?ref={member}" if member else ""
        url = maker.url(content.kind, f".html{query}")
        if "url" in names:
            values["url"] = url
        drafts.append(maker.draft(replace(facts, **values), content, url, member=member))
    return drafts


def _listed(name: str) -> Make:
    return lambda maker, size: _copies(maker, size, (name,))


# How often each is follows Henzinger's Tables 3 and 6, loosely.
for _name, _weight in {
    "url": 4, "time_stamp": 5, "execution_time": 4, "visitor_count": 2, "session_id": 5, "message_id": 2,
    "server_name": 1, "invisible": 2,
}.items():  # fmt: skip
    family(LISTED[_name], _weight)(_listed(_name))


@family("combination", 4)
def _combination(maker: Maker, size: int) -> list[Draft]:
    return _copies(maker, size, tuple(maker.dice.sample(list(LISTED), maker.dice.between(2, 4))))


@family("exact copy", 4)
def _exact_copy(maker: Maker, size: int) -> list[Draft]:
    return _copies(maker, size, ())


@family("mirror", 4, 12)
def _mirror(maker: Maker, size: int) -> list[Draft]:
    content, facts, shows_url, drafts = maker.content(), maker.facts(), maker.dice.chance(0.5), []
    for member in range(size):
        domain = ("", "example.net")[member] if member < 2 else f"{maker.site.name.split('.')[0]}-{member}.example"
        host = f"mirror.{domain}" if domain else maker.site.host
        url = maker.url(content.kind, host=host)
        own = replace(facts, url=url) if shows_url else facts
        drafts.append(maker.draft(own, content, url, domain=domain, member=member))
    return drafts


@family("parked domain", 5)
def _parked(maker: Maker, size: int) -> list[Draft]:
    writer, dice = maker.writer, maker.dice
    seller = f"seller{maker.number}.example"
    template = make_site(maker.seed, seller, seller, maker.site.language)
    maker.site = replace(template, habits=(), skeleton=maker.site.skeleton)
    links = "".join(
        f'<li><a href="/results?topic={dice.digits(4)}">{escape(writer.headline())}</a></li>\n' for _ in range(9)
    )
    facts, drafts = Facts(item=f"{maker.number} parked", layout=seller), []
    for member in range(size):
        word = f"{writer.companies[0]}{dice.pick(('shop', 'online', 'net', 'info'))}".lower()
        domain = f"{word}{maker.number}{chr(ord('a') + member // 26)}{chr(ord('a') + member % 26)}.example"
        content = items.parked(writer, f"<ul>\n{links}</ul>", domain)
        drafts.append(
            maker.draft(replace(facts, url=domain), content, f"http://{domain}/", domain=domain, member=member)
        )
    return drafts


@family("entry pages", 2, 12)
def _entry_pages(maker: Maker, size: int) -> list[Draft]:
    writer, company = maker.writer, maker.writer.companies[0]
    common = items.story(writer, 120)
    facts, drafts = replace(maker.facts(), entry_of=maker.site.name), []
    for member in range(size):
        content = items.entry_page(writer, company, common, f"{writer.headline()} {member + 1}")
        url = maker.url("welcome", f"/{member}.html")
        drafts.append(maker.draft(replace(facts, wording=str(member)), content, url, member=member))
    return drafts


@family("advertisement", 4)
def _advertisement(maker: Maker, size: int) -> list[Draft]:
    return _varied(maker, size, "advertisement")


@family("minor item", 3)
def _minor_item(maker: Maker, size: int) -> list[Draft]:
    return _varied(maker, size, "minor_item")


def _varied(maker: Maker, size: int, name: str) -> list[Draft]:
    content, facts = maker.content(), maker.facts()
    first = maker.dice.between(1000, 1400)
    return [
        maker.draft(
            replace(facts, **{name: str(first + member)}),
            content,
            maker.url(content.kind, f".html?ref={member}"),
            member=member,
        )
        for member in range(size)
    ]


@family("form", 4)
def _form(maker: Maker, size: int) -> list[Draft]:
    writer, facts, introduction = maker.writer, maker.facts(), items.story(maker.writer, maker.words // 3)
    drafts = []
    for member in range(size):
        item = f"{maker.dice.pick(writer.nouns)} {maker.dice.digits(3)}-{member}"
        content = items.form(maker.site.language, introduction, item, maker.dice.pick(writer.names))
        url = maker.url("inquiry", f".html?item={member}")
        drafts.append(maker.draft(replace(facts, form=item), content, url, member=member))
    return drafts


@family("printer friendly", 3, 2)
def _printer(maker: Maker, size: int) -> list[Draft]:
    content, facts = maker.content(), maker.facts()
    printed = replace(facts, printer="printer friendly")
    endings = (".html", "-print.html")
    members = zip((facts, printed), endings, strict=True)
    return [maker.draft(own, content, maker.url(content.kind, ending)) for own, ending in members][:size]


@family("redirect", 2, 3)
def _redirect(maker: Maker, size: int) -> list[Draft]:
    content, facts = maker.content(), maker.facts()
    target = maker.url(content.kind)
    drafts = [maker.draft(facts, content, target)]
    for member in range(1, size):
        own = replace(facts, redirect=target)
        drafts.append(maker.draft(own, content, maker.url("moved", f"-{member}.html"), member=member))
    return drafts


@family("login wall", 2, 2)
def _login(maker: Maker, size: int) -> list[Draft]:
    content, facts = items.article(maker.writer, maker.length()), maker.facts()
    walled = maker.draft(replace(facts, login="login"), content, maker.url("members"), member=1)
    return [maker.draft(facts, content, maker.url(content.kind)), walled][:size]


@family("sort order", 2, 3)
def _sort_order(maker: Maker, size: int) -> list[Draft]:
    writer, dice, facts = maker.writer, maker.dice, maker.facts()
    introduction = items.prose(writer, 3)
    rows = [
        (f"{dice.pick(writer.nouns)} {number}", dice.between(2, 500), clock(dice.below(200 * DAY))[:10])
        for number in dice.sample(range(100, 1000), 24)
    ]
    drafts = []
    for member, order in enumerate(("name", "price", "date")[:size]):
        content = items.listing(maker.site.language, introduction, rows, order)
        url = maker.url("list", f".html?sort={order}")
        drafts.append(maker.draft(replace(facts, sort_order=order), content, url, member=member))
    return drafts


@family("syndicated", 4, 12)
def _syndicated(maker: Maker, size: int) -> list[Draft]:
    """One press release in the surroundings of several sites of one language."""
    codes = [site.language.code for site in maker.sites]
    able = [site for site in maker.sites if codes.count(site.language.code) > 1]
    maker.site = maker.dice.pick(able or maker.sites)
    maker.writer = Writer(maker.site.language, maker.dice, maker.about)
    content = items.press_release(maker.writer, maker.length())
    others = [site for site in able if site.language is maker.site.language and site is not maker.site]
    drafts = []
    for member, site in enumerate([maker.site, *maker.dice.shuffled(others)][:size]):
        maker.site = site
        drafts.append(maker.draft(maker.facts(), content, maker.url("press"), member=member))
    return drafts


@family("directory", 4)
def _directory(maker: Maker, size: int) -> list[Draft]:
    """Entries in which only the telephone number differs: the main item, however small (incorrect)."""
    description, facts, drafts = items.story(maker.writer, maker.words // 2), maker.facts(), []
    for member in range(size):
        phone = f"+1 555 {maker.dice.digits(3)}{member:03d}"
        content = items.directory_entry(maker.writer, description, phone)
        own = replace(facts, item=f"{facts.item} {phone}")
        drafts.append(maker.draft(own, content, maker.url("directory", f"/{member}.html"), member=member))
    return drafts


@family("records", 4)
def _records(maker: Maker, size: int) -> list[Draft]:
    """Records of a database that differ in 10 to 30 consecutive tokens (incorrect)."""
    annotation, facts, drafts = items.story(maker.writer, 220), maker.facts(), []
    for member in range(size):
        name = f"{maker.dice.pick('ABDJLMUX')}{maker.dice.pick('CFKNY')}{maker.dice.digits(5)}{member:03d}"
        content = items.record(maker.writer, annotation, name, maker.dice)
        own = replace(facts, item=f"{facts.item} {name}")
        drafts.append(maker.draft(own, content, maker.url("records", f"/{name}.html"), member=member))
    return drafts


@family("catalogue", 4)
def _catalogue(maker: Maker, size: int) -> list[Draft]:
    """Different products in the same template, with a common description (incorrect)."""
    common, facts, drafts = items.story(maker.writer, maker.words), maker.facts(), []
    for member in range(size):
        content = items.product(maker.writer, 0)
        body = f"{content.body}\n{common}\n<p>{maker.number}-{member}</p>"
        own = replace(facts, item=f"{facts.item} {member}")
        url = maker.url("products", f"/{member}.html")
        drafts.append(maker.draft(own, replace(content, body=body), url, member=member))
    return drafts


@family("tiny", 2, 8)
def _tiny(maker: Maker, size: int) -> list[Draft]:
    """A server's standard page, the same on several sites: a handful of words and no template."""
    title = maker.dice.pick(("It works!", "404 Not Found", "Under construction", "Index of /", "Untitled Document"))
    head = f"<html><head><title>{title}</title></head>\n"
    body = f"{head}<body><h1>{title}</h1>Port {maker.number}</body></html>\n"
    drafts = []
    for member in range(size):
        maker.site = maker.dice.pick(maker.sites)
        content = Content("tiny", title, body)
        url = maker.url("default", f"-{member}.html")
        drafts.append(maker.draft(Facts(item=f"{maker.number} tiny", layout=""), content, url, member=member))
    return drafts


@family("empty", 1, 4)
def _empty(maker: Maker, size: int) -> list[Draft]:
    """Pages without any content: no bytes at all, or markup around nothing."""
    bodies = ("", "<html><head><title></title></head><body></body></html>\n", "<!DOCTYPE html>\n<!-- -->\n")
    drafts = []
    for member in range(size):
        form = maker.dice.below(len(bodies))
        facts = Facts(item="", layout="", wording=str(form))
        url = maker.url("empty", f"-{member}.html")
        drafts.append(replace(maker.draft(facts, Content("empty", "", bodies[form]), url, member=member), mark="empty"))
    return drafts
