"""Page → tokens: what the machine sees of a page (Henzinger 2006 §2)."""

from neardup.text.content import Ideas, content_streams
from neardup.text.reading import PageTokens, Reading, Terms, read, term_lists, terms

__all__ = ["Ideas", "PageTokens", "Reading", "Terms", "content_streams", "read", "term_lists", "terms"]
