"""What the Spark engine reads and writes: files by their list, frames of any source, result folders of parts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from collections_of_pages import chain, everything

from neardup import Settings, open_result
from neardup.engines.common.earlier import STATISTICS
from neardup.engines.spark import reading, run
from neardup.engines.spark.session import need_java, start
from neardup.errors import InputError, MissingExtra, UsageError
from neardup.job import dedup
from neardup.sources import Fields, open_inputs
from neardup.testing import web
from result_folders import DETECTOR, VERBS, Kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def assert_equal(found: Path, expected: Path) -> None:
    mine, theirs = open_result(found), open_result(expected)
    assert mine.pages.equals(theirs.pages)
    assert mine.pairs.equals(theirs.pairs)
    assert mine.clusters.equals(theirs.clusters)
    for name in ("counts", "warnings", "skipped", "ignored", "bytes", "detector"):
        assert mine.report[name] == theirs.report[name], name


def findings(folder: Path) -> str:
    """``report.html`` but for what is told of the program, its input, settings, time and memory."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    sections = re.findall(
        r'<section id="(?:found|largest|doubtful|similarity|graph|sites)".*?</section>', page, re.DOTALL
    )
    assert len(sections) == 6
    return "".join(sections)


def test_small_files_share_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BYTES_A_TASK", 1000)
    sizes = [100] * 23 + [5000, 300, 800, 200]
    for n, size in enumerate(sizes):
        (tmp_path / f"{n:02}.jsonl").write_bytes(b" " * (size - 1) + b"\n")
    (tmp_path / "page.html").write_bytes(b"<p>x")
    with open_inputs([tmp_path]) as source:
        parts = reading.parts_of(source)
        assert [name for part in parts for name in part.names()] == source.names()
    assert [len(part.files) for part in parts] == [10, 10, 3, 1, 1, 2, 1]


@pytest.mark.parametrize("bytes_a_task", [1, reading.BYTES_A_TASK])
def test_archives_by_their_list_with_bad_records(
    spark: SparkSession, tmp_path: Path, bytes_a_task: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BYTES_A_TASK", bytes_a_task)
    made = web(seed=9, sites=3, pages=40, words=50)
    made.write_warc(tmp_path / "a.warc.gz")
    made.write_jsonl(tmp_path / "b.jsonl")
    with open(tmp_path / "b.jsonl", "a", encoding="utf-8") as file:
        file.write("this is no JSON\n")
    given = [tmp_path / "a.warc.gz", tmp_path / "b.jsonl"]
    dedup(given, tmp_path / "local", detector="combined")
    result = dedup(given, tmp_path / "spark", detector="combined", engine="spark", master="local[2]")
    assert (tmp_path / "spark" / "pages.parquet").is_dir()
    assert_equal(tmp_path / "spark", tmp_path / "local")
    # The same files, and in the report the same findings.
    files = [{path.name for path in (tmp_path / name).iterdir()} for name in ("spark", "local")]
    assert files[0] == files[1]
    assert findings(tmp_path / "spark") == findings(tmp_path / "local")
    clusters = [pq.read_table(tmp_path / name / "clusters.parquet").schema for name in ("spark", "local")]
    assert [(one.name, one.type) for one in clusters[0]] == [(one.name, one.type) for one in clusters[1]]
    # Parts in order: what reads them one after another reads pages in input order.
    parts = sorted((tmp_path / "spark" / "pages.parquet").glob("*.parquet"))
    rows = pa.concat_tables([pq.read_table(part) for part in parts])["row"].to_pylist()
    assert rows == list(range(len(result.pages)))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(("neardup-", "."))]
    with pytest.raises(InputError, match="a record cannot be read"):
        dedup(given, detector="exact", engine="spark", master="local[2]", settings=Settings(strict=True))


@pytest.mark.parametrize("detector", ["minhash(threshold=0.6)", "rare-chunks"])
def test_against_an_earlier_run_of_either_engine(spark: SparkSession, tmp_path: Path, detector: str) -> None:
    pages = everything()
    # In June some pages are there again, and some ids are those of other pages.
    ids = [page["id"] for page in pages[:60] if "id" in page]
    others = [page | {"id": name} for page, name in zip(pages[60:], ids[::2], strict=False)]
    for name, part in (("may", pages[:60]), ("june", others + pages[60 + len(others) :] + pages[:8])):
        lines = "".join(json.dumps(page) + "\n" for page in part)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    on_spark = {"engine": "spark", "master": "local[2]"}
    may, june = tmp_path / "may.jsonl", tmp_path / "june.jsonl"
    dedup(may, tmp_path / "may", detector=detector, keep_fingerprints=True)
    dedup(may, tmp_path / "may-spark", detector=detector, keep_fingerprints=True, **on_spark)
    # What either engine keeps is the same, so that each serves the other.
    kept = [pq.read_table(tmp_path / name / "fingerprints.parquet") for name in ("may", "may-spark")]
    assert kept[1].select(kept[0].column_names).to_pylist() == kept[0].to_pylist()
    assert kept[0].num_rows > 10
    frozen = [tmp_path / name / STATISTICS for name in ("may", "may-spark")]
    assert {file.exists() for file in frozen} == {detector == "rare-chunks"}
    if frozen[0].exists():
        assert frozen[0].read_bytes() == frozen[1].read_bytes()
    local, cluster, earlier = tmp_path / "local", tmp_path / "cluster", tmp_path / "may-spark"
    dedup(june, local, detector=detector, against=[earlier])
    dedup(june, cluster, detector=detector, against=[earlier], keep_fingerprints=True, **on_spark)
    assert_equal(cluster, local)
    for name in ("against", "earlier"):
        tables = [pq.read_table(folder / f"{name}.parquet") for folder in (cluster, local)]
        rows = [sorted(map(str, table.select(tables[1].column_names).to_pylist())) for table in tables]
        assert rows[0] == rows[1]
        assert rows[0]
    assert any(row["id"] != row["page"] for row in pq.read_table(local / "earlier.parquet").to_pylist())
    if detector == DETECTOR:
        for name in ("may-spark", "cluster"):
            for verb, look in VERBS.items():
                place = tmp_path / f"{name} {verb}"
                place.mkdir()
                look(Kind(tmp_path / name), place)


