"""The words of docs/evaluation.md: where the data are from, how each experiment is made, and what its numbers say.

What is said of the numbers was true of those that stand in the page when it was last written; whoever writes it anew
reads these words again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Source:
    """A collection that the page speaks of."""

    title: str
    what: str
    origin: str
    licence: str


SOURCES: Final = {
    "rev_peps": Source(
        "Python enhancement proposals",
        "12,668 revisions of 731 documents, English",
        "GitHub python/peps @ ba4deeb79695, history 2000–2026",
        "public domain or CC0, a few early ones under other open terms",
    ),
    "rev_ota_contrib": Source(
        "Terms and policies, main texts",
        "8,365 revisions of 758 documents, mostly English",
        "GitHub OpenTermsArchive/contrib-versions @ d6fb386efcd5",
        "ODC-BY 1.0 (Open Terms Archive)",
    ),
    "rev_k8s_ja_ko": Source(
        "Kubernetes manual, Japanese and Korean",
        "3,705 revisions of 540 documents",
        "GitHub kubernetes/website @ 56464fe6c846",
        "CC BY 4.0",
    ),
    "rev_mdn_zh_ja_ko_ru": Source(
        "MDN, Chinese, Japanese, Korean and Russian",
        "9,392 revisions of 1,180 documents",
        "GitHub mdn/translated-content @ 1682ae49e23a",
        "CC BY-SA 2.5",
    ),
    "ota_contrib_html": Source(
        "Terms and policies, whole pages",
        "4,391 HTML pages of 502 documents fetched again and again, with the archive's own main texts",
        "GitHub OpenTermsArchive/contrib-snapshots @ 42b53ad10f10, contrib-versions @ d6fb386efcd5",
        "database ODC-BY 1.0 (Open Terms Archive); the pages remain the services' own",
    ),
    "ndstudy_petclinic": Source(
        "States of a web application",
        "149 pages, all 11,026 pairs judged by the authors of the study (Yandrapally, Stocco and Mesbah 2020)",
        "GitHub NDStudyICSE2019/NDStudy @ 2b1f2440a106",
        "none stated: research use",
    ),
    "clough_stevenson": Source(
        "Plagiarised short answers",
        "100 short texts, 95 pairs (Clough and Stevenson 2011)",
        "GitHub gauravansal/Plagiarism-Detection @ 522343489d1c",
        "none stated: research use",
    ),
    "debian_docs_en": Source(
        "Manuals of Debian packages",
        "10,323 HTML pages: PostgreSQL, Python, SQLite and LLVM, three versions each",
        "Debian main, bullseye to trixie",
        "DFSG-free; see each package's copyright file",
    ),
}

HEAD: Final = """
# The evaluation

The figures and tables of the papers, computed anew on other data, and the certificates of runs. Everything here is
written by one command, `python tools/evaluation.py DATA`; the data are not part of the repository. How to do the
same with your own: [measure detectors](how-to/measure-detectors.md), [certify a run](how-to/certify.md). Speed is
not the subject: seconds are processor time on a shared machine, and say only which of two costs more.
"""

SOURCES_HEAD: Final = "## The data"

CURVES: Final = """
## Precision and recall over similarity (Potthast and Stein)

Each article's first revision against its others and against the next article's first. The reference is the cosine
in the vector space model; at each threshold the pairs at or above it count as near-duplicates. Every registered
detector runs with its default parameters.
"""

CURVES_FOUND: Final = """
### What agrees with the paper, and what does not

- **The distribution (Fig. 2)** leans to high similarity in all four corpora, as the paper says of revisions:
  with tf most pairs of the two English corpora lie above .9. The paper's expected similarity to the first
  revision, .5, is that of Wikipedia, whose articles grow more than proposals and policies do.
- **Precision is high for every method, recall low** until the threshold nears 1: also as in the paper's Fig. 3.
  All methods here are tuned for pages that are nearly the same; at a cosine of .8 two texts share far fewer
  than .8 of their shingles.
- **Chunks against similarity hashing.** The paper finds chunk methods ahead of similarity hashing, hashed-breakpoint
  chunks best of all, shingling best of those of fixed size, fuzzy fingerprinting and supershingling alike among the
  small ones. Here, on the proposals by tf at .9, breakpoint chunks (recall .56) and shingling by functions (.58) are
  level, as are most chunk methods; hyperplane and p-stable hashing with ten codes return more (.64 and .62) at a
  precision of .99; fuzzy fingerprinting (.53) is far ahead of supershingling (.19). Every method has a threshold of
  its own, so the order says as much of these as of the methods.
- **Small fingerprints.** I-Match returns least (.03): one differing term of the lexicon changes its only number;
  ten randomised lexicons double that. Alg. B asks for two agreeing groups of 14 minima: at a Jaccard similarity of
  .9 it accepts 42 %. In the paper, too, supershingling trades recall for size.
- **The reference matters.** By tf-idf precision at .98 is visibly lower for all: words that every document has
  count for nothing, so the same small edit costs more cosine.
- Absolute numbers cannot be compared: another corpus, other documents' lengths, and parameters that the paper
  does not state.
"""

PAIRS: Final = """
## Judged pairs (Henzinger)

