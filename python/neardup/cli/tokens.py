"""``neardup tokens``: what the machine sees of one page."""

from __future__ import annotations

import sys

import click

from neardup.cli.options import Verb


@click.command(cls=Verb, short_help="Print the terms of one page, in order.")
@click.argument("file", metavar="FILE")
@click.option("--url", metavar="URL", help="The page's URL: decides which images are on its own host.")
@click.option("--charset", metavar="NAME", help="The charset the server named.")
@click.option("--text", "as_text", is_flag=True, help="FILE is plain text.  [default: by its name]")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with title, site and encoding.")
def command(file: str, url: str | None, charset: str | None, as_text: bool, as_json: bool) -> None:
    """Print the terms of one page in order, one a line, so that anyone can see what the machine sees.

    FILE is HTML (plain text if its name ends in .txt), or - for standard input.

    \b
      neardup tokens page.html --url http://example.com/a
      curl -s http://example.com/a | neardup tokens - --json
    """
    from neardup.cli.pagefile import read_page_file
    from neardup.text import terms

    content, plain = read_page_file(file)
    read = terms(content, html=not (as_text or plain), url=url, charset=charset)
    if as_json:
        from neardup.cli.summary import print_json

        print_json({"title": read.title, "site": read.site, "encoding": read.encoding, "terms": read.terms})
    else:
        sys.stdout.write("".join(f"{term}\n" for term in read.terms))
