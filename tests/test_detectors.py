"""Detectors as text: every spec parses back, a wrong one says what is wrong; the planner's numbers."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup.methods
from neardup.errors import NeardupError, SpecError, UsageError
from neardup.methods import Detector, detectors, parse, plan_bands, register
from neardup.methods.planner import (
    BandLayout,
    band_probability,
    binomial_tail,
    chernoff_bound,
    functions_by_chernoff,
    functions_needed,
    supershingle_probability,
    underestimate_probability,
)
from neardup.methods.registry import FAMILIES

shares = st.floats(0, 1, exclude_min=True, exclude_max=True)


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, int]:
    groups, rows = draw(st.integers(2, 12)), draw(st.integers(1, 20))
    return {"groups": groups, "m": groups * rows, "least": draw(st.integers(1, groups)), "k": draw(st.integers(1, 30))}


@st.composite
def projections(draw: st.DrawFn) -> dict[str, int]:
    bits = 64 * draw(st.integers(1, 10))
    return {"bits": bits, "t": draw(st.integers(1, bits))}


@st.composite
def charikar(draw: st.DrawFn) -> dict[str, Any]:
    made = draw(projections())
    pieces = draw(st.integers(made["bits"] // 32, made["bits"]))
    return made | {"pieces": pieces, "k": draw(st.integers(1, 8)), "terms": draw(shares)}


@st.composite
def minhash(draw: st.DrawFn) -> dict[str, Any]:
    made: dict[str, Any] = {
        "k": draw(st.integers(1, 20)),
        "threshold": draw(st.floats(0.2, 1)),
        "rabin": draw(st.booleans()),
    }
    if draw(st.booleans()):
        made |= {"bands": draw(st.integers(1, 64)), "rows": draw(st.integers(1, 64)), "recall": draw(shares)}
    else:
        made |= {"recall": draw(st.floats(0.01, 0.99))}
    return made


@st.composite
def counted(draw: st.DrawFn, **others: st.SearchStrategy[Any]) -> dict[str, Any]:
    """k and κ, and what else is asked for."""
    k = draw(st.integers(1, 60))
    return {"k": k, "kappa": draw(st.integers(1, k))} | {name: draw(of) for name, of in others.items()}


@st.composite
def supershingles(draw: st.DrawFn) -> dict[str, int]:
    k = draw(st.integers(1, 12))
    return {"n": draw(st.integers(1, 9)), "k": k, "m": k * draw(st.integers(1, 9)), "kappa": draw(st.integers(1, k))}


@st.composite
def lexicon(draw: st.DrawFn) -> dict[str, Any]:
    low = draw(st.floats(0, 0.9))
    return {"low": low, "high": draw(st.floats(low, 1, exclude_min=True)), "least": draw(st.integers(1, 9))}


some = st.integers(1, 20)
ratio = st.floats(0, 1, exclude_min=True)


def selected(*lengths: str) -> st.SearchStrategy[dict[str, Any]]:
    """Whole numbers under these names, and a ratio."""
    return st.fixed_dictionaries(dict.fromkeys(lengths, some) | {"ratio": ratio})


#: Parameters that make sense, for every detector.
PARAMETERS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "b-bit-minhash": st.fixed_dictionaries(
        {
            "n": some,
            "m": st.integers(1, 512),
            "b": st.sampled_from([1, 2, 4, 8]),
            "threshold": st.floats(0.2, 1),
            "recall": st.floats(0.01, 0.99),
        }
    ),
    "breakpoint-chunks": selected("n"),
    "byte-breakpoints": selected("n", "m"),
    "charikar-shingles": st.builds(
        lambda made: {("n" if name == "k" else name): value for name, value in made.items()}, charikar()
    ),
    "fuzzy-fingerprinting": counted(
        profile=st.sampled_from(["de", "en", "zh"]),
        intervals=st.integers(2, 5),
        spread=st.floats(0.01, 2),
        rarest=st.floats(0, 0.5),
    ),
    "hyperplane-lsh": counted(r=some),
    "i-match": lexicon(),
    "megashingling": st.builds(
        lambda n, groups, rows: {"n": n, "groups": groups, "m": groups * rows}, some, st.integers(2, 9), some
    ),
    "one-permutation": counted(n=some),
    "p-stable-lsh": counted(r=some, w=st.floats(0.01, 10)),
    "prefix-anchor": st.builds(
        lambda made, prefixes: made | {"prefixes": prefixes},
        selected("n", "letters", "every"),
        st.sampled_from(["", "th", "th+re+ü"]),
    ),
    "random-chunks": counted(n=some),
    "randomised-i-match": st.builds(
        lambda made, k, left_out: made | {"k": k, "kappa": 1, "left_out": left_out}, lexicon(), some, shares
    ),
    "rare-chunks": selected("n", "most"),
    "rare-prefix-anchor": selected("n", "letters", "most"),
    "shingling": counted(n=some),
    "shingling-functions": counted(n=some),
    "sliding-window": selected("n", "m"),
    "spex": selected("n"),
    "supershingling": supershingles(),
    "template-aware": st.fixed_dictionaries(
        {"probability": st.floats(0.05, 0.95), "recall": st.floats(0.01, 0.99)}
        | dict.fromkeys(("structure", "site", "noise", "title"), st.booleans())
    ),
    "weighted-minhash": counted(n=some, weights=st.sampled_from(["tf", "tf-idf"])),
    "shingle-paragraphs": st.fixed_dictionaries(
        {
            "share": st.floats(0.01, 1),
            "sentence": st.integers(1, 300),
            "sentences": st.integers(1, 9),
            "longer_than": st.integers(0, 900),
        }
    ),
    "winnowing": selected("n", "w"),
    "word-breakpoints": selected("n", "m"),
    "word-chunks": selected("n"),
    "broder": st.builds(lambda layout, rabin: layout | {"rabin": rabin}, layouts(), st.booleans()),
    "charikar": charikar(),
    "combined": st.builds(
        lambda layout, bits, rabin: layout | bits | {"rabin": rabin}, layouts(), projections(), st.booleans()
    ),
    "exact": st.just({}),
    "minhash": minhash(),
    "site-aware": st.fixed_dictionaries(
        {
            "t": st.integers(1, 384),
            "same_site_t": st.integers(0, 384),
            "pieces": st.integers(12, 384),
            "terms": shares,
            "rabin": st.booleans(),
        }
    ),
}


def test_every_detector_is_tried_here() -> None:
    assert PARAMETERS.keys() == detectors().keys()


@settings(max_examples=120, deadline=None)
@given(st.data(), st.sampled_from(sorted(PARAMETERS)))
def test_the_text_form_parses_back(data: st.DataObject, name: str) -> None:
    kind = detectors()[name]
    detector = kind(**data.draw(PARAMETERS[name]))
    assert parse(str(detector)) == detector
    assert str(parse(str(detector))) == str(detector)
    everything = ",".join(f"{key} = {value}" for key, value in detector.parameters().items())
    assert parse(f" {name} ( {everything} ) ") == detector
    assert hash(parse(str(detector))) == hash(detector)


@pytest.mark.parametrize("name", sorted(detectors()))
def test_every_detector_tells_of_itself(name: str) -> None:
    kind = detectors()[name]
    assert kind.name == name
    for told in (kind.summary, kind.source, kind.cost, kind.__doc__):
        assert told
        assert "\n" not in (told if told is not kind.__doc__ else "")
    assert str(kind()) == name
    assert parse(kind()) == kind()
    assert parse(f"{name}()") == kind()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("brodre", r"unknown detector 'brodre'.*broder, byte-breakpoints, charikar, .*minhash, .*site-aware"),
        ("", "unknown detector ''"),
        ("broder(k=8", "lacks its closing bracket"),
        ("broder(x=8)", r"'broder' has no parameter 'x': it has: k, m, groups, least, rabin"),
        ("exact(k=1)", "'exact' has no parameter 'k': it has: none"),
        ("broder(8)", "has no parameter '8'"),
        ("broder(k=8,k=9)", "'k' is given twice"),
        ("broder(k=eight)", "k=eight is not a value of type int"),
        ("broder(k=8.5)", "k=8.5 is not a value of type int"),
        ("broder(k=True)", "k=True is not a value of type int"),
        ("broder(k=)", "k= is not a value of type int"),
        ("broder(rabin=1)", "rabin=1 is not a value of type bool"),
        ("broder(k=0)", "k must be at least 1"),
        ("broder(m=85)", "m must be divisible by groups"),
        ("broder(groups=0)", "m must be divisible by groups"),
        ("broder(least=7)", "least must be between 1 and groups"),
        ("combined(least=0)", "least must be between 1 and groups"),
        ("combined(t=385)", "t must be between 0 and bits"),
        ("charikar(bits=100)", "bits must be a multiple of 64"),
        ("charikar(t=0)", "t must be between 1 and bits"),
        ("charikar(pieces=11)", "pieces must be between bits/32 and bits"),
        ("charikar(k=0)", "k must be at least 1"),
        ("site-aware(pieces=1)", "pieces must be between"),
        ("site-aware(same_site_t=-1)", "t must be between"),
        ("minhash(threshold=0)", "threshold must be above 0"),
        ("minhash(threshold=1.5)", "at most 1"),
        ("minhash(threshold=nan)", "is not a value of type float"),
        ("minhash(recall=1)", "recall must be between 0 and 1"),
        ("minhash(bands=5)", "give both bands and rows"),
        ("minhash(bands=-5,rows=-5)", "bands and rows must not be negative"),
        ("minhash(bands=100,rows=100)", "at most 4096 functions"),
        ("minhash(threshold=0.01,recall=0.999)", "no layout of at most 256 functions"),
        ("minhash(k=5)x", "closing bracket"),
        ("winnowing(w=0)", "w must be at least 1"),
        ("winnowing(ratio=0)", "ratio must be above 0 and at most 1"),
        ("word-chunks(n=0)", "n must be at least 1"),
        ("shingling(kappa=129)", "kappa must be between 1 and k"),
        ("shingling-functions(k=501)", "k must be between 1 and 500"),
        ("one-permutation(kappa=0)", "kappa must be between 1 and k"),
        ("supershingling(m=85)", "m must be divisible by k"),
        ("megashingling(groups=1)", "m must be divisible by groups, two or more"),
        ("b-bit-minhash(b=3)", "b must be 1, 2, 4 or 8"),
        ("i-match(low=0.9)", "low and high are shares of the idf"),
        ("randomised-i-match(left_out=1)", "left_out must be between 0 and 1"),
        ("fuzzy-fingerprinting(profile=xx)", "profile is one of de, en, fr, ja, ko, ru, zh"),
        ("weighted-minhash(weights=idf)", "weights are 'tf' or 'tf-idf'"),
        ("prefix-anchor(prefixes=a++b)", "none of them empty"),
        ("p-stable-lsh(w=0)", "w must be above 0"),
        ("charikar-shingles(pieces=1)", "pieces must be between"),
        ("minhash(k=5))", r"k=5\) is not a value"),
    ],
)
def test_a_wrong_spec_says_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises((SpecError, UsageError), match=message) as caught:
        parse(spec)
    assert isinstance(caught.value, NeardupError)


def test_whole_numbers_are_taken_for_shares_and_any_case_for_booleans() -> None:
    assert parse("minhash(threshold=1)").parameters()["threshold"] == 1.0
    assert parse("broder(rabin=true)") == parse("broder(rabin=True)") == parse("broder(rabin=TRUE)")


def test_every_detector_is_at_home_in_the_family_that_lists_it() -> None:
    folder = Path(neardup.methods.__file__).parent
    registering = {path for path in folder.rglob("*.py") if "\n@register\n" in path.read_text()}
    assert {path.parent.name if path.stem == "__init__" else path.stem for path in registering} == FAMILIES.keys()
    homes = {name: kind.__module__ for name, kind in detectors().items() if kind.__module__.startswith("neardup.")}
    assert homes == {name: f"neardup.methods.{family}" for family, names in FAMILIES.items() for name in names}


def test_a_detector_is_loaded_when_it_is_asked_for() -> None:
    script = "import sys, neardup; neardup.parse('minhash'); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    families = {f"neardup.methods.{family}" for family in FAMILIES}
    assert families & set(done.stdout.split()) == {"neardup.methods.shingles"}


def test_a_built_in_name_is_taken_before_it_is_loaded() -> None:
    script = """