Precision counts undecided pairs in its denominator, as the paper does, and pairs of identical pages are left out: the
paper takes such pages for one. [Intervals](explanation/intervals.md) are conservative, for pairs of one document, or of
one page, are right or wrong together.
"""

LABELS: Final = {
    "ota_contrib_html": (
        "Labels are derived, not judged one by one: a person wrote the selector that cuts a document's main text out "
        "of the page, software compared the texts. The same main text is *correct*, one that changed to a 5-token "
        "Jaccard similarity of .9 or more *undecided*, other changes and other documents *incorrect*. Documents of "
        "different services (and often of one company) with the same text count by the same bounds, .98 for correct."
    ),
    "ndstudy_petclinic": (
        "Near-duplicate is *functional* here: two owners' detail pages are near-duplicates, which for content is the "
        "opposite (same template, another item). A test of a notion that no detector of this kind should meet."
    ),
    "clough_stevenson": (
        "Answers copied (*cut*) or lightly revised count as correct, heavily revised as undecided, written freely as "
        "incorrect. Rewriting is not near-duplication; the smallest test there is."
    ),
}

PAIRS_FOUND: Final = """
### What agrees with the paper, and what does not

- **Precision rises with B-similarity** (Table 2), but less than in the paper: from .51 at 2 and 3 to .69 at 6; in
  the paper from .24 to .85.
- **Alg. C returns more pairs than Alg. B, with lower precision here** (.54 against .59, intervals that overlap; the
  paper: .50 against .38, the other way round). The paper's gain comes from pairs on different sites, 26 % of Alg. C's
  there; here nearly all judged pairs are of one site, and on one site Alg. C's larger reach takes in changed documents.
- **B- and C-similarity rise together** (Tables 9 and 10), as in the paper; but mean C-similarity at
  B-similarity 2 is 379 where the paper has 331. These pages are ten to a hundred times longer than their
  differences, the paper's B-similar pairs at 2 are mostly templates with another item.
- **The combined threshold does not carry over** (Tables 11 and 12): the rule "the largest that keeps 80 % of
  the correct pairs" gives 381 here (precision .61 on the other half, R .79) and 355 in the paper, for the same reason.
  At the paper's 355 the combined algorithm returns what Alg. B returns, three pairs fewer. A threshold of C-similarity
  belongs to a collection: choose it on judged pairs.
- **Incorrect pairs are rare** (Alg. B: under 1 %), undecided ones many: a changed clause in a long document is
  what this collection is about, and what neither algorithm sees.
- **Term differences** (Figs. 2 and 4): medians of 20 and 34 tokens, two to five times the paper's 11 and 7, and means
  of 95 and 221; the tail is longer, and Alg. C's is longer than Alg. B's, as in the paper (Table 8). Image URLs explain
  few of the large ones: 17 of Alg. C's 1,955; the paper's layout images are out of fashion.
- There are no reasons such as time stamps and session ids to tell apart: nobody judged these pairs by eye. They all
  count as *other*, and are named below it.
- **The functional notion** of the web application is met by none, as expected. Nearly all that the detectors accept
  there are identical pages, which are left out; of the others they accept 1 to 12, all of them rightly, and recall is
  below .01. As a ranking, Jaccard similarity does well all the same (its AUC), for pages of one template share their
  template.
- **The plagiarised answers** are pairs of 5 originals. Whatever is measured on them is measured on 5 pages, and the
  intervals say so: they leave open nearly everything.
"""

GRAPHS: Final = """
## The similarity graph (Henzinger, Table 1, Figs. 1 and 3)

Runs over the manuals. A degree distribution gets a power law by maximum likelihood with its lower end chosen, an
interval, and the p-value of a bootstrap; below .1 there is no power law, and no exponent is given.
"""

GRAPHS_FOUND: Final = """
- **No power law here** (p = 0 for every detector). Three versions of each manual make clusters of two and
  three, and the degree of a page says which; the paper's law, with exponents of 1.3 and 1.4, is of the open web, with
  its mirrors and generated pages.
- **Half of Alg. B's pairs have B-similarity 2 in the paper**, here 37 %, and the shares fall with similarity as
  they do there.
- All pairs are on one site: each package version has an invented host under one name.
"""

CERTIFICATES: Final = """
## Certificates

What `neardup dedup --certify` says of the same runs: shares with 95 % intervals from about 1,000 pages looked at
exactly. *Agreement* is with 5-token shingles at a Jaccard similarity of .8, *truth* is the detector's own measure. Time
is the certificate's share of the run's seconds.
"""

CERTIFICATES_FOUND: Final = """
- **Theory holds**: in every range of similarity the recall of each detector is what theory predicts to within a
  few hundredths, though Alg. B's, Alg. C's and the combined algorithm's predictions come from different laws
  (supershingles, angles, both).
- **Almost nothing is removed wrongly**; Alg. C removes about 2 % of its pages for one that is less than .8
  alike.
- **What the paper's algorithms leave undone** by this notion is much: four to six of ten pages that stay repeat
  another. They were made to find pages that are nearly the same, and find nearly all of those (.95 and above).
- `minhash` keeps its promise: recall .99 at its threshold, and nothing below it.
- **One interval in twenty misses**, and here is one: all pages looked at (`--sample 1000000`), .581 of the
  pages that Alg. B keeps repeat another, outside of its interval above. Of 100 other samples of the same run,
  the intervals covered the truth 94 times for that share, 99 for recall, 100 for precision.
- **The part of time** is a quarter to two fifths of so small a run: reading takes two seconds, and indexing the
  sample is a fixed cost. Of a run with `minhash` over 33,851 pages (OpenJDK's and PostgreSQL's manuals, in
  which nearly every page has partners) it was 1.8 of 9.2 seconds of processor time.
"""
