"""What stands in the middle of a generated page: articles, products, directory entries, records, threads …

Each function writes the main part of one page in one language. The surroundings are the site's
(``layout.py``), the differences between copies are the family's (``relations.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from neardup.testing.dice import Dice
from neardup.testing.language import Language, Writer


@dataclass(frozen=True, slots=True)
class Content:
    """The main part of a page: what kind it is, its title, and its body as HTML."""

    kind: str
    title: str
    body: str


def prose(writer: Writer, sentences: int) -> str:
    """One paragraph of HTML, now and then with emphasis that joins, a link, or a character reference.

    >>> from neardup.testing.english import ENGLISH
    >>> prose(Writer(ENGLISH, Dice(3)), 2).startswith("<p>")
    True
    """
    text, dice = escape(writer.paragraph(sentences), quote=False), writer.dice
    company, noun = writer.companies[0], dice.pick(writer.nouns)
    if dice.chance(0.3):
        text = text.replace(company, f"<b>{company[0]}</b>{company[1:]}", 1)
    if dice.chance(0.3):
        text = text.replace(noun, f'<a href="/search?topic={dice.between(1, 60)}">{noun}</a>', 1)
    if dice.chance(0.2):
        text = f"<em>{escape(writer.headline())}</em> &#8211; {text}"
    return f"<p>{text}</p>"


def story(writer: Writer, words: int) -> str:
    """Several paragraphs of about so many words in all.

    >>> from neardup.testing.english import ENGLISH
    >>> story(Writer(ENGLISH, Dice(3)), 200).count("<p>") > 2
    True
    """
    # The patterns give ten words a sentence on average.
    left, parts = max(1, words // 10), []
    while left > 0:
        sentences = min(left, writer.dice.between(2, 6))
        parts.append(prose(writer, sentences))
        left -= sentences
    return "\n".join(parts)


def image(dice: Dice, text: str) -> str:
    """An image on the page's own host or, as often on real pages, on a foreign one.

    >>> image(Dice(3), "a & b").count("alt=")
    1
    """
    name = f"{dice.digits(5)}.jpg"
    source = f"/images/{name}" if dice.chance(0.6) else f"http://pictures.example.edu/large/{name}"
    return f'<img src="{source}" width="{dice.between(80, 400)}" alt="{escape(text)}">'


def article(writer: Writer, words: int) -> Content:
    """A news article with an author and an illustration.

    >>> from neardup.testing.english import ENGLISH
    >>> article(Writer(ENGLISH, Dice(3)), 100).kind
    'article'
    """
    title = writer.headline()
    author = writer.language.words["written_by"].format(writer.names[0])
    head = f"<h1>{escape(title)}</h1>\n<p class=author><i>{escape(author)}</i></p>\n"
    return Content("article", title, f"{head}{image(writer.dice, title)}\n{story(writer, words)}")


def press_release(writer: Writer, words: int) -> Content:
    """A press release as a company hands it out.

    >>> from neardup.testing.english import ENGLISH
    >>> "For immediate release" in press_release(Writer(ENGLISH, Dice(3)), 100).body
    True
    """
    language, title = writer.language.words, writer.headline()
    contact = language["press_contact"].format(f"{writer.names[0]}, {writer.companies[0]}")
    return Content(
        "press release",
        title,
        f"<h2>{language['release']}</h2>\n<h1>{escape(title)}</h1>\n{story(writer, words)}\n"
        f"<p><strong>{escape(contact)}</strong>, +1&nbsp;555&nbsp;{writer.dice.digits(4)}</p>",
    )


def product(writer: Writer, words: int) -> Content:
    """A product of a shop: a picture, a table of properties, a few lines of description.

    >>> from neardup.testing.english import ENGLISH
    >>> "Add to basket" in product(Writer(ENGLISH, Dice(3)), 60).body
    True
    """
    language, dice = writer.language.words, writer.dice
    title = f"{writer.companies[0]} {dice.pick(writer.nouns)} {dice.digits(3)}"
    rows = [
        (language["order"], f"{dice.token(2).upper()}-{dice.digits(5)}"),
        (language["price"], f"{dice.between(4, 900)}.{dice.digits(2)} &euro;"),
        *((escape(dice.pick(writer.nouns)), str(dice.between(1, 99))) for _ in range(3)),
    ]
    table = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>\n" for name, value in rows)
    return Content(
        "product",
        title,
        f"<h1>{escape(title)}</h1>\n{image(dice, title)}\n<table border=1>\n{table}</table>\n"
        f"{story(writer, max(20, words // 4))}\n<p>{language['stock'].format(dice.between(0, 40))}</p>\n"
        f'<form action="/basket" method=post><input type=submit value="{language["basket"]}"></form>',
    )


def thread(writer: Writer, words: int) -> Content:
    """A forum thread: several posts by several people, one of whom quotes the first.

    >>> from neardup.testing.english import ENGLISH
    >>> thread(Writer(ENGLISH, Dice(3)), 100).body.count("class=post") > 1
    True
    """
    language, dice, title = writer.language.words, writer.dice, writer.headline()
    posts, opening = [], writer.sentence()
    for number in range(dice.between(2, 6)):
        when = f"2006-0{number + 1}-{dice.between(10, 28)} {dice.between(10, 23)}:{dice.between(10, 59)}"
        head = language["posted"].format(writer.dice.pick(writer.names), when)
        quote = f"<blockquote>{escape(opening)}</blockquote>" if number == 1 else ""
        text = opening if number == 0 else writer.paragraph(max(1, words // 40))
        posts.append(
            f"<div class=post><p class=author>{escape(head)}</p>{quote}<p>{escape(text, quote=False)}</p>"
            f'<a href="/forum/reply?post={dice.digits(6)}">{language["reply"]}</a></div>'
        )
    return Content("forum thread", title, f"<h1>{escape(title)}</h1>\n" + "\n".join(posts))


def directory_entry(writer: Writer, description: str, phone: str) -> Content:
    """An entry of a business directory; those of one family differ in the telephone number alone.

    >>> from neardup.testing.english import ENGLISH
    >>> entry = directory_entry(Writer(ENGLISH, Dice(3)), "<p>We repair boats.</p>", "+1 555 0100")
    >>> "0100" in entry.body
    True
    """
    language, company = writer.language.words, writer.companies[0]
    rows = [
        (language["street"], f"{writer.names[0]} {len(description) % 90 + 1}"),
        (language["opening"], language["hours"]),
        (language["phone"], phone),
    ]
    table = "".join(f"<tr><td>{escape(name)}:</td><td>{escape(value)}</td></tr>\n" for name, value in rows)
    return Content("directory entry", company, f"<h1>{company}</h1>\n{description}\n<table>\n{table}</table>")


def record(writer: Writer, annotation: str, name: str, dice: Dice) -> Content:
    """A database record: long common annotation around 10 to 30 consecutive tokens of its own.

    >>> from neardup.testing.english import ENGLISH
    >>> "AB1234" in record(Writer(ENGLISH, Dice(3)), "<p>Cloned.</p>", "AB1234", Dice(4)).body
    True
    """
    language = writer.language.words
    # The title is the database's, not the record's: what differs must stand in one place.
    title = f"{language['record']}: {writer.companies[0]}"
    bases = " ".join("".join(dice.pick("acgt") for _ in range(10)) for _ in range(dice.between(9, 27)))
    return Content(
        "database record",
        title,
        f"<h1>{language['record']}</h1>\n<table>\n<tr><td>{language['source']}</td>"
        f"<td>{escape(writer.companies[0])}, {escape(writer.names[0])}</td></tr>\n"
        f"<tr><td>{language['sequence']}</td><td><tt>{name} {bases}</tt></td></tr>\n"
        f"<tr><td>{language['reference']}</td><td>{annotation}</td></tr>\n</table>",
    )


def parked(writer: Writer, offers: str, domain: str) -> Content:
    """The page of a domain that is for sale; its seller's pages differ in the domain's name alone.

    >>> from neardup.testing.english import ENGLISH
    >>> parked(Writer(ENGLISH, Dice(3)), "<p>Cheap ferries</p>", "boats.example").title
    'The domain boats.example is for sale'
    """
    language = writer.language.words
    title = language["sale"].format(domain)
    return Content(
        "parked domain",
        title,
        f"<h1>{escape(title)}</h1>\n<h2>{language['sponsored']}</h2>\n{offers}\n"
        f'<p><a href="/offer">{escape(language["make_offer"].format(domain))}</a></p>',
    )


def entry_page(writer: Writer, company: str, common: str, own_words: str) -> Content:
    """An entry page of a site: the same few lines everywhere, with some other words each time.

    >>> from neardup.testing.english import ENGLISH
    >>> entry_page(Writer(ENGLISH, Dice(3)), "Velora", "<p>Common text.</p>", "harbour walls").title
    'Welcome to Velora'
    """
    language = writer.language.words
    title = language["welcome"].format(company)
    return Content(
        "entry page",
        title,
        f"<h1>{title}</h1>\n<p>{escape(own_words)}</p>\n{common}\n<p>{language['adults']}</p>\n"
        f'<p><a href="/start"><img src="/images/enter.gif" alt="">{language["enter"]}</a></p>',
    )


def form(language: Language, introduction: str, item: str, name: str) -> Content:
    """A form that comes filled in with values that the visitor can erase.

    >>> from neardup.testing.english import ENGLISH
    >>> "I am interested in ferries" in form(ENGLISH, "<p>Write to us.</p>", "ferries", "Ruth").body
    True
    """
    words = language.words
    return Content(
        "form",
        words["inquiry"],
        f'<h1>{words["inquiry"]}</h1>\n{introduction}\n<form action="/inquiry" method=post>\n'
        f'<p>{words["your_name"]}: <input name=name value="{escape(name)}"></p>\n'
        f"<p>{words['your_message']}: <textarea name=message rows=5 cols=60>"
        f"{escape(words['interest'].format(item))}</textarea></p>\n"
        f'<p><input type=submit value="{words["send"]}">\n<input type=reset value="{words["clear"]}"></p>\n'
        "</form>",
    )


def listing(language: Language, introduction: str, rows: list[tuple[str, int, str]], order: str) -> Content:
    """A list of items (name, price, date), sorted by "name", "price" or "date".

    >>> from neardup.testing.english import ENGLISH
    >>> listing(ENGLISH, "", [("boats", 20, "2006-01-02"), ("ropes", 3, "2006-01-01")], "price").kind
    'list'
    """
    words = language.words
    ordered = sorted(rows, key=lambda row: row[("name", "price", "date").index(order)])
    cells = "".join(
        f"<tr><td>{escape(name)}</td><td>{price}.00 &euro;</td><td>{date}</td></tr>\n" for name, price, date in ordered
    )
    head = f"<tr><th>{words['items']}</th><th>{words['price']}</th><th>{words['by_date']}</th></tr>\n"
    by = words["sort"].format(words[f"by_{order}"])
    return Content(
        "list",
        words["list"],
        f"<h1>{words['list']}</h1>\n<p>{by}</p>\n{introduction}\n<table border=1>\n{head}{cells}</table>",
    )
