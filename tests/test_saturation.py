"""Texts of few words run out of shingles: unrelated ones must not be joined because their sets are full."""

from __future__ import annotations

import random
from functools import cache

import pyarrow as pa
import pytest

from neardup import find_duplicates
from neardup.methods import detectors
from neardup.methods.shingles import ShingleSet

WORDS = {2: ("yes", "no"), 4: ("a", "c", "g", "t"), 20: tuple(f"word{number}" for number in range(20))}
LENGTHS = (50, 70, 100, 150, 250, 400, 700, 1100, 2000, 4000, 10_000, 20_000)
#: Detectors that look at single terms, how often they occur or which they are, and at no stretch of text.
OF_TERMS = {
    "charikar", "fuzzy-fingerprinting", "hyperplane-lsh", "i-match", "p-stable-lsh", "randomised-i-match", "site-aware",
    "weighted-minhash",
}  # fmt: skip
#: With the defaults five chunks in a hundred are enough, which unrelated texts of few words have long before their sets
#: are full.
ASKED = {"random-chunks": "random-chunks(kappa=50)"}


def text(words: int, length: int, seed: int) -> list[str]:
    return random.Random(f"{words} {length} {seed}").choices(WORDS[words], k=length)


@cache
def unrelated() -> list[str]:
    """Of each number of words and each length several, so that lengths meet all others."""
    return [" ".join(text(words, length, seed)) for words in WORDS for length in LENGTHS for seed in range(4)]


def changed(terms: list[str], seed: int) -> list[str]:
    place = random.Random(seed).randrange(len(terms))
    return [*terms[:place], "else", *terms[place + 1 :]]


@pytest.mark.parametrize("name", [name for name in detectors() if name not in OF_TERMS])
def test_unrelated_texts_of_few_words_are_never_joined(name: str) -> None:
    found = find_duplicates(unrelated(), detector=ASKED.get(name, name))
    pairs = found.pairs.to_pylist()
    assert not pairs, [(pair["a"], pair["b"], pair["score"]) for pair in pairs[:5]]


@pytest.mark.parametrize("words", WORDS)
def test_a_copy_with_one_word_changed_is_joined(words: int) -> None:
    """From 300 words on in any text, 49 in natural text."""
    for length in (300, 450, 640, 900, 1300, 3000, 10_000):
        texts = [text(words, length, seed) for seed in range(10, 20)]
        copies = [changed(terms, seed) for seed, terms in enumerate(texts)]
        found = find_duplicates([" ".join(terms) for terms in (*texts, *copies)], detector="minhash")
        pairs = set(zip(found.pairs["row_a"].to_pylist(), found.pairs["row_b"].to_pylist(), strict=True))
        assert pairs == {(place, place + 10) for place in range(10)}, (words, length)


def table(cells: list[str]) -> str:
    rows = (" ".join(f"<td>{cell}</td>" for cell in cells[at : at + 6]) for at in range(0, len(cells), 6))
    return f"<title>Features of all models</title><table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


@pytest.mark.parametrize("detector", ["template-aware", "template-aware(site=False)", "minhash", "broder"])
def test_tables_of_few_words_are_told_apart(detector: str) -> None:
    """Where each cell is a block of its own, too."""
    models = [text(2, 900, seed) for seed in range(20, 24)]
    pages = [
        {"html": table(cells), "url": f"http://a.example/{at}"}
        for at, cells in enumerate([*models, changed(models[0], 5)])
    ]
    found = find_duplicates(pages, detector=detector).pairs
    assert [(pair["row_a"], pair["row_b"]) for pair in found.to_pylist()] == [(0, 4)]


def test_what_is_not_saturated_is_a_set_as_before() -> None:
    """A tenth of the shingles repeat, in other contexts."""
    tokens = list(range(100, 1000)) + [token for start in range(100, 200, 5) for token in range(start, start + 5)]
    table = pa.array([tokens], pa.large_list(pa.uint64()))
    plain = {tuple(tokens[at : at + 5]) for at in range(len(tokens) - 4)}
    assert len(ShingleSet(5).compute(table)[0]) == len(plain)


def test_a_text_and_the_same_text_twice_are_near_duplicates() -> None:
    terms = [f"word{number}" for number in range(500)]
    found = find_duplicates([" ".join(terms), " ".join(terms + terms)], detector="minhash")
    assert found.pairs["score"].to_pylist()[0] > 0.9


def test_spex_counts_what_pages_are_compared_by() -> None:
    """A chunk that is told apart on two pages stands on two pages."""
    terms = text(2, 2000, 1)
    other = text(2, 2000, 2)
    found = find_duplicates([" ".join(page) for page in (terms, changed(terms, 3), other)], detector="spex")
    assert [(pair["row_a"], pair["row_b"]) for pair in found.pairs.to_pylist()] == [(0, 1)]
