"""Skeletons: how the parts of a page stand together, for sites that are not to look like those of ``web()``.

A classifier that was trained on some templates is to be tested on others; these are the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Parts:
    """What goes into a body element, as HTML."""

    navigation: str
    side: str
    content: str
    footer: str
    hidden: str


def _landmarks(parts: Parts) -> str:
    return (
        f'<body class="site">\n{parts.hidden}<header role="banner"><nav>\n{parts.navigation}\n</nav></header>\n'
        f'<main>\n<article class="entry">\n{parts.content}\n</article>\n</main>\n'
        f'<aside class="sidebar">\n{parts.side}\n</aside>\n<footer>\n{parts.footer}\n</footer>\n</body>'
    )


def _boxes(parts: Parts) -> str:
    return (
        f'<body>\n<div class="wrapper"><div class="column left"><div class="box menu">\n{parts.navigation}\n</div>\n'
        f'<div class="box">\n{parts.side}\n</div></div>\n<div class="column right"><section>\n{parts.content}\n'
        f'</section></div></div>\n{parts.hidden}<div class="legal">\n{parts.footer}\n</div>\n</body>'
    )


def _centred(parts: Parts) -> str:
    return (
        f'<body text="#222222" link="#004488">\n<center><font size=2>\n{parts.navigation}\n</font></center>\n<hr>\n'
        f"<blockquote>\n{parts.content}\n</blockquote>\n<hr noshade>\n{parts.hidden}<dl><dt>&nbsp;</dt>\n"
        f"<dd>\n{parts.side}\n</dd></dl>\n<center>\n{parts.footer}\n</center>\n</body>"
    )


#: Every skeleton by its name.
SKELETONS: Final[dict[str, Callable[[Parts], str]]] = {"landmarks": _landmarks, "boxes": _boxes, "centred": _centred}
