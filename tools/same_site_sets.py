"""The sets of labelled pairs that ``same_site.py`` measures on: real ones from a data folder, and generated ones."""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import zstandard
from same_site_measures import Numbers, Pairs

from neardup.methods.shingles import ShingleSet
from neardup.sources.memory import texts
from neardup.testing import web
from neardup.testing.same_template import CASES, directory, framed
from neardup.text import read

Rows = list[dict[str, Any]]
#: Revision corpora whose texts are put into generated frames: other kinds of text, other languages.
REVISIONS: Final = ("rev_peps", "rev_k8s_ja_ko", "rev_mdn_zh_ja_ko_ru")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines, packed or not."""
    with open(path, "rb") as file:
        stream: Any = file
        if path.suffix == ".zst":
            stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file)
        for line in io.TextIOWrapper(stream, encoding="utf-8", newline="\n"):
            yield json.loads(line)


def write(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            page = {name: row[name] for name in ("id", "url", "html")}
            print(json.dumps(page, ensure_ascii=False), file=file)
    return path


def _pairs(found: list[tuple[str, str, bool, str, str, float]]) -> Pairs:
    a, b, same, document, service, whole = zip(*found, strict=True)
    return Pairs(list(a), list(b), np.array(same), np.array(document), np.array(service), np.array(whole))


def tracked(folder: Path) -> tuple[Pairs, Pairs]:
    """The pairs of real pages fetched again and again; and those of different documents of one service."""
    found, siblings = [], []
    for pair in lines(folder / "pairs.jsonl"):
        same = pair["label"] == "same-content"
        if pair["verified"] and (same or pair["version_jaccard5"] < 0.9):
            service = pair["doc"].split("/")[0]
            found.append((pair["a"], pair["b"], same, pair["doc"], service, pair["page_jaccard5"]))
    for pair in lines(folder / "same_site_pairs.jsonl"):
        if pair["version_jaccard5"] < 0.5 and not pair["same_url"]:
            service = pair["doc_a"].split("/")[0]
            siblings.append((pair["a"], pair["b"], False, pair["doc_a"], service, pair["page_jaccard5"]))
    return _pairs(found + siblings), _pairs(siblings)


#: From this agreement on, two pages say the same of a main text: the rest are words that markup joins or parts.
AGREES: Final = 0.98


def agreement(folder: Path, pairs: Pairs) -> Numbers:
    """For each pair said to have the same main text, how far its two pages agree in it: of the main text's shingles of
    five words that are on either page, the share that is on both. Text that a page has beside it does not count.

    The archive records a text when its software sees a change; where it lags behind, the label says "same" of two pages
    one of which has lost or rewritten parts of that very text."""
    versions = {row["version"]: row["text"] for row in lines(folder / "versions.jsonl.zst")}
    wanted = {*pairs.a, *pairs.b}
    pages = {row["id"]: row for row in lines(folder / "docs.jsonl.zst") if row["id"] in wanted}
    page_sets = _shingles([{"html": pages[name]["html"]} for name in pages])
    of_page = dict(zip(pages, page_sets, strict=True))
    names = sorted({pages[name]["version"] for name in pairs.a})
    # Addresses of links are no words of the text.
    texts_of = [{"text": re.sub(r"\]\([^)]*\)", "] ", versions[name])} for name in names]
    of_version = dict(zip(names, _shingles(texts_of), strict=True))
    found = []
    for a, b in zip(pairs.a, pairs.b, strict=True):
        said = of_version[pages[a]["version"]]
        on_a, on_b = (np.isin(said, of_page[page], assume_unique=True) for page in (a, b))
        found.append((on_a & on_b).sum() / max(1, (on_a | on_b).sum()))
    return np.array(found)


def _shingles(rows: list[dict[str, str]]) -> list[npt.NDArray[np.uint64]]:
    sets: list[npt.NDArray[np.uint64]] = []
    for batch in texts(rows).batches:
        sets += [row.values.to_numpy() for row in ShingleSet(5).compute(read(batch).tokens)]
    return sets


def mirrors(folder: Path) -> Pairs:
    """Different documents whose main texts are the same: real copies, most of them on different sites."""
    found = [
        (pair["a"], pair["b"], True, pair["doc_a"], pair["doc_a"].split("/")[0], 0.0)
        for pair in lines(folder / "cross_pairs.jsonl")
        if pair["version_jaccard5"] >= 0.9
    ]
    return _pairs(found)


def revisions(file: Path, out: Path, *, documents: int = 120) -> Pairs:
    """Texts of a revision corpus in generated frames: the same revision fetched twice is the same; revisions whose
    texts have a Jaccard similarity below .9, and documents of one host, are not."""
    by_document: dict[str, list[str]] = {}
    for row in lines(file):
        if zlib.crc32(row["doc"].encode()) % 4 == 0 and 1000 < len(row["text"]) < 60_000:
            by_document.setdefault(row["doc"], []).append(row["text"])
    chosen = _of_all_languages({name: of for name, of in by_document.items() if len(of) >= 3}, documents)
    pages: Rows = []
    found = []
    for number, (name, revised) in enumerate(chosen):
        host = f"site{number // 4}.{file.parent.name.replace('_', '-')}.example"
        kept = [revised[0], revised[len(revised) // 2], revised[-1]]
        made = [
            [
                framed(text, host=host, path=f"{number}", title=name.split("/")[-1], seed=10 * at + fetched)
                for fetched in (0, 1)
            ]
            for at, text in enumerate(kept)
        ]
        pages += [page for fetches in made for page in fetches]
        for at, fetches in enumerate(made):
            found.append((fetches[0]["id"], fetches[1]["id"], True, name, host, 1.0))
            found += [
                (fetches[0]["id"], made[later][1]["id"], False, name, host, 0.0)
                for later in range(at + 1, len(made))
                if jaccard(kept[at], kept[later]) < 0.9
            ]
        if number % 4:
            found.append((pages[-1]["id"], pages[-7]["id"], False, name, host, 0.0))
    write(out, pages)
    return _pairs(found)


def language(document: str) -> str:
    """The language of a document of a revision corpus, by its name.

    >>> language("ja/docs/concepts"), language("pep-0008")
    ('ja', 'en')
    """
    return document.split("/")[0] if "/" in document else "en"


def _of_all_languages(texts: dict[str, list[str]], documents: int) -> list[tuple[str, list[str]]]:
    """So many documents, as many of each language as there are."""
    languages = sorted({language(name) for name in texts})
    chosen = []
    for one in languages:
        chosen += [(name, of) for name, of in texts.items() if language(name) == one][: documents // len(languages)]
    return chosen


def jaccard(a: str, b: str, n: int = 5) -> float:
    """Of the word n-grams of two texts; of the characters' where words are not set apart."""
    of_a, of_b = (_grams(text, n) for text in (a, b))
    return len(of_a & of_b) / max(1, len(of_a | of_b))


