"""What a judging says: how far it got, how far judges agree, how right the detectors are, and Henzinger's Tables 2–7.

Every sampled pair stands for N/n pairs of its stratum, so shares of the sample are carried back to all pairs that a
detector returned, with 95 % intervals (``intervals.ratio_share``). Judges go through the pairs in random order, so what
has been looked at so far is a random part of the sample and the shares hold from the first pair on, with wider
intervals. Pairs in dispute have no final label: they are left out, and told. Cost: O(sample).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.evaluation.agreement import against_final, agreement
from neardup.evaluation.henzinger import C_RANGES
from neardup.evaluation.intervals import NOTHING, Share, Stratum, ratio_share
from neardup.evaluation.judged import LABELS
from neardup.evaluation.judging import Judging, Said
from neardup.evaluation.judging_sample import Returned, SampledPair
from neardup.evaluation.reasons import FORM, NOT_GIVEN, is_reason, reason_rows

#: The numbers of the paper's tables for the algorithms it tells of: shares, reasons of correct, of undecided pairs.
TABLES: Final = {"broder": (2, 3, 4), "charikar": (5, 6, 7)}
Flags = npt.NDArray[np.bool_]


def judging_report(judging: Judging) -> dict[str, Any]:
    """Everything a judging says, as ``neardup judge report --json`` prints it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from neardup.evaluation.judging_sample import PairSample, SampledStratum
    >>> pairs = [SampledPair("x", "y", 0, at, True, 0, [Returned("broder", "broder", 0.5, 3, None, None)])
    ...          for at in range(1, 5)]
    >>> sample = PairSample(["run"], ["broder"], pairs, [SampledStratum("all", 4, 4)], [], 0)
    >>> made = Judging.create(Path(tempfile.mkdtemp()) / "judging.sqlite", sample)
    >>> for pair, label in enumerate(("correct", "correct", "incorrect", "undecided")):
    ...     made.say("ada", pair, label, "time stamp" if label == "correct" else None)
    >>> told = judging_report(made)
    >>> told["detectors"]["broder"]["precision"]["estimate"], told["detectors"]["broder"]["reasons of correct"]
    (0.5, [{'reason': 'time stamp', 'pairs': 2, 'share': 1.0, 'same site': 2, 'share on the same site': 1.0}])
    >>> made.close()
    """
    said = {pair: [(one.judge, one.label) for one in given] for pair, given in judging.by_pair().items()}
    final = judging.final()
    labels = {pair: one.label for pair, one in final.items()}
    pairs, strata = judging.pairs(), judging.strata()
    looked_at = Counter(pairs[pair].stratum for pair in final)
    return {
        "what": "judging",
        "runs": judging.session["runs"],
        "pairs": judging.count,
        "judges": {name: {"pairs": count, "of": judging.count} for name, count in judging.judges().items()},
        "final": len(final),
        "disputes": len(judging.disputes()),
        "adjudicated": len(judging.said(role="adjudicator")),
        "labels": {label: sum(one == label for one in labels.values()) for label in LABELS},
        "notes": _notes(judging, strata, looked_at),
        "strata": [
            {"stratum": name, "population": population, "sampled": sampled, "final": looked_at[at]}
            for at, (name, population, sampled) in enumerate(strata)
        ],
        "agreement": agreement(said, labels, LABELS),
        "against final": against_final(said, labels),
        "detectors": {
            name: _detector(name, pairs, strata, final) for name in judging.session["detectors"]
        },
    }  # fmt: skip


def _notes(judging: Judging, strata: Sequence[tuple[str, int, int]], looked_at: Counter[int]) -> list[str]:
    notes = list(judging.session["notes"])
    disputes = len(judging.disputes())
    if disputes:
        notes.append(f"{disputes:,} pairs are in dispute and left out until somebody adjudicates them")
    blank = [(name, population) for at, (name, population, _) in enumerate(strata) if not looked_at[at]]
    if blank and len(blank) < len(strata):
        left = sum(population for _, population in blank)
        notes.append(
            f"{len(blank):,} strata ({left:,} pairs) have no final label yet; the estimates say nothing of them"
        )
    return notes


class _Sample:
    """The pairs with a final label, and the way back from them to the population."""

    def __init__(
        self, pairs: list[SampledPair], strata: Sequence[tuple[str, int, int]], final: dict[int, Said]
    ) -> None:
        self.pairs = [pairs[pair] for pair in final]
        self.label = np.array([one.label for one in final.values()], object)
        self.reason = [one.reason or NOT_GIVEN for one in final.values()]
        self.same_site = np.array([pair.same_site for pair in self.pairs], bool)
        self._stratum = np.array([pair.stratum for pair in self.pairs], np.int64)
        self._population = [population for _, population, _ in strata]

    def share(self, hits: Flags, base: Flags) -> Share:
        """The share of hits among all pairs of the population that are in ``base``."""
        strata = []
        for at in np.unique(self._stratum).tolist():
            here = self._stratum == at
            hit, counted = (hits & base)[here].astype(np.float64), base[here].astype(np.float64)
            strata.append(Stratum(self._population[at], hit, counted))
        return ratio_share(strata) if strata else NOTHING


def _detector(
    name: str, pairs: list[SampledPair], strata: Sequence[tuple[str, int, int]], final: dict[int, Said]
) -> dict[str, Any]:
    sample = _Sample(pairs, strata, final)
    returned = [next((one for one in pair.returned if one.detector == name), None) for pair in sample.pairs]
    accepted = np.array([one is not None for one in returned], bool)
    correct, form = sample.label == "correct", (sample.label == "undecided") & is_reason(sample.reason, FORM)
    rows = []
    for called, base in _rows(sample, returned, accepted):
        row: dict[str, Any] = {"pairs of": called, "pairs": int(base.sum())}
        row |= {label: sample.share(sample.label == label, base).to_json() for label in LABELS}
        rows.append(row | {"forms": sample.share(form, base).to_json()})
    numbers = TABLES.get(name.partition("(")[0])
    return {
        "tables": list(numbers) if numbers else None,
        "judged": int(accepted.sum()),
        "precision": sample.share(correct, accepted).to_json(),
        "precision with forms": sample.share(correct | form, accepted).to_json(),
        "returned": rows,
        "reasons of correct": _reasons(sample, accepted & correct),
        "reasons of undecided": _reasons(sample, accepted & (sample.label == "undecided")),
    }


def _rows(sample: _Sample, returned: list[Returned | None], accepted: Flags) -> list[tuple[str, Flags]]:
    """The rows of Tables 2 and 5: all, by site, by similarity as the detector measures it."""
    rows = [("all", accepted), ("same site", accepted & sample.same_site)]
    rows.append(("different sites", accepted & ~sample.same_site))
    if not accepted.any():
        return rows
    rule = np.array(["" if one is None else one.rule for one in returned], object)
    b = _values([None if one is None else one.b_similarity for one in returned])
    c = _values([None if one is None else one.c_similarity for one in returned])
    score = _values([None if one is None else one.score for one in returned])
    rules = sorted(set(rule[accepted].tolist()))
    if len(rules) > 1:
        return rows + [(f"rule {one}", accepted & (rule == one)) for one in rules]
    if rules == ["broder"] and not np.isnan(b[accepted]).any():
        return rows + [(f"B-similarity {level:.0f}", b == level) for level in np.unique(b[accepted]).tolist()]
    if rules == ["charikar"] and (c[accepted] >= C_RANGES[0][0]).all():
        return rows + [(f"C-similarity {low}–{high}", (c >= low) & (c <= high)) for low, high in C_RANGES]
    cuts = np.unique(np.quantile(score[accepted], [0, 0.25, 0.5, 0.75]))
    for low, high in pairwise([*cuts.tolist(), np.inf]):
        called = f"score ≥ {low:.4g}" if high == np.inf else f"{high:.4g} > score ≥ {low:.4g}"
        rows.append((called, (score >= low) & (score < high)))
    return rows


def _values(values: Sequence[float | None]) -> npt.NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _reasons(sample: _Sample, flags: Flags) -> list[dict[str, Any]]:
    """Tables 3 and 6, or 4 and 7: pairs of the sample with each reason, and the share of all pairs that have it."""
    on_one = flags & sample.same_site
    rows = []
    for reason, has in reason_rows(sample.reason, flags):
        rows.append(
            {
                "reason": reason,
                "pairs": int(has.sum()),
                "share": _rounded(sample.share(has, flags).estimate),
                "same site": int((has & on_one).sum()),
                "share on the same site": _rounded(sample.share(has, on_one).estimate),
            }
        )
    return rows


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
