"""The methods of the taxonomy, held against their definitions: every pair that a rule accepts is found, no other is.

Fingerprints are computed by the kernels (whose own twins are in Rust); everything behind them, the prefix filter,
groups of columns, hot keys, statistics, is compared with looking at all pairs.
"""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from brute_force import BruteForce, Pairs, pairs_of, token_lists
from neardup import _native
from neardup.engines import Settings, run
from neardup.engines.common.page_columns import PageColumns
from neardup.errors import NeardupError, UsageError
from neardup.job import dedup, find_duplicates
from neardup.methods import OfTerms, Statistical, detectors, parse
from neardup.methods.minima import BBitMinHash, PackedMinima
from neardup.methods.profiles import ALPHABETS, FuzzyCodes, languages, load_profile, make_profile
from neardup.methods.shared import SharesColumns, SharesRatio
from neardup.methods.statistics import collect_statistics
from neardup.sources.memory import texts
from neardup.testing import Web
from neardup.text import term_lists

RATIO = sorted(name for name, kind in detectors().items() if issubclass(kind, SharesRatio))
KAPPA = sorted(name for name, kind in detectors().items() if issubclass(kind, SharesColumns))
#: Other parameters, beside the defaults.
SPECS = [
    "winnowing(n=3,w=4,ratio=0.3)",
    "word-chunks(n=2,ratio=0.9)",
    "shingling(k=20,kappa=10)",
    "shingling-functions(k=20,kappa=19)",
    "rare-chunks(n=3,most=3,ratio=0.4)",
    "spex(n=3,ratio=0.3)",
    "randomised-i-match(low=0.0,high=1.0,k=7,kappa=2)",
    "weighted-minhash(weights=tf-idf,k=40,kappa=20)",
    "prefix-anchor(prefixes=th+a+de,ratio=0.7)",
    "fuzzy-fingerprinting(k=4,intervals=3,kappa=2)",
]


@pytest.fixture(scope="module")
def brute(web_pages: list[dict[str, Any]]) -> BruteForce:
    return BruteForce(web_pages)


def values_of(spec: str, brute: BruteForce) -> Any:
    """The fingerprints of all pages, statistics counted over the compared ones."""
    detector = parse(spec)
    assert isinstance(detector, SharesColumns | SharesRatio)
    kind = detector.fingerprint()
    tokens = brute.read.tokens
    if isinstance(kind, Statistical):
        kind = kind.given(collect_statistics([tokens.take(pa.array(brute.compared))], [kind.counted]))
    if isinstance(kind, OfTerms):
        return kind.compute(
            term_lists(pa.Table.from_batches(texts(brute.pages).batches).combine_chunks().to_batches()[0])
        )
    return kind.compute(tokens)


def expected_pairs(spec: str, brute: BruteForce) -> Pairs:
    detector, values = parse(spec), values_of(spec, brute)
    if isinstance(detector, SharesColumns):
        return {
            (a, b) for a, b in combinations(brute.compared, 2) if (values[a] == values[b]).sum() >= detector.needed()
        }
    assert isinstance(detector, SharesRatio)
    sets = {row: set(values[row].as_py()) for row in brute.compared}
    least = detector.least_ratio()
    return {
        (a, b)
        for a, b in combinations(brute.compared, 2)
        if sets[a] & sets[b] and len(sets[a] & sets[b]) / len(sets[a] | sets[b]) >= least
    }


@pytest.mark.parametrize("spec", [*RATIO, *KAPPA, *SPECS])
def test_exactly_the_pairs_that_share_enough(spec: str, brute: BruteForce) -> None:
    result = find_duplicates(brute.pages, detector=spec)
    expected = expected_pairs(spec, brute)
    assert pairs_of(result.pairs) == expected
    # The small web has near-duplicates, and none of these methods is blind to all of them.
    assert expected or spec.startswith("i-match")


@pytest.mark.parametrize("spec", ["winnowing", "shingling", "shingling-functions", "spex", "b-bit-minhash"])
def test_hot_keys_change_neither_what_stays_nor_the_clusters(spec: str, web_pages: list[dict[str, Any]]) -> None:
    usual = find_duplicates(web_pages, detector=spec)
    hot = find_duplicates(web_pages, detector=spec, settings=Settings(hot=2))
    assert sum(rule["hot_buckets"] for rule in hot.report["rules"]) > 0
    for column in ("kept", "kept_instead", "cluster"):
        assert hot.pages[column].to_pylist() == usual.pages[column].to_pylist()


