"""The words of ``docs/same-site.md`` around the figures that ``same_site.py`` measured."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown.

    >>> print(table(("a", "b"), [(1, 2)]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)])


def share(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1) if value < 1 else "1"


def page(data: dict[str, Any]) -> str:
    """The whole page."""
    parts = [_head(data), _main(data), _reading(data), _ablation(data), _calibration(data), _sources(data)]
    parts += [_hard(data), _cost(data)]
    return "\n\n".join(_filled(part) for part in [*parts, _failures(data)]) + "\n"


def _filled(text: str) -> str:
    """Prose in lines of a readable length; tables, headings and comments as they are.

    >>> _filled("# Head\\n\\nsome\\nwords")
    '# Head\\n\\nsome words'
    """
    paragraphs = text.split("\n\n")
    return "\n\n".join(part if part.startswith(("|", "#", "<")) else fill(part, 110) for part in paragraphs)


def _head(data: dict[str, Any]) -> str:
    pairs = data["pairs"]
    return f"""# Pages of the same site, measured

<!-- Written by tools/same_site.py; do not edit. -->

How often [`template-aware`](explanation/template-aware.md) is right where the papers' algorithms are not: pairs
on one
site. Everything here is what a run of `neardup dedup` joins, made by one command: `python tools/same_site.py DATA`.

The main set are real pages (terms of service, privacy policies) fetched again and again, from Open Terms Archive:
{pairs["same"]:,} pairs with the same main text, whatever moved around it, and {pairs["other"]:,} with another
({pairs["siblings"]:,} of them different documents of one service), of {pairs["documents"]:,} documents of
{pairs["services"]:,} services. Labels come from the archive: people wrote down where on each page the text stands,
software compared it. A changed text is one whose Jaccard similarity over five words is below .9; smaller
changes are not
judged. *Recall* is the mean over documents of the share of its same pairs that are accepted, *specificity* that
of its
other pairs that are not: a page that was fetched often counts no more than one that was not. Intervals hold 95
% of the
means of 1,000 resamples of services."""


def _row(name: str, found: dict[str, Any]) -> tuple[str, ...]:
    def around(what: str) -> str:
        low, high = found[f"{what} interval"]
        return f"{share(found[what])} ({share(low)}–{share(high)})"

    return (name, around("recall"), around("specificity"), share(found["f1"]))


def _main(data: dict[str, Any]) -> str:
    names = ("template-aware", "in one cluster", "cross-validated", "site-aware", "minhash(threshold=0.85)")
    words = {
        "template-aware": "`template-aware`",
        "in one cluster": "the same, pairs that end up in one cluster",
        "cross-validated": "the same, threshold chosen on other services (5 folds)",
        "site-aware": "`site-aware`",
        "minhash(threshold=0.85)": "`minhash(threshold=0.85)`, the whole text",
    }
    rows = [_row(words[name], data[name]) for name in names]
    moved = data["moved"]
    missed = [
        (document, count, share(low) if low == high else f"{share(low)}–{share(high)}")
        for document, count, low, high in moved["missed"]
    ]
    thresholds = ", ".join(f"{value:g}" for value in data["chosen thresholds"])
    return f"""## How often it is right

{table(("detector", "recall", "specificity", "F1 over pairs"), rows)}

The five folds chose the thresholds {thresholds}.

Of the {moved["pairs"]} same pairs whose whole pages have a Jaccard similarity below .8, {moved["found"]}
({share(moved["found"] / moved["pairs"])}) are accepted. Not all of them are what their label says. The archive
records a text when its software notices a change; where it lags behind, two pages are called the same although one has
lost or rewritten parts of the text. That can be seen without any detector: of the shingles of five words of the
archive's own text that are on either page, the share that is on both. Where the two pages agree in it (.98 and more),
{moved["agreeing found"]} of {moved["agreeing"]}
({share(moved["agreeing found"] / max(1, moved["agreeing"]))}) are accepted; of the others,
{moved["lagging found"]} of {moved["pairs"] - moved["agreeing"]}. The pairs that are not accepted:

{table(("document", "pairs", "agreement"), missed)}

Each of these documents was looked at, block by block. IMDb's pages have another clause on disputes, Meetup's are the
terms of 2019 and of 2026, Forbes', GitLab's, Urban Dictionary's and AcuityAds' have another "last updated" and many
paragraphs rewritten, Zillow's have whole sections gone: the text did change, and accepting them would be wrong.
Amazon's page is a list of links with 150 words beside it, to which a heading was added; Proctorio's has a summary of
all its policies above the terms in one of the two.