def _grams(text: str, n: int) -> set[Any]:
    words = text.split()
    units: Any = words if len(words) * 12 > len(text) else text
    return {tuple(units[at : at + n]) for at in range(max(1, len(units) - n + 1))}


def generated(out: Path) -> tuple[Pairs, Pairs]:
    """Pages of Henzinger's three databases, all of them about something else; and the cross-site copies of a generated
    web, all of them the same."""
    pages: Rows = []
    found: list[tuple[str, str, bool, str, str, float]] = []
    for case in CASES:
        made = directory(case, 60)
        pages += made
        found += [(made[at]["id"], made[at + 1]["id"], False, case, case, 0.0) for at in range(0, 60, 2)]
    small = web(seed=5, sites=60, pages=3000)
    pages += [{"id": page.id, "url": page.url, "html": page.html} for page in small.pages]
    site = {page.id: page.url.split("/")[2] for page in small.pages}
    copies = [
        (pair.a.id, pair.b.id, True, pair.a.id, site[pair.a.id], 1.0)
        for pair in small.pairs
        if pair.label.henzinger == "correct" and site[pair.a.id] != site[pair.b.id]
    ]
    write(out, pages)
    return _pairs(found), _pairs(copies)


def manual_pages(file: Path, out: Path, version: str, share: int) -> dict[str, str]:
    """About ``share`` per cent of one version's pages, written as lines; by id their page key."""
    keys = {}

    def chosen() -> Iterator[dict[str, Any]]:
        for row in lines(file):
            if row["version"].startswith(version) and zlib.crc32(row["page_key"].encode()) % 100 < share:
                keys[row["id"]] = row["page_key"]
                yield row

    write(out, chosen())
    return keys


def item(path: str) -> str:
    """What a page of the PHP manual is about: its chapters are named after it, with the kind of the chapter beside.

    >>> item("html/book.ftp.html") == item("html/ref.ftp.html"), item("yac.installation.html")
    (True, 'yac')
    """
    kinds = "installation|setup|requirements|constants|resources|configuration"
    return re.sub(rf"^(book|ref|intro)\.|\.({kinds})$", "", path.rsplit("/", 1)[-1].removesuffix(".html"))


def pet(url: str) -> tuple[str, ...]:
    """Which owner, and which pet, a state of the application is about.

    >>> pet("http://localhost:9966/petclinic/owners/3/pets/4/visits/new"), pet("http://localhost/owners/2.html")
    (('3', '4'), ('2',))
    """
    return tuple(re.findall(r"(?:owners|pets)/(\d+)", url))
