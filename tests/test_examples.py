"""The examples run, without warnings, and say what they are there to say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"

#: A line that each example must print.
SAYS = {
    "crawl_and_skip_repeats.py": "150  pages in the index, also after a second visit of 150",
    "compare_two_pages.py": "exact             different",
    "dedup_in_python.py": "200 pages, ",
    "own_detector.py": "kept: ['memory#0', 'memory#2']",
}


def test_every_example_is_run() -> None:
    assert {path.name for path in FOLDER.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_example_runs(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", FOLDER / name],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    assert SAYS[name] in done.stdout


def test_comparing_two_files(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_text("<p>" + " ".join(f"word{number}" for number in range(50)))
    command = [sys.executable, str(FOLDER / "compare_two_pages.py"), "a.html", "b.html"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=tmp_path)
    assert "exact             duplicates" in done.stdout, done.stderr
