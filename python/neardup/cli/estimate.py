"""``neardup estimate``: what a run would cost, on this machine and on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from neardup.cli.options import Verb


@click.command(cls=Verb, short_help="What a run would cost: hours, memory, shuffle, on one machine and on Spark.")
@click.option("--pages", type=click.FloatRange(min=1), default=1e9, show_default=True, help="How many pages; as 1.6e9.")
@click.option("--tokens", type=click.FloatRange(min=1), default=400, show_default=True, help="Tokens of a page.")
@click.option(
    "--duplicates", type=click.FloatRange(0, 1), default=0.3, show_default=True,
    help="Share of the pages that have near-duplicates.",
)  # fmt: skip
@click.option("--machines", type=click.IntRange(min=1), default=1, show_default=True, help="Machines of the cluster.")
@click.option("--cores", type=click.IntRange(min=1), default=1, show_default=True, help="Cores of each machine.")
@click.option(
    "--detector", "-d", metavar="SPEC",
    help="The detector.  [default: site-aware, that of the built-in rates; what dedup takes depends on the pages]",
)  # fmt: skip
@click.option("--calibrate", is_flag=True, help="Measure this machine with the detector first, and keep the rates.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(calibrate: bool, as_json: bool, detector: str | None, **options: Any) -> None:
    """Estimate what a run over so many pages would cost.

    Rates come from a measurement of this machine with that detector (--calibrate, some seconds, kept for later), else
    from the machine of the documentation. Bytes and keys follow from the detector.

    \b
      neardup estimate --calibrate
      neardup estimate --pages 1.6e9 --tokens 400 --duplicates 0.3 --machines 100 --cores 16
    """
    from neardup import estimate as costs

    detector = detector or costs.BUILT_IN.detector
    rates = costs.known_rates(detector)
    measured = "measured here"
    if calibrate:
        rates = costs.calibrate(detector)
        costs.save_rates(rates)
    if rates is None:
        rates = costs.BUILT_IN
        measured = f"of the documentation's machine, with {rates.detector}; see --calibrate"
    found = costs.estimate(detector, rates=rates, **options)
    if as_json:
        from neardup.cli.summary import print_json

        print_json({"rates": rates.to_json() | {"measured": measured}, "estimate": found.to_json()})
        return
    _print(found, measured)


def _print(found: Any, measured: str) -> None:
    click.echo(
        f"{found.detector}: {found.pages:,.0f} pages of {found.tokens:,.0f} tokens, "
        f"{found.duplicates:.0%} with near-duplicates\n"
        f"  a page: {found.fingerprint_bytes:,} bytes of fingerprints, {found.keys} keys\n"
        f"  expected pairs: {found.pairs:,.3g}   rates: {measured}\n"
    )
    one = f"1 × {found.cores} cores"
    all_ = f"{found.machines} × {found.cores} cores"
    click.echo(f"  {'':24}{'local, ' + one:>24}{'Spark, ' + all_:>26}")
    rows: list[tuple[str, str, Callable[[Any], str]]] = [
        ("hours, at least", "hours", _hours),
        ("dominated by", "dominates", str),
        ("memory a machine", "memory", _bytes),
    ]
    for label, name, shown in rows:
        click.echo(f"  {label:24}{shown(found.local[name]):>24}{shown(found.spark[name]):>26}")
    click.echo(f"  {'sent between machines':24}{'–':>24}{_bytes(found.spark['shuffle']):>26}")
    click.echo(f"  {'working folder':24}{'–':>24}{_bytes(found.spark['working']):>26}")
    for stage in found.spark["processor_hours"]:
        here = found.local["processor_hours"].get(stage)
        told = "–" if here is None else _hours(here)
        click.echo(f"  {'core hours ' + stage:24}{told:>24}{_hours(found.spark['processor_hours'][stage]):>26}")


def _hours(value: float) -> str:
    return f"{value:,.1f}" if value >= 10 else f"{value:.2g}"


def _bytes(value: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000:
            return f"{value:,.3g} {unit}"
        value /= 1000
    return f"{value:,.3g} PB"
