"""``neardup train``: a classifier of pairs, learned from signals and labels."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.options import Verb, file_to_write, folder_to_write, label_options, labels_of


@click.command(cls=Verb, short_help="Learn from signals and labels which pairs are duplicates.")
@click.option("--signals", "signals_", required=True, metavar="FILE", help="Signals, as neardup signals writes them.")
@click.option(
    "--labels", required=True, metavar="FILE", help="Judged pairs: a, b, label in .jsonl, .csv, .tsv, .parquet."
)
@label_options
@click.option(
    "--groups", metavar="SUM", help="Groups or names of signals, joined by +.  [default: the paper's that are in FILE "
    "(F+R+RS if pages were rendered), with wide_mcd where gzip's window is too short]",
)  # fmt: skip
@click.option(
    "--learner", type=click.Choice(["tree", "rules", "boosting"]), default="rules", show_default=True,
    help="Decision tree, RIPPER's rules, or gradient boosting.",
)  # fmt: skip
@click.option("--out", "-o", required=True, metavar="FILE", callback=file_to_write, help="The classifier, as JSON.")
@click.option(
    "--folds", type=click.IntRange(min=2), default=10, show_default=True, help="Folds of the cross-validation."
)
@click.option(
    "--seeds", type=click.IntRange(min=0), default=9, show_default=True,
    help="How often it is repeated, an odd number; the run of median F is reported. 0: no cross-validation.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the classifier that is written.")
@click.option(
    "--tables",
    metavar="DIR",
    callback=folder_to_write,
    help="Also draw up all tables and figures of the paper, into a folder.",
)
@click.option("--overwrite", is_flag=True, help="Replace earlier tables of the same name.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(signals_: str, labels: str, groups: str | None, learner: str, out: str, **options: Any) -> None:
    """Train a classifier on all labelled pairs, and tell by cross-validation, query by query, how good it is.

    \b
      neardup train --signals signals.parquet --labels pairs.csv --groups F+R+RS --out model.json
      neardup train --signals signals.parquet --labels pairs.csv --learner tree --tables tables --out model.json
    """
    from neardup.cli.learning import print_training
    from neardup.cli.summary import print_json
    from neardup.evaluation.many_signals import Effort, Labelled, check_seeds, experiment, train
    from neardup.evaluation.many_signals_report import read_signals, require_for_tables, write_tables
    from neardup.signals.classifiers import save_classifier
    from neardup.signals.classifiers.learners import require_learners

    require_learners()
    if options["seeds"]:
        check_seeds(options["seeds"])
    if options["tables"]:
        require_for_tables()
    labelled = Labelled.read(read_signals(signals_), labels, labels_of(options), options["label_field"])
    groups = groups or labelled.default_groups()
    classifier = train(labelled, groups, learner, options["seed"])
    nulls = {name: count for name in classifier.signals if (count := labelled.nulls(name))}
    told: dict[str, Any] = {"pairs": labelled.summary(), "groups": groups, "signals": classifier.signals}
    told |= {"without": labelled.missing(groups), "nulls": nulls}
    if options["seeds"]:
        effort = Effort(options["folds"], options["seeds"])
        row = experiment(labelled, groups, effort)
        told["cross-validation"] = {name: value for name, value in row.items() if name != "runs"}
        if options["tables"]:
            write_tables(labelled, options["tables"], effort, overwrite=options["overwrite"])
    save_classifier(classifier, out)
    if options["as_json"]:
        print_json(told)
    else:
        print_training(classifier, told, out, options)
