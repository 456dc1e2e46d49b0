"""The frame of every HTML page we write: escaping, tables, plots with tables behind them, and a page that stands alone.

A page is one file without any request: style, scripts and data are inside it, and a content-security policy allows
exactly these (by their hashes) and nothing else, so that a title or a text of a hostile page can neither run nor load
anything even if escaping were to fail. What is drawn is drawn by Observable Plot from a block of JSON; every figure has
its numbers in a real table as well, which is all there is without scripts and is what screen readers read.

    page = HtmlPage("A run", "of some pages")
    page.add("found", "What was found", figures({"pages": "3,000"}), plot("Scores", spec, rows))
    page.write(path)

Text is escaped unless it is ``Html`` already.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape as escape_text
from pathlib import Path
from typing import Any, Final

from neardup.writing import replacing

#: What a browser would not show but obey: turns of the direction of writing, and control characters.
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
#: Of lines in one plot; ``assets/page.js`` and ``page.css`` have as many.
COLOURS, STROKES = 6, 4
_VOID: Final = frozenset({"br", "hr", "img", "meta", "link", "input"})
#: What Observable Plot puts into each drawing; the policy must know it.
_PLOT_STYLE: Final = """:where(.neardup-plot) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.neardup-plot text),
:where(.neardup-plot tspan) {
  white-space: pre;
}"""


class Html(str):
    """Text that is markup already and is not escaped again."""

    __slots__ = ()


Content = str | int | float | None | Iterable["Content"]


def html(content: Content) -> Html:
    """Content as markup: text is escaped, markup stays, a list is joined, nothing is nothing.

    >>> html(["1 < 2 ", Html("<b>so</b>"), None])
    '1 &lt; 2 <b>so</b>'
    """
    if isinstance(content, Html):
        return content
    if content is None:
        return Html("")
    if isinstance(content, str):
        return Html(escape_text(_UNSAFE.sub("\ufffd", content)))
    if isinstance(content, int | float):
        return Html(escape_text(str(content)))
    return Html("".join(html(part) for part in content))


def element(name: str, *content: Content, **attributes: str | int | None) -> Html:
    """An element; an attribute's name may end in ``_`` and has ``-`` for ``_``; None leaves it out.

    >>> element("a", "R & D", href="#top", class_="x", title=None)
    '<a href="#top" class="x">R &amp; D</a>'
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{told}>" if name in _VOID else f"<{name}{told}>{html(content)}</{name}>")


def paragraph(*content: Content, note: bool = False) -> Html:
    """A paragraph; a note is smaller.

    >>> paragraph("So it is.")
    '<p>So it is.</p>'
    """
    return element("p", *content, class_="note" if note else None)


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Content]], *, caption: Content = None, left: Iterable[int] = ()
) -> Html:
    """A table: numbers, and text that begins like one, to the right, all else to the left; ``left`` columns never to
    the right. The first column heads its row. It can be scrolled sideways, by keyboard too.

    >>> table(["site", "pages"], [["a.example", 7]]).count('<td class="number">7</td>')
    1
    """
    given = [list(row) for row in rows]
    to_the_left = set(left)
    numeric = [
        at not in to_the_left and bool(given) and all(_is_number(row[at]) for row in given)
        for at in range(len(columns))
    ]
    # A cell without words heads nothing, for those who listen.
    head = [
        element("th" if name else "td", name, scope="col" if name else None, class_="number" if right else None)
        for name, right in zip(columns, numeric, strict=True)
    ]
    body = []
    for row in given:
        cells = []
        for at, (cell, right) in enumerate(zip(row, numeric, strict=True)):
            long = isinstance(cell, str) and len(cell) > 40
            kind = "number" if right else "long" if long else None
            if at == 0 and not right and cell:
                cells.append(element("th", cell, scope="row", class_=kind))
            else:
                cells.append(element("td", cell, class_=kind))
        body.append(element("tr", *cells))
    whole = element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", element("tr", *head)),
        element("tbody", *body),
    )
    label = re.sub(r"<[^>]*>", "", html(caption or ", ".join(filter(None, columns))))
    return element("div", whole, class_="scroll", tabindex=0, role="group", aria_label=Html(label))


def records(rows: Sequence[Mapping[str, Any]], *, caption: Content = None, left: Iterable[int] = ()) -> Html:
    """A table of mappings with the same keys: the keys head its columns, numbers are written as people do.

    >>> ">0.5<" in records([{"reason": "form", "share": 0.5}])
    True
    """
    if not rows:
        return Html("")
    cells = [[number(value) for value in row.values()] for row in rows]
    return table(list(rows[0]), cells, caption=caption, left=left)


