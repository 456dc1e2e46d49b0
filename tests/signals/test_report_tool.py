"""The tool that writes docs/many-signals.md, on a web so small that its numbers mean nothing: every part is there.

What the browser would show is given, for the tool takes what it finds in its folder; tests of rendering have a browser.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

from neardup.testing import search_web

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "many_signals.py"


def test_one_command_writes_the_page(tmp_path: Path) -> None:
    work, docs = tmp_path / "work", tmp_path / "docs"
    docs.mkdir()
    for half, seed, templates in (("train", 1, "classic"), ("test", 2, "modern")):
        web = search_web(seed=seed, queries=4, templates=templates)
        (work / half).mkdir(parents=True)
        web.write(work / half)
        with gzip.open(work / f"{half}.rendered.jsonl.gz", "wt", encoding="utf-8") as file:
            for page in web.pages:
                file.write(json.dumps({"id": page.id, "url": page.url, "html": page.shown}) + "\n")
    done = subprocess.run(
        [sys.executable, TOOL, "--work", work, "--docs", docs, "--seeds", "1", "--quick", "--processes", "1"],
        capture_output=True, text=True, env={"PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = (docs / "many-signals.md").read_text(encoding="utf-8")
    for part in ("Learned on one web", "Table 2", "Table 3", "Table 4", "Table 5", "Search evaluation", "Real pages"):
        assert part in text, part
    assert "420 pairs of 4 queries" in text
    assert {path.name for path in (docs / "many-signals").iterdir()} == {"figure-1.svg", "figure-2.svg"}
    assert "left out, for it is not there: ota" in done.stderr


def test_the_page_in_the_documentation_holds_what_was_asked() -> None:
    """On the half that was held out each group improves on the one before, F+R+RS reaches 90; nine seeds."""
    text = (ROOT / "docs" / "many-signals.md").read_text(encoding="utf-8")
    table = text.split("## Learned on one web, tested on another")[1].split("\n\n")[2]
    means = {row.split(" | ")[0].strip("| "): float(row.split("**")[1]) for row in table.splitlines()[2:]}
    assert means["F"] < means["F+R"] < means["F+R+RS"] < means["F+R+RS+O+RO"]
    assert means["F+R+RS"] >= 90
    assert "; 9 seeds" in text
    for plot in (ROOT / "docs" / "many-signals").iterdir():
        assert f"many-signals/{plot.name}" in text
