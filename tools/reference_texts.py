"""What the generated reference says of each column, setting and parameter, in words.

The names come from the package itself (schemas, dataclasses, detectors). ``reference.py`` refuses to write a page as
long as one of them has no words here, or words stand here for a name that is gone.
"""

from __future__ import annotations

from typing import Final

PAGES: Final = {
    "row": "The page's place in the input, from 0. The true key: `row_a`, `row_b` in `pairs.parquet` refer to it.",
    "id": "The input's own id (for WARC the record id), else `source#record`. An id that occurred before becomes "
    "`id#row`.",
    "url": "The page's URL as the input gives it.",
    "site": "The site of the URL, by the site rule of the run.",
    "title": "The text of the page's title, where it has one.",
    "tokens": "How many tokens the page has.",
    "identity": "The `id` of the first page in input order with the same tokens; its own `id` if there is none before "
    "it.",
    "cluster": "The `id` of the first page in input order of its cluster; its own `id` if it is alone.",
    "kept": "Whether the page stays.",
    "kept_instead": "The `id` of the page that stays in place of a page that goes.",
    "reason": "Why it stays or goes; the words are below.",
    "source": "The input file the page came from; `-` is standard input.",
    "offset": "Where its record starts in the file as stored (compressed), in bytes, where reading can begin there.",
    "length": "How many stored bytes the record takes.",
}

PAIRS: Final = {
    "a": "The `id` of the page that comes first in the input.",
    "b": "The `id` of the other page.",
    "row_a": "The `row` of `a`.",
    "row_b": "The `row` of `b`; always larger than `row_a`.",
    "same_site": "Whether the two share a known site (of an identity set, the sites of all its members count; where "
    "the detector looks at sites, each page counts with its own).",
    "score": "How alike the accepting rule found them, from 0 to 1: the share of supershingles or bits that agree, the "
    "Jaccard similarity, or with `template-aware` the probability that the content is the same.",
    "b_similarity": "How many supershingles agree, where the detector computes them.",
    "c_similarity": "How many projection bits agree, where the detector computes them.",
    "jaccard": "The exact Jaccard similarity of the shingle sets, where the detector verifies with it.",
    "rule": "The rule of the detector that accepted the pair.",
    "tree": "Whether the pair belongs to the maximum-similarity spanning forest: the fewest pairs that hold every "
    "cluster together.",
}

AGAINST: Final = {
    "a": "A page that an earlier run kept, by its `id` in `earlier.parquet`.",
    "run": "The result folder of that run, as `--against` named it.",
} | {name: PAIRS[name] for name in PAIRS if name not in ("a", "row_a", "tree")}

EARLIER: Final = {
    "id": "What this result calls the page: its id, or `id#run` where a page of this run, or of a run named before "
    "that one, has the id too. So an id is one page in `identity`, `cluster`, `kept_instead` and `against.parquet`.",
    "run": "The result folder of the run that kept it, as `--against` named it.",
    "page": "Its `id` in that run.",
    "row": "Its row in the `pages.parquet` of that run.",
    "site": PAGES["site"],
    "tokens": PAGES["tokens"],
    "identity": "As in `pages.parquet`.",
    "cluster": "As in `pages.parquet`.",
}

CLUSTERS: Final = {
    "cluster": "The `id` of its first page in input order.",
    "size": "How many pages are in it.",
    "sites": "How many different known sites they are on.",
    "kept": "How many of them stay.",
    "diameter": "The longest way between two of its identity sets, in pairs; 0 if all pages are identical. For "
    "clusters of more than 200 identity sets it is a lower bound. Null where not all accepted pairs are known.",
    "cohesion": "The share of all pairs of its identity sets that were accepted; 1 means that every page is like every "
    "other. Null where not all accepted pairs are known, for some pages share hot keys.",
}

SKIPPED: Final = {
    "source": "The file.",
    "position": "The line, row, element, record or offset in it, or `whole file`.",
    "reason": "Why it was not read.",
}

