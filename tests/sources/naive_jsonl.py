"""The naive twin of the JSONL kernel: Python's own JSON parser, a line at a time."""

from __future__ import annotations

import json

import pyarrow as pa

SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "url": pa.string(),
        "content": pa.large_binary(),
        "html": pa.bool_(),
        "date": pa.string(),
        "line": pa.int64(),
        "start": pa.int64(),
        "length": pa.int64(),
    }
)


def parse_jsonl(
    block: bytes, id_field: str, url_field: str, html_field: str, text_field: str, date_field: str
) -> tuple[pa.RecordBatch, list[tuple[int, str]]]:
    rows, bad, start = [], [], 0
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines):
        begin, start = start, start + len(line) + 1
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            bad.append((number, f"invalid JSON: {error}"))
            continue
        if not isinstance(value, dict):
            bad.append((number, "not a JSON object"))
            continue
        html = value.get(html_field)
        content = html if html is not None else value.get(text_field)
        if content is None:
            bad.append((number, "no html or text"))
            continue
        identifier = value.get(id_field)
        rows.append(
            {
                "id": None if identifier is None else str(identifier),
                "url": value.get(url_field),
                "content": content.encode(),
                "html": html is not None,
                "date": value.get(date_field),
                "line": number,
                "start": begin,
                "length": len(line),
            }
        )
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA), bad
