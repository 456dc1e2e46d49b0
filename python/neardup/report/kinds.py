"""The kind of difference between two pages, in the words of Henzinger 2006 §3.1, found by rules.

The paper's judges looked at pairs; these rules do what they say they did, in this order.

1. A difference that is gone without the elements that are not displayed, or that lies in image terms only, is
   *invisible*; so is one of two pages with the same terms, unless links differ by session ids, or forms by values.
2. Every stretch in which the visible terms differ (a *hunk*) is told by its own look, by the run of dates or counts it
   is in, and by the words beside it, which the core has in one table: part of the page's own *URL* (next to its host's
   name), *time stamp*, *execution time*, *visitor count*, *session id*, *message id*, *server name*. If that explains
   all hunks the pair is correct: by its one kind, or a *combination*.
3. If both are *entry pages of one site* (by their paths), correct.
4. If what is left is gone without the values that forms come filled in with: *prefilled form*, undecided (asked first
   where nothing else differs).
5. Pages that a visitor does not get to see (they send the browser on, or one asks for a password), that say the same
   terms in another order, or the same in other surroundings: *rest*, undecided.
6. If the titles differ, or the differing stretches stand in what is the page's own: *main item*, incorrect. If they
   stand in the frame around the content (``neardup.text.structure``), or inside what the site repeats on other pages:
   *minor item*, undecided.

Where boilerplate is unknown, rule 6 goes by size: half of the terms make a main item; less is *rest*. The rules are
heuristics: ``tests/test_kinds.py`` states how often they agree with the labels of the generated web. Cost: some more
readings of the two pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.record import record
from neardup.report import regions
from neardup.report.side_by_side import without_cut_end
from neardup.text import Structure, addresses, terms
from neardup.text.noise import LOOKS, RUNS, TermNoise, term_noise

Judgement = Literal["correct", "incorrect", "undecided"]

#: Every kind there is, with the judgement it stands for.
KINDS: Final[dict[str, Judgement]] = {
    "identical": "correct",
    "URL only": "correct",
    "time stamp": "correct",
    "execution time": "correct",
    "visitor count": "correct",
    "session id": "correct",
    "message id": "correct",
    "server name": "correct",
    "combination": "correct",
    "invisible": "correct",
    "entry pages": "correct",
    "prefilled form": "undecided",
    "minor item": "undecided",
    "main item": "incorrect",
    "rest": "undecided",
}

#: Terms before and behind a hunk among which a marker may stand.
BEFORE, BEHIND = 6, 3
#: Hunks told one by one; what comes behind them counts as content.
MOST_HUNKS: Final = 400
#: Of longer pages the beginning is looked at, so that hostile ones cost seconds and not minutes.
MOST_TERMS: Final = 30_000
_MOST_BYTES: Final = 4 << 20
#: Hunks that take more terms than this are content, whatever they look like.
_LONGEST: Final = 16
_NUMBER: Final = re.compile(r"\d+(?:ms|s|k|sec)?")
_NAME_WITH_NUMBER: Final = re.compile(r"[\w\-]*\d[\w\-]*")
_SERVER: Final = re.compile(r"[a-z][a-z\-]*\d+[a-z0-9\-]*|\d{1,3}|[a-z][a-z0-9\-]{1,20}")
#: Last parts of paths, and whole paths, under which a site is entered.
ENTRY_WORDS: Final = frozenset(
    ("index", "default", "home", "main", "welcome", "enter", "entry", "start", "startseite", "accueil", "homepage",
     "frontpage", "intro")
)  # fmt: skip
_ENTRY_PART: Final = re.compile(r"[a-z]{2}(?:-[a-z]{2})?|\d+")


@record(frozen=True)
class Page:
    """One of the two pages, as the rules see it."""

    content: bytes
    html: bool = True
    url: str | None = None
    site: str | None = None
    title: str | None = None
    terms: list[str] = field(default_factory=list)
    #: For each term whether the site repeats it on other pages; None where that is not known.
    boilerplate: npt.NDArray[np.bool_] | None = None
    #: The blocks that the terms stand in; None where there are none, as in a title.
    structure: Structure | None = None

    def beginning(self) -> Page:
        """What is looked at of a page."""
        if len(self.terms) <= MOST_TERMS and len(self.content) <= _MOST_BYTES:
            return self
        return replace(self.only(np.arange(len(self.terms)) < MOST_TERMS), content=self.content[:_MOST_BYTES])

    def only(self, wanted: npt.NDArray[np.bool_]) -> Page:
        """The page with only the terms that are wanted."""
        if wanted.all():
            return self
        structure, mask = self.structure, self.boilerplate
        return replace(
            self,
            terms=[self.terms[at] for at in np.flatnonzero(wanted).tolist()],
            boilerplate=None if mask is None else mask[wanted],
            structure=structure and replace(structure, block=structure.block[wanted], places=structure.places[wanted]),
        )

    def stands_in(self, *places: str) -> npt.NDArray[np.bool_]:
        """For each term whether it stands in one of these places."""
        return np.zeros(len(self.terms), bool) if self.structure is None else self.structure.stands_in(*places)

    @cached_property
    def looks(self) -> TermNoise:
        """What its terms look like."""
        return term_noise(self.terms)

    def in_frame(self) -> npt.NDArray[np.bool_]:
        """For each term whether its block surrounds what the page is about."""
        return np.zeros(len(self.terms), bool) if self.structure is None else self.structure.has_role("frame")

    def where(self, span: tuple[int, int]) -> str:
        """What a span of terms stands in, in words: the block of its first term; of an empty one, of the next."""
        if self.structure is None or not self.structure.blocks:
            return ""
        block = self.structure.block
        return self.structure.blocks[int(block[min(span[0], len(block) - 1)])].where if len(block) else ""


@record(frozen=True, slots=True)
class Difference:
    """One stretch in which the two differ, what it was taken for (``content`` where no rule spoke), and what it stands
    in on each page.
    """

    kind: str
    a: str
    b: str
    where_a: str = ""
    where_b: str = ""

    @property
    def where(self) -> str:
        """What it stands in, in words.

        >>> Difference("content", "fish", "chips", "content", "frame (navigation)").where
        'content of A, frame (navigation) of B'
        """
        if self.where_a == self.where_b:
            return self.where_a
        return f"{self.where_a or 'nothing'} of A, {self.where_b or 'nothing'} of B"


@record(frozen=True, slots=True)
class Kind:
    """What kind of difference it is, what the paper calls such a pair, why, and stretch by stretch."""

    name: str
    judgement: Judgement
    because: str
    differences: list[Difference]

    @property
    def stands_in(self) -> str:
        """What the differences stand in, the most frequent first, with how many stand there; nothing if there are none.

        >>> frame = Difference("content", "a", "b", "frame (footer)", "frame (footer)")
        >>> Kind("rest", "undecided", "", [frame, frame, Difference("content", "c", "d", "title", "content")]).stands_in
        '2 in frame (footer); 1 in title of A, content of B'
        """
        counts = Counter(each.where for each in self.differences if each.where)
        return "; ".join(f"{count:,} in {where}" for where, count in counts.most_common(3))


def kind_of(a: Page, b: Page) -> Kind:
    """The kind of difference of two pages whose terms were read.

    >>> text = "<p>A page of some words that stay the same. You are visitor number {}."
    >>> pages = [Page(text.format(n).encode(), terms=terms(text.format(n)).terms) for n in (1207, 1388)]
    >>> kind_of(*pages).name
    'visitor count'
    """
    if a.terms == b.terms:
        return _same_terms(a, b)
    if not a.terms or not b.terms:
        return _kind("rest", "one of the pages has no terms: the pair cannot be evaluated", [])
    a, b = a.beginning(), b.beginning()
    if _explained(a, b, _form_values, listed=False):
        return _kind("prefilled form", "without the values that forms come filled in with nothing differs", [])
    seen_a, seen_b = _visible(a), _visible(b)
    hunks = hunks_of(seen_a.terms, seen_b.terms)
    differences = [_difference(hunk, (seen_a, seen_b)) for hunk in hunks[:MOST_HUNKS]]
    was_hidden = (seen_a is not a or seen_b is not b) and _size(hunks) < _size(hunks_of(a.terms, b.terms))
    found = {difference.kind for difference in differences} | ({"invisible"} if was_hidden else set())
    if not found:
        return _kind(
            "rest", f"they differ behind the first {MOST_TERMS:,} terms only, which is all that is looked at", []
        )
    if len(hunks) <= MOST_HUNKS and "content" not in found:
        if len(found) == 1:
            (name,) = found
            return _kind(name, f"all that differs: {name}", differences)
        return _kind("combination", f"all that differs: {', '.join(sorted(found))}", differences)
    if _entry(a) and _entry(b) and a.site is not None and a.site == b.site:
        return _kind("entry pages", f"both are entry pages of {a.site}, by their paths", differences)
    return _content(a, b, hunks, differences)


def _same_terms(a: Page, b: Page) -> Kind:
    if not a.terms:
        return _kind("rest", "neither page has a term: the pair cannot be evaluated", [])
    if a.html and b.html and regions.input_values(a.content) != regions.input_values(b.content):
        return _kind(
            "prefilled form", "the terms are the same, the values that a form comes filled in with are not", []
        )
    if a.content == b.content:
        return _kind("identical", "the same bytes", [])
    if regions.without_sessions(a.content) == regions.without_sessions(b.content):
        return _kind("session id", "the same terms; the addresses of links differ in their session ids", [])
    return _kind("invisible", "the same terms: what differs is in the markup", [])


def _content(a: Page, b: Page, hunks: npt.NDArray[np.uint32], differences: list[Difference]) -> Kind:
    """What a difference in content is: form, rest, minor or main item."""
    if _explained(a, b, _form_values):
        return _kind("prefilled form", "values that forms come filled in with differ, and listed things", differences)
    if regions.sends_elsewhere(a.content) or regions.sends_elsewhere(b.content):
        return _kind("rest", "a page sends the browser elsewhere: what a visitor sees was not stored", differences)
    if regions.asks_for_a_password(a.content) != regions.asks_for_a_password(b.content):
        return _kind("rest", "one of the pages asks for a password: the other may be what lies behind it", differences)
    whole = hunks_of(a.terms, b.terms)
    share = _size(whole) / (len(a.terms) + len(b.terms))
    count_a, count_b = Counter(a.terms), Counter(b.terms)
    if ((count_a - count_b) + (count_b - count_a)).total() <= 0.1 * _size(whole):
        return _kind("rest", "the same terms in another order", differences)
    repeated = _repeated(a, b, whole)
    one_sided = 0 in ((whole[:, 1] - whole[:, 0]).sum(), (whole[:, 3] - whole[:, 2]).sum())
    if repeated is not None and repeated >= (0.4 if one_sided else 0.8):
        return _kind("rest", "the same content in other surroundings", differences)
    if _told_apart(a.title, b.title, (a, b)):
        return _kind("main item", "the titles differ", differences)
    if _explained(a, b, Page.in_frame):
        return _kind("minor item", "what differs stands in the frame around the content", differences)
    inside = _inside_boilerplate(a, b, whole)
    if inside is None:
        if share >= 0.5:
            return _kind("main item", f"{share:.0%} of the terms have no counterpart", differences)
        return _kind(
            "rest", "what the site repeats is not known, so the part that differs cannot be placed", differences
        )
    if inside and share <= 0.25:
        return _kind("minor item", "what differs stands inside what the site repeats on other pages", differences)
    return _kind("main item", "what differs stands in what is the page's own", differences)


def _kind(name: str, because: str, differences: list[Difference]) -> Kind:
    return Kind(name, KINDS[name], because, differences)


def _visible(page: Page) -> Page:
    """What a visitor sees: without hidden elements and image names."""
    return _without_images(page.only(~page.stands_in("undisplayed")))


def _without_images(page: Page) -> Page:
    # What `is_image` says; a call for each of a hundred thousand terms would be most of the time.
    terms = page.terms
    return page.only(np.fromiter(("." not in term and "/" not in term for term in terms), bool, len(terms)))


def _form_values(page: Page) -> npt.NDArray[np.bool_]:
    """The terms that are values which a visitor can erase or choose."""
    return page.stands_in("field")


def is_image(term: str) -> bool:
    """Whether a term can only be an image's: text is split at these characters, and image URLs are not.

    >>> is_image("logo.png"), is_image("html?ref=3"), is_image("word")
    (True, False, False)
    """
    return "." in term or "/" in term


def _explained(a: Page, b: Page, wanted: Callable[[Page], npt.NDArray[np.bool_]], *, listed: bool = True) -> bool:
    """Whether the two differ in nothing (or, if ``listed``, in nothing but listed things) without the terms that
    ``wanted`` picks out.
    """
    masks = wanted(a), wanted(b)
    if not masks[0].any() and not masks[1].any():
        return False
    rest = _visible(a.only(~masks[0])), _visible(b.only(~masks[1]))
    hunks = hunks_of(rest[0].terms, rest[1].terms)
    if not listed:
        return len(hunks) == 0
    differences = (_difference(hunk, rest) for hunk in hunks[:MOST_HUNKS])
    return len(hunks) <= MOST_HUNKS and all(difference.kind != "content" for difference in differences)


def hunks_of(a: list[str], b: list[str]) -> npt.NDArray[np.uint32]:
    """Where two lists of terms differ: rows of start and end in A, start and end in B.

    >>> hunks_of(["one", "two", "three"], ["one", "2", "three"]).tolist()
    [[1, 2, 1, 2]]
    """
    numbers = pa.array(a + b, pa.large_string()).dictionary_encode().indices.cast(pa.uint64())
    offsets = pa.array([0, len(a), len(a) + len(b)], pa.int64())
    hunks = _native.align(pa.LargeListArray.from_arrays(offsets, numbers), 0, 1)
    return without_cut_end(hunks, (len(a), len(b))) if max(len(a), len(b)) >= MOST_TERMS else hunks


def _size(hunks: npt.NDArray[np.uint32]) -> int:
    """Terms without a counterpart."""
    return int((hunks[:, 1] - hunks[:, 0]).sum() + (hunks[:, 3] - hunks[:, 2]).sum())


# One hunk ------------------------------------------------------------------------------------------------------------


Span = tuple[int, int]


def _difference(hunk: npt.NDArray[np.uint32], pages: tuple[Page, Page]) -> Difference:
    start_a, end_a, start_b, end_b = map(int, hunk)
    spans = ((start_a, end_a), (start_b, end_b))
    texts = [" ".join(page.terms[start : min(end, start + 40)])
             for page, (start, end) in zip(pages, spans, strict=True)]  # fmt: skip
    return Difference(
        _hunk_kind(spans, pages), *texts, *(page.where(span) for page, span in zip(pages, spans, strict=True))
    )


def _hunk_kind(spans: tuple[Span, Span], pages: tuple[Page, Page]) -> str:
    if max(end - start for start, end in spans) > _LONGEST:
        return "content"
    sides = list(zip(spans, pages, strict=True))
    if all(_own_url(span, page.terms, page.url) for span, page in sides):
        return "URL only"
    own = [term for (start, end), page in sides for term in page.terms[start:end]]
    looks = np.concatenate([page.looks.looks[start:end] for (start, end), page in sides])
    runs = np.concatenate([page.looks.runs[start:end] for (start, end), page in sides])
    if (looks & LOOKS["date part"]).all() and (runs == RUNS["date"]).any():
        return "time stamp"
    for run, kind in (("counter", "visitor count"), ("duration", "execution time"), ("identifier", "session id")):
        if (runs == RUNS[run]).all():
            return kind
    near = [_near(span, page) for span, page in sides]
    beside = min(near, key=len) if len(near[0]) != len(near[1]) else near[0]
    # The nearest word that names such a value decides.
    for word in beside:
        for kind, is_value in _VALUES.items():
            if word & LOOKS[kind] and all(is_value(term) for term in own) and _may_be(kind, looks):
                return kind
    return "content"


def _may_be(kind: str, looks: npt.NDArray[np.uint32]) -> bool:
    return kind != "time stamp" or bool((looks & LOOKS["date part"]).all())


def _near(span: Span, page: Page) -> list[int]:
    """The looks of terms beside a hunk, nearest first; markers mostly stand before their value: one behind counts as
    farther.
    """
    start, end = span
    looks = page.looks.looks
    before = [(at + 1.0, look) for at, look in enumerate(looks[max(0, start - BEFORE) : start][::-1].tolist())]
    behind = [(at + 2.5, look) for at, look in enumerate(looks[end : end + BEHIND].tolist())]
    return [look for _, look in sorted(before + behind)]


#: How the value looks that a word speaks for; what a time stamp looks like is asked of the core.
_VALUES: Final[dict[str, Callable[[str], bool]]] = {
    "time stamp": lambda term: True,
    "execution time": lambda term: bool(_NUMBER.fullmatch(term)),
    "visitor count": lambda term: bool(_NUMBER.fullmatch(term)),
    "session id": lambda term: len(term) >= 6 and term.isascii() and bool(_NAME_WITH_NUMBER.fullmatch(term)),
    "message id": lambda term: bool(_NAME_WITH_NUMBER.fullmatch(term)),
    "server name": lambda term: bool(_SERVER.fullmatch(term)),
}


def _own_url(span: tuple[int, int], sequence: list[str], url: str | None) -> bool:
    """Whether the hunk is part of the page's own URL, in a run of such parts that names its host."""
    if url is None:
        return False
    parts, host = _url_parts(url)
    start, end = span
    if not all(term in parts for term in sequence[start:end]):
        return False
    while start > 0 and span[0] - start < 12 and sequence[start - 1] in parts:
        start -= 1
    while end < len(sequence) and end - span[1] < 12 and sequence[end] in parts:
        end += 1
    return not host.isdisjoint(sequence[start:end])


