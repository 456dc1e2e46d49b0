"""One small collection with everything in it that roads to a decision have gone different ways about.

Pages come in *families*; within one they are like each other in a way of its own, and pages of two families are not
alike at all. Pages have no ids, so that each is named after its place, and a URL or none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from neardup.testing.dice import Dice
from neardup.testing.edits import made_up_words

Page = dict[str, Any]

A, A_TOO, B, C = "http://a.example/", "http://www.a.example/2", "http://b.example/", "http://c.example/"


def text_of(count: int, seed: str) -> list[str]:
    return made_up_words(count, Dice(seed))


def with_end(words: list[str], ends: int, seed: str) -> str:
    """The words with so many others in place of the last."""
    return " ".join([*words[: len(words) - ends], *text_of(ends, seed)])


def copies() -> Iterator[Page]:
    """Copies of a text on several sites, and near copies of it on the same ones, on others, and nowhere."""
    words = text_of(300, "copies")
    for url in (A, B, A_TOO, None):
        yield {"text": " ".join(words), "url": url}
    # One word apart any rule accepts; nine words apart only the rule for one site.
    for ends, urls in ((1, (A + "near", C, None)), (9, (B + "near", A + "far", C + "far", None))):
        for url in urls:
            yield {"text": with_end(words, ends, f"end{ends}"), "url": url}


def without_scheme() -> Iterator[Page]:
    """URLs as people write them: the two are on one site, or on none."""
    words = text_of(280, "scheme")
    yield {"text": " ".join(words), "url": "www.d.example/index.html"}
    yield {"text": with_end(words, 8, "scheme end"), "url": "http://d.example/other.html"}


def small() -> Iterator[Page]:
    """Empty pages, pages of a few words, and pages of just enough."""
    for page in ("", "   ", "<title></title><p>&nbsp;</p>", "one two three", "one two three", "one two four"):
        kind = "html" if page.startswith("<") else "text"
        yield {kind: page, "url": A + "small"}
    yield {"text": "one two three", "url": B + "small"}
    yield {"text": "", "url": B}
    eight = "just enough words to be compared with others"
    for text in (eight, eight, eight + " here", "seven words are too few for that", "seven words are too few for this"):
        yield {"text": text, "url": C}
    yield {"text": eight, "url": None}


def templates() -> Iterator[Page]:
    """A site whose pages have a frame of many words and little of their own, and a page of it under two addresses."""
    frame = text_of(120, "frame")
    for number in range(5):
        own = " ".join(text_of(40, f"own{number % 4}"))
        yield {
            "html": f"<title>Item {number % 4}</title><nav>{' '.join(frame[:60])}</nav><main><p>{own}</main>"
            f"<footer>{' '.join(frame[60:])}</footer>",
            "url": f"http://t.example/item?n={number}",
        }
    # The last is on another site too, where nobody else has that frame.
    last = "".join(f"<p>{' '.join(text_of(40, 'own1'))}")
    yield {"html": f"<title>Item 1</title>{last}", "url": "http://u.example/copy"}
    yield {"html": f"<title>Item 1</title><div>{last}</div>", "url": "http://t.example/print?n=1"}


def hidden() -> Iterator[Page]:
    """Pages with one title whose text is all hidden."""
    for number in range(3):
        own = " ".join(text_of(60, f"hidden{number}"))
        yield {
            "html": f"<title>A shop of many things</title><div hidden><p>{own}</div>",
            "url": f"http://h.example/{number}",
        }


def few_words() -> Iterator[Page]:
    """Texts over two words: most shingles are in all of them."""
    for length, seed in ((400, "one"), (200, "two")):
        dice = Dice(seed)
        words = [dice.pick(["yes", "no"]) for _ in range(length)]
        yield {"text": " ".join(words), "url": f"http://f.example/{seed}"}
        words[length // 2] = "perhaps"
        yield {"text": " ".join(words), "url": f"http://f.example/{seed}-changed"}


def one_word_everywhere() -> Iterator[Page]:
    """Unrelated pages in which every fifth word is the same."""
    for number in range(3):
        own = text_of(240, f"casino{number}")
        words = [word for at, word in enumerate(own) for word in ([word, "casino"] if at % 4 == 3 else [word])]
        yield {"text": " ".join(words), "url": f"http://s{number}.example/"}


def sentences() -> Iterator[Page]:
    """A text in sentences, its beginning, and its end; copies of the beginning on two sites."""
    lines = [" ".join(text_of(10, f"sentence{number}")).capitalize() + "." for number in range(18)]
    for some, url in ((lines[:12], A), (lines, A + "all"), (lines[9:], B), (lines[:12], C)):
        yield {"text": " ".join(some), "url": url}


def hard_pages() -> list[Page]:
    """All of them; copies do not stand together."""
    alike = (copies(), without_scheme(), templates(), sentences(), few_words())
    unlike = (small(), hidden(), one_word_everywhere())
    return Dice("order").shuffled([page for family in (*alike, *unlike) for page in family])
