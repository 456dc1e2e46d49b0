"""``neardup serve``: the index over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from neardup.cli.index import matches_option, opening_options
from neardup.cli.options import Verb, bytes_of, folder_to_write


@click.command(cls=Verb, short_help="Serve an index over HTTP.")
@click.argument("folder", metavar="INDEX")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Where to listen; beyond this machine it needs a token."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8750, show_default=True, help="0: any that is free.")
@click.option(
    "--backups",
    metavar="DIR",
    callback=folder_to_write,
    type=click.Path(file_okay=False),
    help="Folder in which clients may ask for backups.",
)
@click.option("--max-body", default="8MiB", show_default=True, metavar="SIZE", help="Largest request.")
@click.option(
    "--max-batch", type=click.IntRange(min=1), default=1000, show_default=True, help="Most pages of one request."
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    help="Time for a request to arrive, and to be answered.",
)
@click.option(
    "--max-requests",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    help="Requests served at the same time.",
)
@click.option(
    "--max-waiting",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Pages that may wait to be added or asked about.",
)
@click.option(
    "--max-connections",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Connections open at the same time; fewer where the process may open few files.",
)
@click.option("--max-head", default="64KiB", show_default=True, metavar="SIZE", help="Longest head of a request.")
@click.option(
    "--allow-host",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Answer to this name too; without a token only names of this machine are answered.",
)
@matches_option
@opening_options
def command(folder: str, host: str, port: int, backups: str | None, **options: Any) -> None:
    """Serve the index in INDEX over HTTP until asked to end (Ctrl-C, SIGTERM).

    It listens on this machine only, unless NEARDUP_TOKEN holds a token that clients then must send. What it takes and
    answers is described at /docs and /openapi.json; its log is a JSON object a line on standard error.

    \b
      neardup index create seen
      neardup serve seen
      curl -s localhost:8750/v1/pages -H 'content-type: application/json' -d '{"id": "a", "text": "…"}'
    """
    from neardup.engines.common.sizes import parse_bytes
    from neardup.index import Index
    from neardup.index.index import MEMORY
    from neardup.service.gate import Limits
    from neardup.service.serve import serve

    limits = Limits(
        body=parse_bytes(options["max_body"]),
        batch=options["max_batch"],
        seconds=options["max_seconds"],
        concurrency=options["max_requests"],
        waiting=options["max_waiting"],
        head=parse_bytes(options["max_head"]),
        connections=options["max_connections"],
    )
    memory = bytes_of(options["memory"]) or MEMORY
    token = os.environ.get("NEARDUP_TOKEN") or None
    with Index(folder, sync=options["sync"], memory=memory, most_matches=options["max_matches"]) as index:
        serve(
            index,
            host=host,
            port=port,
            token=token,
            limits=limits,
            allowed=options["allowed"],
            backups=None if backups is None else Path(backups),
            started=lambda address: click.echo(f"{folder} is served on {address}"),
        )
