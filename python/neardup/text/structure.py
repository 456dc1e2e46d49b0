"""What a page is made of: its blocks of text, what each is, where it stands in the source; and where its terms stand.

It is what detectors see: blocks end where theirs end, and ``role`` says of a block what ``template-aware`` decides by.
That is the one definition of boilerplate by structure; the core has it, in ``content/stream.rs``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.record import record

if TYPE_CHECKING:
    import numpy.typing as npt

Role = Literal["content", "links", "frame", "title"]

#: What text may stand in, by name, as bits of ``Structure.places``.
PLACES: Final[dict[str, int]] = _native.place_names()


@record(frozen=True, slots=True)
class Block:
    """A block of a page: what stands between two tags that end a line, or a paragraph of plain text.

    ``role``: "title"; "frame" (menus, headers, footers, dialogs, what stands beside the main element); "links" (mostly
    links); "content", the rest. ``element``: "heading", "item" (of a list), "cell", or "text". ``places``: what all of
    it stands in, as ``PLACES`` names it. ``terms``: how many of the page's terms it has. ``start`` and ``end``: the
    characters of the page, as text, from the first to the last that it says.
    """

    text: str
    role: Role
    element: Literal["text", "heading", "item", "cell"]
    places: tuple[str, ...]
    terms: int
    start: int
    end: int

    @property
    def where(self) -> str:
        """What the block is, in words.

        >>> blocks("<nav><ul><li><a href=/>Home</a></ul></nav>")[0].where
        'frame (link, navigation), item'
        """
        inside = [name for name in self.places if name not in (self.role, self.element)]
        role = f"{self.role} ({', '.join(inside)})" if inside else self.role
        return role if self.element == "text" else f"{role}, {self.element}"


@record(frozen=True, slots=True)
class Structure:
    """A page's blocks in order; and for each of its terms the number of its block, and what it stands in, as bits."""

    blocks: list[Block]
    block: npt.NDArray[np.int64]
    places: npt.NDArray[np.uint16]

    def stands_in(self, *names: str) -> npt.NDArray[np.bool_]:
        """For each term whether it stands in one of these places.

        >>> pages = pa.record_batch({"content": pa.array([b"seen <p hidden>not seen"], pa.large_binary()),
        ...     "html": [True], "charset": pa.nulls(1, pa.string()), "url": pa.nulls(1, pa.string())})
        >>> structures(pages)[0].stands_in("undisplayed").tolist()
        [False, True, True]
        """
        wanted = np.uint16(sum(PLACES[name] for name in names))
        return np.asarray((self.places & wanted) != 0, bool)

    def beginning(self, terms: int) -> Structure:
        """The same with its first terms only."""
        if len(self.block) <= terms:
            return self
        return Structure(self.blocks, self.block[:terms], self.places[:terms])

    def has_role(self, role: Role) -> npt.NDArray[np.bool_]:
        """For each term whether its block has this role."""
        of_blocks = np.fromiter((block.role == role for block in self.blocks), bool, len(self.blocks))
        return np.asarray(of_blocks[self.block], bool)


def structures(pages: pa.RecordBatch) -> list[Structure]:
    """The structure of each page of a batch (schema ``neardup.page.PAGES``), read natively.

    >>> from neardup.sources.memory import texts
    >>> pages = texts([{"html": "<h1>One</h1><p>and two"}, "One paragraph.\\n\\nAnd another."])
    >>> [[block.text for block in page.blocks] for page in structures(pages.batches[0])]
    [['One', 'and two'], ['One paragraph.', 'And another.']]
    """
    columns = (pages.column(name) for name in ("content", "html", "charset", "url"))
    of_blocks, of_terms = _native.page_structure(*columns)
    made = []
    for rows, places in zip(of_blocks, of_terms, strict=True):
        listed = [Block(places=_named(row.pop("place")), **row) for row in rows.as_py()]
        counts = [block.terms for block in listed]
        numbers = np.repeat(np.arange(len(listed)), counts)
        made.append(Structure(listed, numbers, places.values.to_numpy()))
    return made


def _named(place: int) -> tuple[str, ...]:
    return tuple(name for name, bit in PLACES.items() if place & bit)


def blocks(
    content: bytes | str, *, html: bool = True, url: str | None = None, charset: str | None = None
) -> list[Block]:
    """The blocks of one page.

    >>> page = "<title>Fish</title><nav><a href=/>Home</a></nav><h1>Fish &amp; chips</h1><p>Fry the fish."
    >>> for block in blocks(page):
    ...     print(block.role, "|", block.text, "|", page[block.start : block.end])
    title | Fish | Fish
    frame | Home | Home
    content | Fish & chips | Fish &amp; chips
    content | Fry the fish. | Fry the fish.
    """
    if isinstance(content, str):
        content, charset = content.encode("utf-8", "replace"), "utf-8"
    page = pa.record_batch(
        {
            "content": pa.array([content], pa.large_binary()),
            "html": pa.array([html]),
            "charset": pa.array([charset], pa.string()),
            "url": pa.array([url], pa.string()),
        }
    )
    return structures(page)[0].blocks
