"""The same pages in every form that they may come in: one file of lines, compressed, as a table, as very many files."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from benchmarks.corpus import Corpora
from benchmarks.places import Places
from benchmarks.plan import MINHASH, Plan
from benchmarks.sections import Section, number
from benchmarks.timing import alternate, measure

_LINES_A_FILE: Final = 20
_FILES_A_FOLDER: Final = 200
#: What must be the same of every form; ids are others where pages are files.
_COUNTS: Final = ("pages", "identity_sets", "pairs", "clusters", "clustered")


def report(places: Places, plan: Plan, corpora: Corpora) -> list[Section]:
    """Seconds of the main job on each."""
    file = corpora.small
    size = file.stat().st_size
    section = Section(
        f"The same {size / 1e6:,.0f} MB in every form",
        (
            "form",
            "files",
            "stored MB",
            "seconds (median)",
            "range",
            "MB/s of lines",
            "CPU s",
            "peak MB",
            "seconds with --write kept",
        ),
    )
    print(section.title, flush=True)
    forms = {"one file of lines": file, **_written(file)}
    runs = {
        label: partial(measure, [*_command(places, label, given), *further], places.log("formats"))
        for name, given in forms.items()
        for label, further in ((name, []), (_and_written(name), ["--write", "kept"]))
    }
    summaries = alternate(runs, plan.rounds)
    counts = {}
    for name in forms:
        summary, written = summaries[name], summaries[_and_written(name)]
        if trouble := summary.trouble or written.trouble:
            section.rows.append([name, "–", "–", places.public(trouble), *["–"] * 5])
            continue
        stored = [path for path in forms[name].rglob("*") if path.is_file()] or [forms[name]]
        told = json.loads((_answer(places, name) / "run.json").read_text())["counts"]
        counts[name] = [told[count] for count in _COUNTS]
        section.rows.append(
            [
                name,
                f"{len(stored):,}",
                number(sum(path.stat().st_size for path in stored) / 1e6),
                f"{summary.median():.2f}",
                summary.spread(),
                number(size / 1e6 / summary.median()),
                f"{summary.median('cpu_seconds'):.2f}",
                f"{summary.median('peak_bytes') / 1e6:,.0f}",
                f"{written.median():.2f}",
            ]
        )
    same = len(set(map(tuple, counts.values()))) == 1
    section.notes.append(
        f"`neardup dedup FORM --detector '{MINHASH}' --quiet`. Pages, identity sets, pairs, clusters and clustered "
        f"pages are {'the same of every form' if same else 'NOT the same: ' + json.dumps(counts)}."
    )
    section.data = {"runs": {name: summary.record() for name, summary in summaries.items()}, "counts": counts}
    return [section]


def _and_written(name: str) -> str:
    return f"{name}, written"


def _answer(places: Places, name: str) -> Path:
    return places.answer(f"formats-{name.replace(', ', '-').replace(' ', '-')}")


def _command(places: Places, name: str, given: Path) -> list[str | Path]:
    return [
        places.neardup, "dedup", given, "--out", _answer(places, name), "--detector", MINHASH, "--quiet", "--overwrite",
    ]  # fmt: skip


def _written(file: Path) -> dict[str, Path]:
    """The forms, written beside the file unless they are there."""
    folder = file.with_name(f"{file.stem}-forms")
    forms: dict[str, tuple[str, Callable[[Path, Path], None]]] = {
        "gzip": ("pages.jsonl.gz", _gzip),
        "zstd": ("pages.jsonl.zst", _zstd),
        "Parquet": ("pages.parquet", _parquet),
        "CSV": ("pages.csv", _csv),
        "small files of lines": ("lines", _small_files),
        "page files": ("pages", _page_files),
    }
    done = folder / "done"
    if not done.exists() or done.stat().st_mtime < file.stat().st_mtime:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, write in forms.values():
            write(file, folder / name)
        done.touch()
    return {form: folder / name for form, (name, _) in forms.items()}


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with open(file, "rb") as lines:
        yield from map(json.loads, lines)


def _gzip(file: Path, target: Path) -> None:
    with open(file, "rb") as source, gzip.open(target, "wb", compresslevel=6) as packed:
        shutil.copyfileobj(source, packed, 1 << 20)


def _zstd(file: Path, target: Path) -> None:
    with open(file, "rb") as source, open(target, "wb") as packed:
        zstandard.ZstdCompressor().copy_stream(source, packed)


def _parquet(file: Path, target: Path) -> None:
    pq.write_table(pa.Table.from_pylist(list(_rows(file))), target, compression="zstd")


def _csv(file: Path, target: Path) -> None:
    with open(target, "w", encoding="utf-8", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(["id", "text"])
        rows.writerows([row["id"], row["text"]] for row in _rows(file))


def _small_files(file: Path, target: Path) -> None:
    target.mkdir()
    with open(file, "rb") as lines:
        for at, some in enumerate(iter(lambda: b"".join(islice(lines, _LINES_A_FILE)), b"")):
            (target / f"{at:06}.jsonl").write_bytes(some)


def _page_files(file: Path, target: Path) -> None:
    for at, row in enumerate(_rows(file)):
        folder = target / str(at % _FILES_A_FOLDER)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{at}.txt").write_text(row["text"], encoding="utf-8")
