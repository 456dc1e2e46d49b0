"""The compiled plan of a detector: what it holds, that it is the same everywhere, and that nobody else reads rules."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup
from neardup import _native, find_duplicates
from neardup.methods import detectors, parse
from neardup.plan import Given, Plan
from neardup.sources.memory import texts
from neardup.testing import Web

ROOT = Path(neardup.__file__).parent
#: Who may ask a rule, its keys or its test for its class: those that say what it means.
MAY_ASK = ("methods", "plan")
#: The classes of rules, of keys and of tests.
KINDS = {
    "SupershinglePairs", "SingleColumns", "Pieces", "ColumnGroups", "RarestChunks", "AgreeingColumns", "AgreeingLanes",
    "AgreeingBits", "SharedRatio", "SharedOfLarger", "ExactJaccard", "OfSets", "Rule",
}  # fmt: skip


def asked(tree: ast.AST) -> list[int]:
    """The lines where a rule is asked for its class: by ``isinstance``, by a case of ``match``, or by its name."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            names = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
            if names & KINDS:
                lines.append(node.lineno)
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name) and node.cls.id in KINDS:
            lines.append(node.cls.lineno)
        if isinstance(node, ast.Compare):
            below = list(ast.walk(node))
            named = any(isinstance(part, ast.Attribute) and part.attr == "__name__" for part in below)
            if named and any(isinstance(part, ast.Constant) and part.value in KINDS for part in below):
                lines.append(node.lineno)
    return lines


def test_nobody_else_asks_what_a_rule_is() -> None:
    places = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(ROOT.rglob("*.py"))
        if path.relative_to(ROOT).parts[0] not in MAY_ASK
        for line in asked(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert not places


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(rule.verify, ExactJaccard)",
        "isinstance(keys, Pieces | ColumnGroups)",
        "match keys:\n    case RarestChunks():\n        pass",
        'type(rule.verify).__name__ == "ExactJaccard"',
    ],
)
def test_who_asks_is_seen(code: str) -> None:
    assert asked(ast.parse(code))


@pytest.mark.parametrize("name", sorted(detectors()))
def test_a_plan_is_the_same_after_a_pickle(name: str) -> None:
    plan = Plan(parse(name))
    again = pickle.loads(pickle.dumps(plan))
    assert (again.digest, again.native, again.kinds) == (plan.digest, plan.native, plan.kinds)
    native = pickle.loads(pickle.dumps(plan.native))
    assert native == plan.native
    assert native.digest == plan.native.digest
    assert len(native.rules) == len(plan.rules)
    assert native.widths == plan.widths
    assert native.sets == len(plan.sets)


def test_digests_name_what_is_decided() -> None:
    names = [*detectors(), "combined(t=354)", "minhash(threshold=0.81)", "minhash(k=4)", "charikar(t=371)"]
    by_digest: dict[str, list[str]] = {}
    for name in names:
        by_digest.setdefault(Plan(parse(name)).digest, []).append(name)
    alike = [same for same in by_digest.values() if len(same) > 1]
    # The same rule over the same fingerprint, under two names.
    assert alike == [["broder", "megashingling"]]


def test_digests_are_those_of_other_processes() -> None:
    code = "from neardup.plan import Plan\nfrom neardup.methods import parse\nprint(Plan(parse('site-aware')).digest)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert other.strip() == Plan(parse("site-aware")).digest


def test_the_terms_stand_beside_the_bits() -> None:
    assert Plan(parse("charikar")).native.rules == ["pieces(0,12) any bits(0,372)+lanes(1,1,256,192)"]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (["pairs(0) any"], "not a rule"),
        (["pairs(7) any key"], "no such column"),
        (["columns(0) any sets(0,2)"], "a ratio above 0"),
    ],
)
def test_wrong_rules_are_refused(rules: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.Plan([6], 1, rules)


def test_pairs_of_what_is_not_held_are_refused() -> None:
    plan = _native.Plan([2], 0, ["columns(0) any columns(0,1)"])
    rows = np.zeros((2, 2), np.uint64)
    one = np.array([0], np.uint32)
    for columns, b, same in [
        ([], one, [True]),
        ([rows[:, :1].copy()], one, [True]),
        ([rows], np.array([2], np.uint32), [True]),
        ([rows], one, []),
    ]:
        with pytest.raises(ValueError, match=r"plan|not there|not one row"):
            plan.pair(columns, [], one, b, np.array(same, bool))


@pytest.fixture(scope="module")
def pages(small_web: Web) -> list[dict[str, Any]]:
    return [{"id": str(at), "html": page.html, "url": page.url} for at, page in enumerate(small_web.pages)]


@pytest.mark.parametrize("name", sorted(name for name in detectors() if not parse(name).counted()))
def test_pairs_are_decided_as_in_a_run(name: str, pages: list[dict[str, Any]]) -> None:
    """Pages of a small web two by two, by the fingerprints of single pages, against all of them joined."""
    run = find_duplicates(pages, detector=name)
    plan = Plan(parse(name))
    given = Given(texts(pages).batches[0])
    tokens, sites = run.pages["tokens"].to_pylist(), run.pages["site"].to_pylist()
    identity = run.pages["identity"].to_pylist()
    # One page of those with the same tokens, as far as the detector takes them for one.
    unit = [(identity[at], sites[at] if plan.detector.looks_at_sites else None) for at in range(len(pages))]
    first = [at for at in range(len(pages)) if unit.index(unit[at]) == at and tokens[at] >= 8]
    pairs = [(a, b) for a, b in combinations(first, 2) if identity[a] != identity[b]]
    a, b = (np.array(side, np.uint32) for side in zip(*pairs, strict=True))
    same = np.array([sites[a] is not None and sites[a] == sites[b] for a, b in pairs])
    found = plan.pair(plan.values(given), a, b, same) if plan.rules else None
    accepted = set(zip(run.pairs["row_a"].to_pylist(), run.pairs["row_b"].to_pylist(), strict=True))
    decided = {pair for pair, yes in zip(pairs, found.accepted.tolist(), strict=True) if yes} if found else set()
    assert decided == accepted & set(pairs)