RUN: Final = {
    "neardup": "The version that ran.",
    "format": "The version of the fingerprint format.",
    "engine": "The engine that ran: `local`, one machine, or `spark`.",
    "detector": "The detector in its text form; parses back.",
    "by_default": "Whether nobody named the detector, so that it goes by the kinds of the pages.",
    "kinds": "How many pages are markup (`html`), and how many plain text (`text`).",
    "parameters": "All its parameters.",
    "settings": "All settings.",
    "input": "What was read and how, so that `neardup compare --run` finds the pages again.",
    "against": "The earlier runs that this one was held against: how `--against` named each, and its folder.",
    "statistics": "Of the collection, where the detector needs some: a digest that names them, how many different "
    "pages were counted, and how many chunks repeat, by their length in tokens (with `template-aware`: stretches of "
    "the blocks of a site).",
    "counts": "How many pages, identity sets, pairs, clusters, removals, skipped and ignored records, and files of "
    "which none was read; with `--keep newest` how many pages have no date (`undated`).",
    "ignored": "Records that are no pages, by kind.",
    "rules": "For each rule: candidates, accepted pairs, the fullest bucket of a key, hot buckets, a bound on "
    "their pairs that were not scored, and, where scores are probabilities, accepted pairs that are undecided (below "
    "0.8), and accepted pairs that are not held (`unrecorded`).",
    "pairs": "How many pairs were accepted in all, whether that is `exact` or may be more (`at_most`), and whether "
    "`pairs.parquet` holds all, all that were scored, or the spanning forest.",
    "warnings": "What you should know beside the numbers.",
    "failed_files": "Files of which no record could be read, the first 1,000: source and reason.",
    "left_out_files": "Files of folders that were not read (no known format, a pipe, a link that leads out), the first "
    "1,000; hidden files are not among them.",
    "skipped": "Records that could not be read, the first 1,000: source, position, reason. Where there are more, "
    "`skipped.parquet` names all.",
    "skipped_reasons": "How many records could not be read, by reason; numbers in it are `N`.",
    "tolerated": "Pages that were read though their form is wrong, by kind.",
    "bytes": "Bytes read from the (compressed) input.",
    "files": "Of each table's file its length and the CRC-32 of each MiB of it, in hexadecimal, one after another. "
    "What neardup reads of a table is compared with them first.",
    "checksum": "The CRC-32 of all that stands in front of it in this file; the last entry.",
    "stages": "Seconds and peak memory of each stage.",
    "certificate": "How often the run is right, where `--certify` or `neardup certify` asked for it: see "
    "[certify a run](../how-to/certify.md).",
    "decisions": "What a person changed, where the folder was written by `neardup ui`: the run it came from, the "
    "threshold, rejected pairs and clusters, pages chosen to stay (all by row).",
    "peak_memory": "The highest of these.",
    "spark": "Where Spark ran: its version, and under `salted` how many hot groups were too large for one task, how "
    "many pages these have, and over how many tasks they were dealt out.",
}

#: The tables of a study: columns by table; what several have is told once.
STUDY_PAGES: Final = {
    "row": "The page's place in the input, from 0.",
    "id": "As in the result of a run.",
    "url": "The page's URL.",
    "site": "The site of the URL.",
    "considered": "Whether the page was compared: with shingle paragraphs, whether it has more than 450 characters.",
    "connected": "Whether the crawl reaches it.",
    "part": "Its part of the bow tie: `core`, `in`, `out`, `tube`, `tendril` or `island`.",
    "depth": "In how many links the crawl reaches it.",
    "cluster": "The `id` of the first page of its cluster of duplicates; its own if it is alone.",
    "cluster_90": "The same at a level of near-duplicates; a column for each.",
}

_SHARE: Final = "The same in percent."
_DOCUMENTS: Final = "Pages that were compared."
_CLUSTERS: Final = "Clusters of two pages or more."
_DUPLICATES: Final = "Clustered pages but one of each cluster."

