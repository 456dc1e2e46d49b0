"""What the fast paths find, against all pairs looked at: nothing is missed that a rule promises to find."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import BruteForce, Pairs, pairs_of
from neardup import Settings, _native, find_duplicates, parse
from neardup.methods.planner import band_probability
from neardup.plan import Limits, PageArrays
from neardup.testing.dice import Dice
from neardup.testing.edits import made_up_words, pair_of_jaccard

Sketches = npt.NDArray[np.uint64]


# Alg. C: pieces.


def flipped(sketch: Sketches, bits: Any) -> Sketches:
    """A copy that differs in these bits."""
    copy = sketch.copy()
    for bit in bits:
        copy[bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    return copy


def found_by_pieces(sketches: Sketches, pieces: int, least: int) -> Pairs:
    plan = _native.Plan([sketches.shape[1]], 0, [f"pieces(0,{pieces}) any bits(0,{least})"])
    every = np.arange(len(sketches), dtype=np.uint32)
    limits = Limits(hot=len(sketches), accepted=2**63, possible=2**63)
    (found,) = plan.match(PageArrays([sketches], []), every, limits)
    assert found.hot_buckets == 0
    return set(zip(found.a.tolist(), found.b.tolist(), strict=True))


def differing_bits(sketches: Sketches) -> npt.NDArray[np.int64]:
    return np.stack([np.bitwise_count(sketches ^ own).sum(axis=1) for own in sketches])


def near_copies(seed: int, families: int = 60, copies: int = 12) -> Sketches:
    """Random sketches, each with copies of copies in which 0 to 8 random bits are turned over."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(families):
        members = [random.integers(0, 2**64, 6, np.uint64)]
        for _ in range(copies):
            parent = members[random.integers(len(members))]
            bits = random.choice(384, size=random.integers(0, 9), replace=False)
            members.append(flipped(parent, bits.tolist()))
        rows += members
    return random.permutation(np.stack(rows))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_twelve_pieces_miss_nothing_up_to_eleven_differing_bits(seed: int) -> None:
    sketches = near_copies(seed)
    differing = differing_bits(sketches)
    found = found_by_pieces(sketches, pieces=12, least=372)
    a, b = np.nonzero(np.triu(differing <= 11, 1))
    assert len(a) > 1000
    assert set(zip(a.tolist(), b.tolist(), strict=True)) <= found
    # Nothing beyond the threshold, and at exactly 12 just the pairs that share a piece.
    a, b = np.nonzero(np.triu(differing == 12, 1))
    halves = sketches.view(np.uint32)
    at_twelve = {(i, j) for i, j in zip(a.tolist(), b.tolist(), strict=True) if (halves[i] == halves[j]).any()}
    assert {pair for pair in found if differing[pair] >= 12} == at_twelve


@pytest.mark.parametrize(("pieces", "most"), [(13, 12), (15, 14), (24, 23)])
def test_more_pieces_than_differences_miss_nothing(pieces: int, most: int) -> None:
    sketches = near_copies(4)
    differing = differing_bits(sketches)
    a, b = np.nonzero(np.triu(differing <= most, 1))
    expected = set(zip(a.tolist(), b.tolist(), strict=True))
    assert found_by_pieces(sketches, pieces, least=384 - most) == expected


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_pigeonhole_wherever_the_differences_lie(data: st.DataObject) -> None:
    width = data.draw(st.sampled_from([1, 2, 6]))
    pieces = data.draw(st.integers(2 * width, 40))
    places = st.integers(0, 64 * width - 1)
    bits = data.draw(st.lists(places, min_size=0, max_size=pieces - 1, unique=True))
    sketch = np.random.default_rng(pieces).integers(0, 2**64, width, np.uint64)
    pair = np.stack([sketch, flipped(sketch, bits)])
    assert found_by_pieces(pair, pieces, least=64 * width - len(bits)) == {(0, 1)}


def test_one_difference_in_every_piece_is_what_twelve_pieces_miss() -> None:
    sketch = np.random.default_rng(5).integers(0, 2**64, 6, np.uint64)
    everywhere = np.stack([sketch, flipped(sketch, range(7, 384, 32))])
    assert differing_bits(everywhere)[0, 1] == 12
    assert found_by_pieces(everywhere, pieces=12, least=372) == set()
    assert found_by_pieces(everywhere, pieces=13, least=372) == {(0, 1)}


# MinHash: exact Jaccard similarity.


