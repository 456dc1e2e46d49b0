"""Two lists of terms side by side as stretches to show: what both have, what one has, what was left out between.

The same stretches are drawn in a browser and in a terminal. Long equal stretches are cut to some terms around each
difference; differences beyond ``most`` are counted, not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from neardup.record import record
from neardup.report.frame import Content, Html, element, html

#: Equal terms that are shown before and behind a difference.
CONTEXT = 12


@record(frozen=True, slots=True)
class Stretch:
    """Terms from ``start`` to ``end`` in A and in B; ``equal`` in both, or not. ``skipped`` equal terms come before."""

    a: tuple[int, int]
    b: tuple[int, int]
    equal: bool
    skipped: int = 0


def stretches(
    hunks: npt.NDArray[np.uint32], lengths: tuple[int, int], *, most: int = 60, context: int = CONTEXT
) -> tuple[list[Stretch], int]:
    """What is to be shown of an alignment, and how many differences are not.

    >>> hunks = np.array([[50, 51, 50, 51]], np.uint32)
    >>> shown, left = stretches(hunks, (100, 100), context=3)
    >>> [(part.a, part.equal, part.skipped) for part in shown], left
    ([((47, 50), True, 47), ((50, 51), False, 0), ((51, 54), True, 0)], 0)
    """
    shown: list[Stretch] = []
    at_a = at_b = 0
    for start_a, end_a, start_b, end_b in hunks[:most].tolist():
        gap = start_a - at_a
        before = context if not shown else 2 * context
        if gap > before:
            if shown:
                shown.append(Stretch((at_a, at_a + context), (at_b, at_b + context), True))
            tail = (start_a - context, start_a), (start_b - context, start_b)
            skipped = gap - (before if shown else context)
            shown.append(Stretch(*tail, True, skipped))
        elif gap:
            shown.append(Stretch((at_a, start_a), (at_b, start_b), True))
        shown.append(Stretch((start_a, end_a), (start_b, end_b), False))
        at_a, at_b = end_a, end_b
    rest = min(lengths[0] - at_a, lengths[1] - at_b, context if shown else 4 * context)
    if rest > 0 and len(hunks) <= most:
        shown.append(Stretch((at_a, at_a + rest), (at_b, at_b + rest), True))
    return shown, max(0, len(hunks) - most)


def without_cut_end(hunks: npt.NDArray[np.uint32], lengths: tuple[int, int]) -> npt.NDArray[np.uint32]:
    """The hunks of two beginnings: a last one that reaches an end may be of the cut's making, and is left out.

    >>> without_cut_end(np.array([[3, 4, 3, 3], [90, 100, 89, 89]], np.uint32), (100, 100)).tolist()
    [[3, 4, 3, 3]]
    """
    if len(hunks) and (int(hunks[-1][1]) == lengths[0] or int(hunks[-1][3]) == lengths[1]):
        return hunks[:-1]
    return hunks


def runs(
    terms: Sequence[str], span: tuple[int, int], mask: npt.NDArray[np.bool_] | None, *, longest: int = 400
) -> Iterator[tuple[str, bool]]:
    """The text of a span in pieces that the site repeats, or not; a very long one is cut.

    >>> list(runs(["home", "news", "storm"], (0, 3), np.array([True, True, False])))
    [('home news', True), ('storm', False)]
    """
    start, end = span
    stop = min(end, start + longest)
    at = start
    while at < stop:
        repeated = mask is not None and bool(mask[at])
        until = at + 1
        while until < stop and (mask is not None and bool(mask[until])) == repeated:
            until += 1
        yield " ".join(terms[at:until]), repeated
        at = until
    if stop < end:
        yield f"… {end - stop:,} terms more", False


def pair_html(
    heads: tuple[Content, Content],
    terms: tuple[Sequence[str], Sequence[str]],
    masks: tuple[npt.NDArray[np.bool_] | None, npt.NDArray[np.bool_] | None],
    hunks: npt.NDArray[np.uint32],
    *,
    most: int = 60,
    context: int = CONTEXT,
    longest: int = 400,
) -> Html:
    """Two pages side by side, as markup: equal terms in both columns, differing ones marked, repeated ones grey."""
    shown, left = stretches(hunks, (len(terms[0]), len(terms[1])), most=most, context=context)
    cells: list[Html] = [element("div", head, class_="head") for head in heads]
    row: tuple[list[Html], list[Html]] = ([], [])

    def flush() -> None:
        if row[0] or row[1]:
            for letter, parts in zip("AB", row, strict=True):
                label = element("span", f"{letter} ", class_="pair-label")
                cells.append(element("p", label, _spaced(parts)))
            row[0].clear()
            row[1].clear()

    for part in shown:
        if part.skipped:
            flush()
            cells.append(element("div", f"… {part.skipped:,} equal terms …", class_="gap"))
        for side, (span, name) in enumerate(((part.a, "del"), (part.b, "ins"))):
            for text, repeated in runs(terms[side], span, masks[side], longest=longest):
                inside = element("span", text, class_="repeated") if repeated else html(text)
                row[side].append(inside if part.equal else element(name, inside))
    flush()
    if left:
        cells.append(element("div", f"… {left:,} more differences …", class_="gap"))
    if not shown:
        cells.append(element("div", "no terms", class_="gap"))
    return element("div", *cells, class_="pair")


def _spaced(parts: Sequence[Html]) -> Html:
    return Html(" ".join(parts))
