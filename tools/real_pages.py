"""What three rules change on real pages: that terms confirm a projection, that sets which hide much are told apart, and
that the wide compression distance stands in for gzip's. Writes a dated record beside those of the benchmarks.

    python tools/real_pages.py DATA                    all three
    python tools/real_pages.py DATA --only terms       one: terms, sets, or compression
    python tools/real_pages.py DATA --share 0.1        of a tenth of each collection, which the record says

DATA holds the collections that are named below; they are not part of the repository.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import tempfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import zstandard

from neardup import Settings, dedup
from neardup.evaluation.judged import Labels, read_judged
from neardup.evaluation.many_signals import PAPER, Effort, Labelled, experiments
from neardup.methods.shingles import ShingleSet
from neardup.results import Result
from neardup.signals import Idf, build_idf, compute
from neardup.sources import InputSpec
from neardup.text import read

RECORD: Final = Path(__file__).parent.parent / "benchmarks" / "record"
COLLECTIONS: Final = {
    "terms of service": ["ota_contrib_html/docs"],
    "Python's PEPs, revisions": ["rev_peps/versions"],
    "manuals": [f"debian_docs_en/{name}" for name in ("llvm", "postgresql", "php-doc", "python", "sqlite3")],
}
K: Final = 5
THRESHOLD: Final = 0.8
SIGNALS: Final = ("fetched_mcd", "fetched_wide_mcd", "F", "F+fetched_wide_mcd")

Numbers = npt.NDArray[np.uint64]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with open(path, "rb") as file:
        stream: Any = file
        if path.suffix == ".zst":
            stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file)
        for line in io.TextIOWrapper(stream, encoding="utf-8", newline="\n"):
            yield json.loads(line)


def taken(data: Path, work: Path, share: float) -> Iterator[tuple[str, Path]]:
    """The pages of each collection as one file, the first ones of each of its files."""
    for name, files in COLLECTIONS.items():
        path = work / f"{files[0].split('/')[0]}.jsonl"
        with open(path, "w", encoding="utf-8") as out:
            for file in files:
                rows = list(lines(data / f"{file}.jsonl.zst"))
                for row in rows[: max(1, round(share * len(rows)))]:
                    page = {key: row[key] for key in ("url", "html", "text") if key in row}
                    print(json.dumps(page, ensure_ascii=False), file=out)
        yield name, path


def run(path: Path, detector: str, work: Path) -> Result:
    return dedup(path, work / "out", detector=detector, settings=Settings(max_pairs=1000), overwrite=True)


def pairs_of(result: Result) -> set[tuple[int, int]]:
    assert result.report["pairs"]["held"] == "all", "some pairs are not held"
    rows = (result.pairs.column(name).to_pylist() for name in ("row_a", "row_b"))
    return set(zip(*rows, strict=True))


def terms(data: Path, work: Path, share: float) -> list[str]:
    """Pairs that Alg. C accepts, as in the paper and where terms confirm them."""
    rows = []
    for name, path in taken(data, work, share):
        alone = run(path, "charikar(terms=0)", work)
        accepted = pairs_of(alone)
        count, confirmed = alone.pages.num_rows, pairs_of(run(path, "charikar", work))
        assert confirmed <= accepted
        dropped = sorted(accepted - confirmed)
        known = tokens_of(path, {row for pair in dropped for row in pair})
        shares = [len(known[a] & known[b]) / len(known[a] | known[b]) for a, b in dropped]
        between = f"{min(shares):.2f}–{max(shares):.2f}" if shares else "–"
        rows.append([name, count, len(accepted), len(dropped), between])
    return [
        "## Terms that confirm Alg. C",
        "",
        *table(["pages", "", "accepted pairs", "dropped", "Jaccard similarity of their terms"], rows),
    ]


def tokens_of(path: Path, wanted: set[int]) -> dict[int, set[int]]:
    """The different terms of some pages, by their rows."""
    found: dict[int, set[int]] = {}
    row = 0
    with InputSpec([str(path)]).open() as source:
        for chunk in source.chunks():
            batch = chunk.load().pages
            tokens = read(batch).tokens if batch.num_rows else []
            for at, page in enumerate(tokens, row):
                if at in wanted:
                    found[at] = set(page.values.to_pylist())
            row += batch.num_rows
    return found


def sets(data: Path, work: Path, share: float) -> list[str]:
    """Pages whose sets of shingles are told apart, and pairs of such pages that this loses or gains."""
    rows = []
    for name, path in taken(data, work, share):
        pages, plain = 0, []
        touched = []
        with InputSpec([str(path)]).open() as source:
            for chunk in source.chunks():
                batch = chunk.load().pages
                if batch.num_rows == 0:
                    continue
                tokens = read(batch).tokens
                told_apart = ShingleSet(k=K).compute(tokens)
                for page, one in zip(tokens, told_apart, strict=True):
                    plain.append(windows(page.values.to_numpy()))
                    if len(one) > len(plain[-1]):
                        touched.append(pages)
                    pages += 1
        result = run(path, f"minhash(k={K},threshold={THRESHOLD})", work)
        first = {name: row for row, name in reversed(list(enumerate(result.pages.column("id").to_pylist())))}
        firsts = np.array([first[name] for name in result.pages.column("identity").to_pylist()])
        alike = set(similar(plain, [row for row in touched if firsts[row] == row], firsts))
        accepted = {pair for pair in pairs_of(result) if not set(touched).isdisjoint(pair)}
        rows.append([name, pages, len(touched), len(accepted), len(alike - accepted), len(accepted - alike)])
    head = ["pages", "", "told apart", "accepted pairs of these", "not accepted", "not alike by plain sets"]
    return ["## Sets of shingles that hide much", "", *table(head, rows)]


def windows(tokens: Numbers) -> Numbers:
    """The different runs of K tokens, each as one number."""
    runs = np.lib.stride_tricks.sliding_window_view(tokens, min(K, len(tokens))) if len(tokens) else tokens[:, None]
    number = np.zeros(len(runs), np.uint64)
    for column in runs.T:
        number = (number ^ column) * np.uint64(0x9E3779B97F4A7C15)
        number ^= number >> np.uint64(29)
    return np.unique(number)


def similar(plain: list[Numbers], touched: list[int], firsts: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Pairs of a touched page and another one, of different tokens, whose plain sets are alike."""
    if not touched:
        return
    owner = np.repeat(touched, [len(plain[row]) for row in touched])
    values = np.concatenate([plain[row] for row in touched])
    order = np.argsort(values, kind="stable")
    owner, values = owner[order], values[order]
    for row, own in enumerate(plain):
        if firsts[row] != row or len(own) == 0:
            continue
        low, high = np.searchsorted(values, own), np.searchsorted(values, own, side="right")
        met = [owner[start:end] for start, end in zip(low, high, strict=True) if end > start]
        if not met:
            continue
        others, shared = np.unique(np.concatenate(met), return_counts=True)
        for other, common in zip(others.tolist(), shared.tolist(), strict=True):
            if other != row and common >= THRESHOLD * (len(own) + len(plain[other]) - common):
                yield min(row, other), max(row, other)