Four fifths of the {moved["pairs"]} would be accepted from a similarity of {share(moved["four fifths from"])} on, where
specificity is {share(moved["specificity there"])}."""


def _reading(data: dict[str, Any]) -> str:
    rows = [(name, share(of["found"]), share(of["right"]), len(of["lost"])) for name, of in data["reading"].items()]
    of_all = data["reading"]["all"]
    lost = ", ".join(f"{document} ({share(found)})" for document, found in of_all["lost"]) or "none"
    return f"""## Whether the main text is found

The archive's own text of a page shows what the detector reads as main text, apart from any pair. *Found*: of the
archive's shingles that are on the page, the share in blocks of running text that count; *right*: of the shingles that
count, the share that is the archive's. Means over the newest pages of {of_all["documents"]} documents:

{table(("ideas", "found", "right", "documents less than .8 of whose text is found"), rows)}

Those of the first line: {lost}. What is not *right* is mostly text of the page that the archive keeps as another
document: several services have all their terms on one page."""


def _ablation(data: dict[str, Any]) -> str:
    rows = [
        (name, share(of["recall"]), share(of["specificity"]), share(of["moved"]), f"{of['best']:g}",
         share(of["best recall"]), share(of["best specificity"]))
        for name, of in data["ablation"].items()
    ]  # fmt: skip
    head = (
        "ideas",
        "recall",
        "specificity",
        "much moved, found",
        "its own best threshold",
        "recall there",
        "specificity there",
    )
    return f"""## What each idea is worth

Each left out by itself: at the default threshold, then at the one that is best for what is left.

{table(head, rows)}

*structure*: menus, headers, footers, dialogs, forms, hidden parts and lists of links are no main text. *main*: where
most of the text stands in the element that is called the main one, and then in the article there, what stands beside
it is none. *site*: stretches of text that many different pages of the site have weigh little. *noise*: dates, ages,
counters and ids are one word. *title*: the title has a share of the weight. The tracked services have few pages each,
so *site* can do little here; it decides the databases further down. Tried and left out: names of classes and ids
("menu", "banner", "cookie") as signs of the frame, since one page in ten has its main text in an element of such a
name; blocks of fewer than ten or twenty words as frame, which costs recall; a small weight for the frame of every
page, which costs recall where frames move and joins short pages that have little but the frame; up to five times the
weight for what a page alone has where most of it is the site's, which tells telephone books apart (by hand, on four
generated webs: of the pages removed 1.5 to 5 % are wrong then instead of 4 to 17 %) and loses one right page in
seven."""


def _calibration(data: dict[str, Any]) -> str:
    fit = data["fit"]

    def rows(name: str) -> list[tuple[str, ...]]:
        return [(at, f"{count:,}", share(told), share(true)) for at, count, told, true in data[name]]

    by_source = [
        (of["source"], of["language"], f"{of['pairs']:,}", share(of["off"]), of["undecided"],
         *(f"{same:,} of {count:,}" for count, same in (of["surely same"], of["surely other"])))
        for of in data["calibration by source"]
    ]  # fmt: skip
    head = ("probability", "pairs", "mean probability", "share that is the same")
    of_sources = ("source", "language", "pairs", "off by", "undecided", "same of those from .8 on", "same below .2")
    middle, steepness = fit["in use"]
    same = abs(middle - fit["middle"]) < 1e-9 and abs(steepness - fit["steepness"]) < 1e-9
    agrees = "which is what this run fitted" if same else "which is not what this run fitted"
    folds = "; ".join(f"{at:g}, {steep:g}" for at, steep in fit["folds"])
    return f"""## Whether the score is a probability

The score is a logistic curve of the similarity, fitted by this tool to the tracked pages, both labels with the same
weight and among them all documents; a share of the labels is taken to say nothing (wrong ones would flatten the curve).
Fitted: one half at {fit["middle"]:g}, steepness {fit["steepness"]:g}, {share(fit["lapse"])} of the labels idle. In use:
{middle:g} and {steepness:g}, {agrees}. Fitted to four fifths of the services in turn: {folds}. On a collection with
another share of duplicates the probabilities shift. Similarities below .8 count as 0.

Each fifth of the services by the curve of the other four; {share(data["off held out"])} off on average:

{table(head, rows("calibration held out"))}

All tracked pages by the curve in use:

{table(head, rows("calibration in use"))}

By source and language, the curve in use; it has seen no page of the `rev_` sets. *Off by*: how far probabilities are
from shares, on average over such stretches.

{table(of_sources, by_source)}

The `rev_` sets say less in the middle: all their same pairs are alike in full, so what lies between are other pairs.

