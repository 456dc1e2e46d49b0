"""What a page is about: its blocks of text with their structure, as streams that statistics of the site can weigh."""

from __future__ import annotations

import pyarrow as pa

from neardup import _native
from neardup.record import record
from neardup.text.reading import Reading


@record(frozen=True, slots=True)
class Ideas:
    """Which ideas tell the main text from what surrounds it; each can be left out, to see what it is worth.

    ``structure``: menus, headers, footers, dialogs, forms and lists of links are no main text. ``noise``: dates, ages,
    counters and session ids are all one word. ``title``: another title is another page, up to its weight. ``main``:
    what stands beside the element that is called the main one, or beside the article in it, is no main text, where
    that holds most of the text.
    """

    structure: bool = True
    noise: bool = True
    title: bool = True
    main: bool = True


def content_streams(
    pages: pa.RecordBatch, reading: Reading | None = None, ideas: Ideas | None = None
) -> pa.LargeListArray:
    """The streams of a batch of pages (schema ``neardup.page.PAGES``): its title and address as hashes, then each
    cell of its blocks and the shingles there, with their class. Terms are hashed by "fold", whatever the tokens are.

    >>> from neardup.sources.memory import texts
    >>> pages = texts([{"html": "<title>T</title><nav>menu</nav><p>two words", "url": "http://a.example/"}])
    >>> [word & 0xFF for word in content_streams(pages.batches[0])[0].as_py()]
    [0, 6, 1, 5, 4, 1, 2]
    """
    reading, ideas = reading or Reading(), ideas or Ideas()
    return _native.content_streams(
        *(pages.column(name) for name in ("content", "html", "charset", "url")),
        site_rule=reading.site,
        structure=ideas.structure,
        noise=ideas.noise,
        title=ideas.title,
        main=ideas.main,
    )
