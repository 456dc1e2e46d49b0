"""The detector where none is named: the only place that says which.

It goes by the kind of the pages, markup or plain text: what the field, the format or the content type says that each
page came in. Whether pages have URLs, what stands in them, and by which road they came do not matter. Markup has a
structure, and pages of one site share a template, so the main text decides; plain text has none of both, and is
compared whole. A mixed input is compared by one measure, the one that is right for either kind.
"""

from __future__ import annotations

from typing import Final

from neardup.methods.base import Detector
from neardup.methods.registry import parse
from neardup.page import Kinds

#: For pages of markup; it needs statistics of the collection.
_MARKUP: Final = "template-aware"
#: For plain text, and where both kinds are.
_TEXT: Final = "minhash"
#: Where pages come one at a time and nothing was counted beforehand: an index, a service, a judge of result lists.
_WITHOUT_STATISTICS: Final = "site-aware"


def default_detector(kinds: Kinds) -> Detector:
    """The detector for a collection of such pages.

    >>> [str(default_detector(kinds)) for kinds in (Kinds(html=9), Kinds(text=9), Kinds(html=9, text=1))]
    ['template-aware', 'minhash', 'minhash']
    """
    return parse(_MARKUP if kinds.html and not kinds.text else _TEXT)


def compared_detectors() -> tuple[str, ...]:
    """Those that stand beside each other where none is named: the papers', and whichever may be a default."""
    return tuple(sorted({"exact", "broder", "charikar", "combined", _MARKUP, _TEXT, _WITHOUT_STATISTICS}))


def default_without_statistics() -> str:
    """The detector for pages of which no collection was seen.

    >>> parse(default_without_statistics()).counted()
    ()
    """
    return _WITHOUT_STATISTICS


def described_kinds(kinds: Kinds) -> str:
    """What pages the default goes by, for people.

    >>> described_kinds(Kinds(html=580, text=20))
    '580 pages of markup and 20 of plain text'
    """
    if not kinds.text:
        return "pages of markup"
    if not kinds.html:
        return "pages of plain text"
    return f"{kinds.html:,} page{'s' if kinds.html > 1 else ''} of markup and {kinds.text:,} of plain text"
