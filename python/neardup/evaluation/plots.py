"""Plots as SVG files: the same data give the same file. Needs the extra ``plots``; without it, a clear message."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from neardup.errors import MissingExtra
from neardup.writing import replacing

_SIZE: Final = (6.4, 4.0)
#: With more lines than these the names stand beside the plot, in the order in which the lines do.
_FEW: Final = 8
_WIDE: Final = (8.2, 4.8)
_STROKES: Final = ("-", "--", ":", "-.")


@dataclass(frozen=True, slots=True)
class Line:
    """A named line (or, with ``marks``, points) of a plot."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    marks: bool = False
    #: Something to compare with, not something measured.
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over two axes."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    logarithmic: bool = False
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def require_plots() -> None:
    """Raises ``MissingExtra`` unless plots can be drawn; asked before the work, not after it."""
    try:
        import matplotlib  # noqa: F401  (only whether it is there)
    except ImportError:
        raise MissingExtra(
            "plots need matplotlib, which is not installed", hint="pip install 'neardup[plots]'"
        ) from None


def draw_plot(plot: Plot, path: Path) -> None:
    """Writes a plot as an SVG file."""
    require_plots()
    many = len(plot.lines) > _FEW
    with _svg_figure(_WIDE if many else _SIZE) as (figure, axes):
        for number, line in enumerate(_in_view(plot.lines) if many else plot.lines):
            style: dict[str, Any] = {"marker": ".", "linestyle": "none"} if line.marks else {"linewidth": 1.2}
            if many and not line.marks:
                # Colours come round again after ten lines, with another stroke.
                style["linestyle"] = _STROKES[number // 10 % len(_STROKES)]
            if line.dotted:
                style |= {"linestyle": ":", "color": "#777777"}
            axes.plot(line.x, line.y, label=line.name, **style)
        if plot.logarithmic:
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.set_title(plot.title, fontsize=10)
        axes.set_xlabel(plot.x)
        axes.set_ylabel(plot.y)
        if plot.x_range:
            axes.set_xlim(*plot.x_range)
        if plot.y_range:
            axes.set_ylim(*plot.y_range)
        axes.grid(True, alpha=0.3)
        if any(line.name for line in plot.lines):
            beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02), "frameon": False}
            axes.legend(fontsize=6.5 if many else 8, **(beside if many else {}))
        _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    lines = (line.rstrip() for line in drawn.getvalue().splitlines())  # the library leaves spaces at line ends
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


def _in_view(lines: Sequence[Line]) -> list[Line]:
    """Lines from the highest down, by their middle point."""
    return sorted(lines, key=lambda line: -line.y[len(line.y) // 2] if len(line.y) else 0.0)


@contextmanager
def _svg_figure(size: tuple[float, float]) -> Any:
    """A figure whose file depends on nothing but its data."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # Text stays text: the files are small, and can be searched.
    with matplotlib.rc_context({"svg.hashsalt": "neardup", "svg.fonttype": "none"}):
        figure = Figure(figsize=size)
        FigureCanvasSVG(figure)
        yield figure, figure.add_subplot()


@dataclass(frozen=True, slots=True)
class Bars:
    """Named bars from the top down, each with the ends of an interval where they are known."""

    title: str
    x: str
    names: Sequence[str]
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    #: A value to compare with, and what it is.
    line: tuple[float, str] | None = None


def draw_bars(bars: Bars, path: Path) -> None:
    """Writes bars as an SVG file."""
    require_plots()
    count = len(bars.names)
    with _svg_figure((6.4, 0.9 + 0.28 * count)) as (figure, axes):
        places = list(range(count))
        errors = None
        if bars.low:
            errors = [
                [max(value - end, 0.0) for value, end in zip(bars.values, bars.low, strict=True)],
                [max(end - value, 0.0) for value, end in zip(bars.values, bars.high, strict=True)],
            ]
        axes.barh(places, bars.values, xerr=errors, height=0.65, color="#7aa6c2", ecolor="#333333", capsize=2)
        axes.set_yticks(places, bars.names, fontsize=8)
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        if bars.line is not None:
            axes.axvline(bars.line[0], color="#b04a4a", linewidth=1.0, linestyle="--", label=bars.line[1])
            axes.legend(fontsize=7, loc="best")
        axes.set_title(bars.title, fontsize=10)
        axes.set_xlabel(bars.x)
        axes.grid(True, axis="x", alpha=0.3)
        _save(figure, path)
