"""Signals of two addresses. Each takes two addresses and costs a few comparisons; nan where it cannot be told.

The paper has one (§3.2, "an exact match on the domain") and asks for "more sophisticated URL-matching signals"; the
others are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl

from neardup import _native
from neardup.text import addresses

_NAN = math.nan


@dataclass(frozen=True, slots=True)
class Address:
    """A URL taken apart."""

    url: str
    host: str
    site: str | None
    path: str
    segments: tuple[str, ...]
    query: str
    keys: frozenset[str]


@lru_cache(maxsize=1 << 16)
def address(url: str | None) -> Address | None:
    """The parts of a URL, or None where it has no host.

    >>> address("http://www.A.example/x/y?b=1").segments
    ('x', 'y')
    >>> address("no address") is None
    True
    """
    if not url:
        return None
    parts = addresses.parts(url)
    if parts is None:
        return None
    try:
        host = (parts.hostname or "").rstrip(".")
        port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
        keys = frozenset(key for key, _ in parse_qsl(parts.query, keep_blank_values=True, max_num_fields=1000))
    except ValueError:
        return None
    if not host:
        return None
    segments = tuple(segment for segment in parts.path.split("/") if segment)
    return Address(
        url.strip(), host + port, _native.site_of(url), parts.path or "/", segments, parts.query, keys
    )  # fmt: skip


def same_domain(a: Address, b: Address) -> float:
    """1 if the hosts are equal.

    >>> same_domain(address("http://a.example/x"), address("https://A.example/y"))
    1.0
    """
    return float(a.host == b.host)


def same_site(a: Address, b: Address) -> float:
    """1 if the registrable domains are equal.

    >>> same_site(address("http://www.a.example/"), address("http://news.a.example/"))
    1.0
    """
    return float(a.site is not None and a.site == b.site)


def path_similarity(a: Address, b: Address) -> float:
    """Equal leading and trailing segments, as a share of the longer path; two roots are alike.

    >>> path_similarity(address("http://a.example/x/y/z"), address("http://b.example/x/w/z"))
    0.6666666666666666
    """
    longest, shortest = max(len(a.segments), len(b.segments)), min(len(a.segments), len(b.segments))
    if longest == 0:
        return 1.0
    lead = 0
    while lead < shortest and a.segments[lead] == b.segments[lead]:
        lead += 1
    trail = 0
    while trail < shortest - lead and a.segments[-1 - trail] == b.segments[-1 - trail]:
        trail += 1
    return (lead + trail) / longest


def same_query_keys(a: Address, b: Address) -> float:
    """1 if the queries have the same keys, whatever their values.

    >>> same_query_keys(address("http://a.example/?id=1&s=2"), address("http://a.example/?s=3&id=1"))
    1.0
    """
    return float(a.keys == b.keys) if a.keys or b.keys else _NAN


def mirror_path(a: Address, b: Address) -> float:
    """1 if only the hosts differ, and the path says more than "home".

    >>> mirror_path(address("http://a.example/x?y"), address("http://mirror.example/x?y"))
    1.0
    """
    return float(a.host != b.host and bool(a.segments) and (a.path, a.query) == (b.path, b.query))


def same_canonical(a: str | None, b: str | None, canonical_a: str | None, canonical_b: str | None) -> float:
    """1 if the pages at ``a`` and ``b`` name one canonical address, or one of them names the other.

    >>> same_canonical("http://a.example/?s=1", "http://a.example/", "http://a.example/", None)
    1.0
    """
    if canonical_a is None and canonical_b is None:
        return _NAN
    own_a, own_b = canonical_a or a, canonical_b or b
    return float(own_a is not None and own_a == own_b)


#: What is told of the two addresses alone, by name.
OF_ADDRESSES = {
    "same_domain": same_domain,
    "same_site": same_site,
    "path_similarity": path_similarity,
    "same_query_keys": same_query_keys,
    "mirror_path": mirror_path,
}
