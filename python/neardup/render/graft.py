"""The page as it stands in the browser, as one piece of HTML: frames grafted where they stand.

Frames are taken from the innermost outwards. Each frame element is replaced by a mark that only we know, its document
is written out, and the mark is replaced by what is in the frame: in a frameset, a body of the frames in their order.
What hangs in open shadow trees is written out in its place, as the visitor sees it. (Huffman et al. 2007, §3.1.)
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from playwright.async_api import Frame

#: Frames beyond so many, or so deep, are left as they are.
MOST_FRAMES: Final = 60
DEEPEST: Final = 6
#: Seconds that frames without an address have together to say what is in them, and of the time that is left the share.
_PATIENCE: Final = 2.0
_SHARE: Final = 0.5

_WRITE: Final = """([elements, mark, inner, limit]) => {
  const unfold = (root) => {
    for (const host of root.querySelectorAll("*")) {
      const shadow = host.shadowRoot;
      if (!shadow) continue;
      unfold(shadow);
      for (const slot of shadow.querySelectorAll("slot")) slot.replaceWith(...slot.assignedNodes({flatten: true}));
      host.replaceChildren(...shadow.childNodes);
    }
  };
  unfold(document);
  if (inner) {
    for (const element of document.querySelectorAll("a[href], area[href]")) element.setAttribute("href", element.href);
    for (const element of document.querySelectorAll("img[src]")) element.setAttribute("src", element.src);
  }
  const marks = elements.map((element, place) => [element, document.createComment(mark + place)]);
  const body = document.body;
  if (body && body.localName === "frameset") {
    marks.sort((a, b) => a[0].compareDocumentPosition(b[0]) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
    const made = document.createElement("body");
    for (const [, comment] of marks) made.append(comment);
    body.replaceWith(made);
  } else {
    for (const [element, comment] of marks) element.replaceWith(comment);
  }
  // The document of an image has no element, and a page can take its own away.
  const root = document.documentElement;
  const written = !root ? "" : inner ? (document.body || root).innerHTML : root.outerHTML;
  if (written.length > limit) return null;
  return inner || !document.doctype ? written : "<!DOCTYPE " + document.doctype.name + ">" + written;
}"""


class TooLarge(Exception):
    """The page is longer than it may be."""


@dataclass
class _Left:
    """What frames may still take: how many are written out, and seconds for those that do not answer."""

    frames: int
    seconds: float


async def whole_page(main: Frame, limit: int, seconds: float) -> str:
    """The HTML of a page with its frames in it, within so many seconds; the page is not the same afterwards."""
    left = _Left(MOST_FRAMES, min(_PATIENCE, _SHARE * seconds))
    return await _written(main, limit, secrets.token_hex(8), 0, left)


async def _written(frame: Frame, limit: int, mark: str, depth: int, left: _Left) -> str:
    from playwright.async_api import Error

    inside: list[tuple[Any, str, str]] = []
    for child in frame.child_frames if depth < DEEPEST else ():
        if left.frames <= 0 or child.is_detached():
            break
        left.frames -= 1
        # What was refused, or never answered, has no document and would never say what is in it; what has one is waited
        # for as long as the page is.
        patience = None if child.url.startswith("http") else max(0.0, left.seconds)
        started = time.monotonic()
        try:
            async with asyncio.timeout(patience):
                element = await child.frame_element()
                inside.append((element, child.url, await _written(child, limit, mark, depth + 1, left)))
        except TimeoutError:
            if patience is None:
                raise
            left.seconds -= time.monotonic() - started
        except Error:
            if not child.is_detached():
                raise
    elements = [element for element, _, _ in inside]
    own = f"{mark}:{depth}:"
    html = await frame.evaluate(_WRITE, [elements, own, depth > 0, limit])
    if not isinstance(html, str):
        raise TooLarge
    for place, (_, url, text) in enumerate(inside):
        # A mark is drawn anew for every page, so that no page can write one itself.
        html = html.replace(f"<!--{own}{place}-->", f'<div data-frame="{escape(url)}">\n{text}\n</div>', 1)
    if len(html) > limit:
        raise TooLarge
    return html