def _url_parts(url: str) -> tuple[set[str], set[str]]:
    """All parts a text may show of a URL, and the telling parts of its host."""
    lowered = url.lower()
    split = addresses.parts(lowered)
    host = split.hostname or "" if split else ""
    parts = {part for cut in (r"[/.:]+", r"[\W_]+") for part in re.split(cut, lowered) if part}
    labels = [label for label in host.split(".") if label != "www"]
    telling = set(labels[:-1] or labels)
    return parts, telling | {part for label in telling for part in re.split(r"[\W_]+", label) if len(part) > 2}


# The whole page ------------------------------------------------------------------------------------------------------


def _entry(page: Page) -> bool:
    """Whether the path is one by which a site is entered."""
    if page.url is None:
        return False
    split = addresses.parts(page.url.lower())
    if split is None:
        return False
    path = split.path
    parts = [part.rsplit(".", 1)[0] for part in path.split("/") if part]
    return all(part in ENTRY_WORDS or _ENTRY_PART.fullmatch(part) for part in parts) and (
        not parts or any(part in ENTRY_WORDS for part in parts) or all(not part.isdecimal() for part in parts)
    )


def _told_apart(a: str | None, b: str | None, pages: tuple[Page, Page]) -> bool:
    """Whether titles differ in more than what may differ."""
    if a is None or b is None or a == b:
        return False
    titles = [replace(page, terms=terms(title, html=False).terms, structure=None, boilerplate=None)
              for page, title in zip(pages, (a, b), strict=True)]  # fmt: skip
    hunks = hunks_of(titles[0].terms, titles[1].terms)
    return any(_difference(hunk, (titles[0], titles[1])).kind == "content" for hunk in hunks[:MOST_HUNKS])


