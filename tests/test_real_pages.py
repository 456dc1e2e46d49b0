"""What the command says of real pages, against definitions that share no code with it.

Terms are those of a real parser's tree and the rules written out (``naive_terms``), shingles are tuples, cosines are of
counters, sites are by the paper's rule for hosts. What is computed exactly by definition must be equal. What is
estimated from random hashes must come as often as exact similarities let one expect, over all documents together: pages
of one document are like each other in the same places, so it is documents, not pairs, whose deviations are compared.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest
import zstandard

from brute_force import shingles
from neardup.methods.planner import binomial_tail
from test_html_against_parser import terms_by_lexbor

DATA = os.environ.get("NEARDUP_DATA")
PAGES = Path(DATA, "ota_contrib_html", "docs.jsonl.zst") if DATA else None
#: Documents, and fetches of each: some near-duplicates of nearly every page, and many pages of one site.
DOCUMENTS, FETCHES = 150, 3
#: Longer pages take the slow parser too long.
LONGEST = 150_000

#: A parser that runs no scripts takes what a head has for those without them for the beginning of the body.
IN_HEAD = re.compile(r"<noscript[^>]*>\s*<(img|iframe)(?=.*</head>)", re.IGNORECASE | re.DOTALL)

pytestmark = pytest.mark.skipif(
    PAGES is None or not PAGES.exists(), reason="NEARDUP_DATA does not name a folder with ota_contrib_html"
)
Pair = tuple[int, int]


def some_pages() -> Iterator[dict[str, Any]]:
    assert PAGES is not None
    of_document: Counter[str] = Counter()
    with PAGES.open("rb") as file:
        stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file)
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            page = json.loads(line)
            if len(page["html"]) > LONGEST or of_document[page["doc"]] == FETCHES or IN_HEAD.search(page["html"]):
                continue
            if len(of_document) == DOCUMENTS and page["doc"] not in of_document:
                return
            of_document[page["doc"]] += 1
            yield {name: page[name] for name in ("id", "url", "html", "doc")}


@dataclass(frozen=True)
class Real:
    """The pages, what runs of the command say of them, and what is true of them."""

    folder: Path
    pages: list[dict[str, Any]]

    def run(self, detector: str) -> Path:
        """The result folder of a run, made once."""
        out = self.folder / "".join(letter if letter.isalnum() else "-" for letter in detector)
        if not out.exists():
            command = ["dedup", str(self.folder / "pages.jsonl"), "--out", str(out), "--detector", detector]
            options = ["--site-rule", "henzinger", "--quiet"]
            subprocess.run([sys.executable, "-m", "neardup", *command, *options], check=True)
        return out

    def table(self, detector: str, name: str = "pairs") -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = pq.read_table(self.run(detector) / f"{name}.parquet").to_pylist()
        return rows

    def pairs(self, detector: str) -> set[Pair]:
        """The accepted pairs of identity sets, by their first pages."""
        return {(row["row_a"], row["row_b"]) for row in self.table(detector)}

    @cached_property
    def terms(self) -> list[tuple[str, ...]]:
        return [tuple(terms_by_lexbor(page["html"], page["url"])) for page in self.pages]

    @cached_property
    def identity(self) -> list[int]:
        first: dict[tuple[str, ...], int] = {}
        return [first.setdefault(terms, row) if terms else row for row, terms in enumerate(self.terms)]

    @cached_property
    def compared(self) -> list[Pair]:
        """All pairs of different pages that are long enough."""
        rows = [row for row, first in enumerate(self.identity) if row == first and len(self.terms[row]) >= 8]
        return list(combinations(rows, 2))

    def jaccard(self, k: int) -> dict[Pair, float]:
        sets = [shingles(terms, k) for terms in self.terms]  # type: ignore[arg-type]
        shared = {(a, b): len(sets[a] & sets[b]) for a, b in self.compared}
        return {(a, b): both / (len(sets[a]) + len(sets[b]) - both) for (a, b), both in shared.items()}

    def cosine(self) -> dict[Pair, float]:
        counts = [Counter(terms) for terms in self.terms]
        length = [math.sqrt(sum(count * count for count in one.values())) for one in counts]

        def product(a: int, b: int) -> int:
            return sum(count * counts[b][term] for term, count in counts[a].items())

        return {(a, b): min(1.0, product(a, b) / (length[a] * length[b])) for a, b in self.compared}

    def same_site(self, a: int, b: int) -> bool:
        return site(self.pages[a]["url"]) == site(self.pages[b]["url"])


def site(url: str) -> str:
    """The paper's rule: the host if it has at most one dot, else without what stands before the first one."""
    host = urlsplit(url).hostname or ""
    return host if host.count(".") <= 1 else host.split(".", 1)[1]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Real:
    folder = tmp_path_factory.mktemp("real")
    pages = list(some_pages())
    (folder / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    return Real(folder, pages)


def test_identical_pages_have_the_same_terms(real: Real) -> None:
    pages = real.table("exact", "pages")
    assert [page["tokens"] for page in pages] == [len(terms) for terms in real.terms]
    assert [page["site"] for page in pages] == [site(page["url"]) for page in real.pages]
    row = {page["id"]: page["row"] for page in pages}
    assert [row[page["identity"]] for page in pages] == real.identity
    assert len(real.identity) - len(set(real.identity)) > 20
    assert real.pairs("exact") == set()


def test_minhash_pairs_have_the_similarity_it_names(real: Real) -> None:
    true = {pair: value for pair, value in real.jaccard(5).items() if value >= 0.8}
    accepted = {(row["row_a"], row["row_b"]): row["jaccard"] for row in real.table("minhash")}
    assert len(true) > 60
    assert accepted == {pair: pytest.approx(true[pair], abs=1e-12) for pair in accepted}
    # Promised is a recall of 99 % for each at the threshold, and more above it.
    assert len(true) - len(accepted) <= 0.01 * len(true) + 4 * math.sqrt(0.01 * len(true))


def test_algorithm_b_accepts_as_often_as_shingles_let_one_expect(real: Real) -> None:
    chance = {pair: binomial(6, value**14, 2) for pair, value in real.jaccard(8).items()}
    accepted = real.pairs("broder")
    assert not accepted - {pair for pair, value in chance.items() if value > 1e-9}
    assert accepted >= {pair for pair, value in chance.items() if value == 1}
    assert abs(deviation(real, accepted, chance)) < 4


def test_algorithm_c_accepts_as_often_as_terms_let_one_expect(real: Real) -> None:
    # A sketch of the single terms confirms: far above its threshold it does not count.
    single = real.jaccard(1)
    sure = {pair: value for pair, value in real.cosine().items() if single[pair] >= 0.75}
    chance = {pair: binomial_tail(384, 1 - math.acos(value) / math.pi, 372) for pair, value in sure.items()}
    # All that agree in 372 bits are found, but for some that agree in just 372 (pieces=13 misses none).
    accepted = real.pairs("charikar(pieces=13)")
    assert real.pairs("charikar") <= accepted
    assert abs(deviation(real, {pair for pair in accepted if pair in sure}, chance)) < 4
    assert {pair for pair in accepted if single[pair] < 0.25} == set()


def test_combined_is_what_both_accept(real: Real) -> None:
    similarity = {(row["row_a"], row["row_b"]): row["c_similarity"] for row in real.table("combined(t=0)")}
    assert similarity.keys() == real.pairs("broder")
    assert real.pairs("combined") == {pair for pair, bits in similarity.items() if bits >= 355}


def test_site_aware_asks_alg_c_between_sites_and_combined_within(real: Real) -> None:
    """Page by page, each on its own site; the accepted pairs of the two are those of all copies."""
    copies = defaultdict(list)
    for row, first in enumerate(real.identity):
        copies[first].append(row)

    def of_pages(detector: str) -> set[Pair]:
        ends = ((a, b) for first, second in real.pairs(detector) for a in copies[first] for b in copies[second])
        return {(min(pair), max(pair)) for pair in ends}

    expected = {pair for pair in of_pages("combined") if real.same_site(*pair)}
    expected |= {pair for pair in of_pages("charikar") if not real.same_site(*pair)}
    units: dict[tuple[int, str], list[int]] = defaultdict(list)
    for row, first in enumerate(real.identity):
        units[first, site(real.pages[row]["url"])].append(row)
    of_unit = {rows[0]: rows for rows in units.values()}
    accepted = {
        (min(a, b), max(a, b)) for one, other in real.pairs("site-aware") for a in of_unit[one] for b in of_unit[other]
    }
    assert accepted == expected
    assert len(accepted) > 60


def binomial(n: int, chance: float, least: int) -> float:
    """P(at least so many of n)."""
    return sum(math.comb(n, at) * chance**at * (1 - chance) ** (n - at) for at in range(least, n + 1))


def deviation(real: Real, accepted: set[Pair], chance: dict[Pair, float]) -> float:
    """How far the accepted pairs are from what is expected, in standard deviations; pairs by their first document."""
    of_document: dict[str, float] = defaultdict(float)
    for pair, value in chance.items():
        of_document[real.pages[pair[0]]["doc"]] += (pair in accepted) - value
    squares = sum(value * value for value in of_document.values())
    assert sum(1 for value in of_document.values() if abs(value) > 1e-3) > 10, "nothing is left to chance"
    return sum(of_document.values()) / math.sqrt(squares)