@pytest.mark.parametrize(
    "spec", ["winnowing", "spex(n=4)", "i-match", "weighted-minhash(weights=tf-idf)", "prefix-anchor", "template-aware"]
)
def test_parts_on_disk_and_a_resumed_run_give_the_same(
    spec: str, tmp_path: Path, small_web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.sources.gathering.ENOUGH", 1)  # each file is a part of its own
    small_web.write_jsonl(tmp_path / "pages.jsonl")
    lines = (tmp_path / "pages.jsonl").read_bytes().splitlines(keepends=True)
    files = [tmp_path / f"{start:04}.jsonl" for start in range(0, len(lines), 50)]
    for number, file in enumerate(files):
        file.write_bytes(b"".join(lines[50 * number : 50 * number + 50]))
    expected = dedup(files, detector=spec)
    on_disk = Settings(memory=2, commit_every=0, threads=1)
    calls = iter(range(len(files)))

    load = PageColumns.load

    def stops(*given: Any) -> Any:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return load(*given)

    with monkeypatch.context() as patch:
        patch.setattr(PageColumns, "load", stops)
        with pytest.raises(KeyboardInterrupt):
            dedup(files, tmp_path / "out", detector=spec, settings=on_disk)
    assert any(tmp_path.glob(".out.scratch/segment-*.json"))
    result = dedup(files, tmp_path / "out", detector=spec, settings=on_disk, resume=True)
    assert result.pairs.equals(expected.pairs)
    assert result.pages.equals(expected.pages)
    assert result.report["statistics"] == expected.report["statistics"]


def test_b_bit_signatures_accept_what_their_lanes_say(brute: BruteForce) -> None:
    detector = BBitMinHash(threshold=0.7, b=4, m=96)
    found = pairs_of(find_duplicates(brute.pages, detector=detector).pairs)
    packed = PackedMinima(5, 96, 4).compute(brute.read.tokens).view(np.uint8)
    lanes = np.stack([packed & 15, packed >> 4], axis=2).reshape(len(packed), -1)
    assert detector.needed == math.ceil(96 * (0.7 + 0.3 / 16)) == 69
    agreeing = {(a, b) for a, b in combinations(brute.compared, 2) if (lanes[a] == lanes[b]).sum() >= detector.needed}
    assert found <= agreeing
    # Candidates are found with probability .99 at the threshold, and nearly always above it.
    assert len(found) >= 0.95 * len(agreeing) > 0


@pytest.mark.parametrize(
    ("spec", "shared"),
    [
        ("shingling-functions(n=1,k=20,kappa=14)", 700),
        ("one-permutation(n=1,k=20,kappa=14)", 700),
        ("supershingling(n=1,m=20,k=5,kappa=2)", 850),
        ("megashingling(n=1,m=20,groups=5)", 850),
        ("weighted-minhash(k=20,kappa=14)", 700),
        ("hyperplane-lsh(k=4,r=6)", 600),
        ("p-stable-lsh(k=4,r=3,w=1.0)", 600),
        ("broder(k=1,m=20,groups=5)", 850),
    ],
)
def test_what_is_accepted_follows_the_curve(spec: str, shared: int) -> None:
    """2,000 pairs of pages of known similarity: as many are accepted as the closed form says."""
    detector, pairs = parse(spec), 2000
    dice = np.random.default_rng(7)
    tokens = dice.integers(1, 2**63, (pairs, 2000 - shared), dtype=np.uint64)
    first, second = tokens[:, :1000], tokens[:, 1000 - shared :]
    jaccard, cosine = shared / (2000 - shared), shared / 1000
    expected = detector.acceptance(cosine if "cosine" in detector.measure else jaccard)
    assert expected is not None
    (rule,) = detector.rules()
    values = [rule.verify.fingerprint.compute(token_lists(side)) for side in (first, second)]  # type: ignore[union-attr]
    accepted = ((values[0] == values[1]).sum(axis=1) >= rule.verify.least).mean()
    # Five standard deviations of a binomial share; bins of one permutation are not quite independent.
    bound = 5 * math.sqrt(expected * (1 - expected) / pairs) + (0.05 if "permutation" in spec else 0)
    assert abs(accepted - expected) < bound, (accepted, expected)
    assert 0.05 < expected < 0.95


@pytest.mark.parametrize("name", sorted(detectors()))
def test_curves_rise_from_never_to_always(name: str) -> None:
    detector = parse(name)
    curve = [detector.acceptance(step / 20) for step in range(21)]
    if curve[0] is None:
        assert curve == [None] * 21
    else:
        chances = [chance for chance in curve if chance is not None]
        assert chances == sorted(chances)
        assert chances[-1] == pytest.approx(1.0)
        assert chances[0] < 0.2


def test_small_fingerprints_are_small() -> None:
    """Potthast & Stein §2.3: k ≤ 10 for the small ones, 10 ≪ k < 500 for shingling."""
    small = [
        "fuzzy-fingerprinting",
        "p-stable-lsh",
        "hyperplane-lsh",
        "supershingling",
        "i-match",
        "randomised-i-match",
    ]
    for name in small:
        detector = parse(name)
        assert isinstance(detector, SharesColumns)
        assert detector.width() <= 10
    assert 10 < int(parse("shingling").as_used()[1]) < 500
    assert 10 < int(parse("shingling-functions").as_used()[1]) < 500


# Letters ------------------------------------------------------------------------------------------------------------


def test_terms_are_the_terms_that_tokens_are_made_of(web_pages: list[dict[str, Any]]) -> None:
    (batch,) = texts(web_pages[:40]).batches
    lists = term_lists(batch).to_pylist()
    for page, terms in zip(web_pages, lists, strict=False):
        assert terms == _native.terms(page["html"].encode(), html=True, charset="utf-8", url=page["url"])[0]


def test_only_methods_of_letters_read_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pages: pa.RecordBatch) -> pa.LargeListArray:
        raise AssertionError("read as text")

    monkeypatch.setattr("neardup.plan.given.term_lists", refuse)
    of_letters = {"byte-breakpoints", "fuzzy-fingerprinting", "prefix-anchor", "rare-prefix-anchor"}
    source = texts(["one two three four five six seven eight nine ten"] * 2)
    for name in detectors():
        if name in of_letters:
            with pytest.raises(AssertionError, match="read as text"):
                run(source, parse(name))
        else:
            run(source, parse(name))


