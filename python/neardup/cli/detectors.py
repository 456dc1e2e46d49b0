"""``neardup detectors``: what there is to choose from."""

from __future__ import annotations

import click

from neardup.cli.options import Verb


@click.command(cls=Verb, short_help="List the detectors with parameters, source and cost.")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List the detectors, or tell all of one.

    \b
      neardup detectors
      neardup detectors minhash
    """
    from neardup.methods import detectors, parse

    chosen = {name: type(parse(name))} if name else detectors()
    if as_json:
        from neardup.cli.summary import print_json

        print_json(
            [
                {
                    "name": detector.name,
                    "summary": detector.summary,
                    "source": detector.source,
                    "cost": detector.cost,
                    "parameters": detector().parameters(),
                }
                for detector in chosen.values()
            ]
        )
        return
    for detector in chosen.values():
        parameters = ",".join(f"{field.name}={field.default}" for field in detector.parameter_fields())
        click.echo(click.style(detector.name, bold=True) + f"({parameters})")
        click.echo(f"    {detector.summary}\n    source: {detector.source}\n    cost:   {detector.cost}")
        if name and detector.__doc__:
            import inspect

            text = inspect.cleandoc(detector.__doc__).split(">>>")[0].rstrip()
            click.echo("\n" + "\n".join(f"    {line}" for line in text.splitlines()))
