"""``neardup signals``: what two pages have in common, in many numbers, for given pairs."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.options import Verb, file_to_write, input_options, inputs_of


@click.command(cls=Verb, short_help="Compute many signals of given pairs of pages.")
@click.option("--pages", multiple=True, required=True, metavar="INPUT", help="Fetched pages, as for dedup; repeatable.")
@click.option(
    "--pairs", required=True, metavar="FILE",
    help="Pairs: a and b (ids or URLs), and a query, in .jsonl, .csv, .tsv or .parquet.",
)  # fmt: skip
@click.option(
    "--rendered", multiple=True, metavar="INPUT",
    help="The same pages as a browser shows them (neardup render), under the same ids or URLs; repeatable.",
)  # fmt: skip
@click.option("--query-field", default="query", show_default=True, help="Field of a pair with the words of its query.")
@click.option("--idf", metavar="FILE", help="An idf table (neardup idf build); without it, no tf-idf distances.")
@click.option(
    "--signals", "groups", metavar="SUM", help="Groups or names, joined by +, such as F+R+RS.  [default: all]"
)
@click.option("--out", "-o", required=True, metavar="FILE", callback=file_to_write, help="Parquet file to write.")
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Worker threads.  [default: one a core]")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors.")
@input_options
def command(pages: tuple[str, ...], pairs: str, rendered: tuple[str, ...], **options: Any) -> None:
    """Compute signals of each pair: how far apart two pages are by title, length, similarity hash, tf-idf, compression,
    snippets around the query's words, main content, layout and address, of the fetched and of the rendered bodies.

    \b
      neardup signals --pages pages.jsonl --pairs pairs.csv --out signals.parquet
      neardup signals --pages web.warc.gz --rendered rendered.jsonl --pairs pairs.csv \\
                      --query-field query_text --idf web.idf --out signals.parquet
    """
    from neardup.cli.display import display
    from neardup.evaluation.judged import read_rows
    from neardup.signals import Idf, compute, write_signals

    def source_of(paths: tuple[str, ...]) -> Any:
        return inputs_of(paths, options).open

    quiet = options["quiet"]
    table = compute(
        read_rows(pairs),
        source_of(pages),
        rendered=source_of(rendered) if rendered else None,
        idf=Idf.load(options["idf"]) if options["idf"] else None,
        signals=options["groups"],
        query_field=options["query_field"],
        threads=options["threads"],
        progress=display(quiet),
    )
    write_signals(table, options["out"])
    if not quiet:
        _say(table, options["out"], bool(options["idf"]), bool(rendered))


def _say(table: Any, out: str, has_idf: bool, has_rendered: bool) -> None:
    from neardup.cli.summary import grid, page

    console = page()
    names = table.column_names[3:]
    console.print(f"{table.num_rows:,} pairs, {len(names)} signals")
    shown = grid("\nSignals", ("missing", "right"), ("median", "right"), ("signal", "left"))
    import pyarrow.compute as pc

    for name in names:
        column = table.column(name)
        median = pc.quantile(column, 0.5)[0].as_py() if column.null_count < len(column) else None
        shown.add_row(f"{column.null_count:,}", "–" if median is None else f"{median:.3g}", name)
    console.print(shown)
    if not has_idf:
        console.print("\nNo tf-idf distances: they need --idf (neardup idf build makes a table).")
    if not has_rendered:
        console.print("\nNo signals of rendered bodies: they need --rendered.")
    if "query" in table.column_names and table.column("query").null_count == table.num_rows:
        console.print("\nNo pair has a query: snippets are missing. --query-field names the field with its words.")
    click.echo(f"\nResult  {out}")
