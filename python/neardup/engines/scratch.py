"""The scratch folder: what a run has done so far, so that a run that was killed can go on.

Reading commits *segments*: an Arrow file of parts, then a small file with its length, checksum and tally. Both are
written under another name, flushed and renamed, in that order, so a segment either counts or does not exist. A segment
whose checksum is wrong is dropped with all behind it, and read again. The manifest says what the run is a run of;
going on with another input or detector is refused, naming the difference.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.engines.parts import Part, Tally
from neardup.errors import OutputError, UsageError
from neardup.sinks import replacing, write_json

_MANIFEST = "manifest.json"
_BLOCK = 1 << 20


@dataclass(slots=True)
class Scratch:
    """A folder of committed segments, in order.

    >>> import tempfile
    >>> rows = pa.RecordBatch.from_pydict({"id": ["a", "b"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scratch = Scratch.start(Path(folder, "s"), {"detector": "exact"})
    ...     scratch.commit([Part(rows, Tally(chunks=1))])
    ...     again = Scratch.resume(Path(folder, "s"), {"detector": "exact"})
    ...     again.chunks, again.load(0).rows["id"].to_pylist()
    (1, ['a', 'b'])
    """

    folder: Path
    tallies: list[Tally]

    @classmethod
    def start(cls, folder: Path, manifest: dict[str, Any]) -> Scratch:
        """An empty scratch folder; what an earlier run left there goes."""
        discard(folder)
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise OutputError(f"cannot make a scratch folder: {error.strerror}", where=str(folder)) from None
        write_json(manifest, folder / _MANIFEST)
        return cls(folder, [])

    @classmethod
    def resume(cls, folder: Path, manifest: dict[str, Any]) -> Scratch:
        """The scratch folder that an earlier run of the same kind left, or an empty one."""
        try:
            earlier = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls.start(folder, manifest)
        # As JSON sees it: tuples and lists are one.
        refuse_difference(earlier, json.loads(json.dumps(manifest)), folder)
        scratch = cls(folder, [])
        while (tally := scratch._read_tally(len(scratch.tallies))) is not None:
            scratch.tallies.append(tally)
        for stale in folder.glob("segment-*"):
            number = int(stale.name.split("-")[1].split(".")[0])
            if number >= len(scratch.tallies):
                stale.unlink(missing_ok=True)
        return scratch

    @property
    def chunks(self) -> int:
        """How many chunks of the source the segments cover."""
        return sum(tally.chunks for tally in self.tallies)

    def commit(self, parts: Sequence[Part]) -> None:
        """Writes parts as the next segment."""
        data, note = self._paths(len(self.tallies))
        tally = Tally.total([part.tally for part in parts])
        batches = [part.rows for part in parts]
        with replacing(data) as file, pa.ipc.new_file(file, batches[0].schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        write_json({"bytes": data.stat().st_size, "checksum": checksum(data), **tally.to_json()}, note)
        self.tallies.append(tally)

    def load(self, number: int) -> Part:
        """A committed segment as one part."""
        data, _ = self._paths(number)
        with pa.OSFile(str(data)) as file, pa.ipc.open_file(file) as reader:
            table = reader.read_all().combine_chunks()
        batches = table.to_batches()
        rows = batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
        return Part(rows, self.tallies[number])

    def _paths(self, number: int) -> tuple[Path, Path]:
        return self.folder / f"segment-{number:06}.arrow", self.folder / f"segment-{number:06}.json"

    def _read_tally(self, number: int) -> Tally | None:
        data, note = self._paths(number)
        try:
            told = json.loads(note.read_text(encoding="utf-8"))
            whole = data.stat().st_size == told.pop("bytes") and checksum(data) == told.pop("checksum")
            return Tally.from_json(told) if whole else None
        except (OSError, ValueError, KeyError, TypeError):
            return None


def checksum(path: Path) -> int:
    """CRC-32 of a file: catches what a torn write or a bad disk does to it.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"123456789"), file.flush()
    ...     hex(checksum(Path(file.name)))
    '0xcbf43926'
    """
    value = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            value = zlib.crc32(block, value)
    return value


def refuse_difference(earlier: dict[str, Any], now: dict[str, Any], folder: Path) -> None:
    """Raises a UsageError that names the first thing in which two runs differ."""
    for name in dict.fromkeys([*now, *earlier]):
        if earlier.get(name) != now.get(name):
            raise UsageError(
                f"the stopped run had {name} {_told(earlier.get(name))}, this one has {_told(now.get(name))}",
                where=str(folder),
                hint="run with the same input and settings, or without --resume",
            )


def _told(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"


def discard(folder: Path) -> None:
    """Removes a scratch folder, if it is one."""
    if folder.is_symlink() or (folder.exists() and not (folder / _MANIFEST).exists() and any(folder.iterdir())):
        raise OutputError(
            "what stands there is not a scratch folder of neardup",
            where=str(folder),
            hint="name another with --scratch",
        )
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
