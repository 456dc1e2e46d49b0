"""What this machine has: memory, by the machine itself or by the group (container) the process is in."""

from __future__ import annotations

import os
import re
from pathlib import Path

from neardup.errors import UsageError

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}


def available_memory() -> int:
    """Bytes of memory the process may count on: the machine's, or its group's limit if that is less.

    >>> available_memory() > 0
    True
    """
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdecimal():
            limits.append(int(text))
    return min(limits)


def parse_bytes(text: str) -> int:
    """A number of bytes as people write it.

    >>> parse_bytes("2GiB"), parse_bytes("500 MB"), parse_bytes("1e9")
    (2147483648, 500000000, 1000000000)
    """
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", text, re.IGNORECASE)
    try:
        if found is None:
            raise ValueError
        number, unit, binary = float(found[1]), found[2].lower(), bool(found[3])
    except ValueError:
        raise UsageError(f"{text!r} is no number of bytes", hint="write it as 2GiB or 500MB") from None
    return int(number * (1024 ** "_kmgt".index(unit) if binary and unit else _UNITS[unit]))
