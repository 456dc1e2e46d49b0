"""Arrays in a file that are used where they lie: chunk indexes, collection statistics, what a run matched.

A file is a line that names it, a line of JSON (kind, format versions, what the arrays are, where each begins, their
checksums), and the arrays, each at a multiple of 64 bytes. Loading maps it into memory and copies nothing. A file of
another kind or version, one that was cut short, and one with a changed byte are refused with a ``FormatError``.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.errors import FormatError
from neardup.writing import replacing

#: Of this layout of files; the fingerprints in them have a version of their own.
VERSION: Final = 1
_MAGIC: Final = b"neardup arrays\n"
_ALIGN: Final = 64
_LONGEST_HEADER: Final = 1 << 24
_TYPES: Final = ("uint32", "uint64", "float64", "int8", "bool")

Arrays = dict[str, npt.NDArray[Any]]


def write_arrays(path: str | os.PathLike[str], kind: str, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Writes the file; it is there whole or not at all."""
    told = [
        {"name": name, "type": str(array.dtype), "length": len(array), "checksum": zlib.crc32(_bytes(array))}
        for name, array in arrays.items()
    ]
    header = {"kind": kind, "version": VERSION, "format": _native.FORMAT_VERSION, "about": about, "arrays": told}
    line = json.dumps(header, ensure_ascii=False, sort_keys=True).encode() + b"\n"
    with replacing(path) as file:
        file.write(_MAGIC + line)
        for array in arrays.values():
            file.write(b"\0" * (-file.tell() % _ALIGN))
            file.write(_bytes(array))


def read_arrays(path: str | os.PathLike[str], kind: str, *, verify: bool = True) -> tuple[dict[str, Any], Arrays]:
    """What the file says of itself, and its arrays, mapped. ``verify`` reads all of it once to check the sums."""
    place = Path(path)

    def wrong(what: str, hint: str = "make it again") -> FormatError:
        return FormatError(what, where=str(place), hint=hint)

    try:
        with open(place, "rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise wrong("this is no file of neardup", "name a file that neardup wrote")
            line = file.readline(_LONGEST_HEADER)
            start = file.tell()
        size = place.stat().st_size
        whole = np.memmap(place, np.uint8, "r")
    except OSError as error:
        raise FormatError(f"cannot read: {error.strerror}", where=str(place), hint="name an existing file") from None
    try:
        header = json.loads(line)
        found, version, form = header["kind"], header["version"], header["format"]
        described = [(str(of["name"]), str(of["type"]), int(of["length"]), of["checksum"]) for of in header["arrays"]]
        about = dict(header["about"])
    except (ValueError, KeyError, TypeError):
        raise wrong("the head of the file is damaged") from None
    if found != kind:
        raise wrong(f"this holds {found}, not {kind}", f"name a file of {kind}")
    if version != VERSION or form != _native.FORMAT_VERSION:
        raise wrong(
            f"written as version {version} of format {form}; this program has {VERSION} of {_native.FORMAT_VERSION}"
        )
    arrays: Arrays = {}
    for name, kind_of_number, length, expected in described:
        if kind_of_number not in _TYPES or length < 0:
            raise wrong("the head of the file is damaged")
        start += -start % _ALIGN
        end = start + length * np.dtype(kind_of_number).itemsize
        if end > size:
            raise wrong("the file was cut short")
        arrays[name] = whole[start:end].view(kind_of_number)
        if verify and zlib.crc32(_bytes(arrays[name])) != expected:
            raise wrong(f"the file is damaged: {name} is not what was written")
        start = end
    return about, arrays


def digest_of(kind: str, about: Mapping[str, Any], arrays: Arrays) -> str:
    """What names the contents: the same arrays give the same name on every machine.

    >>> digest_of("x", {}, {"a": np.arange(3, dtype=np.uint64)})[:8]
    '6de275b2'
    """
    import hashlib  # few runs come here, and it takes 5 ms of a start

    name = hashlib.sha256(json.dumps([kind, _native.FORMAT_VERSION, about], sort_keys=True).encode())
    for label, array in arrays.items():
        name.update(f"\n{label} {array.dtype} {len(array)}\n".encode())
        name.update(_bytes(array))
    return name.hexdigest()


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return little.data.cast("B") if len(little) else memoryview(b"")