def test_frames_of_every_source(spark: SparkSession, tmp_path: Path) -> None:
    pages = chain(6) * 2
    texts = [page["text"] for page in pages]
    (tmp_path / "pages.txt").write_text("\n".join(texts), encoding="utf-8")
    lines = [json.dumps({"n": at, "body": text}) for at, text in enumerate(texts)]
    (tmp_path / "pages.json").write_text("\n".join(lines), encoding="utf-8")
    inside = [json.dumps({"n": at, "page": {"body": text}}) for at, text in enumerate(texts)]
    (tmp_path / "inside.json").write_text("\n".join(inside), encoding="utf-8")
    pq.write_table(pa.table({"n": range(len(texts)), "body": texts}), tmp_path / "pages.parquet")
    folder = tmp_path / "files"
    folder.mkdir()
    for at, text in enumerate(texts):
        (folder / f"{at:02}.html").write_text(f"<p>{text}", encoding="utf-8")
    body = Fields(text="body")
    frames = [
        (spark.read.text(str(tmp_path / "pages.txt")), Fields(), None),
        (spark.read.json(str(tmp_path / "pages.json")), body, "n"),
        (spark.read.parquet(str(tmp_path / "pages.parquet")), body, "n"),
        (spark.read.json(str(tmp_path / "inside.json")), Fields(text="page.body"), "n"),
        (spark.read.format("binaryFile").load(str(folder)), Fields(), "path"),
    ]
    answers = []
    for frame, fields, order in frames:
        with run(frame, "minhash", fields=fields, order=order) as outcome:
            assert outcome.report["counts"]["pages"] == len(texts)
            answers.append([row["kept"] for row in outcome.pages.orderBy("row").collect()])
    assert answers[1:] == answers[:-1]
    assert answers[0].count(True) < len(texts) // 2 + 1
    with pytest.raises(InputError, match="neither 'html' nor 'text'"):
        run(spark.range(3), "exact")


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(MissingExtra, match="apt-get install openjdk-17"):
        need_java({"PATH": str(tmp_path)})
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019' >&2\n")
    old.chmod(0o755)
    shell = shutil.which("sh")
    assert shell is not None
    with pytest.raises(MissingExtra, match="and this is 11"):
        need_java({"PATH": str(tmp_path)})
    # As a user meets it: one line that says what to do, and no folder left behind.
    (tmp_path / "pages.jsonl").write_text('{"text": "a few words"}\n', encoding="utf-8")
    bare = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | {"PATH": str(tmp_path / "none")}
    done = subprocess.run(
        [sys.executable, "-m", "neardup", "dedup", "pages.jsonl", "--out", "out", "--engine", "spark"],
        cwd=tmp_path, env=bare, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "no java was found try: apt-get install openjdk-17-jre-headless" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
    for remote in ("sc://127.0.0.1:1", "sc://127.0.0.1:99999", "127.0.0.1:15002"):
        with pytest.raises(UsageError, match="no Spark Connect server answers"):
            start(remote=remote)
    monkeypatch.setitem(__import__("sys").modules, "pyspark", None)
    with pytest.raises(MissingExtra, match=r"pip install 'neardup\[spark\]'"):
        start("local[1]")


def test_what_spark_does_not_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither writes nor stores pages"):
        dedup("pages.jsonl", tmp_path / "out", engine="spark", write="kept")
    with pytest.raises(UsageError, match="neither writes nor stores pages"):
        dedup("pages.jsonl", tmp_path / "out", engine="spark", store=True)
    with pytest.raises(UsageError, match="standard input cannot be distributed"):
        dedup("-", tmp_path / "out", engine="spark")
    with pytest.raises(UsageError, match="for the Spark engine"):
        dedup("pages.jsonl", tmp_path / "out", master="local[2]")
