"""Text JSONL → clusters, end to end as a user types it, ours against the peers; each answer checked.

Ours verifies every pair exactly and writes Parquet; a peer writes its clusters as plain numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks import quality, venvs
from benchmarks.corpus import Corpora
from benchmarks.places import BENCHMARKS, Places
from benchmarks.plan import FASTEST, MINHASH, Plan
from benchmarks.sections import Claim, Section, number
from benchmarks.timing import Run, Summary, alternate, measure

_SLOW: Final = ("text-dedup", "datatrove")
_COLUMNS: Final = (
    "side", "MB/s", "seconds (median)", "range", "CPU s", "peak MB", "recall J ≥ .8", "precision", "counted on",
)  # fmt: skip


def report(places: Places, plan: Plan, corpora: Corpora) -> list[Section]:
    """The small file with every peer, all answers checked; then the larger ones with the fast peers, ours checked."""
    asked = 8.0
    sections = [_compare(places, plan, corpora.small, asked, plan.peers, judged=plan.name == "full", all_checked=True)]
    for file, peers in ((corpora.large, plan.peers), (corpora.larger, FASTEST)):
        if file is not None:
            sections.append(_compare(places, plan, file, 15.0, peers, judged=True, all_checked=False))
    return sections


def our_command(places: Places, file: Path, answer: Path, detector: str) -> list[str | Path]:
    """The command a user types."""
    return [
        places.neardup, "dedup", file, "--out", answer, "--detector", detector, "--quiet", "--overwrite",
    ]  # fmt: skip


def _compare(
    places: Places, plan: Plan, file: Path, asked: float, peers: tuple[str, ...], *, judged: bool, all_checked: bool
) -> Section:
    size = file.stat().st_size
    with open(file, "rb") as content:
        pages = sum(block.count(b"\n") for block in iter(lambda: content.read(1 << 22), b""))
    section = Section(f"Text JSONL → clusters, {size / 1e6:,.0f} MB, {pages:,} pages", _COLUMNS)
    print(section.title, flush=True)
    ours = partial(
        measure, our_command(places, file, places.answer("ours"), MINHASH), places.log("ours"), limit_seconds=1800
    )
    sides: dict[str, Callable[[], Run]] = {"ours": ours}
    troubles: dict[str, str] = {}
    slow: dict[str, Callable[[], Run]] = {}
    for name in (*peers, *(_SLOW if all_checked and plan.slow_peers else ())):
        environment = venvs.prepare(places, name)
        if environment.trouble:
            troubles[name] = environment.trouble
            continue
        script = BENCHMARKS / "peers" / f"run_{name.replace('-', '_')}.py"
        what = "pairs" if all_checked else "clusters"
        command: list[str | Path] = [environment.python, script, file, places.answer(name), what]
        (slow if name in _SLOW else sides)[name] = partial(measure, command, places.log(name), limit_seconds=1800)
    summaries = alternate(sides, plan.rounds) | alternate(slow, 1)
    judgements = _judge(places, file, summaries, all_checked)
    for name, summary in summaries.items():
        if summary.trouble:
            troubles[name] = places.public(summary.trouble)
            continue
        told = judgements.get(name)
        judged_cells = [f"{told.recall:.4f}", f"{told.precision:.4f}", told.counted_on] if told else ["–", "–", "–"]
        section.rows.append([name, *_cells(summary, size), *judged_cells])
    for name, trouble in troubles.items():
        section.rows.append([name, "–", trouble, *["–"] * (len(_COLUMNS) - 3)])
    section.notes = _notes(plan, all_checked)
    section.claims = _claims(summaries, judgements, size, asked, judged)
    section.data = {
        "bytes": size,
        "pages": pages,
        "runs": {name: summary.record() for name, summary in summaries.items()},
        "quality": {name: vars(told) for name, told in judgements.items()},
        "troubles": troubles,
    }
    return section


def _cells(summary: Summary, size: int) -> list[str]:
    return [
        number(size / 1e6 / summary.median()),
        f"{summary.median():.2f}",
        summary.spread(),
        f"{summary.median('cpu_seconds'):.2f}",
        f"{summary.median('peak_bytes') / 1e6:,.0f}",
    ]


def _judge(places: Places, file: Path, summaries: dict[str, Summary], peers_too: bool) -> dict[str, quality.Quality]:
    good = [name for name, summary in summaries.items() if not summary.trouble]
    told = {}
    if "ours" in good:
        told["ours"] = quality.of_result(quality.exact(places, file, ours=True), places.answer("ours"))
    peers = [name for name in good if name != "ours"]
    if peers and peers_too:
        truth = quality.exact(places, file, ours=False)
        told |= {name: quality.of_peer(truth, places.answer(name)) for name in peers}
    return told


def _claims(
    summaries: dict[str, Summary],
    judgements: dict[str, quality.Quality],
    size: int,
    asked: float,
    judged: bool,
) -> list[Claim]:
    ours = summaries["ours"]
    peers = {name: side for name, side in summaries.items() if name != "ours" and not side.trouble}
    what = f"text → clusters, {size / 1e6:,.0f} MB: "
    if ours.trouble or not peers:
        return [Claim(what + "no comparison", asked, None, judged=judged)]
    fastest = min(peers, key=lambda name: peers[name].median())
    claims = [Claim(f"{what}{fastest} ÷ ours, wall", asked, peers[fastest].median() / ours.median(), judged=judged)]
    rensa = peers.get("rensa")
    cpu = rensa.median("cpu_seconds") / ours.median("cpu_seconds") if rensa else None
    claims.append(Claim(f"{what}rensa ÷ ours, CPU", 6.0, cpu, judged=judged))
    if "ours" in judgements:
        told = judgements["ours"]
        claims.append(Claim(f"{what}recall of pairs J ≥ .8", 0.99, told.recall, unit=""))
        claims.append(Claim(f"{what}precision", 1.0, told.precision, unit=""))
    return claims


def _notes(plan: Plan, all_checked: bool) -> list[str]:
    notes = [
        f"Ours: `neardup dedup FILE --out DIR --detector '{MINHASH}' --quiet --overwrite`. Peers: 5-word shingles, 128 "
        f"functions, 16 bands of 8. Median of {plan.rounds}, in turns; start-up and writing included."
    ]
    if not all_checked:
        return [*notes, "Ours is checked against all pairs, recomputed exactly; peers on the smallest file only."]
    notes.append(
        "Recall and precision against all pairs of Jaccard similarity ≥ .8, recomputed exactly: ours on our tokens, "
        "peers on words between white space. Where a peer gives a list of what stays, recall is the share of true "
        "pairs that do not both stay, precision the share of removed documents with a true partner."
    )
    if plan.slow_peers:
        notes.append("text-dedup and datatrove take minutes and ran once.")
    else:
        notes.append("text-dedup and datatrove take minutes and are left to the full run.")
    return notes
