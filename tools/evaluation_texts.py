"""The words of docs/evaluation.md: where the data are from, how each experiment is made, and what its numbers say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Source:
    title: str
    what: str
    origin: str
    licence: str


SOURCES: Final = {
    "rev_peps": Source(
        "Python enhancement proposals", "12,668 revisions", "GitHub python/peps @ ba4deeb79695", "public domain / CC0"
    ),
}
HEAD = SOURCES_HEAD = CURVES = CURVES_FOUND = PAIRS = PAIRS_FOUND = GRAPHS = GRAPHS_FOUND = ""
CERTIFICATES = CERTIFICATES_FOUND = ""
LABELS: Final = {"ota_contrib_html": "", "ndstudy_petclinic": "", "clough_stevenson": ""}
