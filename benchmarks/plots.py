"""Draws the plots of a record beside it. usage: plots.py RECORD.json; prints the names of the files it wrote."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
# The same data gives the same file.
matplotlib.rcParams["svg.hashsalt"] = "neardup"
from matplotlib import pyplot as plt  # noqa: E402


def save(figure, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    # The library leaves spaces at line ends.
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")
    print(path.name)


def growth(sections: list[dict], path: Path) -> None:
    """Seconds against pages on two logarithmic axes, with the line of growth in proportion."""
    lines = [one["data"] for one in sections if one["data"].get("points")]
    if not lines:
        return
    figure, axes = plt.subplots(figsize=(6, 4))
    for line in lines:
        pages, seconds = zip(*line["points"], strict=True)
        (drawn,) = axes.loglog(pages, seconds, marker="o", label=line["detector"])
        last = seconds[-1] / pages[-1]
        axes.loglog(pages, [last * count for count in pages], linestyle=":", color=drawn.get_color())
    axes.set_xlabel("pages")
    axes.set_ylabel("seconds (dotted: in proportion to the largest)")
    axes.legend()
    axes.grid(True, alpha=0.3)
    save(figure, path)


def sides(section: dict, path: Path) -> None:
    """MB/s of ours and the peers, with every measurement as a mark."""
    size, runs = section["data"]["bytes"], section["data"]["runs"]
    rates = {
        name: [size / 1e6 / run["seconds"] for run in done if run["trouble"] is None] for name, done in runs.items()
    }
    rates = {name: values for name, values in rates.items() if values}
    figure, axes = plt.subplots(figsize=(6, 0.6 + 0.45 * len(rates)))
    medians = {name: sorted(values)[len(values) // 2] for name, values in rates.items()}
    names = sorted(medians, key=medians.__getitem__)
    axes.barh(names, [medians[name] for name in names], color=["C0" if name == "ours" else "0.7" for name in names])
    for place, name in enumerate(names):
        axes.plot(rates[name], [place] * len(rates[name]), "k|")
    axes.set_xlabel("MB/s")
    axes.set_title(section["title"], fontsize=9)
    save(figure, path)


def main() -> None:
    data = Path(sys.argv[1])
    record = json.loads(data.read_text())
    growth(record["sections"], data.with_name(f"{data.stem}-growth.svg"))
    texts = [one for one in record["sections"] if one["title"].startswith("Text JSONL")]
    for section in texts:
        megabytes = round(section["data"]["bytes"] / 1e6)
        sides(section, data.with_name(f"{data.stem}-text-{megabytes}-mb.svg"))


if __name__ == "__main__":
    main()
