"""``neardup index``: the durable index from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import (
    VerbGroup,
    bytes_of,
    fields_of,
    folder_to_write,
    input_options,
    reading_of,
    reading_options,
    together,
)

if TYPE_CHECKING:
    from neardup.index import Index
    from neardup.index.build import Added

opening_options = together(
    click.option(
        "--sync",
        type=click.Choice(["commit", "second", "system"]),
        default="commit",
        show_default=True,
        help="When an addition reaches the disk: before it is acknowledged, within a second, or when the system "
        "finds time.",
    ),
    click.option("--memory", metavar="SIZE", help="Memory for the index's tables.  [default: 256MiB]"),
)

matches_option = click.option(
    "--max-matches", type=click.IntRange(min=1), default=100, show_default=True,
    help="An answer names at most so many near-duplicates, the best ones, and counts the others.",
)  # fmt: skip

statistics_option = click.option(
    "--statistics", metavar="FILE",
    help="Frozen statistics of a collection (`neardup statistics`), for detectors that need some.",
)  # fmt: skip

most_option = click.option(
    "--most", type=click.IntRange(min=1), default=4096, show_default=True,
    help="A key lists at most so many pages; beyond, answers say that some may be missing.",
)  # fmt: skip


@click.group(cls=VerbGroup, short_help="Keep pages in a durable index, and ask whether one was seen before.")
def command() -> None:
    """Have I seen this page? An index on disk is asked page by page, for months.

    \b
      neardup index create seen                      # make one
      neardup index add seen crawl.warc.gz           # add pages; each is told what it repeats
      neardup index query seen page.html             # look, without adding
    """


def _open(folder: str, options: dict[str, Any]) -> Index:
    from neardup.index import Index
    from neardup.index.index import MEMORY

    return Index(
        folder,
        sync=options.get("sync", "commit"),
        memory=bytes_of(options.get("memory")) or MEMORY,
        most_matches=options.get("max_matches"),
    )


@command.command(short_help="Make an empty index.")
@click.argument("folder", metavar="DIR", callback=folder_to_write)
@click.option(
    "--detector", "-d", metavar="SPEC",
    help="How to tell duplicates.  [default: site-aware, which needs no statistics; template-aware where those of a "
    "collection of markup are given]",
)  # fmt: skip
@statistics_option
@most_option
@reading_options
def create(folder: str, detector: str | None, statistics: str | None, most: int, **options: Any) -> None:
    """Make an empty index in DIR for a detector.

    \b
      neardup index create seen
      neardup index create seen --detector 'minhash(threshold=0.9)'
    """
    from neardup.index import Index

    Index.create(folder, detector, reading=reading_of(options), statistics=statistics, most=most)
    with _open(folder, {}) as index:
        detector = str(index.about.detector)
    click.echo(f"{folder}: an empty index for {detector}")


@command.command(short_help="Add pages; say which near-duplicates were there.")
@click.argument("folder", metavar="DIR")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT…")
@click.option("--json", "as_json", is_flag=True, help="Print an answer a line, as JSON, for every page.")
@click.option("--quiet", "-q", is_flag=True, help="Print no progress.")
@matches_option
@opening_options
@input_options
def add(folder: str, inputs: tuple[str, ...], as_json: bool, quiet: bool, **options: Any) -> None:
    """Add the pages of INPUT… (as `neardup dedup` reads them) to the index in DIR.

    Of each page that repeats one that is there, its id and the id of the best match are printed. A page of an id that
    is there is replaced.

    \b
      neardup index add seen crawl.warc.gz
      zcat pages.jsonl.gz | neardup index add seen - --format jsonl --json
    """
    from neardup.cli.display import display
    from neardup.index import add_inputs

    with _open(folder, options) as index:
        added = add_inputs(
            index,
            inputs,
            fields=fields_of(options),
            base_url=options["base_url"],
            format=options["format_"],
            max_page=options["max_page"],
            progress=display(quiet),
        )
        told = _tell(added, as_json)
    click.echo(told, err=as_json)


@command.command(short_help="Look for near-duplicates of pages, without adding them.")
@click.argument("folder", metavar="DIR")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT…")
@click.option("--json", "as_json", is_flag=True, help="Print an answer a line, as JSON, for every page.")
@matches_option
@opening_options
@input_options
def query(folder: str, inputs: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Say which pages of the index in DIR the pages of INPUT… repeat. Nothing is added.

    \b
      neardup index query seen page.html
    """
    from neardup.index.build import query_inputs

    with _open(folder, options) as index:
        found = query_inputs(
            index,
            inputs,
            fields=fields_of(options),
            base_url=options["base_url"],
            format=options["format_"],
            max_page=options["max_page"],
        )
        told = _tell(found, as_json, done="looked up")
    click.echo(told, err=as_json)


@command.command(short_help="Take pages out by their ids.")
@click.argument("folder", metavar="DIR")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@opening_options
def remove(folder: str, ids: tuple[str, ...], **options: Any) -> None:
    """Take the pages of these ids out of the index in DIR.

    \b
      neardup index remove seen http://a.example/old.html
    """
    with _open(folder, options) as index:
        there = index.remove(ids)
    for name, was_there in zip(ids, there, strict=True):
        if not was_there:
            click.echo(f"not there: {name}", err=True)
    click.echo(f"pages removed: {sum(there):,}")


