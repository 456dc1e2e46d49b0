"""One thread, pages in memory: HTML → tokens against selectolax, and the rate of Alg. B + Alg. C fingerprints."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import venvs
from benchmarks.corpus import Corpora
from benchmarks.places import BENCHMARKS, Places
from benchmarks.plan import Plan
from benchmarks.sections import Claim, Section, number


def report(places: Places, plan: Plan, corpora: Corpora) -> list[Section]:
    """The two tables."""
    return [_html(places, plan, corpora), _fingerprints(plan, corpora)]


def one_pass(command: Sequence[str | Path]) -> dict[str, Any]:
    """What a pass printed: bytes and seconds."""
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _html(places: Places, plan: Plan, corpora: Corpora) -> Section:
    section = Section("HTML → tokens, one thread", ("side", "MB/s of HTML", "range", "MB"))
    print(section.title, flush=True)
    size = str(plan.html_bytes)
    commands: dict[str, list[str | Path]] = {
        "ours, tokens": [sys.executable, BENCHMARKS / "ours_passes.py", "html", corpora.html, size]
    }
    environment = venvs.prepare(places, "pages")
    if environment.trouble:
        section.rows.append(["selectolax", "–", environment.trouble, "–"])
    else:
        script = BENCHMARKS / "peers" / "pass_selectolax.py"
        commands["selectolax, body.text"] = [environment.python, script, corpora.html, size]
    rates = _alternate(section, commands, plan.rounds)
    peer = rates.get("selectolax, body.text")
    section.claims.append(
        Claim(
            "HTML → tokens ÷ selectolax body.text",
            5.0,
            rates["ours, tokens"] / peer if peer else None,
            judged=plan.name == "full",
        )
    )
    section.notes.append("Pages are in memory; bytes of HTML in UTF-8. Ours decodes, reads, splits and hashes.")
    return section


def _fingerprints(plan: Plan, corpora: Corpora) -> Section:
    section = Section("Alg. B + Alg. C fingerprints, one thread", ("text", "MB/s", "range", "MB"))
    print(section.title, flush=True)
    script, size = BENCHMARKS / "ours_passes.py", str(plan.html_bytes)
    rates = _alternate(
        section,
        {
            "English": [sys.executable, script, "fingerprints", corpora.texts, size],
            "Chinese, Japanese, Korean": [sys.executable, script, "fingerprints", corpora.cjk, size],
        },
        plan.rounds,
    )
    section.claims.append(
        Claim(
            "Alg. B + Alg. C of English text, tokenising included",
            250.0,
            rates["English"],
            unit=" MB/s",
            judged=plan.name == "full",
        )
    )
    section.notes.append("Tokenising, 6 supershingles of 84 minima over 8-token shingles, and 384 projection bits.")
    return section


def _alternate(section: Section, commands: dict[str, list[str | Path]], rounds: int) -> dict[str, float]:
    """Median rates in MB/s; rows and raw numbers go to the section."""
    passes: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
    for turn in range(rounds):
        for name in list(commands) if turn % 2 == 0 else list(reversed(commands)):
            passes[name].append(one_pass(commands[name]))
    medians = {}
    for name, done in passes.items():
        rates = [one["bytes"] / 1e6 / one["seconds"] for one in done]
        medians[name] = statistics.median(rates)
        section.rows.append(
            [
                name,
                number(medians[name]),
                f"{number(min(rates))}–{number(max(rates))}",
                number(done[0]["bytes"] / 1e6),
            ]
        )
    section.data = {"passes": passes}
    return medians
