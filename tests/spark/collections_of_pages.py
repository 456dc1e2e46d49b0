"""Collections of pages that engines are compared on: everything that makes a run hard, in few pages."""

from __future__ import annotations

import random
from typing import Any

from hard_pages import hard_pages
from neardup.testing import web

Page = dict[str, Any]


def words(generator: random.Random, count: int) -> list[str]:
    return [f"w{generator.randrange(5_000)}" for _ in range(count)]


def chain(length: int, seed: int = 1) -> list[Page]:
    """Each page is like the next, and unlike the one after."""
    generator = random.Random(seed)
    text = words(generator, 120)
    pages = []
    for number in range(length):
        pages.append(
            {"id": f"chain-{seed}-{number}", "text": " ".join(text), "url": f"http://c{number % 2}.example/{number}"}
        )
        for _ in range(5):
            text[generator.randrange(120)] = f"n{number}x{generator.randrange(999)}"
    return pages


def near_identical(count: int) -> list[Page]:
    """One cluster; each differs in a word of its own, so that keys are shared by nearly all."""
    text = words(random.Random(2), 150)
    return [
        {
            "id": f"near-{at}",
            "text": " ".join([*text[:70], f"own{at}", *text[70:]]),
            "url": f"http://s{at % 3}.example/{at}",
        }
        for at in range(count)
    ]


def in_a_template(count: int) -> list[Page]:
    """A frame that decides most keys; within it clusters, some pages of which lie between two."""
    generator = random.Random(3)
    frame = words(generator, 90)
    bodies = [words(generator, 24) for _ in range(4)]
    pages = []
    for at in range(count):
        one, other = generator.sample(bodies, 2)
        body = list(one if generator.random() < 0.7 else [*one[:12], *other[:12]])
        body[generator.randrange(24)] = f"new{at}"
        pages.append({"id": f"frame-{at}", "text": " ".join([*frame, *body]), "url": f"http://t{at % 2}.example/{at}"})
    return pages


def copied(families: int) -> list[Page]:
    """Pages that stand on several sites, on some of them twice and somewhere without a site, and near copies of them on
    the same sites and on others."""
    generator = random.Random(4)
    hosts = [*(f"k{number}.example" for number in range(6)), None]
    pages: list[Page] = []
    for family in range(families):
        text = words(generator, 300)
        for variant in range(4):
            # The more words differ, the fewer rules accept the two.
            changed = [*text[: 300 - 3 * variant], *(f"v{family}x{variant}x{at}" for at in range(3 * variant))]
            for host in generator.choices(hosts, k=5):
                url = host and f"http://{host}/{len(pages)}"
                pages.append({"id": f"copy-{family}-{len(pages)}", "text": " ".join(changed), "url": url})
    return pages


def odd(count: int) -> list[Page]:
    """Empty and short pages, ids that repeat and that look like renamed ones, pages without id or URL."""
    pages: list[Page] = [{"id": "x", "text": ""}, {"id": "x", "text": "   "}, {"id": "x#1", "text": "one two"}]
    pages += [{"id": "x", "text": "one two"}, {"text": "no id here but words enough to be compared with others"}]
    pages += [{"id": "x", "text": f"page {at % 3} of several that are the same in every word"} for at in range(count)]
    return pages


def everything() -> list[Page]:
    """Some of each, what other roads are held against (``hard_pages``), and a small web, in an order that is none."""
    made = web(seed=5, sites=4, pages=60, words=60)
    pages: list[Page] = [{"id": page.id, "url": page.url, "html": page.html, "date": page.date} for page in made.pages]
    pages += chain(9) + near_identical(14) + in_a_template(16) + odd(7) + hard_pages()
    random.Random(7).shuffle(pages)
    return pages