def test_profiles_say_what_they_are_of() -> None:
    assert set(languages()) >= {"de", "en", "fr", "ja", "ru", "zh"}
    for language in languages():
        profile = load_profile(language)
        assert profile.origin
        assert profile.words > 100_000
        assert sum(share for _, share in profile.classes) == pytest.approx(1, abs=1e-4)
        assert profile.to_json()["origin"] == profile.origin
    with pytest.raises(UsageError, match="there is no profile of 'xx'"):
        load_profile("xx")
    with pytest.raises(UsageError, match="needs words"):
        make_profile("xx", "nothing", [])


def test_a_page_like_the_language_deviates_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = pa.array([["apple", "berry"] * 50, ["apple"] * 60 + ["berry"] * 40], pa.large_list(pa.large_string()))
    made = make_profile("xx", "fruit", [terms], ALPHABETS["latin"])
    shares = dict(made.classes)
    assert (shares["aàáâãäåā"], shares["b"]) == (0.55, 0.45)
    monkeypatch.setattr("neardup.methods.profiles.load_profile", {"xx": made}.__getitem__)
    codes = FuzzyCodes("xx", k=2, intervals=3, spread=0.5, rarest=0.01).compute(terms)
    assert (codes[0] == codes[1]).all()


# Statistics in a run -------------------------------------------------------------------------------------------------


def test_identity_sets_count_once() -> None:
    page = "one two three four five six seven eight nine ten"
    other = page.replace("ten", "eleven")
    short = "one two three"
    report = find_duplicates([page, page, page, other, short, ""], detector="spex(n=3)").report
    assert report["statistics"]["pages"] == 2
    assert report["statistics"]["chunks"] == {"3": 7}


def test_frozen_statistics_take_the_place_of_the_pass(web_pages: list[dict[str, Any]], tmp_path: Path) -> None:
    import neardup

    file = tmp_path / "pages.jsonl"
    lines = pa.Table.from_pylist([{"id": page["id"], "html": page["html"]} for page in web_pages])
    lines.to_pandas().to_json(file, orient="records", lines=True)
    made = neardup.statistics_of(file, "i-match")
    made.save(tmp_path / "frozen")
    expected = find_duplicates(web_pages, detector="i-match")
    settings = Settings(statistics=str(tmp_path / "frozen"))
    again = find_duplicates(web_pages, detector="i-match", settings=settings)
    assert again.report["statistics"] == expected.report["statistics"]
    assert again.pairs.equals(expected.pairs)
    # Two pages alone, by what the collection says.
    a, b = next(iter(pairs_of(expected.pairs)))
    alone = find_duplicates([web_pages[a], web_pages[b]], detector="i-match", settings=settings)
    assert alone.pairs.num_rows == 1
    with pytest.raises(UsageError, match="do not count chunks of 8 tokens; they have: 1"):
        find_duplicates(web_pages, detector="spex", settings=settings)
    with pytest.raises(UsageError, match="needs no statistics"):
        neardup.statistics_of(file, "winnowing")
    rabin = Settings(statistics=settings.statistics, reading=neardup.Reading(hash="rabin"))
    with pytest.raises(UsageError, match="tokens by 'fold', this run has 'rabin'"):
        find_duplicates(web_pages, detector="i-match", settings=rabin)
    with pytest.raises(NeardupError, match="cannot read"):
        find_duplicates(web_pages, detector="i-match", settings=Settings(statistics=str(tmp_path / "none")))
