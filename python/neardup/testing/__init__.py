"""A small web made up for tests and demonstrations, with the true label of every pair of its pages.

``web()`` gives pages that look like real ones, related in the ways that the papers name; ``edits`` gives
texts of exactly known similarity; ``search_web()`` gives queries with results that a browser can visit, by ``serve()``
or from an archive. Everything follows from a seed, on every platform.

>>> from neardup.testing import web
>>> small = web(seed=1, sites=6, pages=150)
>>> pair = next(pair for pair in small.pairs if pair.label.henzinger_reason == "visitor count")
>>> pair.label.henzinger, pair.label.huffman
('correct', True)
"""

from neardup.testing.facts import Facts, Page
from neardup.testing.labels import HENZINGER_REASONS, HUFFMAN_REASONS, Label, label_of
from neardup.testing.layout import LANGUAGES
from neardup.testing.search_web import Query, SearchPage, SearchPair, SearchWeb, search_web
from neardup.testing.server import Server, serve
from neardup.testing.small_web import RELATIONS, Pair, Web, web

__all__ = [
    "HENZINGER_REASONS",
    "HUFFMAN_REASONS",
    "LANGUAGES",
    "RELATIONS",
    "Facts",
    "Label",
    "Page",
    "Pair",
    "Query",
    "SearchPage",
    "SearchPair",
    "SearchWeb",
    "Server",
    "Web",
    "label_of",
    "search_web",
    "serve",
    "web",
]
