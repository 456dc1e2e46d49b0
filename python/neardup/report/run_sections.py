"""The sections of a run's report that come from numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.engines.common.accepted import AcceptedPairs
from neardup.engines.common.default import described
from neardup.engines.common.reasons import REASONS
from neardup.graph.power_law import PowerLaw
from neardup.graph.statistics import HIGH_DEGREE
from neardup.report.findings import BINS, Findings, ShownCluster, fit, law_line
from neardup.report.frame import Content, Html, element, figures, folded, html, paragraph, plot, plots, table, warning
from neardup.report.made import setting_rows
from neardup.results.earlier import REASON as EARLIER
from neardup.text import Reading

#: Records that could not be read that are listed.
_SKIPPED: Final = 50


def title(report: dict[str, Any]) -> str:
    """The headline: what share of the pages repeats another."""
    counts = report["counts"]
    share = counts["removed"] / counts["pages"] if counts["pages"] else 0
    return f"{counts['removed']:,} of {counts['pages']:,} pages repeat another ({share:.1%})"


def subtitle(report: dict[str, Any]) -> Content:
    """What was read, and by which detector."""
    paths = report["input"]["paths"]
    shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3:,} more" if len(paths) > 3 else "")
    return html(
        [shown or "pages in memory", f" · detector {described(report)} · keeping the {report['settings']['keep']}"]
    )


def found(report: dict[str, Any], findings: Findings) -> Html:
    """The numbers of the run in a few figures, warnings, and why pages stay or go."""
    counts = report["counts"]
    accepted = AcceptedPairs.of_report(report, findings.earlier_pairs)
    (own, number), *others = [(f"pairs accepted{pairs}", number) for number, pairs in accepted.counts()]
    overview = figures(
        {
            "pages read": f"{counts['pages']:,}",
            "stay": f"{counts['kept']:,}",
            "can go": f"{counts['removed']:,}",
            "clusters": (f"{counts['clusters']:,}", f"{counts['clustered']:,} pages in them"),
            own: (number, f"held: {accepted.held}"),
            **dict(others),
            "identical pages": (f"{counts['identical']:,}", f"{counts['identity_sets']:,} identity sets"),
        }
    )
    if findings.earlier:
        overview = html([overview, figures({"pages of earlier runs in its clusters": f"{findings.earlier:,}"})])
    rows = [
        (reason, f"{findings.reasons[reason]:,}", text) for reason, text in REASONS.items() if findings.reasons[reason]
    ]
    return html(
        [
            overview,
            [warning(text) for text in report["warnings"]],
            table(["reason", "pages", "meaning"], rows, caption="Why pages stay or go", left=(2,)),
        ]
    )


def reason_of(page: dict[str, Any]) -> str:
    """Why a page stays or goes; of an earlier page the run.

    >>> reason_of({"reason": "earlier", "source": "may"}), reason_of({"reason": "unique", "source": "a.jsonl"})
    ('earlier run may', 'unique')
    """
    return f"earlier run {page['source']}" if page["reason"] == EARLIER else str(page["reason"])


def members(one: ShownCluster) -> Html:
    """Some members of a cluster."""
    rows = [(page["url"] or page["id"], page["title"] or "", "stays" if page["kept"] else "goes",
             reason_of(page), page["tokens"]) for page in one.members]  # fmt: skip
    more = one.cluster["size"] - len(rows)
    caption = f"its first {len(rows):,} pages, {more:,} more" if more else "its pages"
    listing = table(["page", "title", "", "reason", "tokens"], rows, caption=caption, left=(1,))
    return folded(f"pages ({one.cluster['size']:,})", listing)


def similarity(findings: Findings, report: dict[str, Any], differences: list[int]) -> Content:
    """Histograms of every similarity of accepted pairs, and of term differences in a sample of them."""
    if not findings.pairs:
        return None
    accepted = AcceptedPairs.of_report(report)
    of_held = "" if accepted.complete else ", of the pairs that are held"
    drawn: list[Content] = []
    widths = {"b_similarity": 1.0, "c_similarity": 1.0, "score": 1 / BINS}
    names = {
        "b_similarity": "B-similarity (supershingles that agree)",
        "c_similarity": "C-similarity (bits that agree)",
        "score": "Score of the accepting rule",
    }
    for label, counted in findings.labels.items():
        drawn.append(_histogram(names[label] + of_held, names[label].split(" (")[0], counted, widths[label]))
    if differences:
        drawn.append(_differences(differences, findings, of_held))
    share = findings.same_site / findings.pairs
    rules = ", ".join(f"{name}: {count:,}" for name, count in sorted(findings.rules.items()))
    text = f"{findings.pairs:,} pairs, {share:.1%} of them on one site. By rule: {rules}."
    if accepted.complete:
        return [paragraph(text), plots(*drawn)]
    missing = f"Of {accepted.in_words()} accepted pairs the run holds only some ({accepted.held}), and all of this is "
    return [warning(f"{missing}of those alone; --max-pairs has more held."), paragraph(text), plots(*drawn)]


def _histogram(title: str, name: str, counted: Counter[float], width: float) -> Html:
    digits = 0 if width >= 1 else 2
    values = sorted(counted)
    shift = width / 2 if width >= 1 else 0.0
    data = [
        [round(value - shift, 4), round(value - shift + width, 4), counted[value], f"{value:.{digits}f}"]
        for value in values
    ]
    rows = [(f"{value:.{digits}f}", f"{counted[value]:,}") for value in values]
    spec = {"kind": "histogram", "x": name, "y": "pairs", "data": data}
    return plot(title, spec, [name if width >= 1 else f"{name}, from", "pairs"], rows)


def _differences(differences: list[int], findings: Findings, of_held: str) -> Html:
    values = np.asarray(differences)
    width = max(1, int(np.ceil((values.max() + 1) / 25)))
    counted: Counter[float] = Counter((values // width * width).tolist())
    data = [[low, low + width, counted[low], f"{low:.0f}–{low + width - 1:.0f}"] for low in sorted(counted)]
    rows = [
        (f"{low:.0f}" if width == 1 else f"{low:.0f}–{low + width - 1:.0f}", counted[low]) for low in sorted(counted)
    ]
    drawn = "all" if len(differences) == findings.pairs else f"{len(differences):,} of {findings.pairs:,}"
    of = f"{drawn} pairs{of_held}{'' if drawn == 'all' else ', drawn at random'}; median {np.median(values):g}"
    spec = {"kind": "histogram", "x": "term difference", "y": "pairs", "data": data}
    return plot(f"Term differences ({of})", spec, ["term difference", "pairs"], rows)


def graph(findings: Findings, report: dict[str, Any]) -> Content:
    """Degrees and cluster sizes, log–log, with fitted power laws; no degrees where not all pairs are held."""
    sizes = findings.clusters.column("size").to_numpy()
    if not len(sizes):
        return None
    degrees = findings.degrees
    drawn: list[Content] = []
    said: list[str] = []
    if not AcceptedPairs.of_report(report).complete:
        said.append("Degrees are not told, for the run does not hold all accepted pairs; --max-pairs has more held.")
    elif len(degrees):
        high = float((degrees >= HIGH_DEGREE).mean())
        said.append(
            f"{len(degrees):,} different pages have a near-duplicate, {degrees.mean():.1f} on average; "
            f"{high:.1%} have {HIGH_DEGREE} or more."
        )
        drawn.append(_points("Degrees", "near-duplicates of a page", "pages", degrees, said))
    drawn.append(_points("Cluster sizes", "pages in a cluster", "clusters", sizes, said))
    return [[paragraph(text) for text in said], plots(*drawn)]


def _points(title: str, x: str, y: str, values: npt.NDArray[Any], said: list[str]) -> Html:
    law = fit(values)
    said.append(law_words(title, law))
    return points(title, x, y, np.unique(values, return_counts=True), law)


def law_words(title: str, law: PowerLaw | None) -> str:
    """A fitted law in a sentence; no exponent where the values follow none.

    >>> law_words("Degrees", None)
    'Degrees: too few values for a power law to be fitted.'
    >>> law_words("Degrees", PowerLaw(14.8, 13.1, 16.4, 3, 847, 0.03, 0.0))
    'Degrees: no power law (p = 0.00).'
    """
    if law is None:
        return f"{title}: too few values for a power law to be fitted."
    if law.plausible is False:
        return f"{title}: no power law (p = {law.p_value:.2f})."
    exponent = f"exponent {law.exponent:.2f} (95 % interval {law.low:.2f}–{law.high:.2f})"
    where = f"from {law.xmin} on ({law.tail:,} values)"
    if law.plausible:
        return f"{title}: a power law with {exponent} is plausible, {where}; p = {law.p_value:.2f}."
    return (
        f"{title}: the power law nearest to the values has {exponent}, {where}. Whether they follow it was not tested: "
        "neardup evaluate graph does."
    )


def points(
    title: str, x: str, y: str, counted: tuple[npt.NDArray[Any], npt.NDArray[Any]], law: PowerLaw | None
) -> Html:
    """Values and how often each occurs, log–log, with the line of their law, unless they follow none."""
    found, counts = counted
    rows = list(zip(found.tolist(), counts.tolist(), strict=True))
    spec: dict[str, Any] = {
        "kind": "points", "x": x, "y": y, "log": True, "data": [list(point) for point in rows],
    }  # fmt: skip
    if law is not None and law.plausible is not False:
        spec["line"] = law_line(law, found)
    return plot(title, spec, [x, y], rows)


def by_site(findings: Findings) -> Content:
    """The sites most pages of which go."""
    top = findings.top_sites()
    if not top:
        return None
    rows = [(site, f"{pages:,}", f"{gone:,}", f"{gone / pages:.1%}") for site, pages, gone in top]
    listing = table(["site", "pages", "can go", "share"], rows, caption=f"{len(findings.sites):,} sites in all")
    shown = [[site if len(site) <= 32 else site[:31] + "…", gone] for site, _, gone in top if gone]
    if len(shown) < 2:
        return listing
    spec = {"kind": "bars", "x": "site", "y": "pages that can go", "data": shown}
    return plot("Pages that can go, by site", spec, ["site", "pages", "can go", "share"], rows)


def certificate(report: dict[str, Any]) -> Content:
    """How often the run is right, where it was certified; else how to have it told."""
    told = report.get("certificate")
    if not told:
        return paragraph(
            "Not certified. ",
            element("code", "neardup certify DIR"),
            " looks at a sample of pages exactly and states how often the run is right, with 95 % intervals.",
            note=True,
        )
    rows: list[tuple[Content, ...]] = []

    def add(share: dict[str, Any], text: str) -> None:
        if share["estimate"] is not None:
            theory = share.get("theory")
            rows.append((text, f"{share['estimate']:.1%}", f"{share['low']:.1%}–{share['high']:.1%}",
                         "–" if theory is None else f"{theory:.1%}"))  # fmt: skip

    add(told["removed"]["without_partner"], "removed pages without a partner among those that stay")
    if told["removed"].get("for_earlier_runs"):
        seen = told["removed"]["for_earlier_runs"]
        rows.append((f"{seen:,} pages removed for pages of earlier runs: not looked at", "–", "–", "–"))
    add(told["kept"]["repeats"], "pages that stay and repeat another that stays")
    pairs = told["pairs"]
    if pairs["known"]:
        for name, kind in (("precision", "accepted pairs that are true"), ("recall", "true pairs that are accepted")):
            add(pairs[name]["all"], kind)
            add(pairs[name]["same_site"], f"{kind}, on the same site")
            add(pairs[name]["different_site"], f"{kind}, on different sites")
        for name, share in pairs["recall"]["by_similarity"].items():
            add(share, f"true pairs that are accepted, of similarity {name}")
    notion = told["notion"]
    drawn = f"From {told['sample']['pages']:,} pages drawn at random."
    said = f"A partner is a page with {notion['text']} ({notion['word']}). {drawn}"
    parts: list[Content] = [paragraph(said), table(["", "share", "95 % interval", "theory"], rows)]
    if not pairs["known"]:
        parts.append(paragraph(f"Pairs: {pairs['why']}", note=True))
    return parts


def what_was_read(report: dict[str, Any]) -> Content:
    """Inputs, and what in them was no page or could not be read."""
    counts = report["counts"]
    reading = Reading(**report["settings"]["reading"])
    how = f", compared with {reading.for_short}" if counts["short"] and reading.for_short else ""
    rows: list[tuple[Content, ...]] = [
        ("bytes read (as stored)", f"{report['bytes']:,}"),
        ("pages", f"{counts['pages']:,}"),
        ("pages without a token", f"{counts['empty']:,}"),
        (f"pages of fewer than {reading.min_tokens} tokens{how}", f"{counts['short']:,}"),
        ("pages with bytes outside their charset", f"{counts['wrong_charset']:,}"),
        ("ids that occurred before", f"{counts['repeated_ids']:,}"),
        *([("pages without a date, taken for the oldest", f"{counts['undated']:,}")] if counts.get("undated") else []),
        ("records that could not be read", f"{counts['skipped']:,}"),
        ("files of which no record could be read", f"{counts['failed_files']:,}"),
        ("files left out of the folders", f"{counts['left_out_files']:,}"),
        *((f"pages that were read all the same: {kind}", f"{count:,}") for kind, count in report["tolerated"].items()),
        *((f"records that are no pages: {kind}", f"{count:,}") for kind, count in report["ignored"].items()),
    ]
    paths = report["input"]["paths"]
    parts: list[Content] = [
        paragraph(
            "Inputs: ",
            ", ".join(paths[:20]) or "pages in memory",
            f" and {len(paths) - 20:,} more" if len(paths) > 20 else "",
        ),
        table(["", "number"], rows),
    ]
    listings = [
        ("files of which no record could be read", report["failed_files"], counts["failed_files"]),
        ("records that could not be read", report["skipped"], counts["skipped"]),
        ("files left out of the folders", report["left_out_files"], counts["left_out_files"]),
    ]
    for title, entries, count in listings:
        if entries:
            listed = [(bad["source"], bad["position"], bad["reason"]) for bad in entries[:_SKIPPED]]
            more = f" (the first {len(listed):,} of {count:,}; run.json has more)" if count > len(listed) else ""
            parts.append(folded(f"{title}{more}", table(["source", "position", "reason"], listed, left=(1, 2))))
    return parts


def settings(report: dict[str, Any]) -> Html:
    """Detector, parameters and settings, all of them."""
    told = report["settings"]
    rows: list[tuple[Content, ...]] = [("detector", report["detector"])]
    rows += [
        (f"{report['detector'].split('(')[0]}: {name}", str(value)) for name, value in report["parameters"].items()
    ]
    rows += setting_rows(told)
    if report.get("statistics"):
        rows.append(("statistics", str(report["statistics"]["digest"])))
    return table(["setting", "value"], rows, left=(1,))
