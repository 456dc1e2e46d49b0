"""How much of a page's main text is read as such, measured against the archive's own text of the tracked pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from same_site_sets import lines

from neardup.sources.memory import texts
from neardup.text import Ideas, content_streams

#: The class of an element of running text in a stream, and the bits that hold it.
CONTENT: Final = 2
CLASS: Final = 0xFF
#: An archive's text of which fewer shingles than this stand on the page says nothing of how the page was read.
FEWEST: Final = 50
VARIANTS: Final = {
    "all": Ideas(),
    "without main": Ideas(main=False),
    "without structure": Ideas(structure=False),
}

Elements = npt.NDArray[np.uint64]


def reading(folder: Path) -> dict[str, Any]:
    """Of the newest page of every document: the share of the archive's text on it that is content (*found*), and the
    share of its content that is the archive's text (*right*), each the mean over documents, for all ideas and without
    some; and the documents of whose text a fifth or more is not found."""
    versions = {row["version"]: row["text"] for row in lines(folder / "versions.jsonl.zst")}
    newest: dict[str, dict[str, Any]] = {}
    for row in lines(folder / "docs.jsonl.zst"):
        if row["version_in_html"] >= 0.8 and row["fetched"] >= newest.get(row["doc"], row)["fetched"]:
            newest[row["doc"]] = row
    pages = [{"html": row["html"]} for row in newest.values()]
    said = _elements([{"text": plain(versions[row["version"]])} for row in newest.values()], Ideas())
    all_of = _elements(pages, VARIANTS["without structure"])
    there = [np.intersect1d(*both) for both in zip(said, all_of, strict=True)]
    rows: dict[str, Any] = {}
    for name, ideas in VARIANTS.items():
        found, right, lost = [], [], []
        for document, content, text, known in zip(newest, _elements(pages, ideas), said, there, strict=True):
            if len(known) < FEWEST:
                continue
            found.append(np.isin(known, content).mean())
            right.append(np.isin(content, text).mean() if len(content) else 0.0)
            if found[-1] < 0.8:
                lost.append((document, float(found[-1])))
        rows[name] = {
            "documents": len(found), "found": float(np.mean(found)), "right": float(np.mean(right)),
            "lost": sorted(lost, key=lambda row: row[1]),
        }  # fmt: skip
    return rows


def plain(markdown: str) -> str:
    """A text as the archive writes it, every line a block of its own, without the addresses of links.

    >>> plain("# Terms\\n[here](http://a.example/)")
    '# Terms\\n\\n[here] '
    """
    return re.sub(r"\]\([^)]*\)", "] ", markdown).replace("\n", "\n\n")


def _elements(rows: list[dict[str, str]], ideas: Ideas) -> list[Elements]:
    """The elements of running text of each page, each once."""
    found: list[Elements] = []
    for batch in texts(rows).batches:
        for stream in content_streams(batch, ideas=ideas):
            words = stream.values.to_numpy()
            found.append(np.unique(words[words & np.uint64(CLASS) == CONTENT]))
    return found
