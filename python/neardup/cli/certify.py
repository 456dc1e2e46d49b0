"""``neardup certify``: how often a run is right, from an exact look at a sample of its pages."""

from __future__ import annotations

import click

from neardup.cli.options import Verb


@click.command(cls=Verb, short_help="State how often a run is right, with 95 % intervals.")
@click.argument("folder", metavar="DIR")
@click.option(
    "--sample", type=click.IntRange(min=1), default=1000, show_default=True, metavar="N",
    help="Look at about so many pages; four times as many halve the intervals.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed draws other pages.")
@click.option(
    "--k", type=click.IntRange(min=1), metavar="N",
    help="Tokens in a shingle of the exact similarity.  [default: the detector's own, or 5]",
)  # fmt: skip
@click.option(
    "--threshold", type=click.FloatRange(0, 1, min_open=True), metavar="X",
    help="Similarity from which on two pages are partners.  [default: the detector's own, or 0.8]",
)  # fmt: skip
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Worker threads.  [default: one a core]")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(
    folder: str,
    sample: int,
    seed: int,
    k: int | None,
    threshold: float | None,
    threads: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Certify the run in a result folder: its inputs are read again, and run.json tells the certificate from then on.

    Of a stratified sample of pages all true partners are found by exact set similarity. The certificate states how many
    removed pages have no partner among those that stay, how many pages that stay repeat another, and precision and
    recall of pairs, beside what theory predicts. `neardup dedup --certify` does the same while it runs, faster.

    \b
      neardup certify result
      neardup certify result --sample 4000 --threshold .9
    """
    from neardup.cli.display import display
    from neardup.cli.summary import certificate_table, page, print_json
    from neardup.evaluation.certify import Certifier

    certifier = Certifier(sample=sample, seed=seed, k=k, threshold=threshold, threads=threads)
    certificate = certifier.folder(folder, display(quiet or as_json)).report["certificate"]
    if as_json:
        print_json(certificate)
    elif not quiet:
        page().print(certificate_table(certificate))
