"""``neardup ui``: look at a run in the browser."""

from __future__ import annotations

import click

from neardup.cli.options import Verb, file_to_write


@click.command(cls=Verb, name="ui", short_help="Look at a run in the browser: clusters, pairs, thresholds, judging.")
@click.argument("folder", metavar="DIR")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen at.  [default: 8740, or a free one]")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--judging", metavar="FILE", help="A judging made elsewhere.  [default: judging.sqlite in DIR]")
@click.option(
    "--decisions",
    metavar="FILE",
    callback=file_to_write,
    help="Where decisions are stored.  [default: decisions.sqlite in DIR]",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
    help="Address to listen at; beyond this machine only with a token, which is made up if none is given.",
)  # fmt: skip
@click.option("--token", metavar="TEXT", help="What a browser must bring along.", envvar="NEARDUP_TOKEN")
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="A name under which browsers may reach it; repeatable."
)
def command(
    folder: str,
    port: int | None,
    no_browser: bool,
    judging: str | None,
    decisions: str | None,
    host: str,
    token: str | None,
    allow_host: tuple[str, ...],
) -> None:
    """Open a result folder in the browser: overview, clusters, pairs explained, a threshold slider, decisions that are
    written as a new run folder, and judging.

    It listens on this machine only, unless --host says otherwise.

    \b
      neardup ui result
      neardup ui result --host 0.0.0.0 --allow-host annotate.example
    """
    from contextlib import suppress
    from pathlib import Path

    from neardup.web.server import serve

    with suppress(KeyboardInterrupt):
        serve(
            Path(folder),
            host=host,
            port=port,
            token=token,
            allowed=allow_host,
            judging=None if judging is None else Path(judging),
            decisions=None if decisions is None else Path(decisions),
            open_browser=not no_browser,
            told=click.echo,
        )
