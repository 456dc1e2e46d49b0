"""Every command of the program with its options, as click has them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import click

from neardup.cli.main import VERBS


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for sub, one in command.commands.items():
            yield from _commands(one, f"{name} {sub}")
    else:
        yield name, command


#: By the words that ask for it.
COMMANDS: dict[str, click.Command] = dict(
    entry for verb in VERBS for entry in _commands(importlib.import_module(f"neardup.cli.{verb}").command, verb)
)


def words_for(parameter: click.Parameter, value: str) -> list[str]:
    """The words that give a parameter a value."""
    return [value] if isinstance(parameter, click.Argument) else [parameter.opts[0], value]
