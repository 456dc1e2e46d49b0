"""The tool that writes docs/evaluation.md says what it needs, and what it shows is in the repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_without_data_nothing_is_written() -> None:
    before = (ROOT / "docs" / "evaluation.md").read_bytes()
    environment = {name: value for name, value in os.environ.items() if name != "NEARDUP_DATA"}
    command = [sys.executable, ROOT / "tools" / "evaluation.py"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    assert "NEARDUP_DATA" in done.stderr
    assert (ROOT / "docs" / "evaluation.md").read_bytes() == before


def test_every_plot_is_there_and_small() -> None:
    text = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\(evaluation/([^)]+\.svg)\)", text))
    there = {path.name for path in (ROOT / "docs" / "evaluation").iterdir()}
    assert shown == there
    assert shown, "a page of plots"
    assert sum(path.stat().st_size for path in (ROOT / "docs" / "evaluation").iterdir()) < 400_000
