"""A result under seal: ``run.json`` has a checksum of every block of every table, and one of itself.

A bit that a disk or a copy flips would else be read as another answer: Parquet's own checksums, where there are such,
leave out its footer and the heads of its pages. So each file is summed in blocks of a MiB (CRC-32, which sees every
flip of up to 32 bits in a row), and who reads a table gets nothing of a block before it was compared. What is not read
is not compared. ``run.json`` is written last, and ends with the checksum of all that stands in front::

    …,
      "files": {"pages.parquet": {"bytes": 1300000, "crc32": "89abcdef01234567"}, …},
      "checksum": "89abcdef"
    }

Cost: the files are read once more when they are written, at the speed of CRC-32 (more than 1 GB a second), eight
letters a MiB in ``run.json``, and as much again of a block when it is first read.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import pyarrow as pa

from neardup import _native
from neardup.errors import FormatError, InputError
from neardup.writing import replacing

RUN: Final = "run.json"
BLOCK: Final = 1 << 20
_TAIL: Final = re.compile(rb',\n  "checksum": "([0-9a-f]{8})"\n}\n')
_TAIL_BYTES: Final = len(b',\n  "checksum": "00000000"\n}\n')
_KEYS: Final = {"format", "counts", "input", "settings"}


def damaged(path: Path, error: Exception | str) -> FormatError:
    """The error of a file of a result that is not as it was written.

    >>> print(damaged(Path("out/pages.parquet"), "it has another length"))
    the result is damaged: it has another length (out/pages.parquet): run dedup again, or copy the folder again
    """
    reason = (error.strerror if isinstance(error, OSError) else None) or (str(error).splitlines() or ["unreadable"])[0]
    hint = "run dedup again, or copy the folder again"
    return FormatError(f"the result is damaged: {reason}", where=str(path), hint=hint)


def missing(path: Path) -> FormatError:
    """The error of a file of a result that is not there."""
    return FormatError(
        "a file of the result is missing", where=str(path), hint="copy the whole folder, or run dedup again"
    )


def seal(folder: Path, report: dict[str, Any]) -> None:
    """Sums the tables of a folder and writes ``run.json``, which is the last file of a result.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "pages.parquet").write_bytes(b"PAR1")
    >>> seal(folder, {"format": _native.FORMAT_VERSION, "counts": {}, "input": {}, "settings": {}})
    >>> read_run(folder)["files"]
    {'pages.parquet': {'bytes': 4, 'crc32': '424208a5'}}
    """
    report["files"] = {
        str(part.relative_to(folder).as_posix()): _summed(part)
        for path in sorted(folder.glob("*.parquet"))
        for part in (sorted(path.glob("part-*.parquet")) if path.is_dir() else [path])
    }
    write_run(folder, report)


def write_run(folder: Path, report: Mapping[str, Any]) -> None:
    """Writes ``run.json`` with its own checksum; the tables are taken to be those it had."""
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    body = text.removesuffix("\n}").encode("utf-8", "backslashreplace")
    with replacing(folder / RUN) as file:
        file.write(body + b',\n  "checksum": "%08x"\n}\n' % crc32(body))


def read_run(folder: Path) -> dict[str, Any]:
    """What ``run.json`` of a result says, without its checksum.

    >>> read_run(Path("no-such-folder"))
    Traceback (most recent call last):
    neardup.errors.InputError: not a result folder (no-such-folder): it has no run.json; give the --out of a dedup run
    """
    path = folder / RUN
    if not path.exists():
        raise InputError(
            "not a result folder", where=str(folder), hint="it has no run.json; give the --out of a dedup run"
        )
    try:
        raw = path.read_bytes()
        report = json.loads(raw)
    except (ValueError, RecursionError, OSError) as error:
        raise damaged(path, error) from None
    if not isinstance(report, dict) or not report.keys() >= _KEYS:
        raise FormatError("not the run.json of a dedup run", where=str(path))
    tail = _TAIL.fullmatch(raw[-_TAIL_BYTES:])
    whole = tail is not None and int(tail[1], 16) == crc32(raw[:-_TAIL_BYTES])
    if report["format"] != _native.FORMAT_VERSION and (whole or "checksum" not in report):
        raise FormatError(
            f"written in fingerprint format {report['format']}, this is format {_native.FORMAT_VERSION}",
            where=str(folder),
            hint="run neardup dedup again with this version",
        )
    if not whole:
        raise damaged(path, "it does not have its checksum")
    del report["checksum"]
    return report


def parts_of(folder: Path, report: Mapping[str, Any], name: str) -> list[Path]:
    """The files of a table of a result: one, or as many as Spark wrote, in order; none where it has no such table."""
    return [folder / file for file in sorted(report["files"]) if file.split("/")[0] == name]


def open_table(folder: Path, report: Mapping[str, Any], name: str) -> list[CheckedFile]:
    """The files of a table, open, each compared with its checksums as it is read."""
    parts = parts_of(folder, report, name)
    if not parts:
        raise missing(folder / name)
    files: list[CheckedFile] = []
    try:
        for part in parts:
            try:
                files.append(CheckedFile(part, report["files"][part.relative_to(folder).as_posix()]))
            except FileNotFoundError:
                raise missing(part) from None
            except (OSError, KeyError, TypeError, ValueError) as error:
                raise damaged(part, error) from None
    except BaseException:
        for file in files:
            file.close()
        raise
    return files


def read_table(folder: Path, name: str) -> pa.Table:
    """A table of a result as its files have it."""
    import pyarrow.parquet as pq

    with ExitStack() as stack:
        files = [stack.enter_context(file) for file in open_table(folder, read_run(folder), name)]
        try:
            return pa.concat_tables([pq.read_table(file) for file in files]).combine_chunks()
        except (pa.ArrowException, OSError) as error:
            raise damaged(folder / name, error) from None


def check_table(folder: Path, report: Mapping[str, Any], name: str) -> None:
    """Compares all of a table, for who hands its path to a reader that cannot."""
    for file in open_table(folder, report, name):
        with file:
            try:
                file.compare_all()
            except OSError as error:
                raise damaged(Path(file.name), error) from None


class CheckedFile(io.RawIOBase):
    """A file to read from that compares each block before it gives any of it; an ``OSError`` where one differs.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a"
    >>> _ = path.write_bytes(b"hello")
    >>> with CheckedFile(path, {"bytes": 5, "crc32": "3610a686"}) as file:
    ...     file.read(2)
    b'he'
    >>> CheckedFile(path, {"bytes": 5, "crc32": "3610a687"}).read(2)
    Traceback (most recent call last):
    OSError: its bytes are not those that were written
    """

    def __init__(self, path: Path, sums: Mapping[str, Any]) -> None:
        letters = str(sums["crc32"])
        self._sums = [int(letters[at : at + 8], 16) for at in range(0, len(letters), 8)]
        self._compared = bytearray(len(self._sums))
        self._bytes = int(sums["bytes"])
        self.name = str(path)
        # Opened here, for pyarrow takes no path that is not UTF-8.
        self._file = open(path, "rb")  # noqa: SIM115
        if self._file.seek(0, io.SEEK_END) != self._bytes or len(self._sums) != -(-self._bytes // BLOCK):
            self._file.close()
            raise OSError("it has another length")
        self._file.seek(0)

    def read(self, size: int | None = -1) -> bytes:
        start = self._file.tell()
        end = self._bytes if size is None or size < 0 else min(self._bytes, start + size)
        for block in range(start // BLOCK, -(-end // BLOCK)):
            if not self._compared[block]:
                self._compare(block)
        self._file.seek(start)
        return self._file.read(max(0, end - start))

    def compare_all(self) -> None:
        """Compares every block."""
        for block in range(len(self._sums)):
            self._compare(block)

    def _compare(self, block: int) -> None:
        self._file.seek(block * BLOCK)
        if crc32(self._file.read(BLOCK)) != self._sums[block]:
            raise OSError("its bytes are not those that were written")
        self._compared[block] = 1

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        # Also of one whose file could not be opened.
        if hasattr(self, "_file"):
            self._file.close()
        super().close()


def _summed(path: Path) -> dict[str, Any]:
    letters, count = [], 0
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            letters.append(f"{crc32(block):08x}")
            count += len(block)
    return {"bytes": count, "crc32": "".join(letters)}
