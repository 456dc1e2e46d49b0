"""The JSONL kernel against its naive twin, Python's own parser, on lines of every kind."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import naive_jsonl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import _native

NAMES = ("id", "url", "html", "text", "date")
LONGEST = 1 << 20
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
objects = st.dictionaries(st.sampled_from([*NAMES, "other"]), st.none() | texts, max_size=6)
written = st.builds(lambda value, ascii_only: json.dumps(value, ensure_ascii=ascii_only), objects, st.booleans())
broken = st.sampled_from(["", " ", "\r", "{", "[1]", '"x"', '{"text": "open', '{"text": "x"} {', "\0", "nul"])


@given(st.lists(written | broken, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_kernel_agrees_with_its_twin(lines: list[str], end: str, ended: bool) -> None:
    block = (end.join(lines) + (end if ended else "")).encode()
    expected, expected_bad = naive_jsonl.parse_jsonl(block, *NAMES)
    parsed = _native.LineBlock(block).parse(NAMES, LONGEST)
    rows, (bad, _, _) = pa.record_batch(parsed.pages), parsed.bad
    assert rows.select(["id", "url", "content", "html", "date", "line", "start"]).to_pylist() == (
        expected.select(["id", "url", "content", "html", "date", "line", "start"]).to_pylist()
    )
    assert bad.to_pylist() == [line for line, _ in expected_bad]


@given(
    st.lists(st.sampled_from([0, 1, 60, 5_000, 131_071, 131_072, 300_000, 700_000]), max_size=6),
    st.booleans(),
    st.integers(0, 40),
)
@settings(max_examples=40)
def test_a_stretch_of_a_file_is_as_a_block(lengths: list[int], ended: bool, before: int) -> None:
    # Lines around the length that is read at a time, and far longer ones.
    block = b"\n".join(json.dumps({"text": "x" * length}).encode() for length in lengths) + b"\n" * ended
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"?" * before + block + b'{"text": "not of it"}\n')
        file.flush()
        parsed = _native.LineStretch(file.name, before, len(block)).parse(NAMES, LONGEST)
    whole = _native.LineBlock(block).parse(NAMES, LONGEST)
    assert parsed.pages.equals(whole.pages)
    assert (parsed.bad, parsed.count, whole.count) == (whole.bad, block.count(b"\n"), block.count(b"\n"))


def test_a_file_that_became_shorter(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "x"}\n')
    with pytest.raises(OSError, match="became shorter"):
        _native.LineStretch(str(path), 0, 1000).parse(NAMES, LONGEST)
