"""Alg. B by every combination of token hash and shingle hash accepts what exact Jaccard similarity lets one expect.

Exact similarity is counted in plain Python, on tuples of terms. Words of one letter are among the texts: their tokens
are short numbers under Rabin's fingerprints, and a min-value that takes a part of a shingle must not see it. The bound
is 4σ: a right implementation fails a comparison with probability 6·10⁻⁵.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
import zstandard

import neardup
from neardup import Reading, Settings
from neardup.methods.planner import supershingle_probability
from neardup.methods.shingles import Bands, Supershingles
from neardup.sources.memory import texts
from neardup.testing.dice import Dice
from neardup.testing.language import Writer
from neardup.testing.layout import LANGUAGES
from neardup.text import read

Hash = Literal["fold", "rabin"]
HASHES: tuple[Hash, ...] = ("fold", "rabin")
COMBINATIONS = list(itertools.product(HASHES, [False, True]))
K = 8
Pair = tuple[str, str]


def words_of(kind: str, seed: int) -> list[str]:
    draw = random.Random(f"{kind} {seed}")
    if kind == "prose":
        return Writer(LANGUAGES["en"], Dice(seed)).paragraph(40).split()
    if kind == "numbers":
        return [str(draw.randrange(1000)) for _ in range(400)]
    letters = {"letters": "abcdefghijklmnopqrstuvwxyz", "four letters": "acgt"}[kind]
    return [draw.choice(letters) for _ in range(400)]


def edited(words: list[str], share: float, draw: random.Random) -> list[str]:
    """With another word of the same text in some places."""
    return [draw.choice(words) if draw.random() < share else word for word in words]


def pairs_of(kind: str) -> list[Pair]:
    """Pairs of texts, each of its own words, from hardly alike to nearly the same."""
    made = []
    for seed in range(500):
        words = words_of(kind, seed)
        other = edited(words, 0.05 * (seed % 100) / 100, random.Random(seed))
        made.append((" ".join(words), " ".join(other)))
    return made


def real_pairs() -> list[Pair]:
    """The first and the last revision of 500 documents."""
    ends: dict[str, list[str]] = {}
    with Path(os.environ["NEARDUP_DATA"], "rev_peps", "versions.jsonl.zst").open("rb") as file:
        stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file)
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            version = json.loads(line)
            ends.setdefault(version["doc"], []).append(version["text"])
    return [(versions[0], versions[-1]) for versions in ends.values()][:500]


def jaccard(a: list[str], b: list[str]) -> float:
    sets = [{tuple(terms[at : at + K]) for at in range(max(1, len(terms) - K + 1))} for terms in (a, b)]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def sources() -> Iterator[Any]:
    for kind in ("prose", "numbers", "letters", "four letters"):
        yield pytest.param(lambda kind=kind: pairs_of(kind), id=kind)
    missing = "NEARDUP_DATA" not in os.environ
    reason = "NEARDUP_DATA does not name a folder with rev_peps"
    yield pytest.param(real_pairs, id="revisions", marks=pytest.mark.skipif(missing, reason=reason))


@pytest.fixture(scope="module", params=sources())
def pairs(request: pytest.FixtureRequest) -> tuple[list[Pair], list[float]]:
    """Pairs with their exact similarity."""
    made: list[Pair] = request.param()
    return made, [jaccard(*(neardup.terms(text, html=False).terms for text in pair)) for pair in made]


def batch(side: list[str]) -> pa.RecordBatch:
    chunks = [chunk.load().pages for chunk in texts(side).chunks()]
    return pa.Table.from_batches(chunks).combine_chunks().to_batches()[0]


def assert_unbiased(equal: npt.NDArray[np.bool_], exact: list[float]) -> None:
    """Min-values agree as often as exact similarity says, among all pairs, the like and the unlike."""
    for low, high in [(0.0, 1.0), (0.0, 0.7), (0.7, 0.95)]:
        rows = [row for row, similarity in enumerate(exact) if low <= similarity < high]
        deviation = math.sqrt(sum(exact[row] * (1 - exact[row]) / equal.shape[1] for row in rows))
        difference = float(equal[rows].mean(axis=1).sum()) - sum(exact[row] for row in rows)
        assert abs(difference) <= 4 * deviation, (low, high, difference, deviation)


@pytest.mark.parametrize(("hash", "rabin"), COMBINATIONS)
def test_accepted_pairs_are_as_many_as_exact_similarity_says(
    pairs: tuple[list[Pair], list[float]], hash: Hash, rabin: bool
) -> None:
    made, exact = pairs
    one, other = (read(batch([pair[side] for pair in made]), Reading(hash=hash)).tokens for side in (0, 1))
    minima = [Bands(K, bands=84, rows=1, rabin=rabin).compute(tokens) for tokens in (one, other)]
    equal = minima[0] == minima[1]
    assert_unbiased(equal, exact)
    # What Alg. B accepts is as many as its curve says.
    kind = Supershingles(k=K, m=84, groups=6, rabin=rabin)
    accepted = int(((kind.compute(one) == kind.compute(other)).sum(axis=1) >= 2).sum())
    expected = [supershingle_probability(similarity) for similarity in exact]
    deviation = math.sqrt(sum(p * (1 - p) for p in expected))
    assert abs(accepted - sum(expected)) <= 4 * deviation + 1e-9, (accepted, sum(expected), deviation)


def sparse_fingerprints(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Rabin's fingerprint of each row of 64-bit words by x^64 + x^4 + x^3 + x + 1, bit by bit."""
    state, top = np.ones(len(words), np.uint64), np.uint64(63)
    for column in words.T:
        for bit in reversed(range(64)):
            reduced = np.where(state >> top, np.uint64(0b11011), np.uint64(0))
            state = (state << np.uint64(1) | (column >> np.uint64(bit) & np.uint64(1))) ^ reduced
    return state


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    for shift, factor in [(30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)]:
        values = (values ^ values >> np.uint64(shift)) * np.uint64(factor)
    return values


