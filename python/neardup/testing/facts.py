"""What a generated page is made of.

A page's HTML is rendered from its facts and its content, and the true label of a pair is derived from the two
pages' facts. Facts are the only thing that varies between copies of a page, so a label cannot disagree with
what is on the pages.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything in which two pages can differ, one field a difference; an empty value is not shown.

    >>> one = Facts(item="article 1", layout="alpha.example", time_stamp="12:00")
    >>> other = Facts(item="article 1", layout="alpha.example", time_stamp="12:05", visitor_count="17")
    >>> sorted(one.differences(other))
    ['time_stamp', 'visitor_count']
    """

    #: What the page is about; empty where the page has no content at all.
    item: str
    #: Whose template surrounds it; empty where none does. A mirror has the layout of the site it copies.
    layout: str
    #: The wording of the item; only entry pages say the same thing in several wordings.
    wording: str = ""
    #: The site that the page is an entry page of.
    entry_of: str = ""
    #: The page's own address, or part of it, where the text shows it.
    url: str = ""
    time_stamp: str = ""
    execution_time: str = ""
    visitor_count: str = ""
    session_id: str = ""
    message_id: str = ""
    server_name: str = ""
    #: In comments, in a meta element and in an element that is not displayed.
    invisible: str = ""
    advertisement: str = ""
    #: A text box on the side.
    minor_item: str = ""
    #: Values with which a form is filled in beforehand.
    form: str = ""
    sort_order: str = ""
    #: "printer friendly" where the surroundings are left out.
    printer: str = ""
    #: Where the page sends the browser on its own.
    redirect: str = ""
    #: "login" where the content is behind a login.
    login: str = ""

    def differences(self, other: Facts) -> frozenset[str]:
        """The names of the fields in which the two differ."""
        return frozenset(name for name in FACTS if getattr(self, name) != getattr(other, name))


#: The names of all facts, in order.
FACTS: Final = tuple(field.name for field in fields(Facts))


@dataclass(frozen=True, slots=True)
class Page:
    """One generated page, with what is true of it.

    >>> page = Page("p1", "http://alpha.example/", "<p>Hello", "2006-03-01T00:00:00Z", "alpha.example",
    ...             "article", "unrelated", 0, "en", "Hello", Facts("article 1", "alpha.example"))
    >>> page.host
    'alpha.example'
    """

    id: str
    url: str
    html: str
    #: When it was fetched, as WARC writes it: ``2006-03-01T12:00:00Z``.
    date: str
    #: The registrable domain of its host.
    site: str
    #: What it holds: article, product, directory entry, database record, forum thread, press release …
    kind: str
    #: What was planted with it: the name of its family (see ``neardup.testing.families``).
    relation: str
    #: Pages of one family have the same number; pairs inside a group are those worth looking at.
    group: int
    language: str
    title: str
    facts: Facts

    @property
    def host(self) -> str:
        """The host name in the page's address."""
        return self.url.split("/", 3)[2]