@command.command(short_help="Say what is in an index.")
@click.argument("folder", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def stats(folder: str, as_json: bool) -> None:
    """Say what is in the index in DIR."""
    from dataclasses import asdict

    with _open(folder, {}) as index:
        found = index.stats()
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
        return
    click.echo(f"detector        {found.detector}")
    click.echo(f"pages           {found.pages:,}")
    click.echo(f"identity sets   {found.identity_sets:,}")
    if found.full_keys:
        click.echo(f"full keys       {found.full_keys:,}; entries left out: {found.left_out:,}")
    click.echo(f"bytes on disk   {found.table_bytes + found.journal_bytes:,}, of them journal {found.journal_bytes:,}")


@command.command(short_help="Make an index smaller: pack its keys, drop what was removed.")
@click.argument("folder", metavar="DIR")
@opening_options
def compact(folder: str, **options: Any) -> None:
    """Make the index in DIR smaller: drop what points to removed pages, pack keys, empty the journal.

    Worth doing once many pages were added or removed. Stopped half-way, it leaves an index that answers as before.
    """
    from neardup.cli.display import patiently

    with _open(folder, options) as index:
        patiently("compacting", index.compact)
        found = index.stats()
    click.echo(f"{folder}: {found.pages:,} pages in {found.table_bytes + found.journal_bytes:,} bytes")


@command.command(short_help="Check an index: checksums, and whether it fits together.")
@click.argument("folder", metavar="DIR")
def verify(folder: str) -> None:
    """Read all of the index in DIR, compare checksums, and look whether it fits together. Nothing is changed.

    Exits with 1 if something is wrong, and says which file is damaged.
    """
    from neardup.cli.display import patiently
    from neardup.errors import FormatError
    from neardup.index import verify as verify_index

    found = patiently("checking", partial(verify_index, folder))
    for complaint in found.complaints:
        click.echo(complaint, err=True)
    if not found.sound:
        raise FormatError("the index is damaged", where=folder, hint="go back to a backup, or build it anew")
    click.echo(f"{folder}: sound; {found.pages:,} pages, {found.identity_sets:,} identity sets, {found.keys:,} keys")


@command.command(short_help="Make an index of the pages of a dedup run.")
@click.argument("folder", metavar="DIR", callback=folder_to_write)
@click.option("--from", "run", required=True, metavar="RUN", help="The result folder of the run.")
@statistics_option
@most_option
@click.option("--quiet", "-q", is_flag=True, help="Print no progress.")
def build(folder: str, run: str, statistics: str | None, most: int, quiet: bool) -> None:
    """Make an index in DIR of all pages of a run: same detector, same reading of pages, same ids.

    The inputs of the run are read again. What the index then accepts is what the run accepted.

    \b
      neardup dedup crawl.warc.gz --out result
      neardup index build seen --from result
    """
    from neardup.cli.display import display
    from neardup.index import build as build_index

    added = build_index(folder, run, statistics=statistics, most=most, progress=display(quiet))
    pages = sum(len(batch.answers) for batch in added)
    click.echo(f"{folder}: {pages:,} pages")


@command.command(short_help="Take out pages of a date before another.")
@click.argument("folder", metavar="DIR")
@click.option("--before", required=True, metavar="DATE", help="In ISO 8601, e.g. 2026-01-31; UTC unless it says.")
@opening_options
def expire(folder: str, before: str, **options: Any) -> None:
    """Take out of the index in DIR all pages of a date before DATE.

    A page has the date of its input, else the time at which it was added.

    \b
      neardup index expire seen --before 2026-01-31
    """
    from neardup.cli.display import patiently

    with _open(folder, options) as index:
        expired = patiently("expiring", partial(index.expire, before))
    click.echo(f"pages removed: {expired:,}")


@command.command(short_help="Copy an index.")
@click.argument("folder", metavar="DIR")
@click.argument("out", metavar="COPY", callback=folder_to_write)
def backup(folder: str, out: str) -> None:
    """Copy the index in DIR to COPY, which is an index as well.

    While a service has the index, ask the service: `neardup serve --backups`.
    """
    from neardup.cli.display import patiently

    with _open(folder, {}) as index:
        patiently("copying", partial(index.backup, out))
        pages = index.stats().pages
    click.echo(f"{out}: {pages:,} pages")


def _tell(found: Iterable[Added], as_json: bool, done: str = "added") -> str:
    pages = repeats = replaced = full = skipped = 0
    for batch in found:
        for answer in batch.answers:
            pages += 1
            repeats += bool(answer)
            replaced += answer.replaced
            full += answer.full_key
            if as_json:
                click.echo(json.dumps(answer.to_json(), ensure_ascii=False))
            elif answer:
                best = answer.matches[0]
                further = len(answer.matches) - 1 + answer.more
                others = f", and {further:,} more" if further else ""
                click.echo(f"{answer.id}  repeats  {best.id}  ({best.rule} {best.score:.3f}{others})")
        for bad in batch.skipped:
            skipped += 1
            click.echo(f"skipped: {bad.describe()}", err=True)
    parts = [f"pages {done}: {pages:,}", f"of them repeats: {repeats:,}"]
    parts += [f"replaced: {replaced:,}"] if replaced else []
    parts += [f"with full keys: {full:,}"] if full else []
    parts += [f"records skipped: {skipped:,}"] if skipped else []
    return "; ".join(parts)
