"""How much is measured: the full run behind `make bench`, and the small one behind `make bench-quick`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MEGABYTE: Final = 1_000_000

#: What both sides are told to find: pairs of this Jaccard similarity over 5-word shingles.
SHINGLE_WORDS: Final = 5
THRESHOLD: Final = 0.8
MINHASH: Final = f"minhash(k={SHINGLE_WORDS},threshold={THRESHOLD})"
SITE_AWARE: Final = "site-aware"
#: The fast ones, the fastest first.
PEERS: Final = ("gaoya", "rensa", "datasketch")
FASTEST: Final = PEERS[:2]


@dataclass(frozen=True)
class Plan:
    """Sizes of one run of the suite. Bytes are of text or HTML, not of the compressed file."""

    name: str
    #: Measurements of each side; the median counts.
    rounds: int
    #: Share of the documentation pages that is taken, in blocks of neighbouring pages.
    share: float
    small_bytes: int
    #: None: there is no such text file in this run.
    large_bytes: int | None
    larger_bytes: int | None
    html_bytes: int
    warc_bytes: int
    #: Pages of the collections made for measuring growth.
    growth: tuple[int, ...]
    #: Pages of each odd collection, and of the one of one-word pages.
    shape_pages: int
    one_word_pages: int
    #: Text that is read with a promise of memory, and fingerprints that are clustered.
    huge_bytes: int
    fingerprints: int
    #: Pages of the durable index.
    index_pages: int
    #: Peers of text to clusters that are run every round, and whether those that take minutes are (once, on the small
    #: file).
    peers: tuple[str, ...]
    slow_peers: bool
    start_up_rounds: int
    #: Links of the link graph.
    links: int
    #: Queries of the generated web that is rendered, with 15 pages each, and how often.
    rendered_queries: int
    rendering_rounds: int

    def __post_init__(self) -> None:
        if self.rounds < 3:
            raise ValueError("a median needs at least 3 measurements")


FULL: Final = Plan(
    name="full",
    rounds=3,
    share=1.0,
    small_bytes=221 * MEGABYTE,
    large_bytes=1050 * MEGABYTE,
    larger_bytes=2100 * MEGABYTE,
    html_bytes=200 * MEGABYTE,
    warc_bytes=600 * MEGABYTE,
    growth=(10_000, 30_000, 100_000, 300_000, 1_000_000),
    shape_pages=200_000,
    one_word_pages=1_000_000,
    huge_bytes=10_000 * MEGABYTE,
    fingerprints=20_000_000,
    index_pages=1_000_000,
    peers=PEERS,
    slow_peers=True,
    start_up_rounds=21,
    links=10_000_000,
    rendered_queries=20,
    rendering_rounds=3,
)

QUICK: Final = Plan(
    name="quick",
    rounds=3,
    share=0.06,
    small_bytes=12 * MEGABYTE,
    large_bytes=None,
    larger_bytes=None,
    html_bytes=15 * MEGABYTE,
    warc_bytes=30 * MEGABYTE,
    growth=(2_000, 6_000, 20_000),
    shape_pages=4_000,
    one_word_pages=20_000,
    huge_bytes=40 * MEGABYTE,
    fingerprints=200_000,
    index_pages=8_192,
    peers=PEERS,
    slow_peers=False,
    start_up_rounds=7,
    links=2_000_000,
    rendered_queries=2,
    rendering_rounds=1,
)
