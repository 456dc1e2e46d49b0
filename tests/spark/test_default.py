"""The default detector on Spark is that of the local engine: it goes by the kind of all pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from neardup import dedup, find_duplicates
from neardup.engines.common.earlier import STATISTICS
from neardup.engines.spark import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark")

TEXT = "these are some twenty words of a text that is long enough to be compared with what others have written about it"


def rows(kinds: str) -> list[dict[str, Any]]:
    """A page for each letter: ``h`` is markup, ``t`` plain text; every other one nearly repeats the one before it."""
    made = []
    for at, letter in enumerate(kinds):
        words = (TEXT + " " + TEXT[::-1]).split() + ["indeed"] * (at % 2)
        text = " ".join(f"{word}{at // 2}" for word in words)
        content = {"html": f"<p>{text}</p>", "text": None} if letter == "h" else {"html": None, "text": text}
        made.append({"id": f"p{at}", "url": f"http://s{at % 3}.example/{at}", **content})
    return made


@pytest.mark.parametrize(
    ("kinds", "expected"), [("tttt", "minhash"), ("hhhh", "template-aware"), ("hhhhht", "minhash")]
)
def test_a_frame_has_the_default_of_its_pages(kinds: str, expected: str, spark: SparkSession, tmp_path: Path) -> None:
    given = rows(kinds)
    used = [{name: value for name, value in row.items() if value is not None} for row in given]
    local = find_duplicates(used)
    frame = spark.createDataFrame(given, "id string, url string, html string, text string").repartitionByRange(2, "id")
    with run(frame, order="id", working=str(tmp_path)) as found:
        assert found.report["detector"] == local.report["detector"] == expected
        assert found.report["by_default"]
        assert found.report["kinds"] == local.report["kinds"]
        assert found.report["warnings"] == local.report["warnings"]
        assert found.to_arrow()["pages"].column("kept").to_pylist() == local.pages.column("kept").to_pylist()


@pytest.mark.parametrize(("kinds", "expected"), [("hhhh", "template-aware"), ("hhhhht", "minhash")])
def test_files_have_the_default_of_their_pages(kinds: str, expected: str, spark: SparkSession, tmp_path: Path) -> None:
    lines = [json.dumps({name: value for name, value in row.items() if value is not None}) for row in rows(kinds)]
    for at in range(0, len(lines), 2):
        (tmp_path / f"{at}.jsonl").write_text("\n".join(lines[at : at + 2]))
    local = dedup(str(tmp_path / "*.jsonl"), tmp_path / "local")
    found = dedup(str(tmp_path / "*.jsonl"), tmp_path / "spark", engine="spark", master="local[2]")
    assert found.report["detector"] == local.report["detector"] == expected
    assert found.pages.column("kept").to_pylist() == local.pages.column("kept").to_pylist()
    frozen = [tmp_path / name / STATISTICS for name in ("local", "spark")]
    assert [path.exists() for path in frozen] == [expected == "template-aware"] * 2
    if frozen[0].exists():
        assert frozen[0].read_bytes() == frozen[1].read_bytes()
