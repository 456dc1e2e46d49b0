"""What the documentation says is so: outputs are real, links lead somewhere, the reference is of this version."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import neardup
from neardup.cli.main import VERBS, application
from neardup.methods import detectors

ROOT = Path(__file__).parent.parent
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(ROOT.glob("docs/**/*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = sorted(
    line
    for block in re.findall(
        r"^```bash\n(.*?)^```$", (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    for line in re.sub(r"\\\n\s*", "", block).splitlines()
    if re.search(r"(^|\| )neardup ", line)
)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def tool(name: str, *arguments: str) -> str:
    """Runs a script of tools/ in a process of its own, warnings as errors, and fails with what it says; else that."""
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "tools" / name, *arguments],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def anchor(heading: str) -> str:
    """The name under which a heading can be linked to."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def loaded(name: str, patch: pytest.MonkeyPatch) -> Any:
    """A module of tools/, which imports others there."""
    patch.syspath_prepend(ROOT / "tools")
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0
    return module


def test_the_runner_of_transcripts_keeps_its_own_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    module = loaded("transcripts", monkeypatch)
    with pytest.raises(AssertionError, match="printed"):
        module.rewritten("```console\n$ echo one\ntwo\n```", "a.md", check=True)
    assert module.rewritten("```console\n$ echo one\n```", "a.md", check=False).endswith("one\none\n```")
    with pytest.raises(AssertionError, match="printed"):
        module.rewritten("```python\n>>> 1 + 1\n3\n```", "a.md", check=True)


def test_commands_without_output_are_run_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = loaded("transcripts", monkeypatch)

    def run(text: str) -> str:
        unchanged: str = module.rewritten(text, "a.md", check=True)
        assert unchanged == text
        return capsys.readouterr().out

    # In order, in one folder, with what the page takes for granted.
    setup = "<!-- setup\necho one > a.txt\n-->\n"
    assert run(setup + "```sh\ncp a.txt b.txt   # a copy\n```\n```console\n$ cat b.txt\none\n```") == ""
    for wrong, said in (
        ("```sh\nfalse\n```", "exit code 1"),
        ("```sh\ncat \\\n  nothing\n```", "exit code 1"),
        ("```sh\ntrue\nneardup dedup nothing.jsonl --out x\n```", "no such file"),
        ("<!-- setup\nfalse\n-->", "exit code 1"),
        ("```sh\nneardup serve nothing\n```", "it did not begin"),
    ):
        with pytest.raises(RuntimeError, match=said):
            run(wrong)
    assert run("```sh\npip install something\n```") == "not run, it installs something: pip install something\n"


def test_what_goes_on_until_it_is_stopped_is_there_until_the_page_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module, guides = loaded("transcripts", monkeypatch), loaded("guide_commands", monkeypatch)
    port = free_port()
    serves = f"```sh\nneardup serve seen --port {port}\n```\n"
    asks = f"```sh\ncurl -sf http://127.0.0.1:{port}/health\n```"
    module.rewritten("```sh\nneardup index create seen\n```\n" + serves + asks, "a.md", check=True)
    with pytest.raises(RuntimeError, match=r"exit code 7"):
        module.rewritten(asks, "a.md", check=True)
    stubborn = tmp_path / "stubborn"
    stubborn.write_text("#!/bin/sh\necho http://127.0.0.1:1/\nexec sleep 60\n")
    stubborn.chmod(0o755)
    server = guides.Server(str(stubborn), tmp_path, dict(os.environ))
    server.end()
    failing = guides.Server(f"{stubborn}; exit 3", tmp_path, dict(os.environ))
    os.kill(failing._process.pid, 0)
    failing._kill()
    with pytest.raises(RuntimeError, match="exit code"):
        failing.end()


def test_only_what_cannot_run_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every exception is used, none is of a program that is our own but for want of a cluster or of the web."""
    guides = loaded("guide_commands", monkeypatch)
    blocks = [block for path in GUIDES for block in SHELL.findall(path.read_text(encoding="utf-8"))]
    every = [command for block in blocks for command in guides.commands(block)]
    assert len(every) > 50
    left_out = {command: guides.why_not_run(command) for command in every}
    for pattern in guides.NOT_RUN:
        assert any(re.match(pattern, command) for command in every), f"nothing is left out by {pattern}"
    ours = [command for command in every if "neardup" in command.split()[0] and left_out[command] is not None]
    chromium_is_missing = guides.browser_program() is None
    assert len(ours) == 3 or chromium_is_missing, ours
    for command, reason in left_out.items():
        if reason is not None:
            print(f"not run, {reason}: {command}")


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_the_reference_parse(example: str) -> None:
    """They do not follow one another, so they are not run; their verbs, options and arguments are."""
    words = shlex.split(re.sub(r" +>>? .*$", "", example.split("| ")[-1]), comments=True)
    at, command, context = 1, application, click.Context(application, info_name="neardup")
    assert words[0] == "neardup"
    while isinstance(command, click.Group):
        found = command.get_command(context, words[at])
        assert found is not None, example
        command, at = found, at + 1
    command.make_context(command.name, words[at:], parent=context)


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_page_shows_is_what_happens(path: Path) -> None:
    if re.search(r"^```(console|python|sh)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        print(tool("transcripts.py", "--check", str(path)))


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
