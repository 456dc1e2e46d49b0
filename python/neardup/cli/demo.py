"""``neardup demo``: the main job on a small web that the package generates itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.options import Verb, folder_to_write
from neardup.errors import OutputError

if TYPE_CHECKING:
    from neardup.results import Result
    from neardup.testing import Web


@click.command(cls=Verb, short_help="Run the main job on a small generated web.")
@click.option(
    "--out",
    "-o",
    default="demo",
    show_default=True,
    metavar="DIR",
    callback=folder_to_write,
    help="Where the demo puts its files.",
)
@click.option(
    "--pages", type=click.IntRange(min=150, max=1_000_000), default=3000, show_default=True, help="Pages of the web."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed makes another web.")
def command(out: str, pages: int, seed: int) -> None:
    """Generate a small web with true labels, find its duplicates, and say how right that was.

    The web goes to DIR/web.warc.gz, its true labels to DIR/labels.csv, the result to DIR/result.

    \b
      neardup demo
      neardup demo --pages 20000 --out big
    """
    from neardup.cli.display import display
    from neardup.cli.summary import print_summary
    from neardup.job import dedup
    from neardup.methods.default import default_detector
    from neardup.page import Kinds
    from neardup.testing import web

    folder = _folder(out)
    click.echo(f"A web of {pages:,} pages (seed {seed}) …", err=True)
    made = web(seed=seed, pages=pages)
    made.write_warc(folder / "web.warc.gz")
    made.write_labels(folder / "labels.csv")
    click.echo(f"\n$ neardup dedup {folder / 'web.warc.gz'} --out {folder / 'result'} --overwrite\n")
    result = dedup(str(folder / "web.warc.gz"), folder / "result", overwrite=True, progress=display(False))
    print_summary(result)
    removed, (correct, undecided, wrong) = judged(made, result)
    click.echo(
        f"\nBy the true labels, of the {removed:,} pages removed {correct:.1%} repeat the page kept instead, "
        f"{undecided:.1%} are undecided and {wrong:.1%} wrong."
    )
    whole = default_detector(Kinds(text=1))
    removed, (correct, undecided, wrong) = judged(made, dedup(str(folder / "web.warc.gz"), detector=whole))
    click.echo(
        f"With --detector {whole}, which compares pages whole, of {removed:,}: {correct:.1%}, {undecided:.1%} and "
        f"{wrong:.1%}."
    )
    click.echo(f"\nLook further: neardup show {folder / 'result'}; the true labels are in {folder / 'labels.csv'}")


def _folder(out: str) -> Path:
    """The demo's folder; files of the same names that no demo put there are left alone."""
    folder = Path(out)
    ours = (folder / "result" / "run.json").exists()
    if not ours and any((folder / name).exists() for name in ("web.warc.gz", "labels.csv", "result")):
        raise OutputError("what stands there is not from a demo", where=out, hint="choose another folder with --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"the folder cannot be made: {error.strerror}", where=out) from None
    return folder


def judged(made: Web, result: Result) -> tuple[int, tuple[float, float, float]]:
    """How many pages went; and the shares of them that repeat the page kept instead, are undecided, and do not, by the
    generator's own labels."""
    by_url = {page.url: page for page in made.pages}
    pages = result.pages.select(["id", "url"]).to_pylist()
    url_of = {page["id"]: page["url"] for page in pages}
    counts = {"correct": 0, "undecided": 0, "incorrect": 0}
    for page in result.removed.select(["url", "kept_instead"]).to_pylist():
        label = made.label(by_url[page["url"]], by_url[url_of[page["kept_instead"]]])
        counts[label.henzinger] += 1
    total = sum(counts.values())
    correct, undecided, wrong = (count / max(1, total) for count in counts.values())
    return total, (correct, undecided, wrong)
