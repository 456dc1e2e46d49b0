"""``neardup dedup``: the main job."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import click

from neardup.cli.options import (
    Verb,
    bytes_of,
    fields_of,
    folder_to_write,
    input_options,
    reading_of,
    reading_options,
)


@click.command(cls=Verb, short_help="Find near-duplicates in a crawl or corpus and decide what stays.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT…")
@click.option(
    "--out",
    "-o",
    required=True,
    metavar="DIR",
    callback=folder_to_write,
    help="Result folder; it appears when all is done.",
)
@click.option(
    "--detector", "-d", metavar="SPEC",
    help="How to tell duplicates, e.g. combined or 'minhash(threshold=0.9)'; see `neardup detectors`. "
    "By default it goes by the kind of the pages: template-aware where all are markup, else minhash.",
)  # fmt: skip
@click.option(
    "--keep",
    type=click.Choice(["first", "longest", "newest", "shortest-url", "most-linked"]),
    default="first",
    show_default=True,
    help="Which of several duplicates stays; ties go to the first in the input.",
)
@click.option(
    "--removal",
    type=click.Choice(["direct", "component"]),
    default="direct",
    show_default=True,
    help="direct removes a page only for one it was accepted against; component keeps one page a cluster.",
)
@click.option(
    "--write", "write", type=click.Choice(["kept", "all"]),
    help="Also write the pages, in the format they came in: those that stay, or all with added columns.",
)  # fmt: skip
@click.option("--store", is_flag=True, help="Also keep the texts of all pages in the result, for `neardup explain`.")
@click.option(
    "--certify", "certified", is_flag=True,
    help="Look at a sample of pages exactly and state how often the run is right, with 95 % intervals.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace an earlier result of the same name.")
@click.option("--resume", is_flag=True, help="Go on where a stopped run of the same input and detector left off.")
@click.option(
    "--scratch",
    metavar="DIR",
    help="Where to commit what is done.  [default: beside the result]",
)
@click.option(
    "--memory", metavar="SIZE", callback=lambda _context, _option, text: bytes_of(text),
    help="Memory to get along with, as 2GiB; what does not fit goes to the scratch folder.  "
    "[default: three quarters of what the machine has]",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="End the run at the first record that cannot be read.")
@click.option(
    "--max-pairs", type=click.IntRange(min=1), metavar="N",
    help="Look for and hold all accepted pairs up to N times the pages; beyond, only their spanning forest.  "
    "[default: 10, and a million pairs however few the pages]",
)  # fmt: skip
@click.option(
    "--statistics", metavar="FILE",
    help="Frozen statistics of a collection, for detectors that need some.  [default: of the input, in a first pass]",
)  # fmt: skip
@click.option(
    "--against", multiple=True, metavar="DIR",
    help="Also remove what is like a page that this earlier run kept (with --keep-fingerprints); may be given again.",
)  # fmt: skip
@click.option("--keep-fingerprints", is_flag=True, help="Keep the fingerprints of what stays, for --against later.")
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Worker threads.  [default: one a core]")
@click.option(
    "--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True,
    help="What runs it: this machine, or a Spark cluster, with the same answer.",
)  # fmt: skip
@click.option("--master", metavar="URL", help="Spark: the cluster, as spark://host:7077, yarn, or local[4].")
@click.option("--remote", metavar="URL", help="Spark: a Spark Connect server, as sc://host:15002.")
@input_options
@reading_options
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print what run.json says instead of the summary.")
def command(inputs: tuple[str, ...], out: str, certified: bool, quiet: bool, as_json: bool, **options: Any) -> None:
    """Find near-duplicate pages in INPUT… and write what was found to a result folder.

    INPUT is a file, a folder, a glob, or - for standard input: WARC (.warc, .gz, .zst), JSONL (.gz, .zst),
    Parquet, CSV and TSV with the fields id, url, html or text, date; or a folder of .html and .txt files.

    \b
      neardup dedup crawl.warc.gz --out result
      neardup dedup 'pages/*.jsonl.zst' --out result --detector 'minhash(threshold=0.9)'
      zcat pages.jsonl.gz | neardup dedup - --out result --write kept --keep newest
      neardup dedup crawl.warc.gz --out result --certify
      neardup dedup june.warc.gz --out june --against may --keep-fingerprints
      neardup dedup '/shared/crawl/*.warc.gz' --out /shared/result --engine spark --master spark://head:7077
    """
    # No large matrix is multiplied here, and threads that wait for one are busy waiting.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Memory in pages of 2 MB took longer to be had than it saved, on the virtual machine where it was measured.
    os.environ.setdefault("MIMALLOC_ALLOW_THP", "0")
    if options["memory"]:
        # Freed memory is to go back at once; allocators look at this when they are loaded, which is below.
        os.environ.setdefault("MIMALLOC_PURGE_DELAY", "0")
    # All that is imported stays, and a run makes few cycles: the collector would look through it for nothing.
    gc.set_threshold(200_000)
    from neardup.cli.display import display
    from neardup.engines import Settings
    from neardup.job import Request, carry_out
    from neardup.sources import InputSpec

    settings = Settings(
        keep=options["keep"],
        removal=options["removal"],
        reading=reading_of(options),
        strict=options["strict"],
        threads=options["threads"],
        max_pairs=options["max_pairs"] or 0,
        memory=options["memory"],
        max_page=options["max_page"],
        statistics=options["statistics"],
    )
    if options["engine"] == "spark":
        from neardup.cli.main import with_pandas

        with_pandas()
    certifier = None
    if certified:
        from neardup.evaluation.certify import Certifier

        certifier = Certifier(threads=options["threads"])
    request = Request(
        input=InputSpec(list(inputs), fields_of(options), options["base_url"], options["format_"], settings.max_page),
        out=Path(out) if out is not None else None,
        detector=options["detector"],
        settings=settings,
        write=options["write"],
        store=options["store"],
        overwrite=options["overwrite"],
        scratch=options["scratch"],
        resume=options["resume"],
        progress=display(quiet or as_json),
        certify=certifier,
        against=tuple(options["against"]),
        keep_fingerprints=options["keep_fingerprints"],
        engine=options["engine"],
        master=options["master"],
        remote=options["remote"],
    )
    result = carry_out(request)
    if quiet and not as_json:
        return
    from neardup.cli.summary import print_json, print_summary

    if as_json:
        print_json(result.report)
    else:
        print_summary(result)
