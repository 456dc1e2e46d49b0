"""``neardup VERB …``: finds the verb's module, runs it, and turns errors into a line and an exit code.

Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 interrupted.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any, Final, NoReturn

import click

from neardup.cli.options import WORDS
from neardup.errors import NeardupError, UsageError
from neardup.version import VERSION

#: The signals that asked the program to end.
_asked_to_end: list[int] = []
#: Verbs that go on until they are asked to end.
_ENDLESS: Final = frozenset({"serve", "ui"})

#: Hints that state something instead of telling what to try.
_STATEMENTS = ("one of", "there are", "known:", "it has", "it holds", "is it", *"123456789")

#: Verbs in the order in which ``--help`` teaches them.
VERBS = (
    "dedup", "show", "report", "explain", "ui", "judge", "certify", "compare", "tokens", "detectors", "plan",
    "statistics", "evaluate", "study", "idf", "signals", "train", "classify", "searcheval", "render", "index",
    "serve", "estimate", "demo", "testing", "completion",
)  # fmt: skip


class Verbs(click.Group):
    """Imports a verb's module only when that verb is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"neardup.cli.{name}").command
        return command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], VERBS, 1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", context) from None

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        # For what says how it was made; the words are used up in parsing.
        context.meta[WORDS] = list(args)
        return super().parse_args(context, args)

    def invoke(self, context: click.Context) -> Any:
        try:
            result = super().invoke(context)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader (head, less) has gone; that is no failure, though click would exit with 1.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return result


@click.command(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`neardup VERB --help` tells more of each. Start with `neardup demo`.",
)
@click.version_option(VERSION, prog_name="neardup", message="%(prog)s %(version)s")
@click.option("--traceback", is_flag=True, help="Show where in the program an unexpected error arose.")
def application(**_: Any) -> None:
    """Find near-duplicate web pages and documents, see why, and keep the right one.

    \b
      neardup dedup crawl.warc.gz --out result     find duplicates, decide what stays
      neardup show result                          what was found
      neardup explain URL1 URL2 --run result       two of its pages side by side
      neardup compare a.html b.html                how alike two pages are
    """


def main() -> None:
    """The program."""
    # Importing makes very many objects that stay; the collector need not look through them again and again.
    gc.set_threshold(50_000)
    _prepare_streams()
    _end_in_order()
    try:
        code = application.main(prog_name="neardup", standalone_mode=False)
    except BaseException as error:
        # Whatever breaks because the program ends is no error.
        if _asked_to_end:
            # What serves until it is asked to end has done what it should.
            if _verb(sys.argv[1:])[0] not in _ENDLESS:
                with suppress(OSError):  # a terminal that has closed
                    click.echo(f"asked to end; {_left(sys.argv[1:])}", err=True)
            sys.exit(128 + _asked_to_end[0])
        _end_by(error)
    sys.exit(code if isinstance(code, int) else 0)


def _end_by(failure: BaseException) -> NoReturn:
    """Says what ended the program, and ends it with the exit code for that."""
    try:
        raise failure
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except NeardupError as error:
        _complain(error)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except (KeyboardInterrupt, click.Abort):
        click.echo(f"interrupted; {_left(sys.argv[1:])}", err=True)
        sys.exit(130)
    except MemoryError:
        click.echo("neardup: out of memory", err=True)
        sys.exit(1)
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        click.echo(f"neardup: {error.strerror or error}{place}", err=True)
        _forget_output()
        sys.exit(1)
    except BaseException as error:  # a panic in the core is no Exception
        if isinstance(error, SystemExit) or "--traceback" in sys.argv[1:]:
            raise
        click.echo(f"neardup: unexpected {type(error).__name__}: {error}", err=True)
        click.echo("  this is a fault in neardup; `neardup --traceback VERB …` shows where it arose", err=True)
        sys.exit(1)


def _verb(words: list[str]) -> tuple[str, str]:
    """The verb of a command line and the word behind it.

    >>> _verb(["--traceback", "index", "add", "seen"])
    ('index', 'add')
    """
    verb, behind, *_ = [*(word for word in words if not word.startswith("-")), "", ""]
    return verb, behind


def _left(words: list[str]) -> str:
    """What a verb that was interrupted leaves behind.

    >>> _left(["--traceback", "index", "add", "seen", "crawl.warc.gz"])
    'the index is whole, and what was added or removed so far stays'
    """
    verb, behind = _verb(words)
    if verb == "index" and behind != "build":
        return "the index is whole, and what was added or removed so far stays"
    return "nothing was left under the final names"


class _WithoutPandas:
    """Says that pandas is not there.

    pyarrow asks pandas, where that is installed, about the values it is given, and importing it for that takes about a
    third of the time of a start; nothing in this process speaks pandas, unless Spark is asked for.
    """

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("not needed here", name=name)


def with_pandas() -> None:
    """Lets pandas be imported after all: Spark's mapInArrow asks for it."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _WithoutPandas)]


def program() -> NoReturn:
    """The program as a process of its own: ends at once, with everything said.

    Libraries that hold threads of their own may trip over them while an interpreter is taken down, and then a run
    that went well would end with an abort; by now nothing is left that needs taking down.
    """
    sys.meta_path.insert(0, _WithoutPandas())
    code: int | str | None = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _complain(error: NeardupError) -> None:
    place = f" ({error.where})" if error.where else ""
    click.echo(f"neardup: {error.what}{place}", err=True)
    if error.hint:
        click.echo(f"  {error.hint}" if error.hint.startswith(_STATEMENTS) else f"  try: {error.hint}", err=True)


def _prepare_streams() -> None:
    """Makes standard streams that were closed read and write nothing, and others never fail over a character."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  (it lives as long as the program)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        else:
            stream.reconfigure(errors="backslashreplace")


def _forget_output() -> None:
    """Drops what standard output still holds if it cannot take it, or Python would complain once more at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end_in_order() -> None:
    """Lets a request to end, or a terminal that closes, unwind the run: half-written folders go."""

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        _asked_to_end.append(number)
        if (logs := sys.modules.get("logging")) is not None:
            # What talks to Spark's machine logs that its connection broke.
            logs.getLogger("py4j").setLevel(logs.CRITICAL + 1)
        sys.exit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # Whoever started us may have asked that a signal be ignored (nohup): so it stays.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, leave)
