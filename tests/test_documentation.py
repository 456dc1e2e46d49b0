"""What the documentation says is so: outputs are real, links lead somewhere, the reference is of this version."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import neardup
from neardup.cli.main import VERBS
from neardup.detectors import detectors

ROOT = Path(__file__).parent.parent
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(ROOT.glob("docs/**/*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def tool(name: str, *arguments: str) -> None:
    """Runs a script of tools/ in a process of its own, warnings as errors, and fails with what it says."""
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "tools" / name, *arguments],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def anchor(heading: str) -> str:
    """The name under which a heading can be linked to."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_the_runner_of_transcripts_keeps_its_own_promises() -> None:
    spec = importlib.util.spec_from_file_location("transcripts", ROOT / "tools" / "transcripts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    assert doctest.testmod(module).failed == 0
    with pytest.raises(AssertionError, match="printed"):
        module.rewritten("```console\n$ echo one\ntwo\n```", "a.md", check=True)
    assert module.rewritten("```console\n$ echo one\n```", "a.md", check=False).endswith("one\none\n```")
    with pytest.raises(AssertionError, match="printed"):
        module.rewritten("```python\n>>> 1 + 1\n3\n```", "a.md", check=True)


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_page_shows_is_what_happens(path: Path) -> None:
    if re.search(r"^```(console|python)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        tool("transcripts.py", "--check", str(path))


def test_reference_is_of_this_version() -> None:
    tool("reference.py", "--check")


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in LINK.findall(CODE.sub("", path.read_text(encoding="utf-8"))):
        if target.startswith(("http://", "https://")):
            continue
        file, _, part = target.partition("#")
        found = path if not file else (path.parent / file).resolve()
        assert found.exists(), f"{path.name} links to {target}, which does not exist"
        if part:
            headings = HEADING.findall(CODE.sub("", found.read_text(encoding="utf-8")))
            assert part in map(anchor, headings), f"{path.name} links to {target}: no such heading"


def test_every_page_can_be_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for path in ROOT.glob("docs/**/*.md"):
        name = path.relative_to(ROOT / "docs").as_posix()
        assert name == "index.md" or f"({name})" in index, f"docs/index.md does not link to {name}"


def test_the_readme_opens_with_demo_and_test() -> None:
    commands = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert [line.split("#")[0].strip() for line in commands[0].splitlines()] == ["make demo", "make test"]
    assert [line.split("#")[0].strip() for line in commands[1].splitlines()] == ["pip install .", "make wheel"]


def test_every_verb_and_detector_is_explained_by_hand_too() -> None:
    pages = [path for path in GUIDES if path.parent.name != "reference"]
    written = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    for verb in VERBS:
        assert f"neardup {verb}" in written or f"`{verb}`" in written, f"no guide speaks of `neardup {verb}`"
    for name in detectors():
        assert f"`{name}" in written, f"no guide speaks of the detector {name}"


def test_public_functions_carry_an_example() -> None:
    for name in neardup.__all__:
        value = getattr(neardup, name)
        if inspect.isfunction(value):
            assert ">>>" in (value.__doc__ or ""), f"neardup.{name} has no example"
