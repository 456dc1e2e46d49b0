"""What a page's markup says that its text does not: values that forms come filled in with, session ids in links,
where it sends the browser, whether it asks for a password.

Cost: linear in the page, whatever it holds.
"""

from __future__ import annotations

import re
from typing import Final

_INPUT: Final = re.compile(rb"(?i)<input\b[^<>]*>")
_VALUE: Final = re.compile(rb"(?i)\bvalue\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)|\bchecked\b")
_PASSWORD: Final = re.compile(rb"(?i)<input\b[^<>]*\btype\s*=\s*[\"']?password")
_SESSION: Final = re.compile(
    rb"(?i)([?&;](?:phpsessid|jsessionid|aspsessionid\w*|session_?id|sess(?:ion)?|sid)=)[\w\-.]+"
)
_REFRESH: Final = re.compile(rb"(?i)<meta\b[^<>]{0,300}http-equiv\s*=\s*[\"']?refresh[^<>]{0,300}url\s*=")


def input_values(html: bytes) -> list[bytes]:
    """The values with which a page's input fields come filled in; they are no terms of the page.

    >>> input_values(b'<input name=a value="7"><input name=b>')
    [b'"7"']
    """
    return [value[1] or value[0] for field in _INPUT.findall(html) for value in _VALUE.finditer(field)]


def sends_elsewhere(html: bytes) -> bool:
    """Whether the page sends the browser to another by itself, so that a visitor does not see what was stored.

    >>> sends_elsewhere(b'<meta http-equiv="refresh" content="3; url=/new">')
    True
    """
    return bool(_REFRESH.search(html))


def asks_for_a_password(html: bytes) -> bool:
    """Whether the page has a field for a password.

    >>> asks_for_a_password(b"<input type=password name=p>")
    True
    """
    return bool(_PASSWORD.search(html))


def without_sessions(html: bytes) -> bytes:
    """The page with the values of session ids in addresses left out.

    >>> without_sessions(b'<a href="/news?sid=0a1b2c">')
    b'<a href="/news?sid=">'
    """
    return _SESSION.sub(rb"\1", html)
