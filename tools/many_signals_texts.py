"""The words of docs/many-signals.md around what ``many_signals.py`` measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

REALS = {
    "ota": (
        "Terms and policies, fetched again and again",
        "Pages of the Open Terms Archive (contrib, ODC-BY 1.0): pairs of two fetches of one document are duplicates if "
        "the archive holds the same main text for both, and not if it changed; two documents of one service are not. "
        "Labels are derived from hand-written selectors, not judged pair by pair. The pages are rendered from what is "
        "stored, without the scripts and frames they ask for, so that rendering adds little that was not there. There "
        "are no queries. More than half of the pairs are duplicates, "
        "so F is high for anything that accepts much. Most bodies are longer than gzip sees: look at how few pairs "
        "have a gzip mcd.",
    ),
    "petclinic": (
        "States of a web application",
        "The Petclinic subject of Yandrapally, Stocco, Mesbah (ICSE 2020). Its judges call two states near-duplicates "
        "if they are *functionally* alike, other data included: the opposite of a searcher's view. Learned here "
        "is how to find pages of one template: the length of the body says most, and the title, the same "
        "everywhere, nothing. The states are rendered from what is stored.",
    ),
}


def row_of(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def prf_table(rows: Sequence[Mapping[str, Any]], first: str, kinds: Sequence[str], *more: str) -> str:
    head = [first, *more, *(f"{kind} {name}" for kind in kinds for name in "PRF"), "mean F"]
    lines = [row_of(head), "|---|" + "---:|" * (len(head) - 1)]
    for row in rows:
        cells = [row[first], *(f"{row[name]:,}" for name in more)]
        cells += [f"{row[kind][name]:.1f}" for kind in kinds for name in "PRF"]
        lines.append(row_of([*cells, f"**{row['F']:.1f}**"]))
    return "\n".join(lines)


def search_table(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["repeats known by", "engine", "every", "once", "shared", "shared once", "undue credit", "p", "repeats",
            "judged twice", "differently"]  # fmt: skip
    lines = [row_of(head), "|---|---|" + "---:|" * (len(head) - 2)]
    for row in rows:
        values = [f"{row[way]:.3f}" for way in ("every", "once", "shared", "shared once")]
        chance = "< 0.001" if row["p"] < 0.001 else f"{row['p']:.3f}"
        counts = [row[name] for name in ("repeats", "judged twice", "differ")]
        lines.append(row_of([row["judge"], row["run"], *values, f"{row['undue credit']:+.3f}", chance, *counts]))
    return "\n".join(lines)


def described(summary: Mapping[str, Any]) -> str:
    return (
        f"{summary['pairs']:,} pairs of {summary['queries']:,} queries, {summary['duplicates']:,} of them duplicates "
        f"({summary['share']:.1%})"
    )


def page(
    counts: Mapping[str, Mapping[str, Any]],
    missing: Mapping[str, int],
    tested: Sequence[Mapping[str, Any]],
    moved: Sequence[Mapping[str, Any]],
    searched: Sequence[Mapping[str, Any]],
    figure_3: bool,
    tables: Mapping[str, str],
    reals: Mapping[str, tuple[Mapping[str, Any], Mapping[str, str]]],
    judges: tuple[str, str],
    grows: tuple[bool, bool],
    seeds: int,
) -> str:
    """The whole page."""
    kinds = ("rules", "tree", "boosting")
    best = next(row for row in tested if row["signals"] == "F+R+RS")
    over = [kind for kind in kinds if best[kind]["F"] >= 90]
    titles = list(tables)
    spans = ", ".join(f"{best[kind]['interval'][0]:.1f}–{best[kind]['interval'][1]:.1f} ({kind})" for kind in kinds)
    parts = [
        "# Many signals: how well duplicates among search results are told",
        "The experiments of Huffman et al. 2007, *Multiple-Signal Duplicate Detection for Search Evaluation*, on a "
        "generated web whose truth is known, rendered by a real browser, and on real pages. "
        "[Find duplicates in search results](how-to/duplicates-in-search-results.md) shows the commands, "
        "[the explanation](explanation/many-signals.md) what each signal is. One command writes this page:",
        "```sh\npython tools/many_signals.py DATA --work work      # --no-sandbox as root\n```",
        "P, R and F are per cent, of the pairs that are duplicates by Huffman's rules. F depends on how many are; "
        "the paper's 34,577 pairs have 1.6 %, and its best human judge reaches F 85.5.",
        "## Learned on one web, tested on another",
        f"The first half: {described(counts['train'])}. The second half, of another seed and built from other "
        f"templates: {described(counts['test'])}. Pages that would not render leave {missing['train']:,} and "
        f"{missing['test']:,} pairs without rendered signals. The idf table is of the first half. Learned on all of "
        f"the first half, tested on the second; {seeds} seeds, the run of median F of each learner:",
        prf_table(tested, "signals", kinds),
        ("F ≥ 90 for F+R+RS is reached by: " + ", ".join(over) + ". " if over else "F ≥ 90 for F+R+RS is not reached. ")
        + ("Each group improves on the one before." if grows[0] else "Not every group improves on the one before.")
        + " F alone cannot do it: on half of the sites the content is not in the page that is fetched. O and RO, which "
        "the paper has not, add the main content, the layout, wide compression and addresses.",
        f"How far chance goes: with other queries of the same kind, F of F+R+RS would be, in 95 of 100 cases, {spans} "
        "(by drawing the queries of the second half anew). How far to either side of a word of the query a snippet "
        "reaches was chosen by cross-validation on the first half; the second had no part in it.",
        "The rules of F+R+RS, as learned on the first half:",
        f"```text\n{judges[0]}\n```",
        "And the tree:",
        f"```text\n{judges[1]}\n```",
        "## The paper's tables, by cross-validation",
        f"On the first half: ten folds, pairs of one query in one fold, {seeds} seeds; the run of median F of each "
        "learner. *Mean F* is that of rules and tree, as in the paper.",
        f"### {titles[1]}",
        tables[titles[1]],
        ("Each of the paper's groups improves on the one before." if grows[1] else
         "Not every group improves on the one before here."),
        "![F by set of signals](many-signals/figure-1.svg)",
        "![Precision and recall](many-signals/figure-2.svg)",
        f"### {titles[0]}",
        tables[titles[0]],
    ]  # fmt: skip
    if len(titles) > 2:
        parts += [f"### {titles[2]}", tables[titles[2]]]
    parts += [
        "### Table 5: other languages",
        "F+R+RS, learned on the English queries of the first half, tested on the second half by language.",
        prf_table(moved, "language", kinds, "pairs", "duplicates"),
        "There are few duplicates in each language: a pair or two more or less moves F by points.",
    ]
    if figure_3:
        parts += [
            "### Figure 3: performance against cost",
            "Signals in the order of what they cost; first those of the fetched body, then, at the price of rendering, "
            "those of the rendered one. Bars end at the quartiles over seeds, mean of rules and tree.",
            "![F as signals are added](many-signals/figure-3.svg)",
            "Without the compression of whole bodies, the dearest of what is computed:",
            "![F as signals are added, without body mcd](many-signals/figure-3-without-mcd.svg)",
        ]
    parts += [
        "## Search evaluation",
        "nDCG@10 of the three engines of the second half, with every result counted, duplicates counted once, with "
        "judgements shared within a group, and both; by who says what repeats what. *Undue credit* is what an engine "
        "gains by repeats, by the difference of the first two; it can be below 0, for the ideal list too has each page "
        "once (p by paired randomisation over queries); *judged twice* counts pages that were judged under "
        "two addresses.",
        search_table(searched),
        "## Real pages",
    ]
    for name, (summary, told) in reals.items():
        title, words = REALS[name]
        parts += [
            f"### {title}",
            words,
            f"{summary['pairs']:,} pairs, drawn at random, {summary['share']:.0%} of them duplicates; {seeds} seeds.",
        ]
        for heading, table in reversed(list(told.items())):
            parts += [f"**{heading.split(': ')[1].capitalize()}**", table]
    if not reals:
        parts.append("They were not there when this page was written.")
    return "\n\n".join(parts) + "\n"
