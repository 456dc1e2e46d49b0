"""What is imported when it is first asked for: to import all at the start takes longer than a small run."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package, given the module that each name is at home in.

    >>> found = lazy("neardup.version", {"sqrt": "math"})
    >>> found("sqrt")(9.0)
    3.0
    >>> found("root")
    Traceback (most recent call last):
    AttributeError: module 'neardup.version' has no attribute 'root'
    """

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    return attribute


class Later:
    """A module that is imported when something of it is asked for."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def later(module: str) -> Any:
    """A module that a run needs, but not to begin: pages are read while it is imported.

    >>> math = later("math")
    >>> math.sqrt(9.0)
    3.0
    """
    return Later(module)
