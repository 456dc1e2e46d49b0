"""Where files are below what their inputs have in common: the same paths, in the folder that they are written to.

The root is the folder that is given, or the one a named file is in, or that in which a pattern begins; of several
inputs the folder above all of them. So ``lang=en/part-0.parquet`` keeps the folder that is a column to its readers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final

#: What makes a name a pattern.
PATTERN: Final = "*?["


def root_of(given: Sequence[str], files: Iterable[str]) -> str:
    """The folder above all that was given, as files name themselves below it (``below``).

    >>> root_of(["/h"], ["/h/lang=en/p.jsonl"]), root_of(["/h/lang=*/p.jsonl"], ["/h/lang=en/p.jsonl"])
    ('/h', '/h')
    >>> root_of(["/a/x.jsonl", "/b/y.jsonl"], ["/a/x.jsonl", "/b/y.jsonl"]), root_of(["s3://b/h"], ["s3://b/h/p.jsonl"])
    ('/', 's3:/b/h')
    """
    names = set(files)
    starts = [_before_pattern(name.removeprefix("file://")) for name in given]
    folders = [_plain(name if name not in names else _above(name)).split("/") for name in starts]
    common = [parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False))]
    return "/".join(common) or "/"


def below(root: str, file: str) -> str:
    """The path of a file below a root.

    >>> below("/h", "/h/lang=en/p.jsonl"), below("s3:/b", "s3://b/p.jsonl"), below("/", "/a/x.jsonl")
    ('lang=en/p.jsonl', 'p.jsonl', 'a/x.jsonl')
    """
    path = _plain(file)
    inside = path.removeprefix(root.rstrip("/") + "/") if root else path
    return inside.replace("://", "/").replace(":/", "/")


def _plain(name: str) -> str:
    """One spelling of a path or URL: from the root of its file system, with single slashes."""
    if "://" in name:
        scheme, _, path = name.partition("://")
        return "/".join([f"{scheme}:", *(part for part in path.split("/") if part)])
    return os.path.abspath(name).replace(os.sep, "/").rstrip("/")


def _above(name: str) -> str:
    folder = name.replace(os.sep, "/").rpartition("/")[0]
    return folder or ("/" if name.startswith("/") else ".")


def _before_pattern(name: str) -> str:
    """The folder in which a pattern begins; what is none stays, also if it has such a character and is there."""
    places = [name.find(mark) for mark in PATTERN if mark in name]
    if not places or ("://" not in name and os.path.exists(name)):
        return name
    return _above(name[: min(places)])
