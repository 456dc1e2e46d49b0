"""Pages to tokens and fingerprints, on the executors, by the kernels of the local engine.

Files are distributed as sources, one to a task, and a task reads its file as the local engine would. A frame is read
batch by batch as Spark hands it over, its batches bounded by bytes. Either way a page is named by its *part* (the
number of its file, or of its partition) and its position there; how many pages each part has then gives every page
its row, its place in the input.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.engines.common.layout import Layout, set_columns
from neardup.engines.common.packed import lists_to_bytes, rows_to_bytes
from neardup.engines.common.page_columns import LIST, STREAMS, TOKENS, PageColumns
from neardup.engines.common.tally import Tally
from neardup.engines.common.unread import Failing, Unread
from neardup.engines.spark.layout import page_columns
from neardup.errors import InputError
from neardup.graph.keep import preferences
from neardup.page import BATCH_BYTES, Kinds, Skipped
from neardup.sources import Fields
from neardup.sources.base import Chunk, Loaded, build_pages
from neardup.sources.inputs import FileSource, Inputs, runs_of_files
from neardup.sources.skipped import NAMED, SkippedRecords, named
from neardup.sources.tree import PageFiles, looks_like_html

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator[pa.RecordBatch]
#: Page files that one task reads; and stored bytes of other files, if they are small.
_FILES_A_TASK = 2048
BYTES_A_TASK = 16 << 20
#: What results call pages that came as a frame.
FRAME = "frame"


class PartUnread:
    """What one part could not read: the first records, and the files without any page. A task reads its files whole."""

    def __init__(self) -> None:
        self._records: list[Skipped] = []
        self._failing = Failing()
        self._with_pages: set[str] = set()

    def add(self, loaded: Loaded) -> None:
        """Takes what a chunk held."""
        if loaded.pages.num_rows:
            self._with_pages.update(pc.unique(loaded.pages.column("source")).to_pylist())
        if loaded.skipped:
            skipped = SkippedRecords.of(loaded.skipped)
            self._records += skipped[: NAMED - len(self._records)]
            self._failing.add(skipped)

    def to_json(self) -> dict[str, Any]:
        """The first records and files, and how many such files there are."""
        # The pages of a frame have no file, and those of other parts may be well.
        self._failing.have_pages(pa.array([*self._with_pages, FRAME], pa.string()))
        files = [asdict(entry) for entry in self._failing.files()]
        return {"named": named(self._records), "failed": files, "failed_files": len(self._failing)}


@dataclass(frozen=True)
class Reader:
    """Turns what was loaded into rows of the table of pages; goes to the executors as it is."""

    layout: Layout

    def __call__(self, part: int, chunks: Iterable[Chunk]) -> Batches:
        """The pages of a part, then one row that tells what else was there."""
        page_columns = PageColumns(self.layout.detector, self.layout.settings)
        tally, unread = Tally(), PartUnread()
        position = 0
        for chunk in chunks:
            loaded, columns, replaced = page_columns.load(chunk)
            if count := loaded.pages.num_rows:
                yield self._rows(part, position, columns, page_columns.kinds)
            position += count
            tally = Tally.total([tally, Tally.of(chunk, loaded, replaced)])
            unread.add(loaded)
        text = json.dumps({"tally": tally.to_json(), **unread.to_json()})
        yield pa.RecordBatch.from_pydict({"part": [part], "position": [position], "told": [text]})

    def _rows(self, part: int, position: int, columns: dict[str, pa.Array], kinds: Sequence[Any]) -> pa.RecordBatch:
        tokens = columns["tokens"].to_numpy()
        count = len(tokens)
        rows = {name: columns[name] for name in ("id", "url", "source", "record", "offset", "length", "title", "site")}
        rows["part"] = pa.array(np.full(count, part, np.int32))
        rows["position"] = pa.array(np.arange(position, position + count))
        rows["tokens"] = columns["tokens"].cast(pa.int64())
        halves = np.stack([columns["identity_high"].to_numpy(), columns["identity_low"].to_numpy()], axis=1)
        identity = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(16), count, [None, pa.py_buffer(np.ascontiguousarray(halves))]
        ).cast(pa.binary())
        rows["identity"] = pc.if_else(pa.array(tokens > 0), identity, pa.scalar(None, pa.binary()))
        policy = self.layout.settings.keep
        if policy == "most-linked":
            rows["own_url"] = pa.array(columns["own_url"].to_numpy().view(np.int64))
            rows["links"] = lists_to_bytes(columns["links"])
            preferred = np.zeros(count, np.int64)
        else:
            preferred = preferences(policy, tokens=tokens, urls=columns["url"], dates=columns["date"])
        rows["preference"] = pa.array(preferred)
        for number, kind in enumerate(kinds):
            at = self.layout.kinds.index(kind)
            if f"fingerprint_{number}" in columns:
                packed = columns[f"fingerprint_{number}"]
                values = packed.flatten().to_numpy().reshape(count, packed.type.list_size)
                rows[f"f{at}"] = rows_to_bytes(values)
            else:
                rows |= set_columns(columns[f"{LIST}{number}"], columns[f"parity_{number}"], at)
        if TOKENS in columns:
            rows["t"] = lists_to_bytes(columns[TOKENS])
        if STREAMS in columns:
            rows["t"] = lists_to_bytes(columns[STREAMS])
            for name, values in zip(("label", "address"), _native.stream_labels(columns[STREAMS]), strict=True):
                rows[name] = pa.array(values.view(np.int64))
        return pa.RecordBatch.from_pydict(rows)


def fitted(batches: Batches, schema: pa.Schema) -> Batches:
    """Batches with all columns of a schema, in its order; what is not there is null."""
    for batch in batches:
        held = batch.schema.names
        columns = [
            batch.column(field.name).cast(field.type) if field.name in held else pa.nulls(batch.num_rows, field.type)
            for field in schema
        ]
        yield pa.RecordBatch.from_arrays(columns, names=schema.names)


def arrow_schema(session: SparkSession, declared: str) -> pa.Schema:
    """The Arrow form of a declared table."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    struct = StructType.fromDDL(declared)
    assert isinstance(struct, StructType)
    return to_arrow_schema(struct)


