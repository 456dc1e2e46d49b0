"""``neardup classify``: which pairs are duplicates, by a trained classifier."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.options import Verb, file_to_write, label_options, labels_of


@click.command(cls=Verb, short_help="Decide by a trained classifier which pairs are duplicates.")
@click.option("--model", required=True, metavar="FILE", help="A classifier, as neardup train writes it.")
@click.option("--signals", "signals_", required=True, metavar="FILE", help="Signals, as neardup signals writes them.")
@click.option("--labels", metavar="FILE", help="Judged pairs, to tell how often it is right.")
@label_options
@click.option(
    "--out",
    "-o",
    metavar="FILE",
    callback=file_to_write,
    help="Parquet file for the decisions: a, b, query, score, duplicate.",
)
@click.option("--show", is_flag=True, help="Print the classifier itself.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(model: str, signals_: str, labels: str | None, out: str | None, **options: Any) -> None:
    """Tell which pairs of a table of signals are duplicates, and with --labels how often that is right.

    \b
      neardup classify --model model.json --signals signals.parquet --out decisions.parquet
      neardup classify --model model.json --signals other.parquet --labels judged.csv
    """
    import pyarrow as pa

    from neardup.cli.summary import print_json
    from neardup.evaluation.many_signals import Labelled, measured
    from neardup.evaluation.many_signals_report import read_signals
    from neardup.signals.classifiers import load_classifier
    from neardup.sinks import write_table

    classifier, table = load_classifier(model), read_signals(signals_)
    scores, accepted = classifier.classify(table, signals_)
    told: dict[str, Any] = {"pairs": table.num_rows, "duplicates": int(accepted.sum())}
    if out:
        decided = {"score": pa.array(scores), "duplicate": pa.array(accepted)}
        write_table(pa.table({name: table.column(name) for name in ("a", "b", "query")} | decided), out)
    if labels:
        labelled = Labelled.read(table, labels, labels_of(options), options["label_field"])
        found = measured(classifier, labelled)
        told["labelled"] = labelled.summary() | {name: round(found[name], 4) for name in ("P", "R", "F")}
    if options["as_json"]:
        print_json(told)
        return
    if options["show"]:
        click.echo(classifier.text() + "\n")
    click.echo(f"{told['duplicates']:,} of {told['pairs']:,} pairs are duplicates")
    if labels:
        right = told["labelled"]
        click.echo(
            f"against {right['pairs']:,} labels, {right['share']:.1%} of them duplicates: "
            f"P {100 * right['P']:.1f}, R {100 * right['R']:.1f}, F {100 * right['F']:.1f}"
        )
    if out:
        click.echo(f"\nResult  {out}")
