"""``neardup statistics``: what a collection says of its chunks, frozen in a file."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.options import Verb, fields_of, file_to_write, input_options, reading_of, reading_options


@click.command(cls=Verb, short_help="Freeze the statistics of a collection for detectors that need them.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT…")
@click.option("--out", "-o", required=True, metavar="FILE", callback=file_to_write, help="File to write.")
@click.option(
    "--detector", "-d", default="i-match", show_default=True, metavar="SPEC",
    help="The detector they are for: it says the lengths of the chunks that are counted.",
)  # fmt: skip
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Worker threads.  [default: one a core]")
@input_options
@reading_options
def command(inputs: tuple[str, ...], out: str, detector: str, threads: int, **options: Any) -> None:
    """Count how many pages of INPUT… have each chunk, and write it to a file.

    `neardup dedup` and `neardup compare` take it with --statistics in place of a pass over their own input: two runs
    then select the same chunks, and two pages alone can be compared as they would be in the collection.

    \b
      neardup statistics crawl.warc.gz --out crawl.statistics --detector i-match
      neardup compare a.html b.html --detector i-match --statistics crawl.statistics
    """
    from neardup.engines import Settings
    from neardup.job import statistics_of

    made = statistics_of(
        inputs,
        detector,
        settings=Settings(reading=reading_of(options), threads=threads, max_page=options["max_page"]),
        fields=fields_of(options),
        base_url=options["base_url"],
        format=options["format_"],
    )
    made.save(out)
    chunks = ", ".join(f"{len(known):,} of {length}" for length, (known, _) in sorted(made.chunks.items()))
    click.echo(f"{made.pages:,} different pages; chunks that repeat, by their tokens: {chunks}")
    click.echo(f"{out}, {made.nbytes:,} bytes, digest {made.digest}")
