"""``neardup study``: how much of a collection repeats, in what clusters, and where in its link graph."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.options import (
    Verb,
    as_typed,
    bytes_of,
    fields_of,
    file_to_write,
    folder_to_write,
    input_options,
    reading_of,
    reading_options,
)


class WithComparison(Verb):
    """A command with ``compare`` as a second form; an input of that name is written ``./compare``."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == ["compare"]:
            return self.commands["compare"].make_context(f"{info_name} compare", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    @property
    def commands(self) -> dict[str, click.Command]:
        """The other forms, by the word that asks for them."""
        return {"compare": compare}


def _share(text: str) -> float:
    """A share as people write it.

    >>> _share("20%"), _share("0.2"), _share("20")
    (0.2, 0.2, 0.2)
    """
    from neardup.errors import UsageError

    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        raise UsageError(f"{text!r} is no share", hint="write it as 20% or 0.2") from None
    return number / 100 if text.strip().endswith("%") or number > 1 else number


def _shares(_context: click.Context, _option: click.Parameter, text: str) -> list[float]:
    return [_share(part) for part in text.split(",") if part.strip()]


@click.command(
    cls=WithComparison, name="study", short_help="Study a collection: duplicates, clusters, link graph, estimates."
)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT…")
@click.option(
    "--out", "-o", required=True, metavar="DIR", callback=folder_to_write, help="Folder; it appears when all is done."
)
@click.option(
    "--detector", "-d", metavar="SPEC",
    help="How to tell duplicates; any detector.  [default: shingle-paragraphs]",
)  # fmt: skip
@click.option(
    "--steps", type=click.IntRange(min=1, max=100_000), metavar="M",
    help="Steps to compare the collection in, a part's table in memory at a time.  "
    "[default: 20, or as many as --memory asks for]",
)  # fmt: skip
@click.option(
    "--memory", metavar="SIZE", callback=lambda _context, _option, text: bytes_of(text),
    help="Memory to get along with, as 2GiB; what does not fit goes to a scratch folder beside the result.  "
    "[default: three quarters of what the machine has]",
)  # fmt: skip
@click.option(
    "--levels", default="90,70,50", show_default=True, metavar="LIST", callback=_shares,
    help="Near-duplicates share at least so many percent of the larger page's paragraphs.",
)  # fmt: skip
@click.option("--stop-at", metavar="SHARE", help="Stop after a share of the steps, as 20%, and estimate the totals.")
@click.option(
    "--like", multiple=True, metavar="DIR",
    help="An earlier study: totals are also estimated by how its collection grew; repeatable.",
)  # fmt: skip
@click.option(
    "--links", metavar="FILE",
    help="Links from a table (two columns of URLs, tab between) or a WAT archive, instead of from the pages.",
)  # fmt: skip
@click.option(
    "--seeds", multiple=True, metavar="URL",
    help="Where the crawl begins: a URL, or a file of URLs; repeatable.  [default: the largest strongly connected "
    "component]",
)  # fmt: skip
@click.option("--name", metavar="TEXT", help="What to call the collection.  [default: the input's name]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order in which pages are compared.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier study of the same name.")
@click.option("--strict", is_flag=True, help="End at the first record that cannot be read.")
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Worker threads.  [default: one a core]")
@input_options
@reading_options
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print what study.json says instead of the tables.")
def command(inputs: tuple[str, ...], out: str, quiet: bool, as_json: bool, **options: Any) -> None:
    """Take the measure of the pages in INPUT…: how much repeats, in what clusters, where in the link graph, and what
    that says from a part of the collection. After Pereira, Baeza-Yates & Ziviani (2006).

    DIR gets report.html to look at, study.json, pages.parquet, and tables/ as Parquet and CSV. INPUT is as for dedup.
    `neardup study compare DIR1 DIR2` compares two studies of one web.

    \b
      neardup study crawl.warc.gz --out study
      neardup study 'pages/*.jsonl.zst' --out study --steps 50 --stop-at 20% --like last-year
      neardup study crawl.warc.gz --out study --detector 'minhash(threshold=0.9)' --links links.tsv
    """
    from neardup.cli.display import display
    from neardup.cli.study_tables import print_study
    from neardup.cli.summary import print_json
    from neardup.engines import Settings
    from neardup.study import study

    settings = Settings(
        reading=reading_of(options),
        strict=options["strict"],
        threads=options["threads"],
        memory=options["memory"],
        max_page=options["max_page"],
    )
    made = study(
        inputs,
        out,
        detector=options["detector"],
        steps=options["steps"] or 0,
        levels=options["levels"],
        stop_at=None if options["stop_at"] is None else _share(options["stop_at"]),
        like=options["like"],
        links=options["links"],
        seeds=options["seeds"],
        seed=options["seed"],
        name=options["name"],
        settings=settings,
        fields=fields_of(options),
        base_url=options["base_url"],
        format=options["format_"],
        overwrite=options["overwrite"],
        progress=display(quiet or as_json),
        command=as_typed(),
    )
    if as_json:
        print_json(made.report)
    elif not quiet:
        print_study(made, out)


@click.command(
    cls=Verb, name="compare", short_help="Compare two studies of one web: stable, born, dead and merged clusters."
)
@click.argument("first", metavar="DIR1")
@click.argument("second", metavar="DIR2")
@click.option(
    "--out", "-o", metavar="FILE", callback=file_to_write, help="Also write each group of clusters to a Parquet file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def compare(first: str, second: str, out: str | None, as_json: bool) -> None:
    """Compare the clusters of duplicates of two studies, an earlier and a later crawl of one web. Pages are told by
    their URLs.

    \b
      neardup study compare study-2024 study-2025
    """
    from neardup.cli.study_tables import print_comparison
    from neardup.cli.summary import print_json
    from neardup.sinks import write_table
    from neardup.study import compare_studies

    found = compare_studies(first, second)
    if out is not None:
        write_table(found.clusters, out)
    if as_json:
        print_json(found.counts)
    else:
        print_comparison(found.counts)
