"""How a result was made: time and memory a stage, the settings, the command; the last sections of every report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from neardup.report.frame import Content, Html, HtmlPage, element, html, number, paragraph, plot, plots, table


def add_how_it_was_made(page: HtmlPage, report: Mapping[str, Any]) -> None:
    """Adds what ``report`` says of ``stages``, ``settings`` and ``command``, as far as it does.

    >>> page = HtmlPage("A page")
    >>> add_how_it_was_made(page, {"settings": {"seed": 1}, "command": "neardup study a.warc --out b"})
    >>> [title for _, title, _ in page.sections]
    ['Settings, and how to repeat it']
    """
    page.add("stages", "Time and memory", stages(report))
    told = list(setting_rows(report.get("settings") or {}))
    listed = table(["setting", "value"], told, left=(1,)) if told else None
    page.add("settings", "Settings, and how to repeat it", listed, command(report.get("command")))


def stages(report: Mapping[str, Any]) -> Content:
    """Seconds and peak memory of each stage: the only part that differs between two runs of the same."""
    told = report.get("stages")
    if not told:
        return None
    memory = [f"{stage['peak_memory'] / 1e6:,.0f}" if stage["peak_memory"] else "–" for stage in told]
    rows = [(stage["name"], f"{stage['seconds']:.2f}", peak) for stage, peak in zip(told, memory, strict=True)]
    drawn = [
        plot(
            f"{name} a stage",
            {"kind": "bars", "x": "stage", "y": unit, "data": data},
            ["stage", "seconds", "peak MB"],
            rows,
        )
        for name, unit, data in (
            ("Seconds", "seconds", [[stage["name"], stage["seconds"]] for stage in told]),
            ("Peak memory", "MB", [[stage["name"], round((stage["peak_memory"] or 0) / 1e6, 1)] for stage in told]),
        )
    ]
    return plots(*drawn)


def setting_rows(settings: Mapping[str, Any]) -> Iterator[tuple[str, Content]]:
    """Settings as rows of a table; those inside another are named after it.

    >>> list(setting_rows({"seed": 0, "reading": {"hash": "fold"}, "pages": ["a", "b"]}))
    [('seed', '0'), ('reading: hash', 'fold'), ('pages', 'a, b')]
    """
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}: {inner}", told) for inner, told in setting_rows(value))
        elif isinstance(value, list | tuple):
            yield name, ", ".join(map(str, value)) or "none"
        else:
            yield name, number(value) if isinstance(value, float) else "–" if value is None else str(value)


def command(line: str | None) -> Html | None:
    """The command that makes the same again, where there was one.

    >>> command("neardup study a --out b").startswith("<p>The same once more")
    True
    """
    if line is None:
        return None
    said = "The same once more (into another folder, or with --overwrite):"
    return html([paragraph(said), element("pre", element("code", line))])