def parts_of(source: Inputs) -> list[Inputs]:
    """What tasks read, each some files of a source that follow each other, by names that hold in any directory: one
    large file, several small ones, or a piece of a long run of page files."""
    parts: list[FileSource] = []
    for file in source.files:
        if isinstance(file, PageFiles):
            files = [replace(named, place=named.place.anywhere()) for named in file.files]
            starts = range(0, len(files), _FILES_A_TASK)
            parts += [PageFiles(files[start : start + _FILES_A_TASK], file.base_url, file.longest) for start in starts]
        else:
            part = copy(file)
            part.place = file.place.anywhere()
            parts.append(part)
    return [Inputs(files) for files in runs_of_files(parts, BYTES_A_TASK)]


def read_files(session: SparkSession, source: Inputs, layout: Layout) -> DataFrame:
    """The pages of files, each file read by one task."""
    parts = parts_of(source)
    schema, reader = arrow_schema(session, page_columns(layout)), Reader(layout)

    def read(batches: Batches) -> Batches:
        def rows() -> Batches:
            for batch in batches:
                for part, made in zip(
                    batch.column("part").to_pylist(), batch.column("source").to_pylist(), strict=True
                ):
                    yield from reader(part, pickle.loads(made).chunks())

        return fitted(rows(), schema)

    listed = [(at, pickle.dumps(part)) for at, part in enumerate(parts)]
    files = session.createDataFrame(listed, "part int, source binary")
    # One part a task: a hash would put several in one and leave others idle.
    return files.repartitionByRange(len(listed), "part").mapInArrow(read, page_columns(layout))


def read_frame(frame: DataFrame, layout: Layout, fields: Fields, order: str | Sequence[str] | None) -> DataFrame:
    """The pages of a frame, in the order of some columns of it; else in its own."""
    selected = page_frame(frame, fields, order)
    schema, reader = arrow_schema(frame.sparkSession, page_columns(layout)), Reader(layout)

    def read(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = context.partitionId() if context is not None else 0

        def chunks() -> Iterator[Chunk]:
            position = 0
            for batch in batches:
                for piece in pieces(batch):
                    yield Chunk(piece.column("content").nbytes, partial(_loaded, piece, part, position))
                    position += piece.num_rows

        return fitted(reader(part, chunks()), schema)

    return selected.mapInArrow(read, page_columns(layout))


def pieces(batch: pa.RecordBatch) -> Batches:
    """A batch cut so that no piece has much more than ``BATCH_BYTES`` of content."""
    sizes = pc.fill_null(pc.binary_length(batch.column("content")), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    number = np.cumsum(sizes) // BATCH_BYTES
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), batch.num_rows], strict=True):
        yield batch.slice(start, stop - start)


