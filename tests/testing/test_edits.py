"""Texts of known similarity: the similarity that is stated is the one that the texts have."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from neardup.errors import UsageError
from neardup.testing.dice import Dice
from neardup.testing.edits import (
    made_up_words,
    pair_of_jaccard,
    planted_clusters,
    replace_tokens,
    shingle_jaccard,
    zipf_sizes,
)


@pytest.mark.parametrize("k", [1, 2, 8])
@pytest.mark.parametrize("jaccard", [0.0, 0.001, 0.1, 0.5, 0.8, 0.95, 0.999, 1.0])
@pytest.mark.parametrize("union", [2, 3, 101, 1000])
def test_pair_has_the_similarity_it_states(jaccard: float, k: int, union: int) -> None:
    pair = pair_of_jaccard(jaccard, k=k, union=union, seed=k)
    assert shingle_jaccard(pair.a, pair.b, k) == pair.jaccard
    assert abs(pair.jaccard - Fraction(jaccard)) <= Fraction(1, 2 * union) + Fraction(1, 10**12)


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("edits", [0, 1, 2, 7, 12])
def test_replaced_tokens_change_k_shingles_each(k: int, edits: int) -> None:
    for seed, tokens in enumerate((k * (edits + 1) - 1 + (not edits), 107, 400)):
        text = made_up_words(tokens, Dice(seed))
        pair = replace_tokens(text, edits, k=k, seed=seed)
        assert shingle_jaccard(pair.a, pair.b, k) == pair.jaccard
        assert sum(one != other for one, other in zip(pair.a, pair.b, strict=True)) == edits


def test_edits_reach_every_place_that_they_may() -> None:
    text = made_up_words(24, Dice(1))
    places = Counter(
        place
        for seed in range(400)
        for place, (one, other) in enumerate(zip(*_texts(text, seed), strict=True))
        if one != other
    )
    # With k = 8 and 17 shingles, places 7 to 16 lie in eight shingles each.
    assert sorted(places) == list(range(7, 17))


def _texts(text: list[str], seed: int) -> tuple[list[str], list[str]]:
    pair = replace_tokens(text, 1, k=8, seed=seed)
    return pair.a, pair.b


def test_clusters_are_as_planted() -> None:
    collection = planted_clusters(120, clusters=15, edits=2, k=4, shingles=60, seed=9)
    sizes = Counter(collection.clusters)
    assert sorted(sizes.values(), reverse=True) == zipf_sizes(120, 15)
    centres = {
        cluster: text
        for text, cluster, similarity in zip(collection.texts, collection.clusters, collection.to_centre, strict=True)
        if similarity == 1
    }
    assert len(centres) == 15
    for text, cluster, similarity in zip(collection.texts, collection.clusters, collection.to_centre, strict=True):
        assert shingle_jaccard(text, centres[cluster], 4) == similarity
    tokens = [
        {
            token
            for text, own in zip(collection.texts, collection.clusters, strict=True)
            if own == cluster
            for token in text
        }
        for cluster in range(15)
    ]
    assert len(set.union(*tokens)) == sum(len(own) for own in tokens)
    assert planted_clusters(30, clusters=5, seed=1) == planted_clusters(30, clusters=5, seed=1)


def test_what_cannot_be_made_is_said() -> None:
    with pytest.raises(UsageError, match="do not fit"):
        replace_tokens(made_up_words(20, Dice(1)), 3, k=8)
    with pytest.raises(UsageError, match="occurs twice"):
        replace_tokens(["a", "a"], 1, k=1)
    with pytest.raises(UsageError, match="from 0 to 1"):
        pair_of_jaccard(1.5)
    with pytest.raises(UsageError, match="clusters"):
        planted_clusters(5, clusters=6)
