"""Real texts in six languages: the naive rules agree, and no address swallows what follows it."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from naive_terms import text_terms
from neardup import terms

FOLDERS = ("rev_k8s_ja_ko", "rev_mdn_zh_ja_ko_ru", "rev_react_ar_hi")
#: What stands in an address of ASCII, then a letter, or punctuation, of a script that does not stand in one.
SWALLOWED = re.compile(
    r"[!-/:-@\[-`{-~].*[\u0e00-\u0eff\u1000-\u11ff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]"
)
#: Every so many versions are read the naive way, which is slow.
STEP = 211


def versions(folder: str) -> Iterator[dict[str, str]]:
    with Path(os.environ["NEARDUP_DATA"], folder, "versions.jsonl.zst").open("rb") as file:
        stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file)
        yield from map(json.loads, io.TextIOWrapper(stream, encoding="utf-8"))


real = pytest.mark.skipif("NEARDUP_DATA" not in os.environ, reason="NEARDUP_DATA does not name a folder with revisions")


@real
@pytest.mark.parametrize("folder", FOLDERS)
def test_no_term_holds_what_follows_an_address(folder: str) -> None:
    last = {version["doc"]: version["text"] for version in versions(folder)}
    with_addresses = 0
    for doc, text in last.items():
        with_addresses += "://" in text
        found = [term for term in terms(text, html=False).terms if SWALLOWED.search(term)]
        assert not found, (doc, found)
    assert with_addresses > 50


@real
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_naive_rules_agree_on_real_texts(folder: str) -> None:
    for number, version in enumerate(versions(folder)):
        if number % STEP == 0:
            found = terms(version["text"], html=False).terms
            assert found == list(text_terms(version["text"])), version["id"]