def number(value: Content) -> Content:
    """A number as text: thousands apart, few digits; nothing as a dash; anything else as it is.

    >>> number(1234), number(0.123456), number(None), number("x")
    ('1,234', '0.1235', '–', 'x')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if isinstance(value, float) else value


def _is_number(cell: Content) -> bool:
    if isinstance(cell, int | float):
        return True
    return isinstance(cell, str) and (cell in ("", "–") or cell[:1].isdecimal() or (cell[:1] in "−-+" and cell != "-"))


def figures(values: Mapping[str, Content | tuple[Content, Content]]) -> Html:
    """A few large numbers, each under its name; a pair is the number and a remark.

    >>> "<dd>3" in figures({"pages": 3})
    True
    """
    parts = []
    for name, value in values.items():
        number, remark = value if isinstance(value, tuple) else (value, None)
        small = element("small", remark) if remark is not None else None
        parts.append(element("div", element("dt", name), element("dd", number, small)))
    return element("dl", *parts, class_="figures")


def folded(summary: Content, *content: Content, open_: bool = False) -> Html:
    """Content behind a line that opens it, by mouse or keyboard.

    >>> folded("more", "text")
    '<details><summary>more</summary>text</details>'
    """
    return element("details", element("summary", summary), *content, open="" if open_ else None)


def plot(title: str, spec: Mapping[str, Any], columns: Sequence[str], rows: Iterable[Sequence[Content]]) -> Html:
    """A figure with its numbers behind it. ``spec``: ``kind`` and what that kind needs (see ``assets/page.js``):
    ``histogram`` (data of from, to, count), ``bars`` (name, value), ``points`` (x, y; a ``line`` through them) or
    ``lines`` (``series`` of name and data); ``x``, ``y`` name the axes, ``log`` makes both logarithmic.

    >>> spec = {"kind": "points", "x": "size", "y": "clusters", "data": [[2, 7]]}
    >>> made = plot("Sizes", spec, ["size", "clusters"], [[2, 7]])
    >>> made.startswith('<figure><figcaption>Sizes</figcaption>'), "<table>" in made
    (True, True)
    """
    # "<" must not stand in a script element's text; JSON may have it escaped.
    data = json.dumps(spec, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    name = "data-" + hashlib.sha256(f"{title}\0{data}".encode()).hexdigest()[:12]
    label = f"{title}: {spec.get('y', '')} by {spec.get('x', '')}".strip()
    return element(
        "figure",
        element("figcaption", title),
        element("div", class_="plot", data_plot=name, aria_label=label),
        _key([series["name"] for series in spec["series"]]) if spec["kind"] == "lines" else None,
        element("script", Html(data), type="application/json", id=name),
        folded("as a table", table(columns, rows, caption=title)),
    )


def _key(names: Sequence[str]) -> Html | None:
    """The names of lines beside their colours and strokes, as ``assets/page.js`` gives them."""
    if len(names) < 2:
        return None
    entries = [
        element("li", name, class_=f"colour-{at % COLOURS} stroke-{at // COLOURS % STROKES}")
        for at, name in enumerate(names)
    ]
    return element("ul", *entries, class_="key")


def plots(*drawn: Content) -> Html:
    """Figures side by side where there is room."""
    return element("div", *drawn, class_="plots")


def warning(*content: Content) -> Html:
    """What a reader must not overlook."""
    return element("p", *content, class_="warning")


@dataclass
class HtmlPage:
    """A page of sections that stands alone.

    >>> page = HtmlPage("A page", "of one section")
    >>> page.add("first", "First", paragraph("Hello & goodbye."))
    >>> made = page.render()
    >>> "Hello &amp; goodbye." in made, "default-src 'none'" in made
    (True, True)
    """

    title: str
    subtitle: Content = None
    footer: Content = None
    sections: list[tuple[str, str, Html]] = field(default_factory=list)

    def add(self, name: str, title: str, *content: Content) -> None:
        """Adds a section; nothing is added if there is nothing in it."""
        inside = html(content)
        if inside:
            self.sections.append((name, title, inside))

    def render(self) -> str:
        """The whole page."""
        body = _lines(
            element(
                "section", element("h2", title, id=f"{name}-title"), inside, id=name, aria_labelledby=f"{name}-title"
            )
            for name, title, inside in self.sections
        )
        contents = [element("li", element("a", title, href=f"#{name}")) for name, title, _ in self.sections]
        drawn = 'data-plot="' in body
        scripts = [asset("plot.min.js"), asset("page.js")] if drawn else []
        styles = [asset("page.css"), *([_PLOT_STYLE] if drawn else [])]
        policy = (
            f"default-src 'none'; style-src {' '.join(map(_hash, styles))}; "
            f"script-src {' '.join(map(_hash, scripts)) or chr(39) + 'none' + chr(39)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )
        parts = [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            element("title", self.title),
            f"<style>{asset('page.css')}</style>",
            "</head>\n<body>",
            element("a", "To the content", class_="skip", href="#content"),
            element("header", element("h1", self.title), element("p", self.subtitle) if self.subtitle else None),
            element("nav", element("ul", *contents), class_="contents", aria_label="Contents")
            if len(contents) > 1
            else "",
            element("main", Html("\n"), body, Html("\n"), id="content"),
            element("footer", self.footer) if self.footer else "",
            *(f"<script>{script}</script>" for script in scripts),
            "</body>\n</html>\n",
        ]
        return "\n".join(part for part in parts if part)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the page; it appears whole or not at all."""
        with replacing(path) as file:
            file.write(self.render().encode())


def _lines(parts: Iterable[Html]) -> Html:
    return Html("\n".join(parts))


@cache
def asset(name: str) -> str:
    """The text of a file in ``assets``.

    >>> asset("page.css").startswith(":root")
    True
    """
    return (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """A script or style as a content-security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
