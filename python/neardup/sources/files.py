"""Where inputs are: local files, remote ones through pyarrow's or fsspec's file systems, and standard input.

Everything above this file sees a ``Place``: a name to show, a size, and a way to open it as a binary stream.
Standard input is either read once as it comes, or copied to a temporary file where it must be read again.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from pyarrow import ArrowInvalid, ArrowNotImplementedError

from neardup.errors import InputError, MissingExtra, NeardupError
from neardup.sources.replay import Replayed

if TYPE_CHECKING:
    from pyarrow import fs as arrow_fs

#: What results call standard input.
STDIN_NAME: Final = "-"

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")


def shown(path: str) -> str:
    r"""A path as text that can be stored: bytes of a file name that are not UTF-8 are written as escapes.

    >>> shown("caf\udce9.html"), shown("café.html")
    ('caf\\xe9.html', 'café.html')
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def is_remote(path: str) -> bool:
    """Whether a path is a URL of a file system rather than a local path.

    >>> is_remote("s3://bucket/crawl.warc.gz"), is_remote("crawl.warc.gz"), is_remote("file:///tmp/a.jsonl")
    (True, False, False)
    """
    return bool(_URL.match(path)) and not path.startswith("file://")


def file_system(url: str) -> tuple[arrow_fs.FileSystem, str]:
    """The file system of a URL and the path inside it: pyarrow's own where it has one, else fsspec's.

    >>> file_system("file:///tmp")[1]
    '/tmp'
    """
    # It loads every file system that Arrow knows, and local files need none.
    from pyarrow import fs as arrow_fs

    scheme = url.split("://", 1)[0]
    try:
        system, path = arrow_fs.FileSystem.from_uri(url)
        return system, path
    except (ArrowInvalid, ArrowNotImplementedError):
        pass  # not one of pyarrow's schemes
    except ImportError:
        raise _missing_library(scheme, url) from None
    try:
        import fsspec
    except ImportError:
        raise MissingExtra(
            f"{scheme}:// is read through fsspec, which is not installed",
            where=url,
            hint="pip install fsspec",
        ) from None
    try:
        handle, path = fsspec.core.url_to_fs(url)
    except ImportError:
        raise _missing_library(scheme, url) from None
    except ValueError as error:
        raise InputError(f"the file system cannot be opened: {error}", where=url) from None
    handler: Any = arrow_fs.FSSpecHandler  # its stubs call it abstract
    return arrow_fs.PyFileSystem(handler(handle)), path


#: What the libraries of some schemes are called where they are installed from.
_LIBRARIES: Final = {"hf": "huggingface_hub", "http": "aiohttp requests", "https": "aiohttp requests"}


def _missing_library(scheme: str, url: str) -> MissingExtra:
    library = _LIBRARIES.get(scheme)
    return MissingExtra(
        f"{scheme}:// is read through {library or 'a library'}, which is not installed",
        where=url,
        hint=f"pip install {library}" if library else f"install what fsspec needs for {scheme}",
    )


def unreachable(url: str, error: Exception | None = None) -> InputError:
    """What is said of a remote file that cannot be had, whatever the library raised.

    >>> print(unreachable("https://a.example/x", ConnectionError("refused\\nby whom")))
    cannot be reached: refused (https://a.example/x): check the address, the network and the rights, or download it
    """
    lines = str(error).strip().splitlines() if error is not None else []
    reason = lines[0] if lines else type(error).__name__ if error is not None else "there is no such file, or no answer"
    return InputError(
        f"cannot be reached: {reason}", where=url, hint="check the address, the network and the rights, or download it"
    )