from neardup.methods import Detector, register
try:
    register(type("Mine", (Detector,), {"name": "broder"}))
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "broder" in done.stdout


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="two detectors are named 'exact'"):
        register(detectors()["exact"])
    assert Detector not in detectors().values()


# The planner (algorithms §2, §6).


def test_numbers_of_algorithm_b() -> None:
    assert supershingle_probability(0.8) == pytest.approx(0.026, abs=0.0005)
    assert supershingle_probability(0.9) == pytest.approx(0.42, abs=0.005)
    assert supershingle_probability(0.95) == pytest.approx(0.88, abs=0.005)
    assert (supershingle_probability(0.0), supershingle_probability(1.0)) == (0.0, 1.0)


def test_numbers_of_the_lecture() -> None:
    assert [functions_needed(jaccard) for jaccard in (0.5, 0.8, 0.9)] == [550, 154, 74]
    # The corrected bound: k·J/200 = ln 100 at k = 921/J.
    assert chernoff_bound(921, 1) == pytest.approx(0.01, abs=1e-4)
    assert [functions_by_chernoff(jaccard) for jaccard in (1.0, 0.5)] == [922, 1843]


@pytest.mark.parametrize("jaccard", [0.1, 0.5, 0.8, 0.9])
@pytest.mark.parametrize("functions", [10, 84, 500, 2000])
def test_the_exact_tail_is_below_the_bound(jaccard: float, functions: int) -> None:
    assert underestimate_probability(functions, jaccard) <= chernoff_bound(functions, jaccard)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 60), st.floats(0, 1), st.integers(-1, 62))
