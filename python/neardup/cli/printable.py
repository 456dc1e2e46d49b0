"""Text from the web made safe for a terminal: a title may hold the codes that move a cursor or rename a window."""

from __future__ import annotations

import re

# Control characters, line separators, what turns the direction of writing, halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The text with every character that a terminal would obey instead of show replaced.

    >>> printable("red \x1b[31m alert"), printable("naïve 日本")
    ('red �[31m alert', 'naïve 日本')
    """
    return _UNSAFE.sub("�", text)
