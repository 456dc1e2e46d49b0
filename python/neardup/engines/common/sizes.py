"""Numbers of bytes as people write them, and which of them can be asked for: options and settings take the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import index
from typing import Final, SupportsIndex

from neardup.errors import UsageError

#: With less, the batches under way and a group of rows that is written would not fit.
_LEAST_MEMORY: Final = 128 << 20
_LONGEST_PAGE: Final = 1 << 30
_UNITS: Final = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}


def parse_bytes(text: str) -> int:
    """A number of bytes as people write it.

    >>> parse_bytes("2GiB"), parse_bytes("500 MB"), parse_bytes("1e9")
    (2147483648, 500000000, 1000000000)
    """
    parsed = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", text, re.IGNORECASE)
    try:
        if parsed is None:
            raise ValueError
        number, unit, binary = float(parsed[1]), parsed[2].lower(), bool(parsed[3])
    except ValueError:
        raise UsageError(f"{text!r} is no number of bytes", hint="write it as 2GiB or 500MB") from None
    return int(number * (1024 ** "_kmgt".index(unit) if binary and unit else _UNITS[unit]))


def memory_bytes(text: str) -> int:
    """The memory that a run may take.

    >>> memory_bytes("2GiB")
    2147483648
    """
    size = parse_bytes(text)
    if size < _LEAST_MEMORY:
        raise UsageError(f"{text} of memory is too little", hint="give at least 128MiB")
    return size


def page_bytes(text: str) -> int:
    """How long a page may be.

    >>> page_bytes("1MiB")
    1048576
    """
    size = parse_bytes(text)
    if not 1 <= size <= _LONGEST_PAGE:
        raise UsageError(f"a page of {text} is none that can be read", hint="give between 1 and 1GiB")
    return size


def number_of_bytes(name: str, value: object, parse: Callable[[str], int]) -> int:
    """A setting that is a number of bytes, or a text for ``parse``.

    >>> number_of_bytes("memory", "2GiB", memory_bytes), number_of_bytes("memory", 5, memory_bytes)
    (2147483648, 5)
    >>> number_of_bytes("memory", None, memory_bytes)
    Traceback (most recent call last):
    neardup.errors.UsageError: memory is None, not a number of bytes: give 268435456 or '256MiB'
    """
    if isinstance(value, str):
        return parse(value)
    if not isinstance(value, SupportsIndex):
        raise UsageError(f"{name} is {value!r}, not a number of bytes", hint="give 268435456 or '256MiB'")
    return index(value)
