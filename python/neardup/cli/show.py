"""``neardup show``: the summary of a result folder."""

from __future__ import annotations

import click

from neardup.cli.options import Verb


@click.command(cls=Verb, short_help="Print what a run found.")
@click.argument("folder", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print what run.json says.")
@click.option("--largest", type=click.IntRange(min=0), default=5, show_default=True, help="Clusters to list.")
def command(folder: str, as_json: bool, largest: int) -> None:
    """Print the summary of a result folder: pages, clusters, what was removed, by site, seconds a stage.

    \b
      neardup show result
      neardup show result --json
    """
    from neardup.cli.summary import print_json, print_summary
    from neardup.results import open_result

    result = open_result(folder)
    if as_json:
        print_json(result.report)
    else:
        print_summary(result, largest)
