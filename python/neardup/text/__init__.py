"""Page → tokens: what the machine sees of a page (Henzinger 2006 §2)."""

from neardup.text.reading import PageTokens, Reading, Terms, read, term_lists, terms

__all__ = ["PageTokens", "Reading", "Terms", "read", "term_lists", "terms"]
