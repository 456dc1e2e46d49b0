"""Where a page may lead the browser: public addresses, and what the user allowed by name.

Names are resolved here and the connection goes to the address that was looked at, so a name that answers differently
the second time gains nothing. A name with any address that is not public is refused, whatever its other addresses.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import urlsplit

from neardup.errors import UsageError

#: Networks whose addresses hold an IPv4 address, and at which bit it begins from the right.
_CARRIERS: Final = (
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
    (ipaddress.IPv6Network("::/96"), 0),
)


class Refused(Exception):
    """The browser may not go there; the text says why."""


def is_public(address: str) -> bool:
    """Whether an address is one of the public internet, also by what it carries inside.

    >>> is_public("93.184.216.34"), is_public("127.0.0.1"), is_public("::ffff:10.0.0.1"), is_public("2002:7f00:1::")
    (True, False, False, False)
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return is_public(str(parsed.ipv4_mapped))
        for network, shift in _CARRIERS:
            if parsed in network:
                return is_public(str(ipaddress.IPv4Address(int(parsed) >> shift & 0xFFFFFFFF)))
    return parsed.is_global and not parsed.is_multicast


@dataclass(frozen=True, slots=True)
class Policy:
    """Which hosts may be asked, and at which address each is.

    >>> policy = Policy.of([], ["*.example=127.0.0.1:8000"])
    >>> asyncio.run(policy.address("www.alpha.example", 80))
    ('127.0.0.1', 8000)
    >>> asyncio.run(Policy().address("127.0.0.1", 80))
    Traceback (most recent call last):
    neardup.render.policy.Refused: 127.0.0.1 is no public address
    """

    allow: tuple[str, ...] = ()
    resolve: tuple[tuple[str, str, int], ...] = ()

    @classmethod
    def of(cls, allow: Sequence[str], resolve: Sequence[str]) -> Policy:
        """The policy of the user's own words."""
        return cls(tuple(_host(pattern) for pattern in allow), tuple(_rule(rule) for rule in resolve))

    def check_url(self, url: str) -> None:
        """Refuses what is no address of the web."""
        scheme = urlsplit(url).scheme.lower()
        if scheme not in ("http", "https"):
            raise Refused(f"{scheme or 'no scheme'}: is not http or https")

    async def address(self, host: str, port: int) -> tuple[str, int]:
        """The address to connect to for a host and port."""
        name = _host(host)
        for pattern, address, its_port in self.resolve:
            if fnmatchcase(name, pattern):
                return address, its_port
        try:
            found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError, OverflowError):
            raise Refused(f"{name} was not found") from None
        addresses = [str(entry[4][0]) for entry in found]
        if not any(fnmatchcase(name, pattern) for pattern in self.allow):
            for address in addresses:
                if not is_public(address):
                    also = "" if address == name else f", the address of {name},"
                    raise Refused(f"{address}{also} is no public address")
        return addresses[0], port


def _host(name: str) -> str:
    return name.strip().strip("[]").rstrip(".").lower()


def _rule(text: str) -> tuple[str, str, int]:
    pattern, _, target = text.partition("=")
    address, _, port = target.rpartition(":")
    if not pattern or not address or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"not a rule of where hosts are: {text!r}", hint="write it as '*.example=127.0.0.1:8000'")
    return _host(pattern), _host(address), int(port)