class Once:
    """Standard input read as it comes: it opens a single time, and its head can be looked at before."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._head, self._opened = stream, b"", False

    def peek(self, size: int) -> bytes:
        while len(self._head) < size and (more := self._stream.read(size - len(self._head))):
            self._head += more
        return self._head[:size]

    def open(self) -> BinaryIO:
        if self._opened:
            raise InputError(
                "standard input can be read only once",
                where=STDIN_NAME,
                hint="write it to a file and name the file",
            )
        self._opened = True
        return cast(BinaryIO, self)

    def read(self, size: int = -1) -> bytes:
        if self._head:
            taken = self._head if size < 0 else self._head[:size]
            self._head = self._head[len(taken) :]
            return taken + self._stream.read() if size < 0 else taken
        return self._stream.read(size)

    def native(self) -> tuple[bytes, io.FileIO] | None:
        """What was read already and is not asked for again, and the system's file that the rest stands in; None if it
        stands in none. Whoever takes these reads on without Python."""
        stream = self._stream
        if not isinstance(stream, io.BufferedReader) or type(stream.raw) is not io.FileIO:
            return None
        # What the buffer holds is at hand: no more is read for it.
        held = self._head + stream.read(len(stream.peek(1)))
        self._head = b""
        return held, stream.raw

    def close(self) -> None:
        """Leaves standard input open: it is not ours."""

    def __enter__(self) -> Once:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Place:
    """One file: the path or URL it is at, and the name results give it.

    >>> Place.at("crawl/a.jsonl").name
    'crawl/a.jsonl'
    """

    path: str
    name: str
    once: Once | Replayed | None = None

    @classmethod
    def at(cls, path: str, name: str | None = None) -> Place:
        """The file at a path or URL."""
        local = file_system(path)[1] if path.startswith("file://") else path
        return cls(local, shown(path if name is None else name))

    def anywhere(self) -> Place:
        """The same file for whoever has another working directory.

        >>> Place.at("/a.jsonl").anywhere() == Place.at("/a.jsonl")
        True
        """
        return replace(self, path=os.path.abspath(self.path)) if self.is_local else self

    @property
    def is_local(self) -> bool:
        """Whether it is a file of this machine that can be opened again and read from any position."""
        return self.once is None and not is_remote(self.path)

    def open(self) -> BinaryIO:
        """The file's bytes, as stored."""
        if self.once is not None:
            return self.once.open()
        try:
            if is_remote(self.path):
                system, path = file_system(self.path)
                return cast(BinaryIO, system.open_input_file(path))
            return open(self.path, "rb", buffering=0)
        except FileNotFoundError:
            raise InputError("no such file", where=self.name) from None
        except OSError as error:
            raise InputError(f"cannot be opened: {error.strerror or error}", where=self.name) from None
        except Exception as error:
            # A library of a remote file system has errors of its own.
            if not is_remote(self.path) or isinstance(error, NeardupError):
                raise
            raise unreachable(self.name, error) from None

    def size(self) -> int | None:
        """Bytes as stored; None where that is not known."""
        if self.once is not None:
            return None
        try:
            if is_remote(self.path):
                system, path = file_system(self.path)
                return cast("int | None", system.get_file_info(path).size)
            return os.stat(self.path).st_size
        except OSError:
            return None

    def head(self, size: int) -> bytes:
        """The first bytes, as stored; whoever opens the file afterwards sees them again."""
        if self.once is not None:
            return self.once.peek(size)
        with self.open() as stream:
            taken = b""
            while len(taken) < size and (more := stream.read(size - len(taken))):
                taken += more
            return taken


def standard_input(again: bool = False) -> Place:
    """Standard input, read as it comes: once, or ``again`` and again."""
    stream = sys.stdin.buffer
    return Place(STDIN_NAME, STDIN_NAME, Replayed(stream) if again else Once(stream))


def spooled_input(stream: BinaryIO | None = None) -> tuple[Place, Path]:
    """Standard input copied to a temporary file (the second value), so that it can be read again."""
    handle, name = tempfile.mkstemp(prefix="neardup-stdin-")
    try:
        with os.fdopen(handle, "wb") as copy:
            shutil.copyfileobj(stream or sys.stdin.buffer, copy, 1 << 20)
    except BaseException as error:
        os.unlink(name)
        if isinstance(error, OSError):
            raise InputError(
                f"standard input cannot be copied to a temporary file: {error.strerror or error}",
                where=tempfile.gettempdir(),
                hint="set TMPDIR to a folder with room, or name a file instead of -",
            ) from None
        raise
    return Place(name, STDIN_NAME), Path(name)
