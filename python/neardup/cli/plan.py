"""``neardup plan``: how many functions and bands, with the S-curve drawn."""

from __future__ import annotations

import click

from neardup.cli.options import Verb


@click.command(cls=Verb, short_help="Choose functions and bands for a threshold; draw the S-curve.")
@click.option(
    "--threshold", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.8, show_default=True,
    help="Jaccard similarity from which on pairs are to be found.",
)  # fmt: skip
@click.option(
    "--recall", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.99, show_default=True,
    help="Share of the pairs at the threshold that must be found.",
)  # fmt: skip
@click.option("--functions", type=click.IntRange(1, 4096), default=256, show_default=True, help="At most so many.")
@click.option("--detector", "-d", metavar="SPEC", help="Draw what this detector accepts, instead of planning bands.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, the curve included.")
def command(threshold: float, recall: float, functions: int, detector: str | None, as_json: bool) -> None:
    """Choose bands and rows so that a pair at the threshold is found with the recall asked for.

    Tails are exact; the lecture's Chernoff bound (as corrected in the documentation) stands beside them.

    With --detector the curve is that detector's: with what probability it accepts a pair, given how similar it is.

    \b
      neardup plan --threshold .8 --recall .99
      neardup plan --detector 'supershingling(kappa=2)'
    """
    from neardup.methods import planner

    if detector is not None:
        _plan_of(detector, threshold, as_json)
        return
    chosen = planner.plan_bands(threshold, recall, functions=functions)
    tails = {
        "functions": chosen.functions,
        "underestimates_by_10_percent": planner.underestimate_probability(chosen.functions, threshold),
        "chernoff_bound": planner.chernoff_bound(chosen.functions, threshold),
        "functions_for_1_percent": planner.functions_needed(threshold),
        "functions_for_1_percent_by_chernoff": planner.functions_by_chernoff(threshold),
    }
    if as_json:
        from neardup.cli.summary import print_json

        print_json(
            {
                "threshold": threshold,
                "bands": chosen.bands,
                "rows": chosen.rows,
                "recall_at_threshold": chosen.recall,
                "spec": f"minhash(threshold={threshold:g},bands={chosen.bands},rows={chosen.rows})",
                "estimate": tails,
                "curve": chosen.curve(),
            }
        )
        return
    click.echo(
        f"{chosen.bands} bands of {chosen.rows} rows, {chosen.functions} functions: "
        f"a pair at {threshold:g} is found with probability {chosen.recall:.4f}"
    )
    click.echo(f"  --detector 'minhash(threshold={threshold:g},bands={chosen.bands},rows={chosen.rows})'\n")
    draw(chosen.curve(61), threshold)
    click.echo("\n  Jaccard   found   by Alg. B")
    for jaccard in (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99):
        found = planner.band_probability(jaccard, chosen.bands, chosen.rows)
        click.echo(f"  {jaccard:7.2f} {found:7.4f} {planner.supershingle_probability(jaccard):10.4f}")
    click.echo(
        f"\nAs an estimate of a similarity of {threshold:g}, {chosen.functions} functions fall more than 10 % short\n"
        f"with probability {tails['underestimates_by_10_percent']:.4f} "
        f"(Chernoff bound {tails['chernoff_bound']:.4f}); for 1 % it takes "
        f"{tails['functions_for_1_percent']} (by the bound {tails['functions_for_1_percent_by_chernoff']})."
    )


def _plan_of(spec: str, threshold: float, as_json: bool) -> None:
    from neardup.errors import UsageError
    from neardup.methods import detectors, parse

    chosen = parse(spec)
    curve = [(step / 60, chosen.acceptance(step / 60)) for step in range(61)]
    known = [(similarity, chance) for similarity, chance in curve if chance is not None]
    if len(known) < len(curve):
        have = [name for name, kind in detectors().items() if kind().acceptance(0.5) is not None]
        raise UsageError(
            f"for detector {chosen.name!r} no closed form is known of what it accepts",
            hint=f"there are curves of {', '.join(have)}",
        )
    told = [(similarity, chosen.acceptance(similarity) or 0.0) for similarity in (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)]
    if as_json:
        from neardup.cli.summary import print_json

        print_json({"detector": str(chosen), "measure": chosen.measure, "curve": known})
        return
    click.echo(f"{chosen}: {chosen.summary}\n")
    draw(known, threshold, chosen.measure)
    click.echo("\n  similarity   accepted")
    for similarity, chance in told:
        click.echo(f"  {similarity:10.2f} {chance:10.4f}")


def draw(
    curve: list[tuple[float, float]], threshold: float, measure: str = "Jaccard similarity", height: int = 12
) -> None:
    """The curve in block characters, eight steps to a line, the threshold marked on the axis."""
    blocks = " ▁▂▃▄▅▆▇█"
    for line in range(height - 1, -1, -1):
        label = f"{(line + 1) / height:4.2f}" if line in (height - 1, height // 2 - 1, 0) else "    "
        cells = (min(8, max(0, round(8 * (value * height - line)))) for _, value in curve)
        click.echo(f"  {label} │" + "".join(blocks[cell] for cell in cells).rstrip())
    mark = round(threshold * (len(curve) - 1))
    click.echo("  0.00 └" + "".join("┴" if at == mark else "─" for at in range(len(curve))))
    axis = [" "] * (len(curve) + 6)
    for value in (0.0, 0.5, 1.0):
        at = round(value * (len(curve) - 1))
        axis[at : at + 3] = list(f"{value:.1f}")
    click.echo("       " + "".join(axis).rstrip() + f"  {measure}")
