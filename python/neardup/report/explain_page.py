"""An explanation as one HTML page that stands alone; its parts are there for whoever shows them elsewhere."""

from __future__ import annotations

from neardup.report.boilerplate import RULE
from neardup.report.explain import Explanation, Side, Step, rule_in_words
from neardup.report.frame import Content, Html, HtmlPage, element, figures, folded, html, paragraph, table
from neardup.report.run_sections import reason_of
from neardup.report.side_by_side import pair_html
from neardup.version import VERSION

#: How the pages of a pair stand to each other, as a headline.
HEADLINES = {
    "same page": "The same page",
    "identical": "Identical: the same tokens",
    "paired": "Near-duplicates: an accepted pair",
    "connected": "In one cluster, but not a pair themselves",
    "apart": "Not joined",
    "not of a run": "Two pages",
}


def explain_page(told: Explanation) -> HtmlPage:
    """The page of an explanation.

    >>> from neardup.report.explain import explain_pages
    >>> made = explain_page(explain_pages("eight words that stand in both", "nine words that stand in both"))
    >>> "side by side" in made.render().lower()
    True
    """
    page = HtmlPage(HEADLINES[told.relation], names_html(told), f"neardup {VERSION}")
    page.add("verdict", "In short", summary_html(told))
    page.add("text", "Side by side", text_html(told))
    page.add("scores", "How alike they are", scores_html(told))
    page.add("detectors", "What detectors say", detectors_html(told))
    page.add("run", "In the run", run_html(told))
    return page


def names_html(told: Explanation) -> Html:
    """A and B by name."""
    return html([element("b", "A "), _name(told.sides[0]), Html("<br>"), element("b", "B "), _name(told.sides[1])])


def _name(side: Side) -> str:
    return " · ".join(part for part in (side.url or side.id, side.title) if part)


def summary_html(told: Explanation) -> Html:
    """The kind of difference, and why the run joined the two or did not."""
    kind = told.kind
    return html(
        [
            paragraph(
                "Kind of difference: ",
                element("b", kind.name),
                " ",
                element("span", kind.judgement, class_=f"tag {kind.judgement}"),
                f" — {kind.because}.",
            ),
            paragraph("Differences: ", kind.stands_in, ".") if kind.stands_in else None,
            [paragraph(sentence) for sentence in told.because],
        ]
    )


def text_html(told: Explanation) -> Html:
    """The diff, and what the rules took each stretch for."""
    a, b = told.sides
    known = a.boilerplate is not None or b.boilerplate is not None
    note = f"Grey: boilerplate, {RULE}." if known else "What the site repeats is not known: too few other pages of it."
    unmatched = f"{told.unmatched:,} terms without a counterpart, {len(told.hunks):,} differing stretches. "
    if told.beginning:
        unmatched = f"Of the first {told.beginning:,} terms: {unmatched}"
    heads = tuple(_head(letter, side) for letter, side in zip("AB", told.sides, strict=True))
    parts: list[Content] = [
        paragraph(unmatched, note, note=True),
        pair_html((heads[0], heads[1]), (a.terms, b.terms), (a.boilerplate, b.boilerplate), told.hunks),
    ]
    return html([*parts, differences_html(told)])


def differences_html(told: Explanation) -> Html:
    """What each difference was taken for, and what it stands in on either page."""
    if not told.kind.differences:
        return html("")
    rows = [(each.kind, each.where, each.a, each.b) for each in told.kind.differences[:100]]
    columns = ["taken for", "stands in", "in A", "in B"]
    return folded("what each difference was taken for, and where it stands", table(columns, rows, left=(1, 2, 3)))


def _head(letter: str, side: Side) -> Html:
    told = [f"{letter}: ", side.title or side.id]
    facts = [f"{len(side.terms):,} terms"]
    if side.record is not None:
        facts.append("stays" if side.record["kept"] else "goes")
        facts.append(reason_of(side.record))
    return html([element("b", *told), side.url or side.id, Html("<br>"), ", ".join(facts)])


def scores_html(told: Explanation) -> Html:
    """Every similarity."""
    found = told.comparison
    rows: list[tuple[Content, ...]] = [
        ("B-similarity", "–" if found.b_similarity is None else f"{found.b_similarity} of 6 supershingles"),
        ("C-similarity", "–" if found.c_similarity is None else f"{found.c_similarity} of 384 bits"),
        *([] if found.not_compared is None else [("not compared", found.not_compared)]),
        *((f"Jaccard similarity, shingles of {k}", f"{value:.4f}") for k, value in found.jaccard.items()),
        ("term difference", "–" if found.term_difference is None else f"{found.term_difference:,}"),
    ]
    if found.containment is not None:
        rows.append(("A in B", f"{found.containment[0]:.4f} of its shingles of 5"))
        rows.append(("B in A", f"{found.containment[1]:.4f} of its shingles of 5"))
    overview = figures(
        {
            "tokens of A": f"{found.tokens[0]:,}",
            "tokens of B": f"{found.tokens[1]:,}",
            "site": (
                "the same" if found.same_site else "different",
                found.sites[0] if found.same_site else " and ".join(site or "unknown" for site in found.sites),
            ),
            "same tokens": "yes" if found.identical else "no",
        }
    )
    return html([overview, table(["measure", "value"], rows, left=(1,))])


def detectors_html(told: Explanation) -> Html:
    """Each detector's decision, rule by rule, with the distance from its threshold."""
    rows: list[tuple[Content, ...]] = []
    for verdict in told.verdicts:
        decision = element("span", verdict.word, class_="yes" if verdict.accepted else "no")
        if verdict.note:
            rows.append((verdict.detector, decision, "", verdict.note))
        for number, rule in enumerate(verdict.rules):
            first = number == 0
            rows.append((verdict.detector if first else "", decision if first else "", rule.rule, rule_in_words(rule)))
    return table(["detector", "says", "rule", "keys shared, and how far from the threshold"], rows, left=(3,))


def run_html(told: Explanation) -> Html:
    """The path between the two, and the path of each page that goes to the page kept instead."""
    parts: list[Content] = []
    if told.path:
        parts += [element("h3", "From A to B"), steps_html(told.path)]
    for fate in told.fates:
        parts.append(element("h3", f"{fate.url or fate.page} goes"))
        parts.append(
            paragraph("Kept instead: ", element("b", fate.kept_url or fate.kept_instead), f" ({fate.reason}).")
        )
        parts.append(steps_html(fate.path) if fate.path else paragraph("It has the same tokens.", note=True))
    return html(parts)


def steps_html(path: list[Step]) -> Html:
    """Pairs, one after another."""
    rows = [(step.url_a or step.a, step.url_b or step.b, f"{step.score:.4f}", step.rule) for step in path]
    return table(["page", "like page", "score", "rule"], rows, left=(1,))