def _repeated(a: Page, b: Page, hunks: npt.NDArray[np.uint32]) -> float | None:
    """Of the terms without a counterpart, the share that its site repeats; None where that is not known."""
    if a.boilerplate is None or b.boilerplate is None:
        return None
    repeated = sum(
        int(page.boilerplate[int(start) : int(end)].sum())
        for page, first in ((a, 0), (b, 2))
        if page.boilerplate is not None
        for start, end in hunks[:, first : first + 2]
    )
    return repeated / max(1, _size(hunks))


def _inside_boilerplate(a: Page, b: Page, hunks: npt.NDArray[np.uint32]) -> bool | None:
    """Whether every hunk of content has what the site repeats on both sides of it, within three terms."""
    if a.boilerplate is None or b.boilerplate is None:
        return None
    pages = (a, b)
    for hunk in hunks[:MOST_HUNKS]:
        start_a, end_a, start_b, end_b = map(int, hunk)
        spans = ((start_a, end_a), (start_b, end_b))
        if _hunk_kind(spans, pages) != "content" or _images_only(spans, pages):
            continue
        for (start, end), page in zip(spans, pages, strict=True):
            mask = page.boilerplate
            if mask is None or not mask[max(0, start - 3) : start].any() or not mask[end : end + 3].any():
                return False
    return len(hunks) <= MOST_HUNKS


def _images_only(spans: tuple[tuple[int, int], tuple[int, int]], pages: tuple[Page, Page]) -> bool:
    return all(
        is_image(term) for (start, end), page in zip(spans, pages, strict=True) for term in page.terms[start:end]
    )
