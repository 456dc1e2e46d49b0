"""A result folder that appears whole or not at all."""

from __future__ import annotations

import errno
import glob
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from neardup.errors import OutputError
from neardup.writing import check_local


@contextmanager
def new_folder(out: Path, overwrite: bool = False, *, mark: str = "run.json") -> Iterator[Path]:
    """A folder to write into that takes its final name only when everything is in it. Only a folder that has a file
    ``mark`` is taken for an earlier result, to be overwritten; an empty one may always be there.

    >>> import pathlib, tempfile
    >>> final = pathlib.Path(tempfile.mkdtemp()) / "out"
    >>> with new_folder(final) as folder:
    ...     _ = (folder / "x").write_text("done"); final.exists()
    False
    >>> (final / "x").read_text()
    'done'
    """
    check_local(out)
    _sweep(out)
    stands = out.exists() and not (out.is_dir() and not any(out.iterdir()))
    if stands and not overwrite:
        raise OutputError("the output folder exists already", where=str(out), hint="choose another, or --overwrite")
    if stands and not (out / mark).exists():
        raise OutputError(
            "what stands there is not a result of neardup and will not be overwritten",
            where=str(out),
            hint="choose another name",
        )
    if (file := _file_above(out)) is not None:
        raise OutputError("cannot write there: a file stands where a folder should", where=str(file))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = _beside(out, "partial")
        folder.mkdir()
    except OSError as error:
        raise OutputError(f"cannot write there: {error.strerror}", where=str(out.parent)) from None
    try:
        yield folder
        try:
            _put_in_place(folder, out, overwrite)
        except OSError as error:
            raise OutputError(f"cannot write the result: {error.strerror or error}", where=str(out)) from error
    except OutputError as error:
        # The user knows the final name, not the one it has while it is written.
        if error.where is None or not error.where.startswith(str(folder)):
            raise
        raise OutputError(error.what, where=str(out) + error.where[len(str(folder)) :], hint=error.hint) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        # A run that was killed right before this one began may still have been giving back its memory then.
        _sweep(out)


def _file_above(out: Path) -> Path | None:
    """What is no folder among the folders that ``out`` is to be in."""
    return next((above for above in out.parents if above.exists() and not above.is_dir()), None)


def _beside(out: Path, kind: str) -> Path:
    """A name for what this process alone may write; the next run sees from it whether the process is gone."""
    return out.parent / f".{out.name}.{os.getpid()}-{os.urandom(3).hex()}.{kind}"


def _put_in_place(folder: Path, out: Path, overwrite: bool) -> None:
    if overwrite and out.exists():
        # The old result makes way at the last moment: whenever this is killed, one of the two stands there.
        if out.is_symlink() or not _exchange(folder, out):
            _make_way(folder, out)
    else:
        try:
            folder.rename(out)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            # Somebody else came first. Their result stays, and this one was too much work to be thrown away.
            beside = out.with_name(f"{out.name}-{os.getpid()}")
            folder.rename(beside)
            raise OutputError(
                "something else was written there meanwhile", where=str(out), hint=f"this result is in {beside}"
            ) from None
    descriptor = os.open(out.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchange(folder: Path, out: Path) -> bool:
    """Both take each other's name in one step; says whether this system and this disk can do that. Linux mostly can."""
    import ctypes

    here, exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
    call = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    return call is not None and call(here, os.fsencode(folder), here, os.fsencode(out), exchange) == 0


def _make_way(folder: Path, out: Path) -> None:
    """The same in two steps. The old result comes back if the new one cannot take its place, or by the next run if this
    one is killed in between."""
    old = _beside(out, "old")
    old.mkdir()
    try:
        out.rename(old / _OLD)
        try:
            folder.rename(out)
        except BaseException:
            (old / _OLD).rename(out)
            raise
    except BaseException:
        # Only a folder that is empty goes: should the old result not have come back, it is there.
        with suppress(OSError):
            old.rmdir()
        raise
    shutil.rmtree(old, ignore_errors=True)


#: The name that an old result has in the meantime.
_OLD: Final = "result"


def _sweep(out: Path) -> None:
    """Removes what runs that were killed left beside ``out``, and puts an old result back that had made way: runs whose
    process is gone."""
    for stale in out.parent.glob(f".{glob.escape(out.name)}.*"):
        process, _, kind = stale.name.removeprefix(f".{out.name}.").partition("-")
        if not process.isdecimal() or not kind.endswith((".partial", ".old")) or _is_alive(int(process)):
            continue
        if kind.endswith(".old") and not out.exists() and (stale / _OLD).exists():
            # One that cannot come back stays where it is.
            with suppress(OSError):
                (stale / _OLD).rename(out)
                stale.rmdir()
            continue
        shutil.rmtree(stale, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
