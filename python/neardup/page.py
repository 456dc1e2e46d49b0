"""What a page is on its way in: the schema of page batches, and what is said of a record that was skipped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

#: A batch of pages as every source yields it and every engine takes it.
PAGES: Final = pa.schema(
    [
        # The input's own id; null where it has none, and the engine then writes "source#record".
        pa.field("id", pa.string()),
        pa.field("url", pa.string()),
        # The page as bytes: HTML or plain text, transfer and content encodings already undone.
        pa.field("content", pa.large_binary(), nullable=False),
        pa.field("html", pa.bool_(), nullable=False),
        # A charset that the transport names (the HTTP header); "utf-8" where the text was decoded already.
        pa.field("charset", pa.string()),
        pa.field("date", pa.string()),
        # Where the page came from: the input's name, its record number there (from 0), and, where the
        # format allows going back to it, the byte offset and length in the (compressed) file.
        pa.field("source", pa.string(), nullable=False),
        pa.field("record", pa.int64(), nullable=False),
        pa.field("offset", pa.int64()),
        pa.field("length", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class Kinds:
    """How many pages are markup and how many are plain text, by the column ``html``.

    >>> Kinds.of(pa.RecordBatch.from_pydict({"html": [True, False, True]}))
    Kinds(html=2, text=1)
    """

    html: int = 0
    text: int = 0

    @staticmethod
    def of(pages: pa.RecordBatch) -> Kinds:
        """Those of a batch of pages."""
        marked = int(pages.column("html").true_count)
        return Kinds(marked, pages.num_rows - marked)


#: Batches are bounded by bytes of content, so that a batch of huge pages is as small as one of tiny ones.
BATCH_BYTES: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that could not be read: where it stood and why it was left out.

    >>> Skipped("crawl.jsonl", "line 812", "invalid JSON: EOF while parsing a string").describe()
    'crawl.jsonl, line 812: invalid JSON: EOF while parsing a string'
    """

    source: str
    position: str
    reason: str

    def describe(self) -> str:
        return f"{self.source}, {self.position}: {self.reason}"
