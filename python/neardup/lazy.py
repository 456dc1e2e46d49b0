"""What a package exports, imported when it is first asked for: to import all of it takes longer than a small run."""

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
