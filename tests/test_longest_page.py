"""One limit of a page's length, ``--max-page``, for every verb that reads pages from files.

Each verb reads the same four pages, one of which is longer than 1 KiB. It says how many it read: four, and with the
limit three.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_lines import COMMANDS
from neardup.errors import InputError
from neardup.signals import Idf
from result_folders import run

Count = Callable[[str, Path], int]
PAIRS = [{"a": "p0", "b": name, "label": "correct"} for name in ("p1", "p2", "long")]


def first_number(output: str, _: Path) -> int:
    return int(output.split()[0])


def in_idf(_: str, folder: Path) -> int:
    return Idf.load(folder / "idf").pages


def in_json(key: str) -> Count:
    return lambda output, _: int(json.loads(output)[key])


def counted(output: str, _: Path) -> int:
    return int(json.loads(output)["counts"]["pages"])


def rows(name: str) -> Count:
    return lambda _, folder: int(pq.read_metadata(folder / name).num_rows)


def known(output: str, _: Path) -> int:
    """For verbs that take names of pages and say which one is no page's."""
    return 3 if re.search(r"no page has the id or URL 'long'|\"missing\": \[ \"long\" \]", output) else 4


def answers(output: str, _: Path) -> int:
    return output.count('"id"')


def added(output: str, _: Path) -> int:
    return int(re.findall(r"pages added: (\d+)", output)[0])


READERS: dict[str, tuple[str, Count]] = {
    "dedup": ("IN/p.jsonl --out IN/out --json", counted),
    "statistics": ("IN/p.jsonl --out IN/s", first_number),
    "study": ("IN/p.jsonl --out IN/out --quiet", rows("out/pages.parquet")),
    "idf build": ("IN/p.jsonl --out IN/idf", in_idf),
    "signals": ("--pages IN/p.jsonl --pairs IN/pairs.jsonl --out IN/signals.parquet", known),
    "evaluate pairs": ("--pages IN/p.jsonl --pairs IN/pairs.jsonl --out IN/out --json", known),
    "evaluate oracle": ("IN/p.jsonl --out IN/out --json", in_json("pages")),
    "searcheval": ("--run IN/run --qrels IN/qrels --pages IN/p.jsonl --json", known),
    "index query": ("IN/index IN/p.jsonl --json", answers),
    "index add": ("IN/index IN/p.jsonl --quiet", added),
    "render": ("IN/p.jsonl --out IN/rendered.jsonl --json --no-sandbox", in_json("pages")),
}


def test_every_verb_that_reads_pages_takes_the_limit() -> None:
    def verbs_with(option: str) -> set[str]:
        return {name for name, verb in COMMANDS.items() if any(option in one.opts for one in verb.params)}

    assert verbs_with("--html-field") == verbs_with("--max-page") == READERS.keys()


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    texts = {f"p{at}": [f"word{at}{word}" for word in range(40)] for at in range(3)}
    texts["long"] = [f"word{word}" for word in range(300)]
    pages = [{"id": name, "url": f"http://a.example/{name}", "text": " ".join(text)} for name, text in texts.items()]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS))
    (tmp_path / "run").write_text("".join(f"1 Q0 {name} {at} {9 - at} r\n" for at, name in enumerate(texts)))
    (tmp_path / "qrels").write_text("".join(f"1 0 {name} 1\n" for name in texts))
    run("index", "create", tmp_path / "index")
    return tmp_path


@pytest.mark.parametrize(("limit", "pages"), [([], 4), (["--max-page", "1KiB"], 3)], ids=["by default", "1 KiB"])
@pytest.mark.parametrize("verb", [verb for verb in READERS if verb != "render"])
def test_a_longer_page_is_skipped(inputs: Path, verb: str, limit: list[str], pages: int) -> None:
    words, count = READERS[verb]
    try:
        output = run(*verb.split(), *words.replace("IN", str(inputs)).split(), *limit)
    except InputError as error:
        output = str(error)
    assert count(output, inputs) == pages
