"""Page → tokens: what the machine sees of a page (Henzinger 2006 §2)."""

from neardup.text.content import Ideas, content_streams
from neardup.text.reading import PageTokens, Reading, Terms, read, term_lists, terms
from neardup.text.structure import Block, Structure, blocks, structures

__all__ = [
    "Block",
    "Ideas",
    "PageTokens",
    "Reading",
    "Structure",
    "Terms",
    "blocks",
    "content_streams",
    "read",
    "structures",
    "term_lists",
    "terms",
]
