"""``neardup explain``: two pages side by side, and everything that ties them together or keeps them apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import Verb, file_to_write, reading_of, reading_options

if TYPE_CHECKING:
    from neardup.report.explain import Explanation


@click.command(cls=Verb, short_help="Explain two pages: what differs, and why they were joined or not.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--run", "folder", metavar="DIR", help="A and B are pages of this result folder: ids, URLs, or 'row 17'.")
@click.option("--url-a", metavar="URL", help="URL of page A, where it is a file.")
@click.option("--url-b", metavar="URL", help="URL of page B, where it is a file.")
@click.option("--detector", "-d", "judges", multiple=True, metavar="SPEC", help="Ask these detectors too.")
@click.option("--all", "ask_all", is_flag=True, help="Ask every detector.")
@click.option("--differences", type=click.IntRange(min=0), default=12, show_default=True, metavar="N",
              help="Differences to show side by side.")  # fmt: skip
@click.option(
    "--html", "html_file", metavar="FILE", callback=file_to_write, help="Write a page for the browser instead."
)
@click.option("--open", "open_it", is_flag=True, help="Show that page in the browser.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@reading_options
def command(
    a: str,
    b: str,
    folder: str | None,
    url_a: str | None,
    url_b: str | None,
    judges: tuple[str, ...],
    ask_all: bool,
    differences: int,
    html_file: str | None,
    open_it: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Explain two pages of a run, or two files: the texts side by side, the kind of difference, every similarity, which
    keys they share, what each detector says and how far from its threshold, and what became of them.

    \b
      neardup explain http://a.example/1 http://a.example/2 --run result
      neardup explain 'row 17' 'row 203' --run result --open
      neardup explain a.html b.html --json
    """
    from neardup.cli.summary import print_json
    from neardup.report.explain import explain, explain_pages

    if ask_all:
        from neardup.methods import detectors

        judges += tuple(detectors())
    if folder is not None:
        told = explain(folder, a, b, judges=judges or None)
    else:
        from neardup.engines import Settings

        if a == b == "-":
            raise click.UsageError("standard input holds one page, not two")
        settings = Settings(reading=reading_of(options))
        told = explain_pages(_page(a, url_a), _page(b, url_b), settings=settings, judges=judges or None)
    if as_json:
        print_json(told.to_json())
    elif html_file or open_it:
        _show_page(told, html_file, open_it)
    else:
        from neardup.cli.explained import print_explanation

        print_explanation(told, differences)


def _page(name: str, url: str | None) -> dict[str, Any]:
    from neardup.cli.pagefile import read_page_file

    content, plain = read_page_file(name)
    return {"text" if plain else "html": content, "url": url, "id": name}


def _show_page(told: Explanation, html_file: str | None, open_it: bool) -> None:
    import tempfile

    from neardup.cli.printable import printable
    from neardup.report.explain_page import explain_page

    path = Path(html_file) if html_file else Path(tempfile.mkdtemp(prefix="neardup-")) / "explain.html"
    explain_page(told).write(path)
    click.echo(printable(str(path)))
    if open_it:
        from neardup.cli.browser import open_in_browser

        open_in_browser(path)
