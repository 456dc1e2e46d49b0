"""The scratch folder: what a run has done so far, so that a run that was killed can go on.

Reading commits *segments*: an Arrow file of parts (and a file for each column of long lists, and one of the records
that could not be read), then a small file with their lengths and checksums and the tally. All are written under
another name, flushed and renamed, in that order, so a segment either counts or does not exist. A segment whose
checksum is wrong is dropped with all behind it, and read again. Later stages commit what they made as one file each,
in the same way. The manifest says what the run is a run of; going on with another input or detector is refused,
naming the difference.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa

from neardup.engines.common.matching import InFile
from neardup.engines.common.page_columns import LIST
from neardup.engines.common.tally import Tally
from neardup.errors import FormatError, OutputError, UsageError
from neardup.lazy import later
from neardup.record import record
from neardup.sinks import write_json
from neardup.sources.skipped import SkippedRecords
from neardup.writing import check_local, replacing

pc = later("pyarrow.compute")

_MANIFEST = "manifest.json"
#: The names of the files there are in a scratch folder.
_OWN: Final = re.compile(r"(manifest\.json|stage-[a-z]+|segment-[0-9]{6}\.(arrow|skipped|list_[a-z0-9]+|json))(\.tmp)?")
_BLOCK = 1 << 20

_Made = TypeVar("_Made")
#: Numbers of lists that are read of a file at a time; of a longer list, all.
_READ_AT_ONCE: Final = 1 << 20
_LISTS: Final = pa.large_list(pa.field("item", pa.uint64(), nullable=False))


@record(frozen=True, slots=True)
class Part:
    """Pages in input order, read and fingerprinted."""

    rows: pa.RecordBatch
    tally: Tally
    #: What of the same stretch of the input could not be read.
    skipped: SkippedRecords | None = None

    @property
    def nbytes(self) -> int:
        """About the bytes of memory it takes."""
        return int(self.rows.nbytes) + (self.skipped.nbytes if self.skipped is not None else 0)


@dataclass(slots=True)
class Scratch:
    """A folder of committed segments, in order.

    >>> import tempfile
    >>> rows = pa.RecordBatch.from_pydict({"id": ["a", "b"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scratch = Scratch.start(Path(folder, "s"), {"detector": "exact"})
    ...     scratch.commit([Part(rows, Tally(chunks=1))])
    ...     again = Scratch.resume(Path(folder, "s"), {"detector": "exact"})
    ...     again.chunks, next(again.columns(0, ["id"]))["id"].to_pylist()
    (1, ['a', 'b'])
    """

    folder: Path
    tallies: list[Tally]

    @classmethod
    def start(cls, folder: Path, manifest: dict[str, Any]) -> Scratch:
        """An empty scratch folder; what an earlier run left there goes."""
        check_local(folder)
        discard(folder)
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise OutputError(f"cannot make a scratch folder: {error.strerror}", where=str(folder)) from None
        try:
            write_json(manifest, folder / _MANIFEST, indent=None)
            return cls(folder, [])
        except BaseException:
            # Nobody knows of it yet, and the disk may take its time: Ctrl-C leaves nothing here either.
            discard(folder)
            raise

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

    @staticmethod
    def begun_by(folder: Path) -> str | None:
        """The detector of the run that left a scratch folder there."""
        try:
            return str(json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))["detector"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @property
    def chunks(self) -> int:
        """How many chunks of the source the segments cover."""
        return sum(tally.chunks for tally in self.tallies)

    def commit(self, parts: Sequence[Part]) -> None:
        """Writes parts as the next segment."""
        number = len(self.tallies)
        tally = Tally.total([part.tally for part in parts])
        batches = [part.rows for part in parts]
        files = [self._path(number, "arrow")]
        for name in batches[0].schema.names:
            if name.startswith(LIST):
                files.append(self._path(number, name))
                with replacing(files[-1]) as file:
                    for batch in batches:
                        file.write(_values(batch.column(name)))
                # In the Arrow file stands how long each list is.
                batches = [_with_sizes(batch, name) for batch in batches]
        with replacing(files[0]) as file, pa.ipc.new_file(file, batches[0].schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        skipped = SkippedRecords.of(*(part.skipped for part in parts if part.skipped))
        if skipped:
            files.append(self._path(number, "skipped"))
            # A file holds one dictionary a column.
            table = skipped.table.unify_dictionaries()
            with replacing(files[-1]) as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        sums = {path.name: [path.stat().st_size, checksum(path)] for path in files}
        write_json({"files": sums, **tally.to_json()}, self._path(number, "json"))
        self.tallies.append(tally)

    def skipped(self, number: int) -> Iterator[SkippedRecords]:
        """The records of a committed segment that could not be read."""
        path = self._path(number, "skipped")
        if path.exists():
            with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
                for at in range(reader.num_record_batches):
                    yield SkippedRecords(pa.Table.from_batches([reader.get_batch(at)]))

    def names(self, number: int) -> list[str]:
        """The columns of a committed segment."""
        with pa.OSFile(str(self._path(number, "arrow"))) as file, pa.ipc.open_file(file) as reader:
            names: list[str] = reader.schema.names
        return names

    def columns(self, number: int, names: list[str]) -> Iterator[pa.RecordBatch]:
        """Some columns of a committed segment, part by part; nothing else is read."""
        known = self.names(number)
        options = pa.ipc.IpcReadOptions(included_fields=[known.index(name) for name in names])
        with (
            pa.OSFile(str(self._path(number, "arrow"))) as file,
            pa.ipc.open_file(file, options=options) as reader,
        ):
            for at in range(reader.num_record_batches):
                batch = reader.get_batch(at)
                if batch.num_rows:
                    yield _alone(batch.select(names))

    def lists(self, number: int, name: str) -> InFile:
        """The file that holds the lists of a committed segment one after another, and how long each is."""
        sizes = [batch.column(0).to_numpy() for batch in self.columns(number, [name])]
        return self._path(number, name), np.concatenate([np.empty(0, np.int64), *sizes])

    def put_lists(self, name: str, batches: Iterable[pa.LargeListArray]) -> InFile:
        """Writes further lists of all pages beside the segments, for this run only."""
        path = self._path(0, name)
        sizes = [np.empty(0, np.int64)]
        with replacing(path, durable=False) as file:
            for lists in batches:
                file.write(_values(lists))
                sizes.append(pc.list_value_length(lists).to_numpy())
        return path, np.concatenate(sizes)

    def once(
        self,
        stage: str,
        make: Callable[[], _Made],
        save: Callable[[_Made, Path], None],
        load: Callable[[Path], _Made],
        *,
        worth: float,
    ) -> _Made:
        """What a stage makes: as a run that was stopped committed it, or made now, and committed if that took so many
        seconds. A file that ``load`` finds damaged, or made of something else (a FormatError), is made again."""
        path = self.folder / f"stage-{stage}"
        if path.exists():
            with suppress(FormatError):
                return load(path)
        begun = time.monotonic()
        value = make()
        if time.monotonic() - begun >= worth:
            save(value, path)
        return value

    def _path(self, number: int, ending: str) -> Path:
        return self.folder / f"segment-{number:06}.{ending}"

    def _read_tally(self, number: int) -> Tally | None:
        try:
            saved = json.loads(self._path(number, "json").read_text(encoding="utf-8"))
            for name, (size, expected) in saved.pop("files").items():
                path = self.folder / Path(name).name
                if path.stat().st_size != size or checksum(path) != expected:
                    return None
            return Tally.from_json(saved)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


@contextmanager
def temporary(folder: Path | None, wanted: bool) -> Iterator[Scratch | None]:
    """A scratch folder for a run whose result is not written, where one is wanted: the one that was named, or a
    temporary one; removed when the block ends.

    >>> with temporary(None, True) as scratch:
    ...     folder = scratch.folder
    >>> folder.exists()
    False
    """
    if not wanted and folder is None:
        yield None
        return
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="neardup-"))) / "scratch"
        # Nobody goes on with such a run.
        scratch = Scratch.start(folder, {"result": "in memory"})
        stack.callback(discard, folder)
        yield scratch


def read_lists(lists: InFile, at_once: int = _READ_AT_ONCE) -> Iterator[pa.LargeListArray]:
    """The lists in a file, about so many numbers at a time: a file is as large as what was committed together.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.arange(6, dtype=np.uint64).tofile(path := Path(folder, "lists"))
    ...     [batch.to_pylist() for batch in read_lists((path, np.array([2, 1, 3])), at_once=3)]
    [[[0, 1], [2]], [[3, 4, 5]]]
    """
    path, lengths = lists
    ends = np.concatenate([[0], np.cumsum(lengths)])
    start = 0
    while start < len(lengths):
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + at_once, side="right")) - 1)
        values = np.fromfile(path, np.uint64, count=int(ends[stop] - ends[start]), offset=8 * int(ends[start]))
        yield pa.LargeListArray.from_arrays(
            pa.array(ends[start : stop + 1] - ends[start]), pa.array(values), type=_LISTS
        )
        start = stop


def check_room(folder: Path, needed: int) -> None:
    """Raises an OutputError unless the disk of a folder that may not exist yet has room for so many bytes.

    >>> check_room(Path("nowhere/yet"), 1)
    """
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < needed:
        raise OutputError(
            f"the run may need {needed / 1e9:,.1f} GB of scratch space, and {free / 1e9:,.1f} GB are free",
            where=str(folder),
            hint="name a folder on another disk with --scratch, or give the run more --memory",
        )


def _alone(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same in memory of its own: what is read of a file holds on to all columns that were written together."""
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema)


def _values(lists: pa.LargeListArray) -> memoryview:
    """What stands in lists, one after another."""
    return np.ascontiguousarray(lists.flatten().to_numpy()).data


def _with_sizes(batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
    return batch.set_column(batch.schema.names.index(name), name, pc.list_value_length(batch.column(name)))


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
    """Removes a scratch folder, if it is one: told by its files, for a kill may come in the midst of this."""
    if folder.is_symlink() or (folder.exists() and not all(_OWN.fullmatch(path.name) for path in folder.iterdir())):
        raise OutputError(
            "what stands there is not a scratch folder of neardup",
            where=str(folder),
            hint="name another with --scratch",
        )
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