def test_the_bound_sees_half_of_a_fingerprint_that_is_not_mixed() -> None:
    """Min-values of the upper half of fingerprints by the sparse modulus: what the bound is there to see."""
    made = pairs_of("letters")[:150]
    exact = [jaccard(*(text.split() for text in pair)) for pair in made]
    # Of one letter a fingerprint is the letter behind a leading 1.
    tokens = np.array([[0x100 | ord(word) for word in text.split()] for pair in made for text in pair], np.uint64)
    windows = np.lib.stride_tricks.sliding_window_view(tokens, K, axis=1)
    shingles = sparse_fingerprints(windows.reshape(-1, K)).reshape(windows.shape[:2])
    factors, terms = np.random.default_rng(1).integers(1 << 63, size=(2, 84), dtype=np.uint64)

    def equal(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        halves = values >> np.uint64(32)
        pairs = zip(factors | np.uint64(1), terms, strict=True)
        minima = np.stack([(factor * halves + term >> np.uint64(32)).min(axis=1) for factor, term in pairs], axis=1)
        found: npt.NDArray[np.bool_] = minima[0::2] == minima[1::2]
        return found

    assert_unbiased(equal(mixed(shingles)), exact)
    with pytest.raises(AssertionError):
        assert_unbiased(equal(shingles), exact)


@pytest.mark.parametrize(("hash", "rabin"), COMBINATIONS)
def test_texts_of_letters_that_share_no_shingle_share_no_supershingle(hash: Hash, rabin: bool) -> None:
    draw = random.Random(5)
    pages = [" ".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(400)) for _ in range(60)]
    tokens = read(batch(pages), Reading(hash=hash)).tokens
    supershingles = Supershingles(rabin=rabin).compute(tokens)
    for a, b in itertools.combinations(range(len(pages)), 2):
        assert int((supershingles[a] == supershingles[b]).sum()) == 0


@pytest.mark.parametrize("hash", HASHES)
def test_detectors_made_of_algorithm_b_take_rabin_too(hash: Hash) -> None:
    made = pairs_of("letters")
    pages = [{"text": text, "url": f"http://a.example/{row}"} for row, text in enumerate(itertools.chain(*made[:100]))]
    settings = Settings(reading=Reading(hash=hash))
    found = {}
    for detector in ("broder", "combined", "site-aware"):
        for spec in (detector, f"{detector}(rabin=true)"):
            result = neardup.find_duplicates(pages, detector=spec, settings=settings)
            assert result.report["detector"] == spec.replace("true", "True")
            found[spec] = set(zip(*(result.pairs[side].to_pylist() for side in ("row_a", "row_b")), strict=True))
    for detector in ("combined", "site-aware"):
        # Other pairs by other hashes, and on one site both are the combined algorithm.
        assert found[f"{detector}(rabin=true)"] <= found["broder(rabin=true)"]
        assert found[f"{detector}(rabin=true)"] != found[detector]
    assert found["site-aware(rabin=true)"] == found["combined(rabin=true)"]
