"""The kernels of the Rust core. Arrow arrays for text and lists, NumPy for fixed-width rows; always in batches."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = [
    "FORMAT_VERSION",
    "MIN_TOKENS",
    "UNICODE_VERSION",
    "WarcPages",
    "WarcReader",
    "agreeing_bits",
    "components",
    "count_lines",
    "diameters",
    "direct_removal",
    "equal_columns",
    "identity_sets",
    "jaccard",
    "join",
    "links",
    "match_rules",
    "minima",
    "minima_keys",
    "pairs_of_keys",
    "parities",
    "parse_jsonl",
    "pieces",
    "projections",
    "read_pages",
    "shingle_sets",
    "site_of",
    "spanning_forest",
    "term_difference",
    "terms",
]

FORMAT_VERSION: int
MIN_TOKENS: int
UNICODE_VERSION: str

@final
class WarcReader:
    def __new__(cls, unpacked: Any, block_bytes: int, head_bytes: int) -> WarcReader: ...
    def next_record(
        self,
    ) -> tuple[str, int | None, int | None, str, bytes, bytes, int, str | None] | None: ...
    def next_pages(self, batch_bytes: int, most: int, body_bytes: int) -> tuple[int, WarcPages] | None: ...

@final
class WarcPages:
    def take(
        self,
    ) -> tuple[
        dict[str, pa.Array],
        list[tuple[int | None, tuple[str, int | None, int | None, str, bytes, bytes, int, str | None]]],
        list[tuple[str, int]],
    ]: ...

def read_pages(
    content: pa.LargeBinaryArray,
    html: pa.BooleanArray,
    charset: pa.StringArray,
    url: pa.StringArray,
    *,
    hash: str = "fold",
    site_rule: str = "registrable",
) -> tuple[
    pa.LargeListArray,
    pa.StringArray,
    pa.StringArray,
    npt.NDArray[np.bool_],
    npt.NDArray[np.uint64],
    npt.NDArray[np.uint64],
]: ...
def terms(
    content: bytes,
    *,
    html: bool,
    charset: str | None = None,
    url: str | None = None,
    site_rule: str = "registrable",
) -> tuple[list[str], str | None, str | None, str]: ...
def links(
    content: pa.LargeBinaryArray, html: pa.BooleanArray, charset: pa.StringArray, url: pa.StringArray
) -> tuple[npt.NDArray[np.uint64], pa.LargeListArray]: ...
def count_lines(block: bytes) -> int: ...
def site_of(url: str, *, site_rule: str = "registrable") -> str | None: ...
def parse_jsonl(
    block: bytes, id_field: str, url_field: str, html_field: str, text_field: str, date_field: str
) -> tuple[pa.RecordBatch, list[tuple[int, str]]]: ...
def minima(tokens: pa.LargeListArray, *, k: int, count: int, rabin: bool = False) -> npt.NDArray[np.uint32]: ...
def minima_keys(
    tokens: pa.LargeListArray, *, k: int, count: int, rows: int, rabin: bool = False
) -> npt.NDArray[np.uint64]: ...
def pairs_of_keys(supershingles: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]: ...
def projections(tokens: pa.LargeListArray, *, bits: int, k: int = 1, rabin: bool = False) -> npt.NDArray[np.uint64]: ...
def pieces(sketches: npt.NDArray[np.uint64], pieces: int) -> npt.NDArray[np.uint64]: ...
def parities(sets: pa.LargeListArray) -> pa.LargeListArray: ...
def shingle_sets(tokens: pa.LargeListArray, *, k: int, rabin: bool = False) -> pa.LargeListArray: ...
def join(
    keys: npt.NDArray[np.uint64],
    active: npt.NDArray[np.bool_],
    *,
    predicate: str = "any",
    site_offsets: npt.NDArray[np.uint64] | None = None,
    sites: npt.NDArray[np.uint32] | None = None,
    columns: npt.NDArray[np.uint64] | None = None,
    bits: npt.NDArray[np.uint64] | None = None,
    least: float = 0.0,
    threads: int = 0,
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64], int, int]: ...

class _Sets(Protocol):
    """Ordered sets of all rows, and their parities, in batches; sets in memory, or in a file with the size of each."""

    @property
    def sets(self) -> list[pa.LargeListArray] | list[tuple[Path, npt.NDArray[np.int64]]]: ...
    @property
    def parities(self) -> list[pa.LargeListArray]: ...

class _Rule(Protocol):
    """At most one of ``columns``, ``bits`` and ``sets`` is there to verify with."""

    @property
    def keys(self) -> npt.NDArray[np.uint64]: ...
    @property
    def key_kind(self) -> str: ...
    @property
    def pieces(self) -> int: ...
    @property
    def predicate(self) -> str: ...
    @property
    def columns(self) -> npt.NDArray[np.uint64] | None: ...
    @property
    def bits(self) -> npt.NDArray[np.uint64] | None: ...
    @property
    def sets(self) -> _Sets | None: ...
    @property
    def least(self) -> float: ...

def match_rules(
    rules: Sequence[_Rule],
    active: npt.NDArray[np.bool_],
    order: npt.NDArray[np.uint32],
    *,
    hot: int,
    most_accepted: int,
    most_possible: int,
    site_offsets: npt.NDArray[np.uint64] | None = None,
    sites: npt.NDArray[np.uint32] | None = None,
    rows: npt.NDArray[np.uint32] | None = None,
    threads: int = 0,
) -> list[tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64], int, int, int, int, int]]: ...
def agreeing_bits(
    sketches: npt.NDArray[np.uint64], a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]: ...
def equal_columns(
    rows: npt.NDArray[np.uint64], a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]: ...
def jaccard(
    sets: pa.LargeListArray, a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32]
) -> npt.NDArray[np.float64]: ...
def term_difference(
    tokens: pa.LargeListArray, a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint64]: ...
def components(pages: int, a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]: ...
def spanning_forest(
    pages: int, a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32], score: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]: ...
def diameters(
    clusters: int,
    cluster: npt.NDArray[np.uint32],
    a: npt.NDArray[np.uint32],
    b: npt.NDArray[np.uint32],
    exact: int,
) -> npt.NDArray[np.uint32]: ...
def direct_removal(
    order: npt.NDArray[np.uint32],
    a: npt.NDArray[np.uint32],
    b: npt.NDArray[np.uint32],
    score: npt.NDArray[np.float64],
) -> npt.NDArray[np.uint32]: ...
def identity_sets(
    high: npt.NDArray[np.uint64], low: npt.NDArray[np.uint64], alone: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint32]: ...
