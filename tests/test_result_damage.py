"""Damage of a result: a flipped bit in any of its files changes no answer unless it is reported; what is missing, or of
an older format, is one error each, with what to do.

What verbs read goes through the same few functions, so these are called, in this process, over copies of a result.
Files cut off or deleted while the program is run as such are in ``test_run_faults.py``.
"""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup import Result, _native, dedup, open_result
from neardup.engines import Settings
from neardup.engines.common.earlier import FILE as FINGERPRINTS
from neardup.engines.common.layout import Layout
from neardup.engines.local.earlier import Earlier
from neardup.errors import FormatError, InputError
from neardup.methods import parse
from neardup.report.findings import Findings
from neardup.results.pages import RunPages
from neardup.results.revision import shape_of
from neardup.results.texts import page_source
from neardup.sinks import sealed, write_table
from neardup.sinks.sealed import BLOCK, CheckedFile, read_run, seal, write_run
from neardup.testing import web
from spark_folders import as_spark_leaves_it

#: With statistics, with sets.
DETECTOR = "rare-chunks"
FLIPS = 500


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with every file that one can have: against an earlier run, texts stored, fingerprints kept."""
    place = tmp_path_factory.mktemp("damage")
    pages = [{"id": page.id, "url": page.url, "html": page.html} for page in web(seed=3, pages=120).pages]
    for name, some in (("april", pages[:50]), ("may", pages[30:])):
        lines = "".join(json.dumps(page) + "\n" for page in some)
        (place / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    dedup(place / "april.jsonl", place / "april", detector=DETECTOR, keep_fingerprints=True)
    dedup(
        place / "may.jsonl", place / "may", detector=DETECTOR, against=[place / "april"], store=True,
        keep_fingerprints=True,
    )  # fmt: skip
    return place / "may"


#: What verbs read of a result, by the file it stands in.
def rows(result: Result) -> list[Any]:
    """All rows one by one, as ``ui``, ``explain`` and the report read them."""
    pages = result.page_rows()
    numbers, names = pages.codes("site")
    every = [pages.take(np.arange(len(pages))[::-1], pages.take([], ["id", "url", "title", "source"]).schema.names)]
    every += [group for _, group in result.pair_rows().groups(["a", "b", "score", "rule"])]
    return [*(table.to_pylist() for table in every), numbers.tolist(), names]


def texts(result: Result) -> list[Any]:
    """All texts, as ``certify`` and ``index build`` read them, and some by row, as ``explain`` does."""
    with page_source(result) as source:
        every = [chunk.load().pages.to_pylist() for chunk in source.chunks()]
    pages = RunPages(result)
    some = pages.texts(pages.at(range(0, len(pages), 7)))
    return [every, [page.to_pylist() for page in some if page is not None]]


def saved(result: Result) -> list[Any]:
    """Fingerprints, as a later run reads them."""
    assert result.folder is not None
    layout = Layout(parse(DETECTOR), Settings())
    return Earlier.load([("may", result.folder / FINGERPRINTS)], layout).table.to_pylist()


def findings(result: Result) -> Any:
    """What the report tells."""
    told = Findings(result.clusters, len(result.pages))
    told.add_pages(result.pages)
    told.add_pairs(result.pairs)
    return told.top_sites(), told.largest, dict(told.rules), told.sample


def numbers(result: Result) -> Any:
    """The run as ``revise`` and ``ui`` have it."""
    return {name: np.asarray(value).tolist() for name, value in vars_of(shape_of(result)).items()}


def vars_of(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


READERS: dict[str, Callable[[Result], Any]] = {
    "run.json": lambda result: result.report,
    "tables": lambda result: [
        getattr(result, name).to_pylist() for name in ("pages", "pairs", "clusters", "against")
    ] + [result.earlier.pages.to_pylist(), result.earlier.pairs.to_pylist()],
    "rows": rows,
    "numbers": numbers,
    "findings": findings,
    "texts": texts,
    "fingerprints": saved,
    "statistics": lambda result: None if result.statistics is None else result.statistics.digest,
}  # fmt: skip
#: The readers that touch a file.
TOUCH = {
    "pages.parquet": ("tables", "rows", "numbers", "findings"),
    "pairs.parquet": ("tables", "rows", "numbers", "findings"),
    "clusters.parquet": ("tables", "findings"), "against.parquet": ("tables", "rows", "numbers"),
    "earlier.parquet": ("tables", "rows", "numbers"), "texts.parquet": ("texts",),
    "fingerprints.parquet": ("fingerprints",), "collection.statistics": ("statistics",), "run.json": tuple(READERS),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_no_flipped_bit_changes_an_answer_unreported(folder: Path, tmp_path: Path, engine: str) -> None:
    copy = tmp_path / "may"
    if engine == "spark":
        # Spark stores no texts.
        as_spark_leaves_it(folder, copy)
    else:
        shutil.copytree(folder, copy)
    shutil.copytree(folder.parent / "april", tmp_path / "april")
    kept = {"report.html", "texts.parquet"} if engine == "spark" else {"report.html"}
    files = [path for path in sorted(copy.rglob("*")) if path.is_file() and path.name not in kept]
    assert {path.relative_to(copy).parts[0] for path in files} == TOUCH.keys() - kept
    readers = {name: read for name, read in READERS.items() if name != "texts" or engine == "local"}
    expected = {name: read(open_result(copy)) for name, read in readers.items()}
    dice = random.Random(engine)
    outcomes: Counter[str] = Counter()
    for at in range(FLIPS if engine == "local" else FLIPS // 5):
        file = files[at % len(files)]
        before = file.read_bytes()
        data = bytearray(before)
        if data:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        file.write_bytes(data)
        reported = False
        for name in TOUCH[file.relative_to(copy).parts[0]]:
            if name not in readers:
                continue
            try:
                answer = readers[name](open_result(copy))
            except (FormatError, InputError):
                reported = True
            else:
                assert answer == expected[name], (file, at, name)
        outcomes["reported" if reported else "without effect"] += 1
        file.write_bytes(before)
    # Of the tables and run.json none is without effect: every byte has its checksum.
    assert outcomes["reported"] >= 0.95 * outcomes.total(), outcomes


def test_damage_is_one_error_that_says_what_to_do(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "may"
    shutil.copytree(folder, copy)
    for name in ("pages.parquet", "texts.parquet"):
        data = (copy / name).read_bytes()
        (copy / name).write_bytes(data[:-1])
        with pytest.raises(FormatError, match=rf"the result is damaged: it has another length \(.*{name}\): run dedup"):
            open_result(copy)
        (copy / name).unlink()
        with pytest.raises(FormatError, match=rf"a file of the result is missing \(.*{name}\): copy the whole folder"):
            open_result(copy)
        (copy / name).write_bytes(data)
    (copy / FINGERPRINTS).unlink()
    with pytest.raises(FormatError, match=r"a file of the result is missing \(.*fingerprints.parquet\)"):
        dedup(folder.parent / "may.jsonl", detector=DETECTOR, against=[copy])
    (copy / "collection.statistics").unlink()
    with pytest.raises(FormatError, match=r"a file of the result is missing \(.*collection.statistics\)"):
        _ = open_result(copy).statistics


def test_a_table_of_another_run_is_not_taken_for_this_one(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "may"
    shutil.copytree(folder, copy)
    shutil.copyfile(folder.parent / "april" / "clusters.parquet", copy / "clusters.parquet")
    with pytest.raises(FormatError, match="the result is damaged"):
        _ = open_result(copy).clusters


def test_an_older_format_says_so(folder: Path, tmp_path: Path) -> None:
    report = read_run(folder)
    older = report | {"format": _native.FORMAT_VERSION - 1}
    write_run(tmp_path, older)
    expected = f"written in fingerprint format {older['format']}, this is format .*: run neardup dedup again with this"
    with pytest.raises(FormatError, match=expected):
        open_result(tmp_path)
    # As it was written before there were checksums.
    without = {name: value for name, value in older.items() if name != "files"}
    (tmp_path / "run.json").write_text(json.dumps(without))
    with pytest.raises(FormatError, match=expected):
        open_result(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps(without | {"format": _native.FORMAT_VERSION}))
    with pytest.raises(FormatError, match="the result is damaged: it does not have its checksum"):
        open_result(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(FormatError, match=r"not the run.json of a dedup run"):
        open_result(tmp_path)


def test_blocks_are_compared_when_they_are_read_and_not_before(tmp_path: Path) -> None:
    data = random.Random(1).randbytes(3 * BLOCK + 17)
    path = tmp_path / "table.parquet"
    path.write_bytes(data)
    sums = sealed._summed(path)
    assert sums["bytes"] == len(data)
    path.write_bytes(data[: 2 * BLOCK] + bytes([data[2 * BLOCK] ^ 1]) + data[2 * BLOCK + 1 :])
    with CheckedFile(path, sums) as file:
        file.seek(100)
        assert file.read(BLOCK) == data[100 : BLOCK + 100]
        assert file.read(BLOCK - 100) == data[BLOCK + 100 : 2 * BLOCK]
        file.seek(3 * BLOCK)
        assert file.read() == data[3 * BLOCK :]
        for start, length in ((2 * BLOCK, 1), (2 * BLOCK - 1, 2), (0, -1), (3 * BLOCK - 1, 1)):
            file.seek(start)
            with pytest.raises(OSError, match="not those that were written"):
                file.read(length)


def test_what_stands_in_the_folder_beside_is_no_part_of_a_table(folder: Path, tmp_path: Path) -> None:
    """Spark may run a task twice; what the losing one left is none of the table."""
    as_spark_leaves_it(folder, tmp_path / "may")
    shutil.copytree(folder.parent / "april", tmp_path / "april")
    table = tmp_path / "may" / "pages.parquet"
    shutil.copyfile(next(table.glob("part-*")), table / "part-00099-left-behind.parquet")
    assert open_result(tmp_path / "may").pages.equals(open_result(folder).pages)


def test_a_sealed_folder_has_the_sums_of_all_its_tables(tmp_path: Path) -> None:
    write_table(pa.table({"row": [1]}), tmp_path / "pages.parquet")
    (tmp_path / "written").mkdir()
    write_table(pa.table({"row": [1]}), tmp_path / "written" / "kept.parquet")
    report = {"format": _native.FORMAT_VERSION, "counts": {}, "input": {}, "settings": {}, "texts": "é\ud800"}
    seal(tmp_path, report)
    assert json.loads((tmp_path / "run.json").read_bytes())["files"].keys() == {"pages.parquet"}
    assert list(json.loads((tmp_path / "run.json").read_bytes()))[-1] == "checksum"
    assert sealed.read_table(tmp_path, "pages.parquet").equals(pq.read_table(tmp_path / "pages.parquet"))
