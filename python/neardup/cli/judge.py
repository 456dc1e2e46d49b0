"""``neardup judge``: people look at a sample of pairs; what they say is stored, compared and counted."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.options import VerbGroup, file_to_write

_JUDGING = click.argument("judging", metavar="JUDGING")


@click.group(
    cls=VerbGroup, name="judge", short_help="Have people judge a sample of pairs, and say how right a run was."
)
def command() -> None:
    """Draw pairs of a run, have people judge them in the browser, and estimate precision from what they say.

    JUDGING is the file that `judge new` made, or the result folder it is in.

    \b
      neardup judge new --from result --sample 300
      neardup ui result
      neardup judge report result
    """


@command.command(short_help="Draw a sample of pairs to judge.")
@click.option(
    "--from", "folders", multiple=True, required=True, metavar="DIR",
    help="Result folder whose pairs are drawn; repeatable, for runs of different detectors over the same pages.",
)  # fmt: skip
@click.option("--sample", type=click.IntRange(min=1), default=300, show_default=True, help="How many pairs.")
@click.option(
    "--stratify", default="detector,similarity,site", show_default=True, metavar="LIST",
    help="What strata differ by: detector, similarity, site; an empty text for none.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed draws other pairs.")
@click.option(
    "--out",
    "-o",
    metavar="FILE",
    callback=file_to_write,
    help="The judging.  [default: judging.sqlite in the first folder]",
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier judging, with all that was said in it.")
def new(folders: tuple[str, ...], sample: int, stratify: str, seed: int, out: str | None, overwrite: bool) -> None:
    """Draw pairs that runs accepted, with known probabilities, so that precision can be estimated back.

    Every stratum gets its share of the sample, but at least five pairs where it has them.

    \b
      neardup judge new --from result --sample 1910
      neardup judge new --from broder --from charikar --sample 2000 --stratify detector,site
    """
    from pathlib import Path

    from neardup.cli.judging_tables import print_strata
    from neardup.evaluation.judging import Judging
    from neardup.evaluation.judging_sample import draw_pairs

    drawn = draw_pairs(
        [str(Path(folder).resolve()) for folder in folders], sample, [key for key in stratify.split(",") if key], seed
    )
    path = Path(out) if out else Path(folders[0]) / "judging.sqlite"
    Judging.create(path, drawn, overwrite=overwrite).close()
    print_strata(drawn, str(path), folders[0], elsewhere=out is not None)


@command.command(short_help="What was said: agreement, precision, tables.")
@_JUDGING
@click.option("--json", "as_json", is_flag=True, help="As JSON, with all numbers.")
def report(judging: str, as_json: bool) -> None:
    """Tell progress, agreement of the judges, each judge against the final label, precision of every detector with a
    95 % interval, and Henzinger's Tables 2 to 7.

    \b
      neardup judge report result
    """
    from neardup.cli.judging_tables import print_judging
    from neardup.cli.summary import print_json
    from neardup.evaluation.judging_report import judging_report

    with opened(judging) as found:
        told = judging_report(found)
    if as_json:
        print_json(told)
    else:
        print_judging(told)


@command.command(short_help="Write the labels as a pairs file.")
@_JUDGING
@click.option(
    "--out", "-o", required=True, metavar="FILE", callback=file_to_write, help="A .jsonl, .csv, .tsv or .parquet file."
)
@click.option("--judge", metavar="NAME", help="What this judge said, instead of the final labels.")
def export(judging: str, out: str, judge: str | None) -> None:
    """Write the final labels as the pairs file that `neardup evaluate pairs` reads.

    \b
      neardup judge export result --out judged.jsonl
      neardup judge export result --judge ada --out ada.csv
    """
    from neardup.evaluation.judging_exchange import export_judgements

    with opened(judging) as found:
        count = export_judgements(found, out, judge)
        disputes = len(found.disputes())
    click.echo(
        f"{count:,} labels to {out}" + (f"; {disputes:,} pairs are in dispute" if disputes and not judge else "")
    )


@command.command(name="import", short_help="Take labels from a pairs file.")
@_JUDGING
@click.argument("file", metavar="FILE")
@click.option("--judge", required=True, metavar="NAME", help="Who said it.")
@click.option("--correct", multiple=True, metavar="LABEL", help="A label that means correct.")
@click.option("--incorrect", multiple=True, metavar="LABEL", help="A label that means incorrect.")
@click.option("--undecided", multiple=True, metavar="LABEL", help="A label that means undecided.")
def import_(judging: str, file: str, judge: str, **words: Any) -> None:
    """Take the labels of a pairs file (a, b, label, reason) as what one judge said; pages are known by their ids.

    \b
      neardup judge import result ada.csv --judge ada
    """
    from neardup.evaluation.judged import Labels
    from neardup.evaluation.judging_exchange import import_judgements

    with opened(judging) as found:
        taken, others = import_judgements(found, file, judge, Labels(**words))
    click.echo(f"{taken:,} labels of {judge}" + (f"; {others:,} pairs are not in the sample" if others else ""))


def opened(name: str) -> Any:
    """The judging of this name, or the one in the folder of this name; closed at the end."""
    from contextlib import closing
    from pathlib import Path

    from neardup.evaluation.judging import Judging

    path = Path(name)
    return closing(Judging(path / "judging.sqlite" if path.is_dir() else path))
