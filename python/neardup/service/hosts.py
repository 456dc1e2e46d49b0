"""The names that a server answers to, so that no page of the web can have its own name point here (DNS rebinding)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


class Hosts:
    """Names, and with ``addresses`` any IP address: an address cannot be made to point elsewhere.

    >>> hosts = Hosts(LOOPBACK)
    >>> hosts.have("localhost:8750"), hosts.have("evil.example:8750"), Hosts((), addresses=True).have("192.168.0.7")
    (True, False, True)
    """

    def __init__(self, names: Iterable[str], *, addresses: bool = False) -> None:
        self._names = {name.lower().strip("[]") for name in names}
        self._addresses = addresses

    def have(self, host: str) -> bool:
        """Whether a Host header names this server."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in self._names:
            return True
        if not self._addresses:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def is_own_origin(origin: str, host: str) -> bool:
    """Whether an Origin header, of a page that asks, is that of the server asked.

    >>> is_own_origin("http://localhost:8750", "localhost:8750"), is_own_origin("http://evil.example", "localhost:8750")
    (True, False)
    """
    return urlsplit(origin).netloc.lower() == host.lower()
