"""The JSONL kernel against its naive twin, Python's own parser, on lines of every kind."""

from __future__ import annotations

import json

import naive_jsonl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native

NAMES = ("id", "url", "html", "text", "date")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
objects = st.dictionaries(st.sampled_from([*NAMES, "other"]), st.none() | texts, max_size=6)
written = st.builds(lambda value, ascii_only: json.dumps(value, ensure_ascii=ascii_only), objects, st.booleans())
broken = st.sampled_from(["", " ", "\r", "{", "[1]", '"x"', '{"text": "open', '{"text": "x"} {', "\0", "nul"])


@given(st.lists(written | broken, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_kernel_agrees_with_its_twin(lines: list[str], end: str, ended: bool) -> None:
    block = (end.join(lines) + (end if ended else "")).encode()
    expected, expected_bad = naive_jsonl.parse_jsonl(block, *NAMES)
    parsed, bad = _native.parse_jsonl(block, NAMES)
    rows = pa.record_batch(parsed)
    assert rows.select(["id", "url", "content", "html", "date", "line", "start"]).to_pylist() == (
        expected.select(["id", "url", "content", "html", "date", "line", "start"]).to_pylist()
    )
    assert sorted(line for line, _ in bad) == sorted(line for line, _ in expected_bad)
