"""``neardup render``: pages as a visitor sees them, by a real browser."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.options import Verb, file_to_write, folder_to_write, input_options, inputs_of


@click.command(cls=Verb, short_help="Render pages in a real browser: scripts, redirects, frames.")
@click.argument("inputs", nargs=-1, metavar="URL|INPUT…")
@click.option(
    "--out", "-o", required=True, metavar="FILE", callback=file_to_write,
    help="Where rendered pages go: .jsonl or .warc (also .gz, .zst), or .parquet; it appears when all is done.",
)  # fmt: skip
@click.option("--urls", metavar="FILE", help="Addresses to be visited, one a line.")
@click.option(
    "--archive", "archives", multiple=True, metavar="WARC", help="Answer requests from this archive; repeatable."
)
@click.option("--live", is_flag=True, help="Fetch stored pages anew from their addresses.")
@click.option(
    "--at-a-time", "pages", type=click.IntRange(min=1, max=64), default=4, show_default=True, metavar="N",
    help="Pages rendered at a time.",
)  # fmt: skip
@click.option("--browser", metavar="PATH", help="The browser's program.  [default: the system's Chromium]")
@click.option(
    "--no-sandbox", is_flag=True, help="Run the browser without its sandbox, as root must; for pages you trust."
)
@click.option(
    "--allow", multiple=True, metavar="HOST",
    help="A host that may have a private or loopback address; * as in file names; repeatable.",
)  # fmt: skip
@click.option(
    "--resolve", multiple=True, metavar="HOST=ADDRESS:PORT",
    help="Where a host is found, instead of by the name service; repeatable.",
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(min=0.1), default=20.0, show_default=True, help="Most time for a page."
)
@click.option(
    "--delay", type=click.FloatRange(min=0), default=5.0, show_default=True,
    help="Seconds after loading for which redirects and scripts are waited for.",
)  # fmt: skip
@click.option(
    "--most-requests", type=click.IntRange(min=1), default=300, show_default=True, help="Most requests of a page."
)
@click.option(
    "--most-bytes", type=click.IntRange(min=1), default=32 << 20, show_default=True,
    help="Most bytes that a page may be sent.",
)  # fmt: skip
@click.option(
    "--cache",
    metavar="DIR",
    callback=folder_to_write,
    help="Keep what was rendered from archives here, and use it the next time.",
)
@click.option("--user-agent", metavar="TEXT", help="What the browser calls itself.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@input_options
def command(inputs: tuple[str, ...], out: str, **options: Any) -> None:
    """Render pages: run their scripts, follow their redirects, fill their frames, and write the HTML that results.

    Addresses are visited. Pages of files (WARC, JSONL, Parquet, CSV, HTML) are rendered from what is stored, and
    nothing leaves the machine; WARC files among them also answer what the pages ask for.

    \b
      neardup render https://example.org/ --out rendered.jsonl
      neardup render crawl.warc.gz --out rendered.warc.gz
      neardup render pages.jsonl --archive crawl.warc.gz --out rendered.parquet
    """
    import time

    from neardup.cli.display import display
    from neardup.cli.summary import print_json
    from neardup.errors import UsageError
    from neardup.render import Limits, RenderSettings, render
    from neardup.render.pages import read_addresses

    if options["urls"]:
        if inputs:
            raise UsageError("give --urls or inputs, not both")
        inputs = tuple(read_addresses(options["urls"]))
    if not inputs:
        raise UsageError("nothing to render was given", hint="name addresses, files, or --urls FILE")
    settings = RenderSettings(
        limits=Limits(options["seconds"], options["delay"], options["most_requests"], options["most_bytes"]),
        pages=options["pages"],
        browser=options["browser"],
        sandbox=not options["no_sandbox"],
        allow=options["allow"],
        resolve=options["resolve"],
        archives=options["archives"],
        live=options["live"],
        cache=options["cache"],
        user_agent=options["user_agent"],
    )
    spec = inputs_of(inputs, options)
    started = time.monotonic()
    quiet = options["quiet"] or options["as_json"]
    told = render(list(inputs), out, settings, spec=spec, progress=display(quiet))
    report = told.report()
    if options["as_json"]:
        print_json(report | {"seconds": round(time.monotonic() - started, 2)})
    elif not quiet:
        _print(report, out)


def _print(report: dict[str, Any], out: str) -> None:
    cached = f" ({report['cached']:,} of them from the cache)" if report["cached"] else ""
    click.echo(f"{report['pages']:,} pages: {report['rendered']:,} rendered{cached}, {report['failed']:,} failed")
    for reason, count in report["failures"].items():
        click.echo(f"{count:>7,}  {reason}")
    if report["skipped"]:
        click.echo(f"{len(report['skipped']):,} records could not be read; the first: {report['skipped'][0]}")
    click.echo(f"\nResult  {out}")
