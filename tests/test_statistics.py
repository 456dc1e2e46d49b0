"""The methods keep the promises of their formulas: acceptance curves, unbiased estimates, independent functions.

Every test has fixed seeds and a stated bound. Where the bound is 4σ a right implementation fails it with probability
6·10⁻⁵ (per comparison, for the choice of the seeds); all the comparisons in this file together, about 1 %. A seed that
passes passes for ever, and a failure after a change of the hash functions is to be looked into, not re-seeded.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from brute_force import read_all, token_lists
from neardup.methods.minima import Minima
from neardup.methods.planner import band_probability, supershingle_probability
from neardup.methods.projections import Projection
from neardup.methods.shingles import Broder, MinHash
from neardup.testing.edits import pair_of_jaccard

SIMILARITIES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
Tokens = npt.NDArray[np.uint64]


def within(observed: float, expected: float, deviation: float, sigmas: float = 4.0) -> bool:
    return abs(observed - expected) <= sigmas * deviation


def pairs_of_tokens(jaccard: float, pairs: int, *, union: int, seed: int) -> tuple[Tokens, Tokens]:
    """Pairs of sets of random tokens with exactly this Jaccard similarity and as many tokens each."""
    shared = round(jaccard * union)
    own = (union - shared) // 2
    assert shared / (shared + 2 * own) == pytest.approx(jaccard, abs=1e-12)
    random = np.random.default_rng(seed)
    tokens = random.integers(0, 2**64, (pairs, shared + 2 * own), np.uint64)
    return tokens[:, : shared + own], np.hstack([tokens[:, :shared], tokens[:, shared + own :]])


def equal_minima(jaccard: float, pairs: int, *, count: int, union: int, seed: int) -> npt.NDArray[np.bool_]:
    """For each pair and each function whether the two sets have the same min-value."""
    one, other = pairs_of_tokens(jaccard, pairs, union=union, seed=seed)
    minima = [Minima(1, count).compute(token_lists(side)) for side in (one, other)]
    return np.asarray(minima[0] == minima[1])


# Acceptance curves, from texts through the whole path to keys.


@pytest.fixture(scope="module", params=SIMILARITIES)
def texts(request: pytest.FixtureRequest) -> tuple[float, npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """A similarity, and the min-values of the two sides of 2,000 pairs of texts that have it (k = 8)."""
    made = [pair_of_jaccard(request.param, k=8, union=100, seed=f"s{n}") for n in range(2000)]
    assert all(float(pair.jaccard) == request.param for pair in made)
    sides = [[" ".join(pair.a) for pair in made], [" ".join(pair.b) for pair in made]]
    one, other = (Minima(8, 96).compute(read_all(side).tokens) for side in sides)
    return request.param, one, other


def test_algorithm_b_accepts_as_often_as_its_formula_says(
    texts: tuple[float, npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
) -> None:
    jaccard, one, other = texts
    equal = one[:, :84] == other[:, :84]
    accepted = (equal.reshape(-1, 6, 14).all(axis=2).sum(axis=1) >= 2).mean()
    expected = supershingle_probability(jaccard)
    assert within(accepted, expected, math.sqrt(expected * (1 - expected) / len(one)))


@pytest.mark.parametrize(("bands", "rows"), [(16, 6), (12, 8), (24, 4), (96, 1)])
def test_bands_meet_as_often_as_the_s_curve_says(
    texts: tuple[float, npt.NDArray[np.uint64], npt.NDArray[np.uint64]], bands: int, rows: int
) -> None:
    jaccard, one, other = texts
    met = (one == other).reshape(-1, bands, rows).all(axis=2).any(axis=1).mean()
    expected = band_probability(jaccard, bands, rows)
    # Near 1 the count of misses is Poisson: one more miss than 4σ is allowed for its skew.
    assert within(met, expected, math.sqrt(expected * (1 - expected) / len(one))) or (
        abs(met - expected) * len(one) <= 1
    )


@pytest.mark.parametrize("jaccard", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("rabin", [False, True])
def test_detectors_keys_follow_the_formulas(jaccard: float, rabin: bool) -> None:
    # The same through the keys that are really indexed, with either kind of shingle.
    sides = pairs_of_tokens(jaccard, 3000, union=400, seed=11)
    lists = [token_lists(side) for side in sides]
    broder = Broder(k=1, rabin=rabin).rules()[0].keys
    one, other = (broder.of(broder.fingerprint.compute(side)) for side in lists)
    accepted = (one == other).any(axis=1).mean()
    expected = supershingle_probability(jaccard)
    assert within(accepted, expected, math.sqrt(expected * (1 - expected) / 3000))

    detector = MinHash(k=1, bands=10, rows=9, rabin=rabin)
    bands = detector.rules()[0].keys
    one, other = (bands.of(bands.fingerprint.compute(side)) for side in lists)
    expected = band_probability(jaccard, 10, 9)
    assert within((one == other).any(axis=1).mean(), expected, math.sqrt(expected * (1 - expected) / 3000))


# The estimate of 84 min-values.


@pytest.mark.parametrize("jaccard", [*SIMILARITIES, 0.1, 0.02])
@pytest.mark.parametrize("union", [200, 1000])
def test_the_estimate_is_unbiased_and_as_spread_as_independent_functions(jaccard: float, union: int) -> None:
    pairs = 2000
    estimates = equal_minima(jaccard, pairs, count=84, union=union, seed=union).mean(axis=1)
    variance = jaccard * (1 - jaccard) / 84
    assert within(float(estimates.mean()), jaccard, math.sqrt(variance / pairs))
    # The variance of a sample variance, from the fourth moment of a binomial share.
    excess = (1 - 6 * jaccard * (1 - jaccard)) / (84 * jaccard * (1 - jaccard))
    spread = variance * math.sqrt((2 * pairs / (pairs - 1) + excess) / pairs)
    assert within(float(estimates.var(ddof=1)), variance, spread)


def test_every_single_function_is_unbiased() -> None:
    equal = equal_minima(0.5, 4000, count=256, union=100, seed=21)
    # 256 functions, each within 5σ: a right family fails with probability 1.5·10⁻⁴.
    assert np.abs(equal.mean(axis=0) - 0.5).max() <= 5 * math.sqrt(0.25 / 4000)


@pytest.mark.parametrize("jaccard", [0.5, 0.9])
def test_functions_are_hardly_correlated(jaccard: float) -> None:
    pairs, count = 4000, 84
    equal = equal_minima(jaccard, pairs, count=count, union=200, seed=31)
    correlation = np.asarray(np.corrcoef(equal.T.astype(np.float64)))
    apart = correlation[np.triu_indices(count, 1)]
    # 3,486 correlations of deviation 1/√4000: the largest of a right family beyond 5.5σ has probability 1.3·10⁻⁴.
    assert np.abs(apart).max() <= 5.5 / math.sqrt(pairs)
    # Together: the mean square is 1/pairs, give or take √(2 / 3486) of it.
    assert within(float((apart**2).mean() * pairs), 1, math.sqrt(2 / len(apart)))


@pytest.mark.parametrize("jaccard", [0.3, 0.8, 0.95])
def test_the_lectures_algorithm_1_says_the_same(jaccard: float) -> None:
    """Algorithm 1 draws elements of the union and counts those in both: what a min-value does, without a sketch."""
    pairs, draws, union = 3000, 100, 200
    estimates = equal_minima(jaccard, pairs, count=draws, union=union, seed=41).mean(axis=1)
    one, other = pairs_of_tokens(jaccard, pairs, union=union, seed=42)
    random = np.random.default_rng(43)
    drawn = []
    for a, b in zip(one, other, strict=True):
        together, both = np.union1d(a, b), np.intersect1d(a, b)
        drawn.append(np.isin(random.choice(together, draws), both).mean())
    oracle = np.array(drawn)
    deviation = math.sqrt(2 * jaccard * (1 - jaccard) / draws / pairs)
    assert within(float(estimates.mean()), float(oracle.mean()), deviation)
    # The same distribution, not only the same mean: Kolmogorov and Smirnov's distance, 6·10⁻⁵ for a right family
    # (2·exp(−2·d²·n/2) with n pairs on either side; less for these discrete values).
    grid = np.arange(draws + 1) / draws + 1e-9
    distance = max(abs((estimates <= value).mean() - (oracle <= value).mean()) for value in grid)
    assert distance <= math.sqrt(math.log(2 / 6e-5) / pairs)


# Alg. C.


def agreement(one: Tokens, other: Tokens, bits: int = 384) -> npt.NDArray[np.float64]:
    sketches = [Projection(bits).compute(token_lists(side)) for side in (one, other)]
    differing = np.bitwise_count(sketches[0] ^ sketches[1]).sum(axis=1, dtype=np.int64)
    return np.asarray(1 - differing / bits)


def exact_agreement(shared: int, own: int) -> float:
    """P(a bit agrees) where each page has ``shared`` tokens in common with the other and ``own`` of its own."""

    def signs(count: int) -> npt.NDArray[np.float64]:
        """P(sum of so many random signs = −count, −count + 2, …)."""
        logs = [math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in range(count + 1)]
        return np.exp(np.array(logs) - count * math.log(2))

    common = 2 * np.arange(shared + 1) - shared
    own_sums, own_chance = 2 * np.arange(own + 1) - own, signs(own)
    positive = np.array([own_chance[value + own_sums > 0].sum() for value in common])
    return float((signs(shared) * (positive**2 + (1 - positive) ** 2)).sum())


@pytest.mark.parametrize("own", [2, 8, 20, 81, 200, 401])
def test_agreement_follows_the_angle(own: int) -> None:
    # 401 tokens, all different, so the cosine is the share in common; an odd number, so no sum is 0.
    length, pairs = 401, 800
    random = np.random.default_rng(own)
    tokens = random.integers(0, 2**64, (pairs, length + own), np.uint64)
    agreed = agreement(tokens[:, :length], tokens[:, own:])
    angle = 1 - math.acos((length - own) / length) / math.pi
    exact = exact_agreement(length - own, own)
    deviation = math.sqrt(exact * (1 - exact) / (384 * pairs))
    assert within(float(agreed.mean()), exact, deviation)
    # The angle is the limit of long pages; at 401 tokens it is off by less than 0.002, allowed for here.
    assert exact == pytest.approx(angle, abs=0.002)
    assert within(float(agreed.mean()), angle, deviation + 0.0005)
    # Bits are independent of each other: the number that agree is as spread as a binomial.
    assert float(agreed.var(ddof=1)) == pytest.approx(exact * (1 - exact) / 384, rel=4 * math.sqrt(2 / pairs) + 0.02)


def test_agreement_counts_frequency() -> None:
    # Each page has 201 tokens once and 100 tokens three times: the angle of the frequency vectors, not of the sets.
    pairs = 800
    random = np.random.default_rng(77)
    tokens = random.integers(0, 2**64, (pairs, 201 + 100 + 201), np.uint64)
    often = np.repeat(tokens[:, 201:301], 3, axis=1)
    one, other = np.hstack([tokens[:, :201], often]), np.hstack([often, tokens[:, 301:]])
    cosine = 100 * 9 / (100 * 9 + 201)
    agreed = agreement(one, other)
    expected = 1 - math.acos(cosine) / math.pi
    deviation = math.sqrt(expected * (1 - expected) / (384 * pairs))
    assert within(float(agreed.mean()), expected, deviation + 0.0005)
    assert one.shape[1] % 2 == 1


def test_order_does_not_matter_to_a_projection() -> None:
    random = np.random.default_rng(78)
    tokens = random.integers(0, 2**64, (20, 501), np.uint64)
    shuffled = random.permuted(tokens, axis=1)
    assert (agreement(tokens, shuffled) == 1).all()


def test_ties_bias_short_pages_of_even_length() -> None:
    # Why the tests above take odd counts: a sum of 0 gives bit 0, and two tokens tie half the time.
    tokens = np.random.default_rng(79).integers(0, 2**64, (2000, 2), np.uint64)
    ones = np.bitwise_count(Projection(384).compute(token_lists(tokens))).sum() / (2000 * 384)
    assert within(float(ones), 0.25, math.sqrt(0.25 * 0.75 / (2000 * 384)))


@pytest.mark.parametrize("length", [1, 3, 401])
def test_bits_are_balanced_and_independent(length: int) -> None:
    pages = 4000
    tokens = np.random.default_rng(length).integers(0, 2**64, (pages, length), np.uint64)
    sketches = Projection(384).compute(token_lists(tokens))
    bits = np.unpackbits(sketches.view(np.uint8), axis=1).astype(np.float64)
    # 384 bits within 5σ each: a right family fails with probability 2·10⁻⁴.
    assert np.abs(bits.mean(axis=0) - 0.5).max() <= 5 * math.sqrt(0.25 / pages)
    apart = np.asarray(np.corrcoef(bits.T))[np.triu_indices(384, 1)]
    # 73,536 correlations: one beyond 6σ has probability 1.5·10⁻⁴.
    assert np.abs(apart).max() <= 6 / math.sqrt(pages)
    assert within(float((apart**2).mean() * pages), 1, math.sqrt(2 / len(apart)))
    # The ones of a page: binomial again.
    assert bits.sum(axis=1).var(ddof=1) == pytest.approx(96, rel=4 * math.sqrt(2 / pages))


def test_tokens_of_real_words_are_balanced_too() -> None:
    # Words, not random numbers: the token hash must spread them before the signs are drawn.
    words = [f"{stem}{number}" for number in range(2000) for stem in ("page", "item", "x")]
    sketches = Projection(384).compute(read_all(words).tokens)
    bits = np.unpackbits(sketches.view(np.uint8), axis=1).astype(np.float64)
    assert np.abs(bits.mean(axis=0) - 0.5).max() <= 5 * math.sqrt(0.25 / len(words))