def compression(data: Path, work: Path, share: float) -> list[str]:
    """Signals of pairs of pages fetched again and again, up to four of each document, and pairs of other documents."""
    folder = data / "ota_contrib_html"
    verified = (row for row in lines(folder / "pairs.jsonl") if row["verified"])
    chosen = []
    for _, of_document in itertools.groupby(verified, key=lambda row: row["doc"]):
        chosen += [row | {"label": row["label"] == "same-content"} for row in itertools.islice(of_document, 4)]
    other = lines(folder / "same_site_pairs.jsonl")
    chosen += [row | {"label": False, "doc": row["doc_a"]} for row in other if not row["same_url"]]
    chosen = chosen[:: max(1, round(1 / share))]
    file = work / "pairs.jsonl"
    file.write_text("".join(json.dumps({key: row[key] for key in ("a", "b", "label")}) + "\n" for row in chosen))
    pages = InputSpec([str(folder / "docs.jsonl.zst")])
    with pages.open() as source:
        idf: Idf = build_idf(source)
    names = [{"a": row["a"], "b": row["b"]} for row in chosen]
    signals = compute(names, pages.open, idf=idf, signals="F+fetched_wide_mcd")
    labelled = Labelled.of(signals, read_judged(file, Labels()))
    # Pairs of one service never straddle folds.
    service = {(row["a"], row["b"]): str(row["doc"]).split("/")[0] for row in chosen}
    joined = zip(labelled.table["a"].to_pylist(), labelled.table["b"].to_pylist(), strict=True)
    group = np.unique([service[pair] for pair in joined], return_inverse=True)[1].astype(np.int64)
    labelled = Labelled(labelled.table, labelled.duplicate, group, labelled.left_out)
    missing = {name: labelled.table.column(name).null_count for name in SIGNALS[:2]}
    found = experiments(labelled, SIGNALS, Effort(seeds=3, kinds=PAPER))
    without = ", ".join(f"{count:,} without `{name}`" for name, count in missing.items())
    about = f"{len(labelled):,} pairs, {labelled.duplicate.mean():.0%} of them duplicates; {without}. "
    about += "Mean F of rules and tree, 10-fold, 3 seeds."
    rows = [[row["signals"], row["F"]] for row in found]
    return ["## Which compression distance", "", about, "", *table(["signals", "F"], rows)]


def table(head: list[str], rows: list[list[Any]]) -> list[str]:
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in [head, ["---", *["--:"] * (len(head) - 1)], *cells]]


PARTS: Final[dict[str, Callable[[Path, Path, float], list[str]]]] = {
    "terms": terms,
    "sets": sets,
    "compression": compression,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=list(PARTS), action="append")
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    only = options.only or list(PARTS)
    command = f"python tools/real_pages.py DATA{''.join(f' --only {name}' for name in options.only or [])}"
    command += f" --share {options.share:g}" if options.share < 1 else ""
    text = [f"# What rules change on real pages, {date.today().isoformat()}", "", f"`{command}`"]
    for name in only:
        with tempfile.TemporaryDirectory() as work:
            text += ["", *PARTS[name](options.data, Path(work), options.share)]
        print("\n".join(text), flush=True)
    name = "-".join([date.today().isoformat(), "real-pages", *(options.only or [])])
    # A look at a share does not replace the record of the whole.
    name += f"-share-{options.share:g}" if options.share < 1 else ""
    path = RECORD / f"{name}.md"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    print(path.name)


if __name__ == "__main__":
    main()
