"""Reads pages into tokens, in batches for the engines and one at a time for people."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.record import record


@record(frozen=True, slots=True)
class Reading:
    """How pages become tokens; part of what makes two runs comparable.

    ``hash``: "fold" (the default, fast) or "rabin" (the paper's choice). ``site``: "registrable" (the domain
    under the public suffix list) or "henzinger" (the paper's rule). ``min_tokens``: pages with fewer tokens take
    part in identity sets only.

    >>> Reading().site
    'registrable'
    """

    hash: Literal["fold", "rabin"] = "fold"
    site: Literal["registrable", "henzinger"] = "registrable"
    min_tokens: int = _native.MIN_TOKENS

    def not_compared(self, a: int, b: int) -> str | None:
        """Why two pages of so many tokens, the same ones or not, are never compared; None if they are.

        >>> Reading().not_compared(0, 9), Reading().not_compared(7, 9), Reading().not_compared(8, 9)
        ('a page without tokens is like no other', 'a page of fewer than 8 tokens matches identical ones only', None)
        """
        if min(a, b) == 0:
            return "a page without tokens is like no other"
        return None if min(a, b) >= self.min_tokens else f"a page of fewer than {self.min_tokens} tokens {_ALONE}"

    @property
    def for_short(self) -> str | None:
        """The options that compare pages too short for these settings; None if they are compared already.

        >>> Reading().for_short, Reading(min_tokens=2).for_short
        ("--min-tokens 2 -d 'minhash(k=1,threshold=0.6)'", None)
        """
        return COMPARES_SHORT if self.min_tokens > FEWEST else None

    def advice(self, a: int, b: int) -> str | None:
        """What would compare two pages of so many tokens that are not compared, in a sentence; None if nothing would.

        >>> Reading().advice(5, 9)
        "A run with --min-tokens 2 -d 'minhash(k=1,threshold=0.6)' compares them, by single words."
        >>> Reading().advice(1, 9), Reading().advice(8, 9)
        (None, None)
        """
        short = FEWEST <= min(a, b) < self.min_tokens
        return f"A run with {COMPARES_SHORT} compares them, by single words." if short else None


_ALONE: Final = "matches identical ones only"
#: Pages of so many tokens can be like others without being them.
FEWEST: Final = 2
#: Fewer tokens than the usual, and shingles of one: longer ones need as many tokens, and a changed word changes each.
COMPARES_SHORT: Final = f"--min-tokens {FEWEST} -d 'minhash(k=1,threshold=0.6)'"


@record(frozen=True, slots=True)
class PageTokens:
    """What reading gives for a batch of pages, one row a page."""

    tokens: pa.LargeListArray
    title: pa.StringArray
    site: pa.StringArray
    #: Whether some bytes did not fit the page's encoding.
    replaced: npt.NDArray[np.bool_]
    identity_high: npt.NDArray[np.uint64]
    identity_low: npt.NDArray[np.uint64]


def read(pages: pa.RecordBatch, reading: Reading = Reading()) -> PageTokens:
    """The tokens, titles, sites and identities of a batch of pages (schema ``neardup.page.PAGES``)."""
    task = _native.PageTask([], held=True, hash=reading.hash, site_rule=reading.site)
    answer = task.read(*(pages.column(name) for name in ("content", "html", "charset", "url")))
    assert answer.tokens is not None, "they are held"
    return PageTokens(
        answer.tokens, answer.title, answer.site, answer.replaced, answer.identity_high, answer.identity_low
    )


def term_lists(pages: pa.RecordBatch) -> pa.LargeListArray:
    """The terms of a batch of pages as text, for methods that look at letters: the pages are read once more for it.

    >>> from neardup.sources.memory import texts
    >>> term_lists(texts(["Two words", {"html": "<p>and a page"}]).batches[0]).to_pylist()
    [['two', 'words'], ['and', 'a', 'page']]
    """
    return _native.page_terms(*(pages.column(name) for name in ("content", "html", "charset", "url")))


@record(frozen=True, slots=True)
class Terms:
    """One page as the machine sees it: its terms in order, and what else was read off it."""

    terms: list[str]
    title: str | None
    site: str | None
    encoding: str


def terms(
    content: bytes | str,
    *,
    html: bool = True,
    url: str | None = None,
    charset: str | None = None,
    reading: Reading = Reading(),
) -> Terms:
    """The terms of one page, as text.

    >>> terms("<p>foo<b>bar</b> <img src='/logo.png'> caf&eacute;", url="http://a.example/").terms
    ['foobar', 'logo.png', 'café']
    """
    if isinstance(content, str):
        content, charset = content.encode("utf-8", "replace"), "utf-8"
    return Terms(*_native.terms(content, html=html, charset=charset, url=url, site_rule=reading.site))