STUDY: Final = {
    "table1": {
        "collection": "Its name.",
        "first_date": "The earliest date of a page.",
        "last_date": "The latest.",
        "documents": "Pages read.",
        "considered": _DOCUMENTS,
        "bytes_read": "Bytes of the (compressed) input.",
    },
    "table2": {
        "documents": _DOCUMENTS,
        "clusters": _CLUSTERS,
        "duplicates": _DUPLICATES,
        "percent_duplicates": _SHARE,
        "unique": "Pages in no cluster.",
        "percent_unique": _SHARE,
        "useful": "Unique pages, and one of each cluster.",
        "largest_cluster": "Pages of the largest cluster.",
        "clusters_of_two": "Clusters of two pages.",
        "clusters_of_ten_or_fewer": "Clusters of at most ten.",
    },
    "table3": {
        "level": "`duplicates`, or the percentage that near-duplicates share.",
        "clusters": _CLUSTERS,
        "duplicates": "Clustered pages but one of each cluster, by the paper's rule.",
        "percent": _SHARE,
        "duplicates_repetitions_counted": "The same by the rule that counts repetitions.",
        "percent_repetitions_counted": _SHARE,
        "duplicates_by_the_papers_rule_only": "The difference of the two.",
        "pages_clustered_by_one_rule_only": "Pages that are in a cluster by one rule and unique by the other.",
    },
    "table4": {
        "part": "`complete`, `connected` or `disconnected`.",
        "documents": _DOCUMENTS,
        "clusters": "Clusters, computed anew inside the part.",
        "duplicates": _DUPLICATES,
        "percent_duplicates": _SHARE,
    },
    "table5": {
        "total": "Clusters of the complete collection.",
        "in_connected": "Those with a page in the connected part.",
        "percent_in_connected": _SHARE,
    },
    "table6": {
        "total": "Unique pages of the complete collection.",
        "in_connected": "Those in the connected part.",
        "percent_in_connected": _SHARE,
    },
    "useful": {
        "total": "Useful pages of the complete collection.",
        "in_connected": "Those in the connected part; a cluster counts if one of its pages is.",
        "percent_in_connected": _SHARE,
    },
    "bow_tie": {
        "part": "The part of the bow tie.",
        "documents": "Pages there.",
        "percent": _SHARE,
        "considered": _DOCUMENTS,
        "clustered": "Those of them in a cluster.",
        "percent_clustered": _SHARE,
    },
    "sites": {
        "size": "Pages of a cluster.",
        "clusters": "Clusters of such sizes.",
        "documents": "Their pages.",
        "of_one_site": "Clusters whose pages are all on one known site.",
        "of_several_sites": "Clusters with pages on several.",
        "percent_of_several_sites": "Of those whose sites are known.",
    },
    "sizes": {
        "part": "`complete`, `connected` or `disconnected`.",
        "size": "Pages of a cluster.",
        "clusters": "How many clusters have it.",
    },
    "size_laws": {
        "part": "`complete`, `connected` or `disconnected`.",
        "clusters": _CLUSTERS,
        "power_law": "`plausible`, `no power law` (p below 0.1: no exponent is told), or `too few clusters`.",
        "exponent": "Of the power law that fits their sizes.",
        "low": "Lower end of its 95 % interval.",
        "high": "Upper end.",
        "xmin": "The size from which on the law holds.",
        "tail": "Clusters of that size or more.",
        "distance": "The largest difference between the law and the data.",
        "p_value": "Share of collections drawn from the law that lie farther from it.",
    },
    "growth": {
        "step": "The step, from 1.",
        "share": "Of all steps.",
        "documents": "Pages of the subcollections up to it.",
        "clusters": "Clusters found so far.",
        "duplicates": "Duplicates found so far.",
        "clusters_90": "The same at a level of near-duplicates; two columns for each.",
        "duplicates_90": "The same.",
    },
    "estimates": {
        "share_of_steps": "After which the totals are estimated.",
        "of": "`duplicates` or `clusters`.",
        "way": "`by chance`, or `by another collection's growth` (`--like`).",
        "found": "How many were found by then.",
        "estimate": "The total expected.",
        "low": "Lower end of its 95 % interval.",
        "high": "Upper end.",
        "percent_of_documents": "The estimate, of the pages compared.",
        "true": "The total, where all steps were done.",
        "error_percent": "How far off the estimate was, of the true total.",
    },
}

