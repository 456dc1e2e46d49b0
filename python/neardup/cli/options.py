"""Options that several verbs share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from neardup.writing import check_local

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("warc", "jsonl", "parquet", "csv", "tsv", "page")


#: Where the words of the command line are kept in click's context.
WORDS = "neardup.words"


def as_typed() -> str:
    """The command line that is being run, for results that say how they were made."""
    import shlex

    return shlex.join(["neardup", *click.get_current_context().meta.get(WORDS, ())])


class Verb(click.Command):
    """A command that takes an option of one value once: of two values the first would be lost without a word."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        refuse_twice(self, context, args)
        return super().parse_args(context, args)


class VerbGroup(click.Group):
    """A group of such commands."""

    command_class = Verb


def refuse_twice(command: click.Command, context: click.Context, args: list[str]) -> None:
    """Refuses the words of a command line in which an option of one value stands twice."""
    _, _, order = command.make_parser(context).parse_args(args=list(args))
    for option in order:
        once = isinstance(option, click.Option) and not (option.multiple or option.count or option.is_flag)
        if once and order.count(option) > 1:
            what = f"{option.opts[0]} is given {order.count(option)} times, and takes one value."
            raise click.UsageError(what, context)


def file_to_write(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Looks whether a file may be written, as the callback of an option: before the work, not behind it."""
    from neardup.errors import OutputError

    if path is None:
        return None
    check_local(path)
    folder = os.path.dirname(path) or "."
    reason, hint = None, ""
    if os.path.isdir(path):
        reason, hint = "it is a folder", "name a file"
    elif not os.path.isdir(folder):
        reason, hint = "there is no such folder", f"make it first: mkdir -p {folder}"
    elif not os.access(folder, os.W_OK):
        reason, hint = "not allowed", "name another folder"
    if reason is not None:
        raise OutputError(f"cannot be written: {reason}", where=path, hint=hint)
    return path


def folder_to_write(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Looks whether a folder is one of this machine, as the callback of an option: before the work, not behind it."""
    if path is not None:
        check_local(path)
    return path


def together(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Several options as one decorator."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


input_options = together(
    click.option(
        "--id-field", default="id", show_default=True, help="Field with a page's own id; a.b is b inside of a."
    ),
    click.option("--url-field", default="url", show_default=True, help="Field with its URL."),
    click.option("--html-field", default="html", show_default=True, help="Field with its HTML."),
    click.option("--text-field", default="text", show_default=True, help="Field with its plain text."),
    click.option("--date-field", default="date", show_default=True, help="Field with its date."),
    click.option("--base-url", metavar="URL", help="URL of the top of a folder of page files."),
    click.option("--format", "format_", type=click.Choice(FORMATS), help="Format of files whose names do not tell."),
    click.option(
        "--max-page",
        metavar="SIZE",
        default="64MiB",
        show_default=True,
        callback=lambda _context, _option, text: length_of(text),
        help="Skip and name a page that is longer as it stands in its file.",
    ),
)

reading_options = together(
    click.option(
        "--site-rule",
        type=click.Choice(["registrable", "henzinger"]),
        default="registrable",
        show_default=True,
        help="What a site is: the domain under the public suffix list, or the paper's rule.",
    ),
    click.option(
        "--token-hash",
        type=click.Choice(["fold", "rabin"]),
        default="fold",
        show_default=True,
        help="How terms become 64-bit tokens; rabin is the paper's choice, and slower.",
    ),
    click.option(
        "--min-tokens", type=click.IntRange(min=1), default=8, show_default=True,
        help="Pages with fewer tokens match identical ones only.",
    ),
)  # fmt: skip


label_options = together(
    click.option("--label-field", default="label", show_default=True, help="Field with a pair's label."),
    click.option("--correct", multiple=True, metavar="LABEL", help="A label that means correct."),
    click.option("--incorrect", multiple=True, metavar="LABEL", help="A label that means incorrect."),
    click.option("--undecided", multiple=True, metavar="LABEL", help="A label that means undecided."),
    click.option("--grade", type=float, metavar="X", help="Labels are numbers; from here on they are correct."),
)


def labels_of(options: dict[str, Any]) -> Any:
    """What labels mean, from a verb's options."""
    from neardup.evaluation.judged import Labels

    return Labels(options["correct"], options["incorrect"], options["undecided"], options["grade"])


def fields_of(options: dict[str, Any]) -> Any:
    """The field names among a verb's options."""
    from neardup.sources import Fields

    names = ("id", "url", "html", "text", "date")
    return Fields(**{name: options[f"{name}_field"] for name in names})


def inputs_of(paths: Sequence[str], options: dict[str, Any]) -> Any:
    """The inputs of these paths, as a verb's options say they are to be read."""
    from neardup.sources import InputSpec

    return InputSpec(list(paths), fields_of(options), options["base_url"], options["format_"], options["max_page"])


def reading_of(options: dict[str, Any]) -> Any:
    """How pages are read, from a verb's options."""
    from neardup.text import Reading

    return Reading(hash=options["token_hash"], site=options["site_rule"], min_tokens=options["min_tokens"])


def length_of(text: str) -> int:
    """How long a page may be.

    >>> length_of("1MiB")
    1048576
    """
    from neardup.engines.common.sizes import page_bytes

    return page_bytes(text)


def bytes_of(text: str | None) -> int:
    """How much memory may be taken; 0 where none is given.

    >>> bytes_of("2GiB"), bytes_of(None)
    (2147483648, 0)
    """
    from neardup.engines.common.sizes import memory_bytes

    return 0 if text is None else memory_bytes(text)
