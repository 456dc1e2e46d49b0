"""``neardup evaluate``: detectors held against judged pairs, revision corpora and exact answers."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.options import (
    VerbGroup,
    as_typed,
    folder_to_write,
    input_options,
    inputs_of,
    label_options,
    labels_of,
    reading_of,
    reading_options,
    together,
)

_output_options = together(
    click.option(
        "--out",
        "-o",
        required=True,
        metavar="DIR",
        callback=folder_to_write,
        help="Folder; it appears when all is done.",
    ),
    click.option("--overwrite", is_flag=True, help="Replace an earlier result of the same name."),
    click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors."),
    click.option("--json", "as_json", is_flag=True, help="Print what run.json says instead of the tables."),
)
_threads_option = click.option(
    "--threads", type=click.IntRange(min=0), default=0, help="Worker threads.  [default: one a core]"
)


@click.group(
    cls=VerbGroup,
    name="evaluate",
    short_help="Measure detectors: judged pairs, revision corpora, graphs, exact answers.",
)
def command() -> None:
    """Measure how right detectors are.

    \b
      neardup evaluate pairs --pages pages.jsonl --pairs judged.csv --out result
      neardup evaluate curves versions.jsonl.zst --out curves
      neardup evaluate graph result
      neardup evaluate oracle pages.jsonl --out exact
    """


@command.command(short_help="Detectors against judged pairs.")
@click.option(
    "--pages", "pages", multiple=True, required=True, metavar="INPUT", help="Pages, as for dedup; repeatable."
)
@click.option(
    "--pairs", "pairs", required=True, metavar="FILE",
    help="Judged pairs in .jsonl, .csv, .tsv or .parquet: a, b (ids or URLs), label; reason, query, weight if known.",
)  # fmt: skip
@click.option("--detector", "-d", "judges", multiple=True, metavar="SPEC", help="Detectors.  [default: the usual ones]")
@label_options
@click.option(
    "--count-identical", is_flag=True,
    help="Count pairs of pages with the same tokens too; they are left out, as the paper takes such pages for one.",
)  # fmt: skip
@click.option(
    "--resamples", type=click.IntRange(min=0), default=500, show_default=True, help="Resamples of the bootstrap."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap and of the halves.")
@_output_options
@_threads_option
@input_options
@reading_options
def pairs(pages: tuple[str, ...], pairs: str, judges: tuple[str, ...], **options: Any) -> None:
    """Score judged pairs with each detector: precision, recall, F, ROC and AUC with 95 % intervals, and the tables of
    Henzinger 2006.

    \b
      neardup evaluate pairs --pages docs.jsonl --pairs pairs.jsonl -d combined -d minhash --out result
    """
    from neardup.cli.laboratory import print_pairs
    from neardup.cli.summary import print_json
    from neardup.engines import Settings
    from neardup.evaluation.judged import read_judged
    from neardup.evaluation.pairs import evaluate_pairs, write_evaluation
    from neardup.evaluation.plots import require_plots

    require_plots()
    found = evaluate_pairs(
        inputs_of(pages, options),
        read_judged(pairs, labels_of(options), options["label_field"]),
        judges,
        settings=Settings(reading=reading_of(options), threads=options["threads"]),
        resamples=options["resamples"],
        seed=options["seed"],
        count_identical=options["count_identical"],
    )
    write_evaluation(found, options["out"], overwrite=options["overwrite"], command=as_typed())
    if options["as_json"]:
        print_json(found.report)
    elif not options["quiet"]:
        print_pairs(found.report, options["out"])


@command.command(short_help="Precision and recall over similarity on a revision corpus.")
@click.argument("corpus", nargs=-1, required=True, metavar="CORPUS…")
@click.option("--methods", "-m", multiple=True, metavar="SPEC", help="Detectors; repeatable.  [default: all]")
@click.option("--articles", type=click.IntRange(min=1), metavar="N", help="The first N articles only.")
@click.option("--revisions", type=click.IntRange(min=1), metavar="N", help="The first N revisions of each only.")
@_output_options
@_threads_option
def curves(corpus: tuple[str, ...], methods: tuple[str, ...], **options: Any) -> None:
    """Compare each article's first revision with its others and with the next article's first (Potthast and Stein):
    precision and recall over cosine similarity for every method, with construction and retrieval time and sizes.

    CORPUS is a MediaWiki history dump (.xml, .xml.bz2, .xml.gz), or JSON lines with id, doc and text.

    \b
      neardup evaluate curves versions.jsonl.zst --out curves
      neardup evaluate curves dump.xml.bz2 --articles 1000 -m broder -m charikar --out curves
    """
    from neardup.cli.display import display
    from neardup.cli.laboratory import print_curves
    from neardup.cli.summary import print_json
    from neardup.engines import Settings
    from neardup.evaluation.curves import evaluate_curves, write_curves
    from neardup.evaluation.plots import require_plots
    from neardup.evaluation.revisions import open_revisions

    require_plots()
    limits = {"articles": options["articles"], "revisions": options["revisions"]}
    found = evaluate_curves(
        lambda: open_revisions(corpus, **limits),
        methods or None,
        settings=Settings(threads=options["threads"]),
        progress=display(options["quiet"] or options["as_json"]),
    )
    write_curves(found, options["out"], overwrite=options["overwrite"], command=as_typed())
    if options["as_json"]:
        print_json(found.report)
    elif not options["quiet"]:
        print_curves(found.report, options["out"])


@command.command(short_help="The similarity graph of a run in numbers.")
@click.argument("folder", metavar="DIR")
@click.option(
    "--resamples", type=click.IntRange(min=0), default=100, show_default=True,
    help="Collections drawn to test whether there is a power law; 0 for no test.",
)  # fmt: skip
@click.option(
    "--xmin", type=click.IntRange(min=1), metavar="N",
    help="Fit the power laws from this value on.  [default: from where they fit best]",
)  # fmt: skip
@click.option(
    "--out", "-o", metavar="FOLDER", callback=folder_to_write,
    help="Where run.json and report.html go.  [default: graph, in the result folder; an earlier one is replaced]",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace an earlier result of the same name.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with all distributions.")
def graph(folder: str, resamples: int, xmin: int | None, out: str | None, overwrite: bool, as_json: bool) -> None:
    """Tell the graph of a result folder: nodes, edges, labels, degrees and cluster sizes with fitted power laws.

    \b
      neardup evaluate graph result
    """
    from neardup.cli.laboratory import print_graph
    from neardup.cli.summary import print_json
    from neardup.evaluation.graph import evaluate_graph, write_graph

    told = evaluate_graph(folder, resamples=resamples, xmin=xmin, command=as_typed())
    written = write_graph(told, folder, out, overwrite=overwrite)
    if as_json:
        print_json(told)
    else:
        print_graph(told, str(written))


@command.command(short_help="All pairs at or above a threshold, exactly.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT…")
@click.option("--k", type=click.IntRange(min=1), default=5, show_default=True, help="Tokens in a shingle.")
@click.option(
    "--threshold", type=click.FloatRange(0, 1, min_open=True), default=0.8, show_default=True, help="Least similarity."
)
@click.option(
    "--measure", type=click.Choice(["jaccard", "cosine", "containment"]), default="jaccard", show_default=True,
    help="What is measured of two sets of shingles.",
)  # fmt: skip
@_output_options
@_threads_option
@input_options
@reading_options
def oracle(inputs: tuple[str, ...], k: int, threshold: float, measure: Any, **options: Any) -> None:
    """Find every pair of pages that is alike to a threshold by an exact join, without sketches; pages with the same
    tokens count once.

    \b
      neardup evaluate oracle pages.jsonl --threshold .9 --out exact
    """
    from neardup.cli.display import display
    from neardup.cli.summary import print_json
    from neardup.engines import Settings
    from neardup.evaluation.oracle import write_exact_pairs

    report = write_exact_pairs(
        inputs_of(inputs, options),
        options["out"],
        k=k,
        threshold=threshold,
        measure=measure,
        settings=Settings(reading=reading_of(options), threads=options["threads"]),
        overwrite=options["overwrite"],
        progress=display(options["quiet"] or options["as_json"]),
        command=as_typed(),
    )
    if options["as_json"]:
        print_json(report)
    elif not options["quiet"]:
        click.echo(f"{report['pairs']:,} pairs of {report['pages']:,} pages at {measure} ≥ {threshold:g}, exactly")
