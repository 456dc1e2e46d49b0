"""``neardup completion``: the script that makes a shell complete our words."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from neardup.cli.options import Verb

SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Verb, short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print a script that makes SHELL complete verbs, options and values.

    \b
      neardup completion bash >> ~/.bashrc
      neardup completion zsh  >> ~/.zshrc
      neardup completion fish > ~/.config/fish/completions/neardup.fish
    """
    from neardup.cli.main import application

    completer = get_completion_class(shell)
    if completer is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(completer(application, {}, "neardup", "_NEARDUP_COMPLETE").source())
