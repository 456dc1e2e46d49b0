"""Runs what the documentation shows, so that what it shows is real.

Of each Markdown file the ``console`` and ``python`` blocks are run in order, in an empty folder of their own. In a
``console`` block a line ``$ command`` is given to bash, and what it prints to standard output is compared with the
lines below it. A ``python`` block is run as it is, or as a doctest if it has prompts; all of a file share their names.
Seconds and megabytes, which differ every time, are masked on both sides. Other blocks (``sh``) are not run.

    python tools/transcripts.py README.md docs/tutorial.md     write the commands' present output into the files
    python tools/transcripts.py --check README.md              fail where the output is another
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FENCE: Final = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: A row of the table of stages: seconds and peak memory.
STAGE: Final = re.compile(r"^ *\d+\.\d\d +(?:[\d,]+|\?)  (?=\w+$)", re.MULTILINE)
WIDTH: Final = "100"


@dataclass(frozen=True)
class Step:
    """A command and the output that is shown below it."""

    command: str
    shown: str


def steps(block: str) -> list[Step]:
    r"""The commands of a console block.

    >>> steps("$ echo one\none\n$ true\n")
    [Step(command='echo one', shown='one\n'), Step(command='true', shown='')]
    """
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError(f"output before the first command: {parts[0]!r}")
    return [Step(*part.partition("\n")[::2]) for part in parts[1:]]


def masked(output: str) -> str:
    """Output without what differs every time: seconds, memory, spaces at the ends of lines.

    >>> masked("seconds  peak MB  stage  ")
    'seconds  peak MB  stage'
    >>> masked("   0.22      162  reading") == masked("   1.97    1,204  reading")
    True
    """
    lines = "\n".join(line.rstrip() for line in output.strip("\n").splitlines())
    return STAGE.sub("0.00 0 ", lines)


def run(command: str, folder: Path) -> str:
    """What a command prints to standard output; one that fails is an error."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    environment["PYTHONIOENCODING"] = "utf-8"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise RuntimeError(f"$ {command}\n{done.stdout}{done.stderr}(exit code {done.returncode})")
    return "".join(line.rstrip() + "\n" for line in done.stdout.strip("\n").splitlines())


class Runner(doctest.DocTestRunner):
    """Runs examples and remembers what those printed that were to print something else."""

    def __init__(self) -> None:
        super().__init__(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
        self.printed: list[tuple[doctest.Example, str]] = []
        self.raised: list[str] = []

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        self.printed.append((example, got))

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        self.raised.append(f">>> {example.source}{exc_info[0].__name__}: {exc_info[1]}")


def run_python(source: str, names: dict[str, Any], where: str, check: bool) -> str:
    """Runs a block of Python with the names that earlier blocks left, and gives it back with its present output."""
    if ">>>" not in source:
        exec(compile(source, where, "exec"), names)
        return source
    test = doctest.DocTestParser().get_doctest(source, names, where, where, 0)
    # The examples see the same names as plain blocks, functions defined there included.
    test.globs = names
    runner = Runner()
    runner.run(test, clear_globs=False)
    if runner.raised:
        raise AssertionError("\n".join(runner.raised))
    lines = source.splitlines(keepends=True)
    for example, got in reversed(runner.printed):
        if check:
            raise AssertionError(f">>> {example.source}shown:\n{example.want}\nprinted:\n{got}")
        start = example.lineno + example.source.count("\n")
        lines[start : start + example.want.count("\n")] = got.splitlines(keepends=True)
    return "".join(lines)


def rewritten(text: str, name: str, check: bool) -> str:
    """The text of a file with the commands' present output; unchanged where only masked parts differ."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, before = Path(scratch), Path.cwd()
        os.chdir(folder)
        names: dict[str, Any] = {"__name__": "__main__"}

        def renew(match: re.Match[str]) -> str:
            language, block = match[1], match[2]
            if language == "python":
                return f"```python\n{run_python(block, names, name, check)}```"
            lines = ""
            for step in steps(block):
                output = run(step.command, folder)
                same = masked(output) == masked(step.shown)
                if check and not same:
                    raise AssertionError(f"$ {step.command}\nshown:\n{step.shown}\nprinted:\n{output}")
                lines += f"$ {step.command}\n{step.shown if same else output}"
            return f"```console\n{lines}```"

        try:
            return FENCE.sub(renew, text)
        finally:
            os.chdir(before)


def main() -> None:
    check = "--check" in sys.argv[1:]
    paths = [Path(name).resolve() for name in sys.argv[1:] if name != "--check"]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        try:
            new = rewritten(text, path.name, check)
        except Exception as error:
            sys.exit(f"{path.name}: what it shows is not what happens (`make reference` renews outputs)\n{error}")
        if new != text:
            path.write_text(new, encoding="utf-8")
            print("written:", path.name)


if __name__ == "__main__":
    main()
