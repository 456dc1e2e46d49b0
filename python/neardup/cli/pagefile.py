"""One page from a file that is named on the command line."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from neardup.errors import InputError


def read_page_file(name: str) -> tuple[bytes, bool]:
    """The bytes of a page, unpacked if they were gzipped, and whether its name says plain text."""
    if name == "-":
        return sys.stdin.buffer.read(), False
    path = Path(name)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the page: {error.strerror}", where=name) from None
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError) as error:
            raise InputError(f"cannot unpack the page: {error}", where=name) from None
    suffixes = path.name.removesuffix(".gz").lower()
    return content, suffixes.endswith((".txt", ".text"))
