"""``neardup idf``: tables of inverse document frequencies."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.options import VerbGroup, file_to_write, input_options, inputs_of


@click.group(cls=VerbGroup, name="idf", short_help="Build an idf table, for tf-idf distances.")
def command() -> None:
    """Tables of inverse document frequencies, ln(N/df): `neardup signals` takes one with --idf, and assumes none.

    \b
      neardup idf build crawl.warc.gz --out crawl.idf
    """


@command.command(short_help="Count how many pages have each term.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT…")
@click.option("--out", "-o", required=True, metavar="FILE", callback=file_to_write, help="File to write.")
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Worker threads.  [default: one a core]")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors.")
@input_options
def build(inputs: tuple[str, ...], out: str, threads: int, quiet: bool, **options: Any) -> None:
    """Count in how many pages of INPUT… each term occurs. Pages with the same terms count once.

    \b
      neardup idf build pages.jsonl --out pages.idf
    """
    from neardup.cli.display import display
    from neardup.signals import build_idf

    spec = inputs_of(inputs, options)
    with spec.open() as source:
        made = build_idf(source, threads=threads, progress=display(quiet))
    made.save(out)
    if not quiet:
        click.echo(f"{made.pages:,} different pages; {made.terms:,} terms on two of them or more")
        click.echo(f"{out}, digest {made.digest}")
