"""Writes ``fingerprints.json`` anew: what a handful of fixed pages give, from terms to keys.

Only for a meant change of the format, together with a new ``FORMAT_VERSION``::

    python tests/golden/make.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np

import neardup
from neardup import _native
from neardup.methods.chunks import (
    BreakpointChunks,
    RandomChunks,
    SlidingWindow,
    SmallestShingles,
    Winnowed,
    WordBreakpoints,
)
from neardup.methods.content import Content, ContentSets
from neardup.methods.letters import ByteBreakpoints, PrefixAnchors, RarePrefixes
from neardup.methods.lexicon import LexiconSignatures, RepeatedChunks
from neardup.methods.minima import Minima, OnePermutation, PackedMinima, RarityWeightedSamples, WeightedSamples
from neardup.methods.paragraphs import ShingleParagraphs
from neardup.methods.profiles import FuzzyCodes
from neardup.methods.projections import Projection, ProjectionCodes, TermSketch
from neardup.methods.shingles import Bands, ShingleSet, Supershingles
from neardup.methods.statistics import collect_statistics
from neardup.sources.memory import texts
from neardup.text import Reading, content_streams, read, term_lists

FILE: Final = Path(__file__).with_name("fingerprints.json")

LATIN: Final = (
    "A term is a maximal run of letters, digits and marks; don't re-use FOO_bar 3.14 times. Straße, ÆSIR, İstanbul, "
    "ǅ and ﬁ are folded, x² and ½ are not; nu\x00l\u200b. Mail me@example.org or see "
    "http://www.Example.com:8080/a-b/c?d=e_f#g and (www.example.org/x,y) or svn+ssh://host/p, not http: alone."
)
HTML: Final = """<!DOCTYPE html><html><head><title>Caf&eacute; &amp; Bar &#8212; menu</title>
<style>p { color: red }</style><script>var hidden = "<p>not shown</p>";</script></head>
<body><h1>un<b>believ</b>able</h1><p>soft&shy;hyphen, wo<wbr>rd, H<sub>2</sub>O<br>next <a href=a>menu</a><a
href=b>links</a></p><!-- not shown --><noscript>not shown</noscript><template><p>not shown</p></template>
<img src="/images/Logo.png?v=3" alt="not shown"><img src="http://cdn.example.net/Pic.GIF">
<img src="data:image/png;base64,AAAA"><table><tr><td>one<td>two &lt;b&gt; &notit; &#x41;&#66;&nbsp;three</table>
<p>The page says a few more words, so that it is long enough to be compared with other pages at all.</body></html>"""
CJK: Final = (
    "日本語のテキストは空白なしで書かれます。第3章、コーヒーを飲む猫。한국어 텍스트는 띄어쓰기를 합니다. "
    "中文網頁沒有空格，見http://a.example/b_c，謝謝。ﾊﾝｶｸ カタカナ が か\u3099 𠮷野家 Ａ１"
)
THAI: Final = "ภาษาไทยเขียนโดยไม่เว้นวรรค ๑๒๓ ภาษาខ្មែរ ພາສາລາວ မြန်မာဘာသာ and some English words"
CYRILLIC: Final = (
    "Съешь же ещё этих мягких французских булок, да выпей чаю. ЁЖИК и\u0306од Йод Ї ґанок Ελληνικά ΣΊΣΥΦΟΣ και ἀρχή"
)
MARKS: Final = (
    "e\u0301cole école E\u0301COLE a\u0323\u0302 ậ q\u0307\u0323 \u0301start नमस्ते हिन्दी עִבְרִית العَرَبِيَّة "
    "zero\u200bwidth non\u200cjoiner so\u00adft variant\ufe0f"
)

#: The pages, by name, as ``find_duplicates`` takes them.
PAGES: Final[dict[str, dict[str, Any]]] = {
    "plain text": {"text": LATIN},
    "html": {"html": HTML, "url": "http://www.shop.example.co.uk/dir/page.html"},
    "html without an address": {"html": HTML},
    "html in windows-1251": {
        "html": f"<meta charset=windows-1251><p>{CYRILLIC[:60]}".encode("cp1251"),
        "url": "http://пример.example/",
    },
    "html in shift_jis": {"html": "<meta charset=shift_jis><p>日本語のテキスト、コーヒー".encode("shift_jis")},
    "cjk": {"text": CJK},
    "thai": {"text": THAI},
    "cyrillic and greek": {"text": CYRILLIC},
    "combining marks": {"text": MARKS},
    "long": {"text": " ".join(f"word{number % 97}" for number in range(1000))},
    "few words": {"text": " ".join(["yes", "no"][number * number // 7 % 2] for number in range(150))},
    "seven tokens": {"text": "one two three four five six seven"},
    "empty": {"text": " … "},
}


def vectors() -> dict[str, Any]:
    """Everything that is part of the format, of every page; 64-bit numbers in hexadecimal."""
    (chunk,) = texts(list(PAGES.values())).chunks()
    batch = chunk.load().pages
    folded, rabin = (read(batch, Reading(hash=name)) for name in ("fold", "rabin"))
    tokens = folded.tokens
    supershingles = Supershingles().compute(tokens)
    sketches = Projection().compute(tokens)
    columns: dict[str, list[Any]] = {
        "terms": [_terms(page) for page in PAGES.values()],
        "title": folded.title.to_pylist(),
        "site": folded.site.to_pylist(),
        "replaced": folded.replaced.tolist(),
        "tokens": _lists(tokens),
        "rabin tokens": _lists(rabin.tokens),
        "identity": [f"{a:016x}{b:016x}" for a, b in zip(folded.identity_high, folded.identity_low, strict=True)],
        "shingles of 8": _lists(ShingleSet(8).compute(tokens)),
        "rabin shingles of 8": _lists(ShingleSet(8, rabin=True).compute(tokens)),
        "minima": (Minima(8, 84).compute(tokens) & 0xFFFFFFFF).tolist(),
        "supershingles": _rows(supershingles),
        "supershingle pairs": _rows(_native.pairs_of_keys(supershingles)),
        "bands": _rows(Bands(5, bands=16, rows=6).compute(tokens)),
        "projection": _rows(sketches),
        "projection of shingles": _rows(Projection(64, k=8).compute(tokens)),
        "term sketch": _rows(TermSketch(256).compute(tokens)),
        "pieces": _rows(_native.pieces(sketches, 12)),
        "13 pieces": _rows(_native.pieces(sketches, 13)),
        "content stream": _lists(content_streams(batch)),
        "content set": _lists(ContentSets(Content()).compute(content_streams(batch))),
        **_taxonomy(tokens, term_lists(batch)),
        "shingle paragraphs": _lists(ShingleParagraphs(sentence=40, sentences=2, longer_than=20).lists(batch)[0]),
    }
    pages = {name: {what: of[row] for what, of in columns.items()} for row, name in enumerate(PAGES)}
    # These pages are there for their fingerprints; a thousand terms would only fill the file.
    for what in (
        "terms",
        "tokens",
        "rabin tokens",
        "winnowed",
        "stretches",
        "windows that end in a breakpoint",
        "shingle paragraphs",
        "content stream",
        "content set",
    ):
        for name in ("long", "few words"):
            pages[name][what] = pages[name][what][:12]
    return {"format_version": _native.FORMAT_VERSION, "unicode": _native.UNICODE_VERSION, "pages": pages}


def _taxonomy(tokens: Any, terms: Any) -> dict[str, list[Any]]:
    """The methods of the taxonomy, with few numbers each."""
    statistics = collect_statistics([tokens], [1, 3])
    lists: dict[str, Any] = {
        "winnowed": Winnowed(5, 10).compute(tokens),
        "stretches": BreakpointChunks(6).compute(tokens),
        "windows that end in a breakpoint": WordBreakpoints(4, 6).compute(tokens),
        "every ninth window": SlidingWindow(4, 9).compute(tokens),
        "random windows": RandomChunks(4, 5).compute(tokens),
        "smallest windows": SmallestShingles(4, 5).compute(tokens),
        "anchored windows": PrefixAnchors(4, letters=2, every=6).compute(terms),
        "windows with rare prefixes": RarePrefixes(4, letters=1, most=1).compute(terms),
        "byte windows": ByteBreakpoints(30, 64).compute(terms),
        "repeated windows": RepeatedChunks(3).given(statistics).compute(tokens),
    }
    lexicons = LexiconSignatures(0.1, 1.0, least=2, randomised=2, left_out=0.3)
    fuzzy = FuzzyCodes("en", k=3, intervals=3, spread=0.6, rarest=0.01)
    rows: dict[str, Any] = {
        "tagged minima": Minima(5, 6).compute(tokens),
        "packed minima": PackedMinima(5, 64, 2).compute(tokens),
        "one permutation": OnePermutation(5, 6).compute(tokens),
        "weighted samples": WeightedSamples(1, 6).compute(tokens),
        "rarity weighted samples": RarityWeightedSamples(1, 6).given(statistics).compute(tokens),
        "intervals": ProjectionCodes(4, 3, 0.5).compute(tokens),
        "sides of hyperplanes": ProjectionCodes(4, 8).compute(tokens),
        "fuzzy codes": fuzzy.compute(terms),
        "signatures": lexicons.given(statistics).compute(tokens),
    }
    return {name: _lists(made) for name, made in lists.items()} | {name: _rows(made) for name, made in rows.items()}


def _terms(page: dict[str, Any]) -> list[str]:
    html = "html" in page
    return neardup.terms(page["html" if html else "text"], html=html, url=page.get("url")).terms


def _lists(lists: Any) -> list[list[str]]:
    return [[f"{value:016x}" for value in values] for values in lists.to_pylist()]


def _rows(rows: np.ndarray[Any, Any]) -> list[list[str]]:
    return [[f"{value:016x}" for value in row] for row in rows.tolist()]


def text() -> str:
    """The file: one line for each thing of each page, so that a difference can be read."""
    made = vectors()
    head = {name: value for name, value in made.items() if name != "pages"}
    pages = [
        f"  {json.dumps(name)}: {{\n"
        + ",\n".join(f"   {json.dumps(what)}: {json.dumps(value, ensure_ascii=False)}" for what, value in page.items())
        + "\n  }"
        for name, page in made["pages"].items()
    ]
    return json.dumps(head, indent=1)[:-2] + ',\n "pages": {\n' + ",\n".join(pages) + "\n }\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