STUDY_REPORT: Final = {
    "neardup": "The version that ran.",
    "format": "The version of the fingerprint format.",
    "name": "What the collection is called.",
    "detector": "How duplicates were told.",
    "levels": "Shares at which near-duplicates were told.",
    "steps": "Steps planned and done, the seed of the order, and paragraphs in all.",
    "settings": "All settings.",
    "input": "What was read and how.",
    "links_from": "The pages, or a file.",
    "link_graph": "Links found, inside the collection and through redirects; addresses, strong components, pages by "
    "part of the bow tie, seeds, pages the crawl reached, and how deep.",
    "tables": "All tables: title and rows.",
    "failed_files": "Files of which no record could be read, the first 1,000: source and reason.",
    "left_out_files": "Files of folders that were not read (no known format, a pipe, a link that leads out), the first "
    "1,000; hidden files are not among them.",
    "skipped": "Records that could not be read, the first 1,000: source, position, reason. Where there are more, "
    "`skipped.parquet` names all.",
    "skipped_reasons": "How many records could not be read, by reason; numbers in it are `N`.",
    "tolerated": "Pages that were read though their form is wrong, by kind.",
    "ignored": "Records that are no pages, by kind.",
    "warnings": "What you should know beside the numbers.",
    "stages": "Seconds and peak memory of each stage.",
    "command": "The command line, where there was one.",
}

SETTINGS: Final = {
    "keep": ("--keep", "Which of several duplicates stays; ties go to the first in the input."),
    "removal": (
        "--removal",
        "`direct` removes a page only for one it was accepted against; `component` keeps one page a cluster.",
    ),
    "reading": ("see Reading", "How pages become tokens."),
    "strict": ("--strict", "A record that cannot be read ends the run with an error that names it."),
    "threads": ("--threads", "Worker threads; 0 means one for each core the process may use."),
    "max_pairs": (
        "--max-pairs",
        "All accepted pairs are held while they are at most this many times the pages; beyond, the spanning forest. "
        "With more of them, more are looked for.",
    ),
    "hot": (
        "",
        "A key that more pages share than this is hot: its pages are compared with those that stay, not all with all. "
        "What stays and the clusters are the same; `run.json` tells how many pairs may be left out. 0: 20,000, and "
        "up to 65,536 where there are more than 100,000 pages.",
    ),
    "memory": (
        "--memory",
        "Bytes of memory to get along with, beside some 300 MB for the program itself; what does not fit goes to the "
        "scratch folder until it is needed. 0: three quarters of what the machine, or the process's group, has. A text "
        'such as `"256MiB"` is read as by the option.',
    ),
    "max_page": (
        "--max-page",
        "A page that is longer as it stands in its file (a line, a row, a value, a record, a file) is skipped, and "
        'named with its length. Pages given from memory may be as long as they are. A text such as `"1MiB"` is read '
        "as by the option.",
    ),
    "commit_every": (
        "",
        "Seconds between two commits of what was read; a later stage that took as long is committed when it is done.",
    ),
    "statistics": (
        "--statistics",
        "A file of frozen statistics (`neardup statistics`), for detectors that need some, in place of a first pass "
        "over the input.",
    ),
    "hold_tokens": (
        "",
        "Tokens are held until the end whatever the detector, for what measures a run (a certificate) to look at them.",
    ),
}

READING: Final = {
    "hash": (
        "--token-hash",
        "How a term becomes a 64-bit token: `fold`, or `rabin` (the paper's choice, slower).",
    ),
    "site": (
        "--site-rule",
        "What a site is: `registrable` (the domain under the public suffix list) or `henzinger` (the paper's rule).",
    ),
    "min_tokens": ("--min-tokens", "Pages with fewer tokens match identical pages only."),
}

FIELDS: Final = {
    "id": ("--id-field", "The page's own id."),
    "url": ("--url-field", "Its URL."),
    "html": ("--html-field", "Its HTML; taken before `text` where a row has both."),
    "text": ("--text-field", "Its plain text."),
    "date": ("--date-field", "Its date, for `--keep newest`."),
}

KEEP: Final = {
    "first": "the first in the input",
    "longest": "the one with most tokens",
    "newest": "the one with the latest date; a page without a readable date counts as oldest",
    "shortest-url": "the one with the shortest URL; a page without URL comes last",
    "most-linked": "the one that most other pages of the input link to",
}

_SHINGLE: Final = "tokens in a shingle"
_RABIN: Final = "hash shingles with Rabin's fingerprints, the paper's choice, instead of the faster default"
_TERMS: Final = "the least Jaccard similarity of single terms, as a sketch tells it; 0: not asked, as in the paper"

