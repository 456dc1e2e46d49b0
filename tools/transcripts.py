"""Runs what the documentation shows, so that what it shows is real.

Of each Markdown file the ``console``, ``python`` and ``sh`` blocks are run in order, in an empty folder of their own.
In a ``console`` block a line ``$ command`` is given to bash, and what it prints to standard output is compared with
the lines below it. A ``python`` block is run as it is, or as a doctest if it has prompts; all of a file share their
names. The commands of a ``sh`` block must end well (``guide_commands.py`` says more);
those of a ``bash`` block are examples that do not follow one another, and are not run. Seconds and megabytes, which
differ every time, are masked on both sides.

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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from guide_commands import Server, as_run, commands, serves, why_not_run

FENCE: Final = re.compile(
    r"^```(?P<language>console|python|sh)\n(?P<block>.*?)^```$|^<!-- setup\n(?P<setup>.*?)^-->$",
    re.MULTILINE | re.DOTALL,
)
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


def environment() -> dict[str, str]:
    """What commands find around them; ``REPOSITORY`` is where the examples are."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {
        "PATH": path, "COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8",
        "REPOSITORY": str(Path(__file__).resolve().parent.parent),
    }  # fmt: skip


def run(command: str, folder: Path) -> str:
    """What a command prints to standard output; one that fails is an error."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise RuntimeError(f"$ {command}\n{done.stdout}{done.stderr}(exit code {done.returncode})")
    return "".join(line.rstrip() + "\n" for line in done.stdout.strip("\n").splitlines())


class Shell:
    """Runs the commands of ``sh`` blocks of one page."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Server | None = None

    def run(self, block: str) -> None:
        """All commands of a block, in order; those that cannot run are named."""
        for command in commands(block):
            reason = why_not_run(command)
            if reason is not None:
                print(f"not run, {reason}: {command}")
            elif serves(command):
                self.end()
                self._server = Server(command, self._folder, environment())
            else:
                run(as_run(command), self._folder)

    def end(self) -> None:
        """Ends what is still going on."""
        server, self._server = self._server, None
        if server is not None:
            server.end()


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
        shell = Shell(folder)

        def renew(match: re.Match[str]) -> str:
            language, block = match["language"], match["block"]
            if language is None:
                run(match["setup"], folder)
                return match[0]
            if language == "sh":
                shell.run(block)
                return match[0]
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
            made = FENCE.sub(renew, text)
            shell.end()
            return made
        finally:
            with suppress(RuntimeError):
                shell.end()
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
