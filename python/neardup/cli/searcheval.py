"""``neardup searcheval``: what result lists are worth when repeats are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neardup.cli.options import Verb, folder_to_write, input_options, inputs_of


@click.command(cls=Verb, short_help="Measure search results with repeats known.")
@click.option("--run", "runs", multiple=True, required=True, metavar="FILE", help="A TREC run file; repeatable.")
@click.option("--qrels", required=True, metavar="FILE", help="A TREC qrels file.")
@click.option("--pages", multiple=True, required=True, metavar="INPUT", help="The pages of the results; repeatable.")
@click.option(
    "--detector", "-d", metavar="SPEC",
    help="Who says what repeats what.  [default: template-aware where all pages are markup, else minhash; none where "
    "--model is given]",
)  # fmt: skip
@click.option("--model", metavar="FILE", help="A classifier (neardup train), instead of a detector.")
@click.option("--rendered", multiple=True, metavar="INPUT", help="Rendered pages, for a classifier that needs them.")
@click.option("--idf", metavar="FILE", help="The idf table that the classifier was trained with.")
@click.option(
    "--queries", metavar="FILE", help="The words of the queries, for snippets: JSON lines, or id, tab, words."
)
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Repeatable.  [default: nDCG@10, P@5]")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Results a list that are compared; judged pages are compared as well.",
)
@click.option(
    "--out", "-o", metavar="DIR", callback=folder_to_write, help="Folder for all numbers; it appears when all is done."
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier result of the same name.")
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Worker threads.  [default: one a core]")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print what run.json says instead of the tables.")
@input_options
def command(runs: tuple[str, ...], qrels: str, pages: tuple[str, ...], **options: Any) -> None:
    """Measure engines by their result lists in four ways: with every result counted, with duplicates counted once, with
    judgements shared among duplicates, and both; say which engine profits from repeats, and where one page was judged
    twice.

    \b
      neardup searcheval --run a.txt --run b.txt --qrels qrels.txt --pages pages.jsonl --out result
      neardup searcheval --run a.txt --qrels qrels.txt --pages pages.jsonl --model model.json --queries queries.jsonl
    """
    from neardup.cli.display import display
    from neardup.cli.learning import print_searches
    from neardup.cli.summary import print_json
    from neardup.engines import Settings
    from neardup.errors import UsageError
    from neardup.evaluation.search_judges import by_classifier, by_detector, kinds_of, read_queries
    from neardup.evaluation.searches import MEASURES, evaluate_searches, pool, require_measures
    from neardup.evaluation.trec import read_qrels, read_run
    from neardup.methods import parse
    from neardup.methods.default import default_detector
    from neardup.signals import Idf
    from neardup.signals.classifiers import load_classifier
    from neardup.sinks import write_json, write_table
    from neardup.sinks.folder import new_folder

    require_measures()
    if options["model"] and options["detector"]:
        raise UsageError("a detector and a classifier cannot both decide", hint="give --detector or --model")

    def source_of(paths: tuple[str, ...]) -> Any:
        return inputs_of(paths, options).open

    read = [read_run(path) for path in runs]
    grades = read_qrels(qrels)
    compared = pool(read, options["depth"], grades)
    if options["model"]:
        found = by_classifier(
            compared, source_of(pages), load_classifier(options["model"]),
            rendered=source_of(options["rendered"]) if options["rendered"] else None,
            idf=Idf.load(options["idf"]) if options["idf"] else None,
            queries=read_queries(options["queries"]) if options["queries"] else None,
            threads=options["threads"], progress=display(options["quiet"] or options["as_json"]),
        )  # fmt: skip
    else:
        judge = parse(options["detector"]) if options["detector"] else default_detector(kinds_of(source_of(pages)))
        found = by_detector(compared, source_of(pages), judge, Settings(threads=options["threads"]))
    told = evaluate_searches(read, grades, found.groups, options["measures"] or MEASURES)
    report = {
        "what": "search evaluation",
        "judge": options["model"] or str(judge),
        "pairs": found.pairs,
        "duplicates": found.accepted,
        "missing": found.missing,
    } | told.report
    if options["out"]:
        with new_folder(Path(options["out"]), options["overwrite"]) as folder:
            write_table(told.table(), folder / "queries.parquet")
            write_json(report, folder / "run.json")
    if options["as_json"]:
        print_json(report)
    elif not options["quiet"]:
        print_searches(report, options["out"])