_CHUNK: Final = "words in a chunk"
_RATIO: Final = "shared chunks / chunks of either page, at least"
_SIZE: Final = "numbers in a fingerprint"
_KAPPA: Final = "numbers that must be shared"
_LOW: Final = "the least normalised idf, ln(N/df) / ln N, of a term in the lexicon: below it terms are too frequent"
_HIGH: Final = "the highest: above it terms are too rare"
_LEAST: Final = "lexicon terms below which a page has no signature, and matches only its copies"

PARAMETERS: Final = {
    "b-bit-minhash": {
        "n": _CHUNK,
        "m": "min-values a page",
        "b": "bits kept of each: 1, 2, 4 or 8",
        "threshold": "the Jaccard similarity from which on pairs are to be accepted",
        "recall": "the probability with which a pair at the threshold becomes a candidate",
    },
    "breakpoint-chunks": {"n": "words in a chunk, on average: one word in `n` ends a chunk", "ratio": _RATIO},
    "byte-breakpoints": {"n": "bytes in a chunk", "m": "chunks whose hash is 0 mod `m` are selected", "ratio": _RATIO},
    "charikar-shingles": {
        "n": _CHUNK,
        "bits": "bits of the projection; a multiple of 64",
        "t": "bits that must agree",
        "pieces": "pieces the bits are cut into for finding candidates; pairs with fewer differing bits are all found",
        "terms": _TERMS,
    },
    "fuzzy-fingerprinting": {
        "profile": "the language the page's words are compared with",
        "k": "fuzzification schemes, one number each",
        "intervals": "intervals that a deviation is told by",
        "spread": "distance of two cuts, as a relative deviation",
        "rarest": "classes of words below this share of the language are left out",
        "kappa": _KAPPA,
    },
    "hyperplane-lsh": {"k": "codes", "r": "hyperplanes in a code", "kappa": "codes that must agree"},
    "i-match": {"low": _LOW, "high": _HIGH, "least": _LEAST},
    "megashingling": {
        "n": _CHUNK,
        "m": "min-values a page; divisible by `groups`",
        "groups": "supershingles a page, of which every two make a megashingle",
    },
    "one-permutation": {"n": _CHUNK, "k": "bins", "kappa": "bins that must agree"},
    "p-stable-lsh": {
        "k": "codes",
        "r": "projections in a code",
        "w": "width of an interval, the page's vector having length 1",
        "kappa": "codes that must agree",
    },
    "prefix-anchor": {
        "n": _CHUNK,
        "prefixes": "beginnings of words that make an anchor, joined by `+`; empty: chosen by hash",
        "letters": "letters of a prefix that is chosen by hash",
        "every": "one prefix in so many is an anchor",
        "ratio": _RATIO,
    },
    "random-chunks": {"n": _CHUNK, "k": _SIZE, "kappa": _KAPPA},
    "randomised-i-match": {
        "k": "lexicons, the full one first",
        "left_out": "the share of terms that each other lexicon leaves out",
        "low": _LOW,
        "high": _HIGH,
        "least": _LEAST,
        "kappa": "signatures that must agree",
    },
    "rare-chunks": {"n": _CHUNK, "most": "pages that may have a chunk for it to be rare", "ratio": _RATIO},
    "rare-prefix-anchor": {
        "n": _CHUNK,
        "letters": "letters of a prefix",
        "most": "words of the page that may begin with a prefix for it to be rare",
        "ratio": _RATIO,
    },
    "shingle-paragraphs": {
        "share": "the least share of the larger page's paragraphs that both have; 1: duplicates",
        "sentence": "characters after which a sentence ends without a period",
        "sentences": "sentences in a paragraph",
        "longer_than": "only pages of more characters have paragraphs",
    },
    "shingling": {"n": _CHUNK, "k": _SIZE, "kappa": _KAPPA},
    "shingling-functions": {"n": _CHUNK, "k": "functions", "kappa": "min-values that must agree"},
    "sliding-window": {"n": _CHUNK, "m": "a chunk starts at every so many words", "ratio": _RATIO},
    "spex": {"n": _CHUNK, "ratio": _RATIO},
    "supershingling": {
        "n": _CHUNK,
        "m": "min-values a page; divisible by `k`",
        "k": "supershingles a page",
        "kappa": "supershingles that must agree",
    },
    "template-aware": {
        "probability": "the least probability that two pages have the same main text",
        "recall": "the probability with which a pair exactly there becomes a candidate",
        "structure": "tell the main text by elements, roles and links",
        "site": "weigh down what different pages of the site share; takes a first pass",
        "noise": "read dates, ages, counters and ids as one word",
        "title": "give the title a share of the weight",
        "main": "leave out what stands beside the `main` element, where that holds most of the text",
    },
    "weighted-minhash": {
        "n": _CHUNK,
        "weights": "`tf`: how often a chunk occurs on the page; `tf-idf`: times ln(N/df), counted over the collection",
        "k": "samples a page",
        "kappa": "samples that must agree",
    },
    "winnowing": {"n": _CHUNK, "w": "chunks in a window, of which the smallest is selected", "ratio": _RATIO},
    "word-breakpoints": {
        "n": _CHUNK,
        "m": "chunks whose last word's hash is 0 mod `m` are selected",
        "ratio": _RATIO,
    },
    "word-chunks": {"n": _CHUNK, "ratio": _RATIO},
    "broder": {
        "k": _SHINGLE,
        "m": "min-values a page; divisible by `groups`",
        "groups": "supershingles a page (the paper's m')",
        "least": "supershingles that must agree",
        "rabin": _RABIN,
    },
    "charikar": {
        "bits": "bits of the projection (the paper's b); a multiple of 64",
        "t": "bits that must agree",
        "pieces": "pieces the bits are cut into for finding candidates; pairs with fewer differing bits are all found",
        "k": "1: project tokens; more: project shingles of so many tokens",
        "terms": _TERMS,
    },
    "combined": {
        "t": "bits that must agree",
        "bits": "bits of the projection; a multiple of 64",
        "k": _SHINGLE,
        "m": "min-values a page; divisible by `groups`",
        "groups": "supershingles a page",
        "least": "supershingles that must agree",
        "rabin": _RABIN,
    },
    "exact": {},
    "minhash": {
        "k": _SHINGLE,
        "threshold": "the least Jaccard similarity; no pair below it is accepted",
        "recall": "the probability with which a pair exactly at the threshold is found",
        "bands": "bands of min-values; 0: the planner chooses",
        "rows": "min-values in a band; 0: the planner chooses",
        "rabin": _RABIN,
    },
    "site-aware": {
        "t": "bits that must agree for a pair on different sites (Alg. C)",
        "same_site_t": "bits that must agree for a pair on the same site (combined)",
        "pieces": "pieces the bits are cut into for finding candidates between sites",
        "terms": _TERMS,
        "rabin": f"{_RABIN}; on one site",
    },
}

