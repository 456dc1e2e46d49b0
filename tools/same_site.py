"""Measures the detector ``template-aware`` on pages of the same site, and writes ``docs/same-site.md``.

    python tools/same_site.py DATA            # everything
    python tools/same_site.py DATA --small    # without the run among the manuals
    python tools/same_site.py DATA --figures figures.json    # keep the figures; if they are there, only write the page

DATA holds the sets that the page names. Everything is measured through ``neardup.dedup``: what a run would join.
Working files go to a temporary folder. A set that is not there is left out, and the page says so.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import same_site_sets as sets
from same_site_measures import (
    Flags,
    Numbers,
    Pairs,
    best_threshold,
    calibration,
    f1,
    fit_logistic,
    folds,
    interval,
    off,
    rates,
)
from same_site_reading import reading
from same_site_texts import page

from neardup import Settings, dedup, parse
from neardup.methods.content import CALIBRATION, TemplateAware
from neardup.methods.rules import Logistic

ROOT: Final = Path(__file__).parent.parent
DEFAULT: Final = "template-aware"
#: Accepts everything from a similarity of .8 on, so that thresholds can be chosen afterwards.
LOW: Final = f"probability={CALIBRATION.of(np.array([0.8]))[0]:.6f}"
LEAST: Final = TemplateAware().least
CANDIDATES: Final = np.round(np.arange(0.81, 0.995, 0.005), 3)
IDEAS: Final = ("structure", "main", "site", "noise", "title")
EDGES: Final = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)


@dataclass
class Run:
    """A run over some files: the similarity of the pairs that it accepted."""

    report: dict[str, Any]
    identity: dict[str, str]
    #: The first page that counts as the same one, as pairs name it.
    unit: dict[str, str]
    similarity: dict[tuple[str, str], float]
    cluster: dict[str, str]
    seconds: float

    @staticmethod
    def of(files: list[Path], detector: str) -> Run:
        start = time.process_time()
        found = dedup(files, detector=detector, settings=Settings(max_pairs=2000))
        seconds = time.process_time() - start
        pages = found.pages.select(["id", "identity", "site", "cluster"]).to_pydict()
        pairs = found.pairs.select(["a", "b", "score", "jaccard"]).to_pydict()
        alike = pairs["jaccard"] if found.pairs["jaccard"].null_count == 0 else pairs["score"]
        ordered = {(min(a, b), max(a, b)): s for a, b, s in zip(pairs["a"], pairs["b"], alike, strict=True)}
        ids = pages["id"]
        identity = dict(zip(ids, pages["identity"], strict=True))
        by_site = parse(detector).looks_at_sites
        first: dict[tuple[str, str | None], str] = {}
        sites = zip(ids, pages["identity"], pages["site"], strict=True)
        unit = {name: first.setdefault((same, site if by_site else None), name) for name, same, site in sites}
        return Run(found.report, identity, unit, ordered, dict(zip(ids, pages["cluster"], strict=True)), seconds)

    def of_pairs(self, pairs: Pairs) -> Numbers:
        """1 for pages with the same tokens, what was measured for accepted pairs, 0 for all others."""

        def one(a: str, b: str) -> float:
            if self.identity[a] == self.identity[b]:
                return 1.0
            a, b = self.unit[a], self.unit[b]
            return self.similarity.get((min(a, b), max(a, b)), 0.0)

        return np.array([one(a, b) for a, b in zip(pairs.a, pairs.b, strict=True)])

    def joins(self, pairs: Pairs) -> Flags:
        """Whether both are in one cluster."""
        return np.array([self.cluster[a] == self.cluster[b] for a, b in zip(pairs.a, pairs.b, strict=True)])


@dataclass
class Figures:
    """All that was measured, as the page takes it."""

    data: dict[str, Any] = field(default_factory=dict)

    def rates(self, name: str, pairs: Pairs, accepted: Flags) -> None:
        recall, specificity = rates(pairs, accepted)
        self.data[name] = {
            "recall": recall,
            "recall interval": interval(pairs, accepted, True),
            "specificity": specificity,
            "specificity interval": interval(pairs, accepted, False),
            "f1": f1(pairs, accepted),
        }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("data", type=Path)
    asked.add_argument("--small", action="store_true", help="leave out the run among the manuals")
    asked.add_argument("--out", type=Path, default=ROOT / "docs" / "same-site.md")
    asked.add_argument("--figures", type=Path, help="file of figures")
    told = asked.parse_args()
    figures = Figures()
    if told.figures is not None and told.figures.exists():
        figures.data = json.loads(told.figures.read_text(encoding="utf-8"))
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure(told.data, Path(folder), figures, small=told.small)
        if told.figures is not None:
            told.figures.write_text(json.dumps(figures.data, indent=1), encoding="utf-8")
    told.out.write_text(page(figures.data), encoding="utf-8")
    print(f"{told.out} written")


def say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)


def measure(data: Path, work: Path, figures: Figures, *, small: bool) -> None:
    tracked_pages = data / "ota_contrib_html" / "docs.jsonl.zst"
    pairs, siblings = sets.tracked(tracked_pages.parent)
    say("the tracked pages, as they are")
    whole = Run.of([tracked_pages], DEFAULT)
    accepted = whole.of_pairs(pairs) >= LEAST
    figures.data["pairs"] = {
        "same": int(pairs.same.sum()),
        "other": int((~pairs.same).sum()),
        "siblings": len(siblings),
        "documents": len(np.unique(pairs.document)),
        "services": len(np.unique(pairs.service)),
    }
    figures.rates("template-aware", pairs, accepted)
    figures.rates("in one cluster", pairs, whole.joins(pairs))
    say("site-aware and minhash beside it")
    beside = Run.of([tracked_pages], "site-aware")
    figures.rates("site-aware", pairs, beside.of_pairs(pairs) > 0)
    text = Run.of([tracked_pages], "minhash(threshold=0.85)")
    figures.rates("minhash(threshold=0.85)", pairs, text.of_pairs(pairs) > 0)
    say("each idea left out")
    low = Run.of([tracked_pages], f"template-aware({LOW})")
    similarity = low.of_pairs(pairs)
    moved(tracked_pages.parent, pairs, similarity, figures)
    figures.data["reading"] = reading(tracked_pages.parent)
    ablation(tracked_pages, pairs, similarity, figures)
    figures.data["failures"] = failures(pairs, similarity)
    validation(pairs, similarity, figures)
    probabilities(other_sources(data, work, pairs, similarity, figures), figures)
    hard(data, work, pairs, whole, beside, figures)
    times(data, work, figures)
    if not small:
        among_others(data, tracked_pages, pairs, whole, figures)


def moved(folder: Path, pairs: Pairs, similarity: Numbers, figures: Figures) -> None:
    """Positives whose whole pages differ much; and those of them whose two pages agree in the archive's text."""
    at = pairs.same & (pairs.whole < 0.8)
    far, alike = pairs.choose(at), similarity[at]
    found = alike >= LEAST
    agree = sets.agreement(folder, far)
    # The threshold that would accept four fifths of them.
    loose = float(np.sort(alike)[len(far) // 5])
    lags = agree < sets.AGREES
    figures.data["moved"] = {
        "pairs": len(far),
        "found": int(found.sum()),
        "agreeing": int((~lags).sum()),
        "agreeing found": int((found & ~lags).sum()),
        "lagging found": int((found & lags).sum()),
        "missed": _by_document(far, agree, ~found),
        "four fifths from": loose,
        "specificity there": rates(pairs, similarity >= loose)[1],
    }


def _by_document(pairs: Pairs, agree: Numbers, wanted: Flags) -> list[tuple[str, int, float, float]]:
    """(document, pairs, least and most agreement) of some of the pairs."""
    rows = []
    for document in np.unique(pairs.document[wanted]):
        of = agree[wanted & (pairs.document == document)]
        rows.append((str(document), len(of), float(of.min()), float(of.max())))
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def ablation(file: Path, pairs: Pairs, similarity: Numbers, figures: Figures) -> None:
    rows = {"all": _at_both(pairs, similarity)}
    for idea in IDEAS:
        run = Run.of([file], f"template-aware({LOW},{idea}=False)")
        rows[f"without {idea}"] = _at_both(pairs, run.of_pairs(pairs))
    figures.data["ablation"] = rows


def _at_both(pairs: Pairs, similarity: Numbers) -> dict[str, float]:
    """At the default threshold, and at the one that is best for this variant."""
    best = best_threshold(pairs, similarity, CANDIDATES)
    usual, own = rates(pairs, similarity >= LEAST), rates(pairs, similarity >= best)
    far = pairs.same & (pairs.whole < 0.8)
    return {
        "recall": usual[0], "specificity": usual[1], "moved": float((similarity[far] >= LEAST).mean()),
        "best": best, "best recall": own[0], "best specificity": own[1],
    }  # fmt: skip


def failures(pairs: Pairs, similarity: Numbers) -> list[dict[str, Any]]:
    """The documents with most wrong decisions, each with one of its pairs."""
    wrong = (similarity >= LEAST) != pairs.same
    rows = []
    for document in np.unique(pairs.document[wrong]):
        at = np.flatnonzero(wrong & (pairs.document == document))
        one = int(at[len(at) // 2])
        judged = int(((pairs.document == document) & (pairs.same == pairs.same[one])).sum())
        rows.append(
            {"document": str(document), "wrong": len(at), "of": judged, "a": pairs.a[one], "b": pairs.b[one],
             "same": bool(pairs.same[one]), "similarity": float(similarity[one]), "whole": float(pairs.whole[one])}
        )  # fmt: skip
    return sorted(rows, key=lambda row: (-row["wrong"] / row["of"], row["document"]))


def validation(pairs: Pairs, similarity: Numbers, figures: Figures) -> None:
    """The threshold chosen on other services."""
    say("cross-validation by service")
    fold = folds(pairs)
    accepted = np.zeros(len(pairs), bool)
    chosen = []
    for held_out in range(fold.max() + 1):
        rest, inside = pairs.choose(fold != held_out), fold == held_out
        least = best_threshold(rest, similarity[fold != held_out], CANDIDATES)
        accepted[inside] = similarity[inside] >= least
        chosen.append(least)
    figures.rates("cross-validated", pairs, accepted)
    figures.data["chosen thresholds"] = chosen


Sources = dict[str, tuple[Pairs, Numbers]]


def other_sources(data: Path, work: Path, pairs: Pairs, similarity: Numbers, figures: Figures) -> Sources:
    """A threshold tuned on the other sources, applied to each, against the one tuned on itself."""
    say("other sources and languages")
    sources = {"tracked pages": (pairs, similarity)}
    for name in sets.REVISIONS:
        file = data / name / "versions.jsonl.zst"
        if file.exists():
            out = work / f"{name}.jsonl"
            made = sets.revisions(file, out)
            sources[name] = (made, Run.of([out], f"template-aware({LOW})").of_pairs(made))
    rows = {}
    for name, (own, alike) in sources.items():
        thresholds = [best_threshold(*of, CANDIDATES) for other, of in sources.items() if other != name]
        tuned = float(np.median(thresholds)) if thresholds else LEAST
        best = best_threshold(own, alike, CANDIDATES)
        rows[name] = {
            "same": int(own.same.sum()), "other": int((~own.same).sum()), "tuned": tuned, "best": best,
            "tuned rates": rates(own, alike >= tuned), "best rates": rates(own, alike >= best),
            "default rates": rates(own, alike >= LEAST),
        }  # fmt: skip
    figures.data["sources"] = rows
    return sources


def probabilities(sources: Sources, figures: Figures) -> None:
    """The curve fitted to the tracked pages, and to four fifths of their services in turn; what the one in use says of
    every source and language."""
    say("the calibration")
    pairs, similarity = sources["tracked pages"]
    middle, steepness, lapse = fit_logistic(pairs, similarity)
    fold = folds(pairs)
    held_out, curves = np.zeros(len(pairs)), []
    for number in range(fold.max() + 1):
        inside, rest = fold == number, fold != number
        curve = fit_logistic(pairs.choose(rest), similarity[rest])
        curves.append(curve[:2])
        held_out[inside] = Logistic(*curve[:2]).of(similarity[inside])
    figures.data["fit"] = {
        "middle": middle, "steepness": steepness, "lapse": lapse, "folds": curves,
        "in use": [CALIBRATION.middle, CALIBRATION.steepness],
    }  # fmt: skip
    figures.data["calibration held out"] = calibration(pairs, held_out, EDGES)
    figures.data["off held out"] = off(pairs, held_out, EDGES)
    figures.data["calibration in use"] = calibration(pairs, CALIBRATION.of(similarity), EDGES)
    figures.data["calibration by source"] = [
        row for name, (of, alike) in sources.items() for row in _by_language(name, of, CALIBRATION.of(alike))
    ]


def _by_language(name: str, pairs: Pairs, probability: Numbers) -> list[dict[str, Any]]:
    """How the probabilities hold, for each language of a source."""
    languages = np.array([sets.language(str(document)) for document in pairs.document])
    if name == "tracked pages":
        languages = np.full(len(pairs), "mostly en")
    low, high = Logistic.undecided
    rows = []
    for language in np.unique(languages):
        at = languages == language
        of, told = pairs.choose(at), probability[at]
        rows.append(
            {"source": name, "language": str(language), "pairs": len(of), "off": off(of, told, EDGES),
             "undecided": int(((told >= low) & (told < high)).sum()),
             "surely same": _share(of.same, told >= high), "surely other": _share(of.same, told < low)}
        )  # fmt: skip
    return rows


def _share(same: Flags, among: Flags) -> tuple[int, int]:
    """How many there are, and how many of these have the same content."""
    return int(among.sum()), int((same & among).sum())


def hard(data: Path, work: Path, pairs: Pairs, whole: Run, of_site_aware: Run, figures: Figures) -> None:
    """Pages of one site that share their template and are about something else."""
    say("hard pairs of one site")
    rows: dict[str, Any] = {}
    tracked = pairs.choose(_siblings(pairs))
    rows["tracked pages: different documents of one service"] = (
        int((whole.of_pairs(tracked) >= LEAST).sum()),
        len(tracked),
    )
    for family, version, share in (("openjdk", "21", 25), ("php-doc", "", 60)):
        file = data / "debian_docs_en" / f"{family}.jsonl.zst"
        if not file.exists():
            continue
        out = work / f"{family}.jsonl"
        keys = sets.manual_pages(file, out, version, share)
        about: Callable[[str], str] = sets.item if family == "php-doc" else str
        alike = [
            (a, b) for a, b in Run.of([out], "minhash(threshold=0.7)").similarity if about(keys[a]) != about(keys[b])
        ]
        found = Run.of([out], DEFAULT).similarity
        rows[f"{family}: pages whose whole text is alike from .7 on"] = (
            sum(pair in found for pair in alike),
            len(alike),
        )
    rows |= petclinic(data, work)
    out = work / "generated.jsonl"
    items, copies = sets.generated(out)
    run, beside = Run.of([out], DEFAULT), Run.of([out], "site-aware")
    rows["generated: Henzinger's three databases"] = (int((run.of_pairs(items) > 0).sum()), len(items))
    figures.data["hard"] = rows
    real = sets.mirrors(data / "ota_contrib_html")
    figures.data["mirrors"] = {
        "pairs": len(real),
        "template-aware": int((whole.of_pairs(real) >= LEAST).sum()),
        "site-aware": int((of_site_aware.of_pairs(real) > 0).sum()),
    }
    figures.data["across sites"] = {
        "pairs": len(copies),
        "template-aware": int((run.of_pairs(copies) > 0).sum()),
        "site-aware": int((beside.of_pairs(copies) > 0).sum()),
    }


def _siblings(pairs: Pairs) -> Flags:
    """Pairs of different documents: their ids name them."""
    return np.array([a.rsplit("@", 1)[0] != b.rsplit("@", 1)[0] for a, b in zip(pairs.a, pairs.b, strict=True)])


def petclinic(data: Path, work: Path) -> dict[str, tuple[int, int]]:
    """States of one application: pages of one kind (by the authors' label, near-duplicates) about another owner or pet,
    whose whole text is alike from .3 to .9. States about the same pet are no such pairs: only a date differs there."""
    folder = data / "ndstudy_petclinic"
    if not folder.exists():
        return {}
    rows = list(sets.lines(folder / "docs.jsonl"))
    out = sets.write(work / "petclinic.jsonl", rows)
    text = Run.of([out], "minhash(threshold=0.3,k=5)")
    about = {row["id"]: sets.pet(row["url"]) for row in rows}
    labels = {(pair["a"], pair["b"]): pair["label"] for pair in sets.lines(folder / "pairs.jsonl")}
    found = Run.of([out], DEFAULT).similarity
    others = [
        (min(pair), max(pair))
        for pair, label in labels.items()
        if label == 1
        and about[pair[0]] != about[pair[1]]
        and 0.3 <= text.similarity.get((min(pair), max(pair)), 0) < 0.9
    ]
    return {
        "petclinic: the same kind of page, another owner or pet": (sum(pair in found for pair in others), len(others))
    }


def times(data: Path, work: Path, figures: Figures) -> None:
    """CPU seconds of both detectors over the same pages, alternating."""
    say("time against site-aware")
    family = data / "debian_docs_en" / "libboost.jsonl.zst"
    if family.exists():
        seconds: dict[str, list[float]] = {"site-aware": [], DEFAULT: []}
        for _ in range(3):
            for detector, taken in seconds.items():
                taken.append(Run.of([family], detector).seconds)
        figures.data["seconds"] = seconds
        figures.data["timed pages"] = sum(1 for _ in sets.lines(family))


def among_others(data: Path, file: Path, pairs: Pairs, alone: Run, figures: Figures) -> None:
    """The same pages in one run with all manuals: do the decisions stay?"""
    say("among the manuals")
    manuals = sorted((data / "debian_docs_en").glob("*.jsonl.zst"))
    if manuals:
        run = Run.of([file, *manuals], DEFAULT)
        before, now = alone.of_pairs(pairs) >= LEAST, run.of_pairs(pairs) >= LEAST
        figures.data["among others"] = {
            "pages": len(run.identity),
            "pairs": len(pairs),
            "changed": int((before != now).sum()),
            "seconds": run.seconds,
            "peak": run.report.get("peak_memory") or max(stage["peak_memory"] or 0 for stage in run.report["stages"]),
        }


if __name__ == "__main__":
    main()