A score from .2 to .8 is *undecided*: `run.json` counts such accepted pairs in `rules`. Those below one half are not
accepted; a run with `template-aware(probability=0.2)` shows them, with their scores."""


def _sources(data: dict[str, Any]) -> str:
    def both(of: tuple[float, float]) -> str:
        return f"{share(of[0])} / {share(of[1])}"

    rows = []
    for name, of in data["sources"].items():
        lost = sum(of["best rates"]) / 2 - sum(of["tuned rates"]) / 2
        rows.append((name, f"{of['same']} / {of['other']}", f"{of['tuned']:g}", both(of["tuned rates"]),
                     f"{of['best']:g}", both(of["best rates"]), f"{lost:.3f}", both(of["default rates"])))  # fmt: skip
    head = ("source", "same / other pairs", "tuned on the others", "recall / specificity", "tuned on itself",
            "recall / specificity", "lost", "at the default")  # fmt: skip
    return f"""## A threshold from elsewhere

One source left out at a time: the threshold is the median of those that are best on the others. The `rev_` sets
are texts
of revision histories (Python's proposals; Kubernetes' manuals in Japanese and Korean; MDN in Chinese, Japanese,
Korean and
Russian) in generated frames that move: the same revision fetched twice is the same, revisions below .9 and
other documents of
the host are not. *Lost* is of the mean of recall and specificity.

{table(head, rows)}"""


def _hard(data: dict[str, Any]) -> str:
    rows = [
        (name, total, accepted, share(accepted / total) if total else "–")
        for name, (accepted, total) in data["hard"].items()
    ]
    accepted, total = (sum(of[at] for of in data["hard"].values()) for at in (0, 1))
    rows.append(("all", total, accepted, share(accepted / max(1, total))))
    across, mirrors = data["across sites"], data["mirrors"]
    return f"""## Same template, another item

Pairs on one site that look alike and are about something else; accepting one is an error.

{table(("pairs", "how many", "accepted", "share"), rows)}

What is fair to ask: of php-doc, the book of an extension and its reference are about one thing (two lists of the same
functions) and are no such pair, nor are two chapters on it; the names of the files say what they are about. Of
petclinic, whose authors call all pages of a kind near-duplicates, pairs count that are about another owner or pet, by
their address; the same pet with another date is the same item. Nearly all of petclinic's pages have one title, and so
have php-doc's "Installation" pages, which agree in all but the name of a package: a title that more than eight
addresses of a site have is not taken for the name of a page.

The total is openjdk's, mostly: the sources are to be read one by one.

## Ordinary copies, and the default

Between sites nothing is lost: of {across["pairs"]:,} correct pairs on different sites of a generated web
`template-aware` accepts {across["template-aware"]:,}, `site-aware` {across["site-aware"]:,}; of {mirrors["pairs"]:,}
real pairs of different documents with the same text (a company's terms on several of its sites, mostly)
{mirrors["template-aware"]:,} and {mirrors["site-aware"]:,}.

By these figures `template-aware` is the better choice wherever pages are HTML and a site is known by more than a few
pages, and it is the [default](explanation/default.md) for them. Its answer for a page depends on what else of the site
was read, so a run keeps the statistics it counted, and whoever asks about its pages uses them."""


def _cost(data: dict[str, Any]) -> str:
    said = ["## What it costs"]
    if "seconds" in data:
        best = {name: min(of) for name, of in data["seconds"].items()}
        ratio = best["template-aware"] / best["site-aware"]
        said.append(
            f"CPU seconds of a run over {data['timed pages']:,} pages of Boost's manuals, the best of three runs, the "
            f"detectors in turn: `site-aware` {best['site-aware']:.2f}, `template-aware` "
            f"{best['template-aware']:.2f}, {ratio:.2f} times as much."
        )
    if "among others" in data:
        of = data["among others"]
        said.append(
            f"In one run with all {of['pages']:,} pages (the tracked ones among 64,041 of manuals), {of['changed']} of "
            f"{of['pairs']:,} decisions differ from those of the tracked pages alone. It took "
            f"{of['seconds']:,.0f} CPU seconds and {of['peak'] / 1e9:.1f} GB of memory at most."
        )
    else:
        said.append("The run among all manuals was left out this time.")
    return "\n\n".join(said)


def _failures(data: dict[str, Any]) -> str:
    rows = []
    for of in data["failures"][:40]:
        what = "same, rejected" if of["same"] else "other, accepted"
        a, b = (of[side].split("@")[-1] for side in ("a", "b"))
        rows.append(
            (
                of["document"],
                f"{a}, {b}",
                what,
                f"{of['similarity']:.3f}",
                f"{of['whole']:.3f}",
                f"{of['wrong']} of {of['of']}",
            )
        )
    head = ("document", "a pair (times of fetching)", "what", "similarity", "whole pages", "wrong pairs")
    return f"""## What remains wrong

Documents with wrong decisions, {len(data["failures"])} of {data["pairs"]["documents"]}, each with a pair; 0
stands for similarities below .8. Those called "same" whose text did change are told above. Yuka's page is so short that
a line is a tenth of it. The design (what is frame, the weights) was chosen with these pages in view; the threshold and
the probabilities are cross-validated.

{table(head, rows)}"""