def mutated_texts(seed: int, families: int = 60, copies: int = 7) -> list[str]:
    """Texts over a small vocabulary: copies of copies, with words replaced, dropped and moved."""
    dice = Dice(seed, "mutated")
    vocabulary = made_up_words(200, dice)
    texts = []
    for _ in range(families):
        members = [[dice.pick(vocabulary) for _ in range(dice.between(5, 300))]]
        for _ in range(copies):
            text = list(dice.pick(members))
            for _ in range(dice.below(5)):
                place = dice.below(len(text))
                if dice.chance(0.3) and len(text) > 5:
                    text.insert(dice.below(len(text)), text.pop(place))
                elif dice.chance(0.5) and len(text) > 5:
                    del text[place]
                else:
                    text[place] = dice.pick(vocabulary)
            members.append(text)
        texts += members
    return [" ".join(text) for text in dice.shuffled(texts)]


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_minhash_accepts_only_what_is_similar_and_says_how_much(k: int, threshold: float) -> None:
    texts = mutated_texts(seed=k)
    truth = BruteForce(texts).jaccard(k)
    detector = parse(f"minhash(k={k},threshold={threshold})")
    pairs = find_duplicates(texts, detector=detector).pairs
    found = dict(zip(sorted(pairs_of(pairs)), pairs["jaccard"].to_pylist(), strict=True))
    # Precision 1: each accepted pair is at the threshold or above, with its similarity to the last bit.
    assert found == {pair: truth[pair] for pair in found}
    assert min(found.values()) >= threshold
    # The pairs of one family depend on each other, so no sharp bound here: far fewer are missed than 1 % plus 3 %.
    wanted = [pair for pair, jaccard in truth.items() if jaccard >= threshold]
    assert len(wanted) > 200
    assert len(found) >= 0.96 * len(wanted)


@pytest.mark.parametrize("spec", ["minhash", "minhash(bands=8,rows=8)", "minhash(threshold=0.6,bands=4,rows=5)"])
def test_minhash_recall_follows_the_s_curve(spec: str) -> None:
    # Pairs that share no word with one another: independent trials, each found with the S-curve's probability.
    detector = parse(spec)
    least = math.ceil(100 * detector.threshold)  # type: ignore[attr-defined]
    made = [pair_of_jaccard((least + n % (100 - least)) / 100, k=5, union=100, seed=n) for n in range(500)]
    texts = [" ".join(text) for pair in made for text in (pair.a, pair.b)]
    found = pairs_of(find_duplicates(texts, detector=detector).pairs)
    assert found <= {(2 * n, 2 * n + 1) for n in range(500)}
    layout = detector.layout  # type: ignore[attr-defined]
    chances = [band_probability(float(pair.jaccard), layout.bands, layout.rows) for pair in made]
    deviation = math.sqrt(sum(chance * (1 - chance) for chance in chances))
    # A right implementation is outside 4σ with probability 6·10⁻⁵ (one more pair for the skewed tail).
    assert abs(len(found) - sum(chances)) <= 4 * deviation + 1


# Alg. B, combined, site-aware: exactly the pairs of the definition.


def sited_pages(seed: int, families: int = 60) -> list[dict[str, Any]]:
    """Near copies and exact copies spread over a few sites, some pages without an address."""
    dice = Dice(seed, "sited")
    hosts = ["a.example", "www.a.example", "b.example", "c.example", None]
    pages = []
    for _ in range(families):
        members = [made_up_words(dice.between(150, 400), dice)]
        members[0] += [dice.pick(members[0]) for _ in range(100)]
        for _ in range(7):
            text = list(dice.pick(members))
            for _ in range(dice.below(8)):
                text[dice.below(len(text))] = dice.pick(members[0])
            members.append(text)
        for text in members:
            host = dice.pick(hosts)
            url = host and f"http://{host}/{dice.digits(6)}"
            pages.append({"text": " ".join(text), "url": url})
    return dice.shuffled(pages)


@pytest.fixture(scope="module", params=["sited", "web"])
def brute_force(request: pytest.FixtureRequest, web_pages: list[dict[str, Any]]) -> BruteForce:
    """A collection with every similarity of its pairs."""
    return BruteForce(sited_pages(1) if request.param == "sited" else web_pages)


def found_by(spec: str, brute_force: BruteForce) -> Pairs:
    return pairs_of(find_duplicates(brute_force.pages, detector=spec).pairs)


@pytest.mark.parametrize("least", [1, 2, 3, 4])
def test_broder_is_its_definition(brute_force: BruteForce, least: int) -> None:
    expected = brute_force.broder(least)
    assert len(expected) > 20
    assert found_by(f"broder(least={least})", brute_force) == expected


