"""``neardup VERB …``: finds the verb's module, runs it, and turns errors into a line and an exit code.

Exit codes: 0 done, 1 the run failed, 2 bad usage, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from neardup.errors import NeardupError, UsageError
from neardup.version import VERSION

#: Verbs in the order in which ``--help`` teaches them.
VERBS = ("dedup", "show", "compare", "tokens", "detectors", "plan", "demo", "completion")


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


@click.command(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`neardup VERB --help` tells more of each. Start with `neardup demo`.",
)
@click.version_option(VERSION, prog_name="neardup", message="%(prog)s %(version)s")
def application(**_: Any) -> None:
    """Find near-duplicate web pages and documents, see why, and keep the right one.

    \b
      neardup dedup crawl.warc.gz --out result     find duplicates, decide what stays
      neardup show result                          what was found
      neardup compare a.html b.html                how alike two pages are
    """


def main() -> None:
    """The program."""
    try:
        code = application.main(prog_name="neardup", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except NeardupError as error:
        _complain(error)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; nothing was left under the final names", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader (head, less) has gone; that is no failure.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        click.echo("neardup: out of memory", err=True)
        sys.exit(1)
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        click.echo(f"neardup: {error.strerror or error}{place}", err=True)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(error: NeardupError) -> None:
    place = f" ({error.where})" if error.where else ""
    click.echo(f"neardup: {error.what}{place}", err=True)
    if error.hint:
        click.echo(f"  try: {error.hint}" if not error.hint.startswith("one of") else f"  {error.hint}", err=True)