def _loaded(batch: pa.RecordBatch, part: int, position: int) -> Loaded:
    content = batch.column("content")
    missing = np.asarray(content.is_null())
    skipped = [
        Skipped(FRAME, f"partition {part}, page {position + int(at)}", "it has neither text nor HTML")
        for at in np.flatnonzero(missing)
    ]
    if skipped:
        batch = batch.filter(pa.array(~missing))
    columns = {name: batch.column(name) for name in ("id", "url", "content", "html", "charset", "date")}
    if columns["html"].null_count:
        # Page files: the name or a look at the beginning tells.
        marked = [
            looks_like_html(name or "", data)
            for name, data in zip(columns["id"].to_pylist(), columns["content"].to_pylist(), strict=True)
        ]
        columns["html"] = pa.array(marked, pa.bool_())
    columns["record"] = pa.array(np.arange(position, position + batch.num_rows))
    return Loaded(build_pages(columns, FRAME, batch.num_rows), skipped)


def with_inner_columns(frame: DataFrame, fields: Fields) -> DataFrame:
    """A frame with columns of its own for what fields name inside of others, as ``meta.url``."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DataType, StructType

    for name in set(fields.names()) - set(frame.columns):
        kind: DataType | None = frame.schema
        for part in name.split("."):
            there = isinstance(kind, StructType) and part in kind.names
            kind = kind[part].dataType if there and isinstance(kind, StructType) else None
        if kind is not None:
            frame = frame.withColumn(name, F.col(".".join(f"`{part}`" for part in name.split("."))))
    return frame


def page_frame(frame: DataFrame, fields: Fields, order: str | Sequence[str] | None) -> DataFrame:
    """A frame with the columns of a page, from columns of the usual or the given names; from ``value`` as Spark reads
    text; or from ``path`` and ``content`` as it reads binary files."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType

    frame = with_inner_columns(frame, fields)
    have = set(frame.columns)
    for what, name in fields.changed().items():
        if name not in have:
            raise InputError(f"the frame has no column {name!r} for {what}", hint=f"it has {', '.join(frame.columns)}")
    if order is not None:
        names = [order] if isinstance(order, str) else list(order)
        if not set(names) <= have:
            raise InputError(
                f"the frame has no column {', '.join(sorted(set(names) - have))}", hint=f"it has {', '.join(have)}"
            )
        frame = frame.orderBy(*names)
    empty = F.lit(None).cast("string")

    def text(name: str) -> Any:
        return F.col(f"`{name}`").cast("string") if name in have else empty

    html, plain, own_id = fields.html, fields.text, text(fields.id)
    if html not in have and plain not in have:
        if "value" in have:
            plain = "value"
        elif {"path", "content"} <= have:
            return frame.select(
                F.col("path").alias("id"), text(fields.url).alias("url"), F.col("content").alias("content"),
                F.lit(None).cast("boolean").alias("html"), empty.alias("charset"), text(fields.date).alias("date"),
            )  # fmt: skip
        else:
            raise InputError(
                f"the frame has neither {html!r} nor {plain!r}",
                hint="name its columns with fields=Fields(text=…); it has " + ", ".join(frame.columns),
            )
    content, marked, charset = F.lit(None).cast("binary"), F.lit(False), empty
    for name, is_html in ((plain, False), (html, True)):
        if name in have:
            there = F.col(f"`{name}`").isNotNull()
            content = F.when(there, F.col(f"`{name}`").cast("binary")).otherwise(content)
            marked = F.when(there, F.lit(is_html)).otherwise(marked)
            known = None if isinstance(frame.schema[name].dataType, BinaryType) else "utf-8"
            charset = F.when(there, F.lit(known).cast("string")).otherwise(charset)
    return frame.select(
        own_id.alias("id"), text(fields.url).alias("url"), content.alias("content"), marked.alias("html"),
        charset.alias("charset"), text(fields.date).alias("date"),
    )  # fmt: skip


def likely_kinds(frame: DataFrame, fields: Fields) -> Kinds:
    """The kind that the pages of a frame have, by its columns, unless there are others among them."""
    have = set(with_inner_columns(frame, fields).columns)
    text = fields.html not in have and (fields.text in have or "value" in have)
    return Kinds(text=1) if text else Kinds(html=1)


def tally_of(parts: DataFrame, left: Sequence[Skipped]) -> tuple[Tally, Unread]:
    """What reading had to tell, in all and in input order; ``left`` are files that were left out of folders."""
    tally = Tally()
    records: list[Skipped] = []
    failed: list[Skipped] = []
    failed_files = 0
    for row in parts.where("told is not null").orderBy("part").select("told").toLocalIterator():
        part = json.loads(row["told"])
        tally = Tally.total([tally, Tally.from_json(part["tally"])])
        records += [Skipped(**entry) for entry in part["named"][: NAMED - len(records)]]
        failed += [Skipped(**entry) for entry in part["failed"][: NAMED - len(failed)]]
        failed_files += part["failed_files"]
    return tally, Unread(records, failed, list(left[:NAMED]), failed_files, len(left))