@pytest.mark.parametrize("t", [355, 372, 0])
def test_combined_is_its_definition(brute_force: BruteForce, t: int) -> None:
    expected = brute_force.combined(t)
    assert len(expected) > 50
    assert found_by(f"combined(t={t})", brute_force) == expected


def test_charikar_is_its_definition(brute_force: BruteForce) -> None:
    expected = {pair for pair in brute_force.charikar() if brute_force.shares_a_piece(*pair)}
    assert len(expected) > 50
    assert found_by("charikar", brute_force) == expected
    assert found_by("charikar(pieces=13)", brute_force) == brute_force.charikar()
    assert found_by("charikar(pieces=13,terms=0)", brute_force) == brute_force.charikar(terms=0)


def test_site_aware_is_its_definition(brute_force: BruteForce) -> None:
    # Pages of one text on several sites are several pages to these rules, each on its own site.
    units = {pair: brute_force.same_site(*pair) for pair in brute_force.between_units()}
    between = {
        pair
        for pair, same in units.items()
        if not same and brute_force.c_similarity[pair] >= 372 and brute_force.shares_a_piece(*pair)
    }
    within = {
        pair
        for pair, same in units.items()
        if same and brute_force.b_similarity[pair] >= 2 and brute_force.c_similarity[pair] >= 355
    }
    assert between
    assert len(within) > 20
    assert found_by("site-aware", brute_force) == between | within


def test_sites_and_similarities_in_the_table_are_by_definition(brute_force: BruteForce) -> None:
    for row in find_duplicates(brute_force.pages, detector="site-aware").pairs.to_pylist():
        pair = row["row_a"], row["row_b"]
        assert row["b_similarity"] == brute_force.b_similarity[pair]
        assert row["c_similarity"] == brute_force.c_similarity[pair]
        assert row["same_site"] == brute_force.same_site(*pair)
        by_rule = {
            "charikar": not row["same_site"] and row["c_similarity"] >= 372,
            "combined": row["same_site"] and row["b_similarity"] >= 2 and row["c_similarity"] >= 355,
        }
        assert by_rule[row["rule"]]
        assert row["score"] == row["c_similarity"] / 384


# Site predicates: small cases, told one by one.

TEXT = " ".join(made_up_words(300, Dice(8)))
#: A few words apart: B-similar, 355 bits agree and fewer than 372, so only the same-site rule accepts the two.
MIDDLING = "middling"
#: One word apart: both rules accept the two.
CLOSE = "close"


def variant(of: str) -> str:
    words = TEXT.split()
    ends = {CLOSE: 1, MIDDLING: 9}[of]
    return " ".join(words[:-ends] + made_up_words(ends, Dice(of)))


@pytest.fixture(scope="module", autouse=True)
def variants_are_what_they_are_named() -> None:
    truth = BruteForce([TEXT, variant(CLOSE), variant(MIDDLING)])
    assert truth.c_similarity[0, 1] >= 372
    assert 355 <= truth.c_similarity[0, 2] < 372
    assert truth.b_similarity[0, 1] >= 2 <= truth.b_similarity[0, 2]


A, A_TOO, B, C = "http://a.example/1", "http://www.a.example/2", "http://b.example/", "http://c.example/"


