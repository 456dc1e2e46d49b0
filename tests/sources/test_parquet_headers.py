"""Headers of Parquet pages that no writer wrote."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from neardup.sources.parquet_pages import Page, pages_of

_HUGE = b"\xff" * 8 + b"\x7f"


def _pages(header: bytes) -> list[Page]:
    column = SimpleNamespace(data_page_offset=0, dictionary_page_offset=None, total_compressed_size=len(header))
    return list(pages_of(io.BytesIO(header), column))


def _header(nbytes: bytes = b"\x15\x14", about: bytes = b"\x2c\x15\x06\x15\x00\x00") -> bytes:
    """A page of data: its kind, its size, nothing stored behind it, and its values (3) and encoding."""
    return b"\x15\x00" + nbytes + b"\x15\x00" + about + b"\x00"


def test_a_header_is_read() -> None:
    assert _pages(_header()) == [Page(3, 10, False, 0)]


@pytest.mark.parametrize(
    "header",
    [
        _header(nbytes=b"\x15" + _HUGE),
        _header(nbytes=b"\x15\x01"),
        _header(nbytes=b"\x19\x15\x02"),
        _header(about=b"\x2c\x15" + _HUGE + b"\x15\x00\x00"),
        _header(about=b"\x2c\x15\x01\x15\x00\x00"),
        _header(about=b"\x2c\x19\x15\x02\x15\x00\x00"),
        _header(about=b"\x25\x06"),
        _header()[:5],
    ],
    ids=[
        "bytes-huge",
        "bytes-negative",
        "bytes-list",
        "values-huge",
        "values-negative",
        "values-list",
        "flat",
        "short",
    ],
)
def test_a_header_that_cannot_be_is_refused(header: bytes) -> None:
    with pytest.raises(ValueError, match="page"):
        _pages(header)