_TAXONOMY: Final = "taxonomy.md"

EXPLAINED: Final = {
    "broder": "algorithm-b.md",
    "charikar": "algorithm-c.md",
    "combined": "combined.md",
    "exact": "clusters-and-removal.md",
    "minhash": "minhash.md",
    "site-aware": "combined.md",
    "b-bit-minhash": _TAXONOMY,
    "breakpoint-chunks": _TAXONOMY,
    "byte-breakpoints": _TAXONOMY,
    "charikar-shingles": _TAXONOMY,
    "fuzzy-fingerprinting": _TAXONOMY,
    "hyperplane-lsh": _TAXONOMY,
    "i-match": _TAXONOMY,
    "megashingling": _TAXONOMY,
    "one-permutation": _TAXONOMY,
    "p-stable-lsh": _TAXONOMY,
    "prefix-anchor": _TAXONOMY,
    "random-chunks": _TAXONOMY,
    "randomised-i-match": _TAXONOMY,
    "rare-chunks": _TAXONOMY,
    "rare-prefix-anchor": _TAXONOMY,
    "shingle-paragraphs": "shingle-paragraphs.md",
    "shingling": _TAXONOMY,
    "shingling-functions": _TAXONOMY,
    "sliding-window": _TAXONOMY,
    "spex": _TAXONOMY,
    "supershingling": _TAXONOMY,
    "template-aware": "template-aware.md",
    "weighted-minhash": _TAXONOMY,
    "winnowing": _TAXONOMY,
    "word-breakpoints": _TAXONOMY,
    "word-chunks": _TAXONOMY,
}
