"""Every signal: its name, group, version, formula and cost.

Groups are the paper's (Table 1): F from the fetched bodies, R from the rendered ones, FS and RS from snippets of them;
body length stands apart (L), as in the paper, for it adds nothing once mcd is there. O and RO are ours, of addresses
and fetched bodies and of rendered bodies. A signal's version is raised when its values change: a model says which it
needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from neardup.errors import UsageError

GROUPS: Final = {
    "F": "fetched bodies, and whether the hosts are equal (the paper's)",
    "R": "rendered bodies (the paper's)",
    "FS": "snippets of fetched bodies around the query's words (the paper's)",
    "RS": "snippets of rendered bodies (the paper's)",
    "L": "body lengths (the paper's, for where mcd is too dear)",
    "O": "ours: addresses, and more of the fetched bodies",
    "RO": "ours: more of the rendered bodies",
}
BODIES: Final = ("fetched", "rendered")


@dataclass(frozen=True, slots=True)
class Signal:
    """One number a pair; null where it cannot be told.

    >>> by_name()["fetched_mcd"].group
    'F'
    """

    name: str
    group: str
    #: What it is.
    formula: str
    #: What it costs, a pair.
    cost: str
    #: Place in the order of cost, from 1: what Fig. 3 of the paper adds first.
    rank: int
    version: int = 1


def _of_body(body: str) -> list[Signal]:
    rendered = body == "rendered"
    paper, ours, snippets = ("R", "RO", "RS") if rendered else ("F", "O", "FS")
    # What is rendered costs the rendering, so it comes after all that is fetched.
    late = 100 if rendered else 0
    return [
        Signal(f"{body}_same_title", paper, "1 if the titles are equal, else 0; null if neither has one",
               "one comparison", late + 2),
        Signal(f"{body}_length_distance", "L", "|len A − len B| / max(len A, len B) in bytes; 0 if both are empty",
               "one subtraction", late + 3),
        Signal(f"{body}_simhash_distance", paper, "differing bits of Charikar's 64-bit projections of the tokens, 0 to "
               "64; null if one has no tokens", "8 bytes a page", late + 4),
        Signal(f"{body}_tfidf_distance", paper,
               "1 − Σ w(A,B) / Σ w(L,L) over the 100 terms of highest tf·ln(N/df), w = 1/(ln(posA+e−1)·ln(posB+e−1)), "
               "L the longer list; null if both are empty", "10,000 comparisons", late + 5),
        Signal(f"{body}_mcd", paper,
               "max(|c(AB)−c(AA)|, |c(AB)−c(BB)|) / max(c(AA), c(BB)), c = gzip -9 size; null if a body is longer than "
               "gzip sees (32,506 bytes)", "one compression of both bodies", late + 6),
        Signal(f"{body}_snippet_mcd", snippets, "mcd of the displayed text around the query's words, 12 terms to "
               "either side and at most 1,000 in all; null without query, or if neither page has one of its words",
               "one compression of both snippets", late + 7, version=3),
        Signal(f"{body}_wide_mcd", ours, "mcd with zstd, whose window is as long as both bodies; null beyond 8 MiB",
               "one compression of both bodies", late + 8),
        Signal(f"{body}_main_jaccard", ours, "Jaccard similarity of the 3-term shingles of the main contents",
               "one merge of two sets", late + 9),
        Signal(f"{body}_b_similarity", ours, "how many of Alg. B's 6 supershingles agree", "48 bytes a page",
               late + 10),
        Signal(f"{body}_c_similarity", ours, "how many of Alg. C's 384 bits agree", "48 bytes a page", late + 11),
        Signal(f"{body}_layout_similarity", ours, "Jaccard similarity of the runs of 4 block elements; null if neither "
               "has one", "one merge of two sets", late + 12),
        Signal(f"{body}_same_canonical", ours, "1 if both name one canonical address, or one the other's own; 0 if "
               "not; null if neither names one", "one comparison", late + 13),
    ]  # fmt: skip


SIGNALS: Final = (
    Signal("same_domain", "F", "1 if the hosts are equal, else 0; null without URLs", "one comparison", 1),
    *_of_body("fetched"),
    *_of_body("rendered"),
    Signal("same_site", "O", "1 if the registrable domains are equal, else 0", "one comparison", 20),
    Signal("path_similarity", "O", "equal leading and trailing path segments / segments of the longer path",
           "a few comparisons", 21),
    Signal("same_query_keys", "O", "1 if the URLs' queries have the same keys, else 0; null if neither has a query",
           "one comparison", 22),
    Signal("mirror_path", "O", "1 if path and query are equal on different hosts, and not just /; else 0",
           "one comparison", 23),
)  # fmt: skip


def by_name() -> dict[str, Signal]:
    """All signals by their names.

    >>> len(by_name()) == len(SIGNALS)
    True
    """
    return {signal.name: signal for signal in SIGNALS}


def names_of(groups: str | Sequence[str]) -> list[str]:
    """The signals of some groups, written as a sum, or of single names among them, in the order of the catalogue.

    >>> names_of("FS+RS")
    ['fetched_snippet_mcd', 'rendered_snippet_mcd']
    >>> names_of("fetched_mcd+RS")
    ['fetched_mcd', 'rendered_snippet_mcd']
    """
    asked = groups.split("+") if isinstance(groups, str) else list(groups)
    asked = [name.strip() for name in asked]
    known = by_name()
    for name in asked:
        if name not in GROUPS and name not in known:
            raise UsageError(
                f"there is no group or signal {name!r}", hint=f"one of {', '.join(GROUPS)}, or a signal's name"
            )
    return [signal.name for signal in SIGNALS if signal.group in asked or signal.name in asked]
