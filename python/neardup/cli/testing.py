"""``neardup testing``: generated webs with true labels, for trials and tests of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from neardup.cli.options import VerbGroup, folder_to_write

LANGUAGES = ("en", "de", "fr", "ja", "ru")


@click.group(cls=VerbGroup, name="testing", short_help="Generate webs with true labels, and serve them.")
def command() -> None:
    """Make collections in which the truth is known.

    \b
      neardup testing web --out web
      neardup testing web --out web --serve
    """


@command.command(short_help="A web with queries, result lists and the label of every pair.")
@click.option(
    "--out", "-o", required=True, metavar="DIR", callback=folder_to_write, help="Folder; it appears when all is done."
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier one of the same name.")
@click.option(
    "--queries", type=click.IntRange(min=1, max=100_000), default=100, show_default=True, help="How many queries."
)
@click.option(
    "--results", type=click.IntRange(min=2, max=100), default=15, show_default=True, help="Results of each query."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed makes another web.")
@click.option(
    "--templates", type=click.Choice(["classic", "modern"]), default="classic", show_default=True,
    help="How sites are built; learn on the one, test on the other.",
)  # fmt: skip
@click.option(
    "--language", "languages", multiple=True, type=click.Choice(LANGUAGES),
    help="A language of the queries; repeatable, half of them in the first.  [default: all five]",
)  # fmt: skip
@click.option("--serve", is_flag=True, help="Serve it on loopback until interrupted.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to serve it on.  [default: a free one]")
def web(out: str, overwrite: bool, serve: bool, port: int, **options: Any) -> None:
    """Generate a small web that a browser can visit, with queries, the result lists of three engines, judgements, and
    the true label of every pair of results by the rules of Huffman et al. and of Henzinger.

    \b
      neardup testing web --out train --seed 1
      neardup testing web --out test --seed 2 --templates modern
    """
    from neardup.sinks.folder import new_folder
    from neardup.testing import search_web

    languages = options.pop("languages") or LANGUAGES
    with new_folder(Path(out), overwrite) as folder:
        made = search_web(languages=languages, **options)
        made.write(folder)
    pairs = made.pairs
    duplicates = sum(pair.label.huffman for pair in pairs)
    click.echo(
        f"{len(made.queries):,} queries, {len(made.pages):,} results, {len(pairs):,} pairs; "
        f"{duplicates:,} of them duplicates ({duplicates / len(pairs):.1%})\n\nResult  {out}/"
    )
    if serve:
        _serve(made.answers, made.pages[0].url, port, out)


def _serve(answers: Mapping[str, tuple[str, bytes]], first: str, port: int, out: str) -> None:
    import threading

    from neardup.testing import serve

    with serve(answers, port) as server:
        click.echo(
            f"\nServed on {server.address} until interrupted. To visit it:\n"
            f"  neardup render {out}/pages.jsonl.gz --live --resolve '*={server.address}' --out rendered.jsonl\n"
            f"  chromium --host-resolver-rules='MAP * {server.address}' {first}"
        )
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            click.echo("")
