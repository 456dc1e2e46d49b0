"""The parts of a page's address."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from neardup import _native


def parts(url: str) -> SplitResult | None:
    """An address taken apart, read as http where it was written without a scheme; None where it has no host.

    >>> parts("www.a.example/x?y").hostname
    'www.a.example'
    >>> parts("no address") is None
    True
    """
    try:
        split = urlsplit(url.strip())
        if not split.hostname:
            split = urlsplit(_native.page_url(url) or "")
        return split if split.hostname else None
    except ValueError:
        return None