@pytest.mark.parametrize(
    ("similarity", "sites_of_text", "sites_of_variant", "expected"),
    [
        # On one site combined decides, between sites Alg. C.
        (CLOSE, [A], [A_TOO], {(0, 1): "combined"}),
        (CLOSE, [A], [B], {(0, 1): "charikar"}),
        (MIDDLING, [A], [A_TOO], {(0, 1): "combined"}),
        (MIDDLING, [A], [B], {}),
        # Without an address a page is on another site than all, other pages without an address included.
        (CLOSE, [None], [A], {(0, 1): "charikar"}),
        (CLOSE, [None], [None], {(0, 1): "charikar"}),
        (MIDDLING, [None], [None], {}),
        (MIDDLING, [None], [A], {}),
        # A copy on another site lends nobody its site: each is a page of its own, on its own site.
        (MIDDLING, [A, B], [C], {}),
        (MIDDLING, [A, B], [B], {(1, 2): "combined"}),
        (MIDDLING, [B, A], [B], {(0, 2): "combined"}),
        (MIDDLING, [A, B, None], [C, None], {}),
        (MIDDLING, [None, B], [C, B], {(1, 3): "combined"}),
        (CLOSE, [A, B], [B], {(0, 2): "charikar", (1, 2): "combined"}),
        (CLOSE, [A, B], [A, B], {(0, 2): "combined", (0, 3): "charikar", (1, 2): "charikar", (1, 3): "combined"}),
        # Copies on one site are one page.
        (CLOSE, [A, A_TOO], [A, A_TOO], {(0, 2): "combined"}),
        (CLOSE, [A, None], [A], {(0, 2): "combined", (1, 2): "charikar"}),
        (CLOSE, [A, None, None], [A], {(0, 3): "combined", (1, 3): "charikar"}),
    ],
)
def test_copies_lend_nobody_their_site(
    similarity: str,
    sites_of_text: list[str | None],
    sites_of_variant: list[str | None],
    expected: dict[tuple[int, int], str],
) -> None:
    pages = [{"text": TEXT, "url": url} for url in sites_of_text]
    pages += [{"text": variant(similarity), "url": url} for url in sites_of_variant]
    found = find_duplicates(pages, detector="site-aware")
    rows = zip(*(found.pairs[name].to_pylist() for name in ("row_a", "row_b")), strict=True)
    assert dict(zip(rows, found.pairs["rule"].to_pylist(), strict=True)) == expected
    # Identical pages are identical all the same, over sites too: one of them stays at most, and they are one cluster.
    copies = len(sites_of_text)
    assert found.pages["identity"].to_pylist() == ["memory#0"] * copies + [f"memory#{copies}"] * len(sites_of_variant)
    for members in (range(copies), range(copies, len(pages))):
        assert sum(found.pages["kept"][row].as_py() for row in members) <= 1
        assert len({found.pages["cluster"][row].as_py() for row in members}) == 1


def test_a_page_goes_only_against_one_that_it_was_accepted_with() -> None:
    # The variant is like the copy on its own site, which goes for the text on another.
    pages = [{"text": TEXT, "url": A}, {"text": TEXT, "url": B}, {"text": variant(MIDDLING), "url": B}]
    found = find_duplicates(pages, detector="site-aware")
    assert found.pages["reason"].to_pylist() == ["chosen", "identical", "apart"]
    assert len(set(found.pages["cluster"].to_pylist())) == 1
    whole = find_duplicates(pages, detector="site-aware", settings=Settings(removal="component"))
    assert whole.pages["kept"].to_pylist() == [True, False, False]
    # Where the copy on that site is the one that stays, the variant goes.
    other = find_duplicates(pages[1:] + pages[:1], detector="site-aware")
    assert other.pages["reason"].to_pylist() == ["chosen", "near-duplicate", "identical"]


def test_the_papers_site_rule_is_an_option() -> None:
    from neardup import Reading, Settings

    pages = [
        {"text": TEXT, "url": "http://one.co.uk/"},
        {"text": variant(MIDDLING), "url": "http://two.co.uk/"},
    ]
    assert find_duplicates(pages, detector="site-aware").pairs.num_rows == 0
    papers = Settings(reading=Reading(site="henzinger"))
    result = find_duplicates(pages, detector="site-aware", settings=papers)
    assert result.pages["site"].to_pylist() == ["co.uk", "co.uk"]
    assert result.pairs.num_rows == 1


# The papers' parameters are the defaults.


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("broder", {"k": 8, "m": 84, "groups": 6, "least": 2, "rabin": False}),
        ("charikar", {"bits": 384, "t": 372, "pieces": 12, "k": 1, "terms": 0.5}),
        ("site-aware", {"t": 372, "same_site_t": 355, "pieces": 12, "terms": 0.5, "rabin": False}),
        ("combined", {"t": 355, "bits": 384, "k": 8, "m": 84, "groups": 6, "least": 2, "rabin": False}),
        ("minhash", {"k": 5, "threshold": 0.8, "recall": 0.99, "bands": 0, "rows": 0, "rabin": False}),
        ("exact", {}),
    ],
)
def test_defaults(name: str, parameters: dict[str, Any]) -> None:
    assert parse(name).parameters() == parameters


def test_what_the_defaults_make_of_a_page() -> None:
    assert [fingerprint.width for fingerprint in parse("site-aware").fingerprints()] == [6, 4, 6]
    assert parse("broder").fingerprints()[0].width * 8 == 48
    assert _native.MIN_TOKENS == 8
    supershingles = np.arange(6, dtype=np.uint64)[np.newaxis]
    assert _native.pairs_of_keys(supershingles).shape == (1, 15)
    assert _native.pieces(supershingles, 12).shape == (1, 12)
