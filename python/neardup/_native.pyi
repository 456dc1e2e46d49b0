"""The kernels of the Rust core. Arrow arrays for text and lists, NumPy for fixed-width rows; always in batches."""

from collections.abc import Sequence
from typing import Protocol, Self, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = [
    "FORMAT_VERSION",
    "MIN_TOKENS",
    "UNICODE_VERSION",
    "SampleIndex",
    "agreeing_bits",
    "all_pairs",
    "components",
    "cosines",
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
    tokens: list[pa.LargeListArray] | None = None,
    rows: npt.NDArray[np.uint32] | None = None,
    k: int = 1,
    rabin: bool = False,
    least: float = 0.0,
    threads: int = 0,
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64], int, int]: ...

class _Rule(Protocol):
    """At most one of ``columns``, ``bits`` and ``shingles`` is there to verify with."""

    @property
    def keys(self) -> npt.NDArray[np.uint64]: ...
    @property
    def predicate(self) -> str: ...
    @property
    def columns(self) -> npt.NDArray[np.uint64] | None: ...
    @property
    def bits(self) -> npt.NDArray[np.uint64] | None: ...
    @property
    def shingles(self) -> tuple[int, bool] | None: ...
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
    tokens: list[pa.LargeListArray] | None = None,
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
def all_pairs(
    sets: Sequence[pa.LargeListArray], *, measure: str = "jaccard", threshold: float, most: int, threads: int = 0
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64]]: ...
def cosines(
    tokens: Sequence[pa.LargeListArray],
    a: npt.NDArray[np.uint32],
    b: npt.NDArray[np.uint32],
    *,
    inverse: bool = False,
    threads: int = 0,
) -> npt.NDArray[np.float64]: ...

@final
class SampleIndex:
    def __new__(
        cls,
        tokens: Sequence[pa.LargeListArray],
        *,
        k: int,
        threshold: float,
        rabin: bool = False,
        other: tuple[int, bool] | None = None,
        cosine: bool = False,
    ) -> Self: ...
    def partners(
        self, tokens: pa.LargeListArray, taken: npt.NDArray[np.bool_]
    ) -> tuple[
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
    ]: ...