def test_the_binomial_tail_is_its_sum(trials: int, probability: float, least: int) -> None:
    total = math.fsum(
        math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k)
        for k in range(max(least, 0), trials + 1)
    )
    assert binomial_tail(trials, probability, least) == pytest.approx(min(total, 1), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 1), st.floats(0.01, 0.999))
def test_a_plan_keeps_its_promise(threshold: float, recall: float) -> None:
    try:
        chosen = plan_bands(threshold, recall)
    except UsageError:
        # No layout of so few functions: then one row a band, the most any layout finds, must fall short.
        assert band_probability(threshold, 256, 1) < recall + 1e-9
        return
    assert chosen.recall >= recall - 1e-9
    assert chosen.functions == chosen.bands * chosen.rows <= 256
    assert chosen.threshold == threshold


def test_the_s_curve_rises() -> None:
    curve = BandLayout(0.8, bands=16, rows=6).curve()
    assert (curve[0], curve[-1]) == ((0.0, 0.0), (1.0, 1.0))
    assert [chance for _, chance in curve] == sorted(chance for _, chance in curve)
    assert curve[80][1] == pytest.approx(1 - (1 - 0.8**6) ** 16)


@pytest.mark.parametrize(("threshold", "recall"), [(0, 0.9), (1.1, 0.9), (0.8, 0), (0.8, 1)])
def test_a_plan_for_nothing_is_an_error(threshold: float, recall: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        plan_bands(threshold, recall)


def test_a_plan_beyond_its_functions_says_what_to_try() -> None:
    with pytest.raises(UsageError, match=r"no layout of at most 8 functions.*ask for less recall"):
        plan_bands(0.3, 0.99, functions=8)
