"""``neardup report``: the report of a result folder, written anew and opened."""

from __future__ import annotations

import click

from neardup.cli.options import Verb
from neardup.cli.printable import printable


@click.command(cls=Verb, short_help="Write a run's report.html anew, or open it.")
@click.argument("folder", metavar="DIR")
@click.option("--open", "open_it", is_flag=True, help="Open it in the browser.")
@click.option("--quick", is_flag=True, help="Leave out texts for which the whole input would have to be read again.")
def command(folder: str, open_it: bool, quick: bool) -> None:
    """Write report.html of a result folder anew and say where it is.

    Every dedup run leaves one. Where pages cannot be read one by one (Parquet, CSV, compressed JSONL) that one does
    without their texts; this command reads the input once more and shows them.

    \b
      neardup report result --open
    """
    from neardup.report.run_report import write_report

    path = write_report(folder, patient=not quick)
    click.echo(printable(str(path)))
    if open_it:
        from neardup.cli.browser import open_in_browser

        open_in_browser(path)
