"""Files that appear whole or not at all: written under a temporary name, flushed to the disk, then renamed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from neardup.errors import OutputError, UsageError

#: What names another machine: a scheme of two letters or more (one is a drive) and a slash; paths keep one of two.
_REMOTE: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def check_local(path: str | os.PathLike[str]) -> None:
    """Refuses to write to what is not on this machine: it would become a folder of that name here.

    >>> check_local("out/s3")
    >>> check_local("s3://bucket/out")
    Traceback (most recent call last):
    neardup.errors.UsageError: cannot write to s3:// (s3://bucket/out): name a local folder, then copy it there
    """
    name = os.fsdecode(path)
    if (remote := _REMOTE.match(name)) is not None:
        raise UsageError(f"cannot write to {remote[1]}://", where=name, hint="name a local folder, then copy it there")


@contextmanager
def replacing(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[IO[bytes]]:
    """A binary file to write to that takes its name only when the block ends well.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "a.txt")) as file:
    ...         before = file.write(b"hello") and os.listdir(folder)
    ...     before, os.listdir(folder)
    (['a.txt.tmp'], ['a.txt'])
    """
    check_local(path)
    target = Path(path)
    temporary = target.with_name(target.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, target)
        if durable:
            _sync_folder(target.parent)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise output_error(error, target) from error
        raise


def output_error(error: OSError, path: Path) -> OutputError:
    """An operating system's error in writing, as one of ours.

    >>> print(output_error(OSError(28, "No space left on device"), Path("out/pages.parquet")))
    cannot be written: No space left on device (out/pages.parquet): free some space, or name another folder
    """
    hints = {
        27: "allow longer files (ulimit -f), or name a folder on another file system",
        28: "free some space, or name another folder",
        122: "free some space, or name another folder",
        13: "check who may write there",
        30: "name another folder",
    }
    hint = hints.get(error.errno or 0, "check that the folder exists and may be written to")
    return OutputError(f"cannot be written: {error.strerror or error}", where=str(path), hint=hint)


def _sync_folder(folder: Path) -> None:
    """Makes a rename last; where folders cannot be opened (Windows) the system does it by itself."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
