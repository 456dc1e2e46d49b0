"""``neardup compare``: how alike two pages are, and what each detector decides."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import Verb, reading_of, reading_options
from neardup.cli.printable import printable

if TYPE_CHECKING:
    from neardup.comparison import Comparison
    from neardup.text import Reading


@click.command(cls=Verb, short_help="Compare two pages: every similarity, and what each detector decides.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--run", "folder", metavar="DIR", help="A and B are ids of pages in this result folder.")
@click.option("--url-a", metavar="URL", help="URL of page A.")
@click.option("--url-b", metavar="URL", help="URL of page B.")
@click.option("--detector", "-d", "judges", multiple=True, metavar="SPEC", help="Ask these detectors only.")
@click.option("--all", "ask_all", is_flag=True, help="Ask every detector that needs no other statistics.")
@click.option(
    "--statistics", metavar="FILE",
    help="Frozen statistics of a collection, for detectors that need some.  "
    "[default: those of the run; without a run, of the two pages alone]",
)  # fmt: skip
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
    statistics: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare two files, or two pages of a result folder named by their ids.

    \b
      neardup compare a.html b.html --url-a http://x.example/1 --url-b http://x.example/2
      neardup compare ID1 ID2 --run result
    """
    from neardup.cli.summary import print_json
    from neardup.comparison import compare, compare_batch
    from neardup.engines import Settings
    from neardup.results.pages import RunPages, fetch_pages
    from neardup.text import Reading

    if a == b == "-":
        raise click.UsageError("standard input holds one page, not two")
    settings, pages = Settings(reading=reading_of(options), statistics=statistics), None
    if folder is not None:
        # As the run read them, and by what it counted.
        pages = RunPages(folder)
        settings = pages.settings if statistics is None else replace(pages.settings, statistics=statistics)
        if reading_of(options) not in (Reading(), settings.reading):
            raise click.UsageError("pages of a run are compared as it read them: leave out options of reading")
    if ask_all:
        from neardup.engines.common.statistics import suits
        from neardup.methods import detectors
        from neardup.methods.statistics import CollectionStatistics

        frozen = CollectionStatistics.load(settings.statistics) if settings.statistics else None
        judges += tuple(
            name
            for name, kind in detectors().items()
            if not kind().counted() or (frozen is not None and suits(frozen, kind(), settings.reading))
        )
    if pages is not None:
        found = compare_batch(fetch_pages(pages, [a, b]), settings=settings, judges=judges)
    else:
        found = compare(_page(a, url_a), _page(b, url_b), settings=settings, judges=judges)
    if as_json:
        print_json(asdict(found))
    else:
        _print(found, a, b, settings.reading)


def _page(name: str, url: str | None) -> dict[str, Any]:
    from neardup.cli.pagefile import read_page_file

    content, plain = read_page_file(name)
    return {"text" if plain else "html": content, "url": url, "id": name}


def _print(found: Comparison, a: str, b: str, reading: Reading) -> None:
    for name, page, tokens, title, site in zip("AB", (a, b), found.tokens, found.titles, found.sites, strict=True):
        told = ", ".join(filter(None, [f"{tokens:,} tokens", title and f"“{title}”", site]))
        click.echo(f"{name}  {printable(page)}\n   {printable(told)}")
    click.echo()

    def line(label: str, value: str) -> None:
        click.echo(f"{label:<26}{value}")

    line("same tokens", "yes" if found.identical else "no")
    line("same site", "yes" if found.same_site else "no")
    line("B-similarity", "–" if found.b_similarity is None else f"{found.b_similarity} of 6 supershingles")
    line("C-similarity", "–" if found.c_similarity is None else f"{found.c_similarity} of 384 bits")
    if found.not_compared is not None:
        line("not compared", found.not_compared)
        if (advice := reading.advice(*found.tokens)) is not None:
            line("", advice)
    for k, value in found.jaccard.items():
        line(f"Jaccard, {k}-token shingles" if k > 1 else "Jaccard, tokens", f"{value:.4f}")
    if found.containment is not None:
        line("containment", f"{found.containment[0]:.4f} of A in B, {found.containment[1]:.4f} of B in A")
    line("term difference", "–" if found.term_difference is None else f"{found.term_difference:,}")
    click.echo()
    for detector, accepted in found.decisions.items():
        other = "different" if found.not_compared is None else "not compared"
        word = click.style("duplicates", fg="green") if accepted else other
        line(detector, word + (" *" if detector in found.alone else ""))
    if found.alone:
        click.echo("\n* by the two pages alone; --run or --statistics tells what else their collection holds")
