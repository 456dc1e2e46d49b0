"""JSON arrays: read as the lines of their elements would be, however they are written, packed or cut."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import zstandard
from reading import read_all

from neardup import dedup
from neardup.sources import Fields, jsonl
from neardup.sources.files import Place
from neardup.sources.unpack import Unpacked

PAGES = [{"id": f"p{at}", "url": f"http://a/{at}", "text": f'say "{at}" \\ [{{,é\n'} for at in range(500)]
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, ".gz": gzip.compress, ".zst": zstandard.compress, ".xz": lzma.compress, ".bz2": bz2.compress,
}  # fmt: skip
WRITTEN: dict[str, Callable[[Any], str]] = {
    "on one line": json.dumps,
    "over many lines": lambda value: json.dumps(value, indent=2),
    "an element a line": lambda value: "[" + ",\n".join(json.dumps(one) for one in value) + "]\n",
    "with a mark before it": lambda value: "\ufeff\n " + json.dumps(value, ensure_ascii=False, indent="\t"),
}


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("written", WRITTEN)
def test_an_array_is_read_as_its_elements(
    written: str, packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "BATCH_BYTES", 5000)
    monkeypatch.setattr(jsonl, "Unpacked", partial(Unpacked, read_bytes=1000))
    path = tmp_path / f"in.json{packing}"
    path.write_bytes(PACK[packing](WRITTEN[written](PAGES).encode()))
    lines = tmp_path / "in.jsonl"
    lines.write_text("".join(json.dumps(page) + "\n" for page in PAGES))
    read, expected = read_all(path), read_all(lines)
    dropped = {"source", "offset", "length"}
    assert [{k: v for k, v in page.items() if k not in dropped} for page in read.pages] == [
        {k: v for k, v in page.items() if k not in dropped} for page in expected.pages
    ]
    assert (list(read.skipped), read.nbytes) == ([], path.stat().st_size)
    blocks = [block.first_line for block in jsonl.JsonLines(Place.at(str(path)), Fields()).blocks()]
    assert len(blocks) > 2 or packing


def test_wrong_elements_are_named_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text('[{"text": "one"}, 7, {"body": "x"}, {"text": }, {"text": "%s"}, {"text": "last"}] x' % ("y" * 99))
    read = read_all(path, max_page=60)
    assert read.contents() == [b"one", b"last"]
    assert [page["record"] for page in read.pages] == [0, 5]
    told = {entry.position: entry.reason for entry in read.skipped}
    assert told["element 2"] == "not a JSON object"
    assert told["element 3"] == 'no field "html" or "text"; there are: body (see --text-field)'
    assert told["element 4"].startswith("invalid JSON")
    assert told["element 5"] == "an element of 111 bytes, more than --max-page (60)"
    assert told["element 7"] == "1 bytes behind the end of the array"
    path.write_text('[{"text": "one"}, {"text": "cut')
    assert [entry.reason for entry in read_all(path).skipped] == [
        "the file ends inside of an element, after 13 bytes of it"
    ]


def test_lines_that_are_arrays_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('[1, 2]\n{"text": "a page"}\n')
    read = read_all(path)
    assert (read.contents(), [entry.position for entry in read.skipped]) == ([b"a page"], ["line 1"])


@pytest.mark.parametrize("packing", PACK)
def test_an_array_is_written_as_one(packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"in.json{packing}"
    text = "a dozen words or so that are the same in both of these two pages"
    pages = [{"id": "a", "text": text}, {"id": "b", "text": text}, {"id": "c", "text": "something else"}]
    path.write_bytes(PACK[packing](json.dumps(pages, indent=1).encode()))
    unpack = {"": bytes, ".gz": gzip.decompress, ".xz": lzma.decompress, ".bz2": bz2.decompress}.get(packing)
    for write, expected in (("kept", [pages[0], pages[2]]), ("all", pages)):
        dedup(path, tmp_path / write, detector="minhash", write=write)  # type: ignore[arg-type]
        written = (tmp_path / write / "written" / path.name).read_bytes()
        plain = unpack(written) if unpack else zstandard.ZstdDecompressor().stream_reader(written).read()
        found = json.loads(plain)
        assert [{name: page[name] for name in ("id", "text")} for page in found] == expected
        assert ("neardup_kept" in found[0]) == (write == "all")
