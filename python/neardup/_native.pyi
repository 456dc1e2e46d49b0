"""The kernels of the Rust core. Arrow arrays for text and lists, NumPy for fixed-width rows; always in batches."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, Self, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = [
    "FEW_ENTRIES",
    "FORMAT_VERSION",
    "MIN_TOKENS",
    "UNICODE_VERSION",
    "BodyError",
    "CallError",
    "DamagedError",
    "DelimitedRows",
    "Framed",
    "IndexAnswers",
    "IndexMatches",
    "IndexStore",
    "LineBlock",
    "LineBlocks",
    "LineStretch",
    "LockedError",
    "NotAPage",
    "NumberTable",
    "PageReader",
    "PageTask",
    "PagesRead",
    "ParagraphSteps",
    "ParsedLines",
    "Piece",
    "Plan",
    "Postings",
    "PrefixProfile",
    "RecordPage",
    "Repeats",
    "RuleFindings",
    "RulePairs",
    "SampleIndex",
    "StoreError",
    "Unpacked",
    "WarcLoaded",
    "WarcPages",
    "WarcReader",
    "WrongRows",
    "agreeing_bits",
    "align",
    "all_pairs",
    "anatomy",
    "array_begins",
    "bag_names",
    "bow_tie",
    "build_postings",
    "components",
    "compressed_sizes",
    "compression_of",
    "compression_window",
    "compute",
    "content_streams",
    "cosines",
    "crawl",
    "cut_lines",
    "diameters",
    "direct_removal",
    "equal_columns",
    "group_columns",
    "growth",
    "identity_sets",
    "index_pages",
    "interval_probability",
    "jaccard",
    "links",
    "merge_frequencies",
    "noise_names",
    "page_paragraphs",
    "page_structure",
    "page_terms",
    "page_url",
    "pairs_of_keys",
    "parities",
    "pieces",
    "place_names",
    "read_delimited",
    "read_plain_files",
    "repeat_levels",
    "repeated_rows",
    "site_hashes",
    "site_of",
    "snippets",
    "spanning_forest",
    "stream_cells",
    "stream_labels",
    "term_difference",
    "term_noise",
    "terms",
    "token_identities",
    "too_long",
    "united",
    "url_hashes",
    "verify_index",
    "wrong_rows",
]

#: Buckets of so many entries are joined whatever the limits say.
FEW_ENTRIES: int
FORMAT_VERSION: int
MIN_TOKENS: int
UNICODE_VERSION: str

@final
class Piece:
    @property
    def data(self) -> bytes: ...
    @property
    def offset(self) -> int: ...
    @property
    def starts(self) -> bool: ...
    @property
    def damage(self) -> str | None: ...

@final
class Unpacked:
    def __new__(cls, raw: Any, read_bytes: int = 1048576) -> Self: ...
    @property
    def compression(self) -> str: ...
    @property
    def taken(self) -> int: ...
    @property
    def has_dictionary(self) -> bool: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Piece: ...

def compression_of(head: bytes) -> str: ...

class NotAPage(Exception): ...
class BodyError(Exception): ...

@final
class RecordPage:
    @property
    def id(self) -> str | None: ...
    @property
    def url(self) -> str | None: ...
    @property
    def content(self) -> bytes: ...
    @property
    def html(self) -> bool: ...
    @property
    def charset(self) -> str | None: ...
    @property
    def date(self) -> str | None: ...
    @property
    def tolerated(self) -> bool: ...

@final
class Framed:
    def __new__(
        cls,
        position: str,
        offset: int | None = None,
        length: int | None = None,
        kind: str = "",
        header: bytes | None = None,
        block: bytes | None = None,
        block_length: int = 0,
        damage: str | None = None,
    ) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    @property
    def position(self) -> str: ...
    @property
    def offset(self) -> int | None: ...
    @property
    def length(self) -> int | None: ...
    @property
    def kind(self) -> str: ...
    @property
    def header(self) -> bytes: ...
    @property
    def block(self) -> bytes: ...
    @property
    def block_length(self) -> int: ...
    @property
    def damage(self) -> str | None: ...
    def field(self, name: str) -> str | None: ...
    def page(self, longest: int) -> RecordPage: ...
    def answer(self, longest: int) -> tuple[int, dict[str, str], bytes] | None: ...

@final
class WarcReader:
    def __new__(cls, unpacked: Unpacked, block_bytes: int, head_bytes: int) -> Self: ...
    def next_record(self) -> Framed | None: ...
    def next_pages(self, batch_bytes: int, most: int, longest: int) -> tuple[int, int, WarcPages] | None: ...

@final
class WarcPages:
    def load(self) -> WarcLoaded: ...
    def read(self, task: PageTask) -> tuple[WarcLoaded, PagesRead]: ...

@final
class WarcLoaded:
    @property
    def columns(self) -> dict[str, pa.Array]: ...
    @property
    def skipped(self) -> list[tuple[str, str]]: ...
    @property
    def ignored(self) -> list[tuple[str, int]]: ...
    @property
    def tolerated(self) -> int: ...
    @property
    def redirects(self) -> list[tuple[str, str]]: ...

@final
class ParagraphSteps:
    def __new__(
        cls, shares: Sequence[float], last: npt.NDArray[np.uint32], *, bits: int, threads: int = 0
    ) -> ParagraphSteps: ...
    def count(self, lists: pa.LargeListArray) -> None: ...
    def join_equal(self, a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32]) -> None: ...
    def begin(self, batches: Sequence[tuple[pa.LargeListArray, npt.NDArray[np.uint32]]]) -> None: ...
    def probe(self, lists: pa.LargeListArray, pages: npt.NDArray[np.uint32], same_step: bool) -> None: ...
    def counts(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]: ...
    def labels(self, rule: str, level: int) -> npt.NDArray[np.uint32]: ...

def page_paragraphs(
    content: pa.LargeBinaryArray,
    html: pa.BooleanArray,
    charset: pa.StringArray,
    url: pa.StringArray,
    *,
    sentence: int,
    sentences: int,
    longer_than: int,
) -> tuple[pa.LargeListArray, npt.NDArray[np.uint32]]: ...
def bag_names(lists: pa.LargeListArray) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]: ...
def bow_tie(
    pages: int, from_: npt.NDArray[np.uint32], to: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]: ...
def crawl(
    pages: int, from_: npt.NDArray[np.uint32], to: npt.NDArray[np.uint32], seeds: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]: ...
def growth(
    pages: int,
    a: npt.NDArray[np.uint32],
    b: npt.NDArray[np.uint32],
    found_in: npt.NDArray[np.uint32],
    steps: int,
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]: ...
def repeated_rows(texts: pa.StringArray) -> npt.NDArray[np.uint32]: ...
def url_hashes(address: pa.StringArray, base: pa.StringArray | None = None) -> npt.NDArray[np.uint64]: ...

@final
class PageTask:
    def __new__(
        cls,
        kinds: Sequence[Any],
        held: bool,
        *,
        hash: str = "fold",
        site_rule: str = "registrable",
    ) -> Self: ...
    def read(
        self, content: pa.LargeBinaryArray, html: pa.BooleanArray, charset: pa.StringArray, url: pa.StringArray
    ) -> PagesRead: ...

@final
class PagesRead:
    @property
    def lengths(self) -> npt.NDArray[np.int64]: ...
    @property
    def tokens(self) -> pa.LargeListArray | None: ...
    @property
    def title(self) -> pa.StringArray: ...
    @property
    def site(self) -> pa.StringArray: ...
    @property
    def replaced(self) -> npt.NDArray[np.bool_]: ...
    @property
    def identity_high(self) -> npt.NDArray[np.uint64]: ...
    @property
    def identity_low(self) -> npt.NDArray[np.uint64]: ...
    @property
    def made(self) -> list[npt.NDArray[np.uint64] | tuple[pa.LargeListArray, pa.LargeListArray]]: ...

def terms(
    content: bytes,
    *,
    html: bool,
    charset: str | None = None,
    url: str | None = None,
    site_rule: str = "registrable",
) -> tuple[list[str], str | None, str | None, str]: ...
def links(
    content: pa.LargeBinaryArray,
    html: pa.BooleanArray,
    charset: pa.StringArray,
    url: pa.StringArray,
    *,
    all: bool = False,
) -> tuple[npt.NDArray[np.uint64], pa.LargeListArray]: ...
def read_plain_files(paths: list[str], longest: int) -> pa.LargeBinaryArray: ...

@final
class DelimitedRows:
    @property
    def columns(self) -> list[pa.Array]: ...
    @property
    def at(self) -> int: ...
    @property
    def line(self) -> int: ...
    @property
    def stop(self) -> str: ...

@final
class WrongRows:
    @property
    def lines(self) -> list[int]: ...
    @property
    def fields(self) -> list[int]: ...
    @property
    def at(self) -> int: ...
    @property
    def line(self) -> int: ...

def read_delimited(
    data: bytes,
    at: int,
    line: int,
    *,
    delimiter: str,
    width: int,
    wanted: list[int],
    most_records: int,
    most_bytes: int,
) -> DelimitedRows: ...
def wrong_rows(
    data: bytes,
    at: int,
    line: int,
    *,
    delimiter: str,
    width: int,
    most_records: int,
    most_bytes: int,
) -> WrongRows: ...
def too_long(what: str, length: int, longest: int) -> str: ...
def cut_lines(path: str, start: int, size: int) -> tuple[int, int]: ...
def page_url(url: str) -> str | None: ...
def site_of(url: str, *, site_rule: str = "registrable") -> str | None: ...
def array_begins(head: bytes) -> bool: ...

@final
class ParsedLines:
    @property
    def pages(self) -> pa.RecordBatch: ...
    @property
    def bad(self) -> tuple[pa.Array, pa.Array, list[str]]: ...
    @property
    def count(self) -> int: ...

@final
class LineStretch:
    def __new__(cls, path: str, start: int, length: int) -> Self: ...
    def count(self) -> int: ...
    def parse(self, names: Sequence[str], longest: int) -> ParsedLines: ...
    def read(self, names: Sequence[str], longest: int, task: PageTask) -> tuple[ParsedLines, PagesRead]: ...

@final
class LineBlock:
    def __new__(cls, data: bytes, first_line: int = 0, first_byte: int | None = None) -> Self: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def data(self) -> bytes: ...
    @property
    def first_line(self) -> int: ...
    @property
    def first_byte(self) -> int | None: ...
    @property
    def skipped(self) -> str | None: ...
    @property
    def unit(self) -> str: ...
    def count(self) -> int: ...
    def parse(self, names: Sequence[str], longest: int) -> ParsedLines: ...
    def read(self, names: Sequence[str], longest: int, task: PageTask) -> tuple[ParsedLines, PagesRead]: ...

@final
class LineBlocks:
    def __new__(cls, unpacked: Unpacked, block_bytes: int, longest: int, seekable: bool) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> LineBlock: ...

def pairs_of_keys(supershingles: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]: ...
def pieces(sketches: npt.NDArray[np.uint64], pieces: int) -> npt.NDArray[np.uint64]: ...
def parities(sets: pa.LargeListArray) -> pa.LargeListArray: ...

class _Sets(Protocol):
    """Ordered sets of all rows, and their parities, in batches; sets in memory, or in a file with the size of each."""

    @property
    def sets(self) -> list[pa.LargeListArray] | list[tuple[Path, npt.NDArray[np.int64]]]: ...
    @property
    def parities(self) -> list[pa.LargeListArray]: ...

class _Units(Protocol):
    """The sites of each page, one list behind another, and the same number for pages of one text."""

    @property
    def offsets(self) -> npt.NDArray[np.uint64]: ...
    @property
    def values(self) -> npt.NDArray[np.uint32]: ...
    @property
    def texts(self) -> npt.NDArray[np.uint32] | None: ...

class _Glances(Protocol):
    """How large sets are, and their parities."""

    @property
    def sizes(self) -> npt.NDArray[np.uint32]: ...
    @property
    def parities(self) -> pa.LargeListArray: ...

class _Pages(Protocol):
    """What is held of pages, in the order of a plan; what no rule speaks of that is asked may be missing."""

    @property
    def columns(self) -> Sequence[npt.NDArray[np.uint64] | None]: ...
    @property
    def sets(self) -> Sequence[_Sets | _Glances | None]: ...
    @property
    def key_lists(self) -> Sequence[pa.LargeListArray | None]: ...
    @property
    def active(self) -> npt.NDArray[np.bool_] | None: ...
    @property
    def units(self) -> _Units | None: ...
    @property
    def rows(self) -> npt.NDArray[np.uint32] | None: ...

class _Limits(Protocol):
    """How far buckets are joined: entries of one that is not hot, pairs that are recorded, pairs there may be."""

    @property
    def hot(self) -> int: ...
    @property
    def accepted(self) -> int: ...
    @property
    def possible(self) -> int: ...

class _Entries(Protocol):
    """Entries of hot buckets: of each its rule, the bucket's column, key and site, and its page."""

    @property
    def rule(self) -> npt.NDArray[np.uint32]: ...
    @property
    def column(self) -> npt.NDArray[np.uint32]: ...
    @property
    def key(self) -> npt.NDArray[np.uint64]: ...
    @property
    def site(self) -> npt.NDArray[np.uint32]: ...
    @property
    def page(self) -> npt.NDArray[np.uint32]: ...

@final
class RulePairs:
    @property
    def a(self) -> npt.NDArray[np.uint32]: ...
    @property
    def b(self) -> npt.NDArray[np.uint32]: ...
    @property
    def score(self) -> npt.NDArray[np.float64]: ...
    @property
    def candidates(self) -> int: ...
    @property
    def accepted(self) -> int: ...
    @property
    def largest_bucket(self) -> int: ...
    @property
    def hot_buckets(self) -> int: ...
    @property
    def unscored(self) -> int: ...

@final
class RuleFindings:
    @property
    def applies(self) -> npt.NDArray[np.bool_]: ...
    @property
    def keys_shared(self) -> npt.NDArray[np.uint32]: ...
    @property
    def keys_needed(self) -> int: ...
    @property
    def keys(self) -> npt.NDArray[np.uint32]: ...
    @property
    def value(self) -> npt.NDArray[np.float64]: ...
    @property
    def threshold(self) -> float: ...
    @property
    def greatest(self) -> float: ...
    @property
    def confirming(self) -> npt.NDArray[np.float64] | None: ...
    @property
    def confirming_threshold(self) -> float: ...
    @property
    def confirmed(self) -> npt.NDArray[np.bool_]: ...
    @property
    def accepted(self) -> npt.NDArray[np.bool_]: ...
    @property
    def score(self) -> npt.NDArray[np.float64]: ...

@final
class Plan:
    def __new__(cls, widths: Sequence[int], sets: int, rules: Sequence[str]) -> Plan: ...
    def __getnewargs__(self) -> tuple[list[int], int, list[str]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    @property
    def widths(self) -> list[int]: ...
    @property
    def sets(self) -> int: ...
    @property
    def rules(self) -> list[str]: ...
    @property
    def digest(self) -> str: ...
    @property
    def key_columns(self) -> list[int]: ...
    def pair(
        self,
        columns: Sequence[npt.NDArray[np.uint64]],
        sets: Sequence[pa.LargeListArray],
        a: npt.NDArray[np.uint32],
        b: npt.NDArray[np.uint32],
        same_site: npt.NDArray[np.bool_],
    ) -> list[RuleFindings]: ...
    def match(
        self, pages: _Pages, order: npt.NDArray[np.uint32], limits: _Limits, *, threads: int = 0
    ) -> list[RulePairs]: ...
    def resolve_hot(
        self, pages: _Pages, order: npt.NDArray[np.uint32], hot: _Entries, *, recorded: int, threads: int = 0
    ) -> list[RulePairs]: ...
    def hot_links(
        self, pages: _Pages, hot: _Entries, salt: npt.NDArray[np.uint32], *, threads: int = 1
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]: ...
    def match_buckets(
        self,
        rule: int,
        pages: _Pages,
        columns: npt.NDArray[np.uint32],
        keys: npt.NDArray[np.uint64],
        key_sites: npt.NDArray[np.uint32],
        *,
        threads: int = 1,
    ) -> RulePairs: ...

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
def align(tokens: pa.LargeListArray, a: int, b: int) -> npt.NDArray[np.uint32]: ...
def components(pages: int, a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]: ...
def united(
    rules: Sequence[tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64]]],
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64], npt.NDArray[np.int8]]: ...
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
    *,
    texts: npt.NDArray[np.uint32] | None = None,
    settled: int = 0,
) -> npt.NDArray[np.uint32]: ...
def identity_sets(
    high: npt.NDArray[np.uint64], low: npt.NDArray[np.uint64], alone: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint32]: ...
def page_terms(
    content: pa.LargeBinaryArray, html: pa.BooleanArray, charset: pa.StringArray, url: pa.StringArray
) -> pa.LargeListArray: ...

# Fingerprints.

class _Fingerprint(Protocol):
    """What is computed; the parameters are further attributes."""

    @property
    def native(self) -> str: ...

def compute(fingerprint: _Fingerprint, input: pa.LargeListArray) -> Any: ...
def group_columns(values: npt.NDArray[np.uint64], groups: int) -> npt.NDArray[np.uint64]: ...
def content_streams(
    content: pa.LargeBinaryArray,
    html: pa.BooleanArray,
    charset: pa.StringArray,
    url: pa.StringArray,
    *,
    site_rule: str,
    structure: bool,
    noise: bool,
    title: bool,
    main: bool,
) -> pa.LargeListArray: ...
def stream_labels(streams: pa.LargeListArray) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]: ...
def stream_cells(streams: pa.LargeListArray) -> pa.LargeListArray: ...
def interval_probability(distance: float, width: float) -> float: ...

@final
class PrefixProfile:
    def __new__(cls, classes: list[tuple[str, float]]) -> PrefixProfile: ...
    def counts(self, terms: pa.LargeListArray) -> npt.NDArray[np.uint32]: ...

# Statistics of a collection.

def repeat_levels(n: int) -> list[int]: ...

@final
class Repeats:
    def __new__(cls, length: int, bits: int) -> Repeats: ...
    @staticmethod
    def from_planes(length: int, bits: int, once: npt.NDArray[np.uint64], twice: npt.NDArray[np.uint64]) -> Repeats: ...
    @property
    def length(self) -> int: ...
    @property
    def bits(self) -> int: ...
    def planes(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]: ...
    def count(self, tokens: pa.LargeListArray, before: Repeats | None = None, *, last: bool) -> None: ...
    def merge(self, other: Repeats) -> None: ...
    def frequencies(self, tokens: pa.LargeListArray) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]: ...

def merge_frequencies(
    a: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]], b: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]: ...

@final
class NumberTable:
    def __new__(cls, numbers: npt.NDArray[np.uint64], counts: npt.NDArray[np.uint32] | None = None) -> NumberTable: ...
    def __len__(self) -> int: ...
    def look_up(self, numbers: npt.NDArray[np.uint64], default: int) -> npt.NDArray[np.uint32]: ...

# The chunk index.

def build_postings(
    fingerprints: list[pa.LargeListArray],
) -> tuple[
    npt.NDArray[np.uint64],
    npt.NDArray[np.uint64],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
]: ...

@final
class Postings:
    def __new__(
        cls,
        numbers: npt.NDArray[np.uint64],
        directory: npt.NDArray[np.uint64],
        starts: npt.NDArray[np.uint32],
        pages: npt.NDArray[np.uint32],
        sizes: npt.NDArray[np.uint32],
        *,
        check: bool = True,
    ) -> Postings: ...
    def query(
        self, queries: pa.LargeListArray, *, least: int, ratio: float = 0.0, threads: int = 0
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]: ...
    def postlist(self, number: int) -> npt.NDArray[np.uint32]: ...

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

# What two given pages are compared by.

def anatomy(
    content: pa.LargeBinaryArray, html: pa.BooleanArray, charset: pa.StringArray, url: pa.StringArray
) -> tuple[pa.LargeStringArray, pa.LargeListArray, pa.LargeListArray, pa.StringArray]: ...
def page_structure(
    content: pa.LargeBinaryArray, html: pa.BooleanArray, charset: pa.StringArray, url: pa.StringArray
) -> tuple[pa.LargeListArray, pa.LargeListArray]: ...
def place_names() -> dict[str, int]: ...
def term_noise(terms: pa.LargeListArray) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]: ...
def noise_names() -> tuple[dict[str, int], dict[str, int]]: ...
def compression_window(method: str) -> int: ...
def compressed_sizes(
    content: pa.LargeBinaryArray, a: npt.NDArray[np.uint32], b: npt.NDArray[np.uint32], *, method: str
) -> npt.NDArray[np.uint64]: ...
def snippets(
    texts: pa.LargeStringArray, page: npt.NDArray[np.uint32], queries: pa.StringArray, *, window: int, most: int
) -> pa.LargeStringArray: ...

class _PageArrays(Protocol):
    """A batch of pages for an index."""

    ids: list[bytes]
    identity_high: npt.NDArray[np.uint64]
    identity_low: npt.NDArray[np.uint64]
    empty: npt.NDArray[np.bool_]
    active: npt.NDArray[np.bool_]
    sites: npt.NDArray[np.uint64]
    times: npt.NDArray[np.int64]
    requests: list[tuple[bytes, bytes, int] | None] | None
    columns: list[npt.NDArray[np.uint64]]
    sets: list[pa.LargeListArray]

class StoreError(Exception): ...
class LockedError(StoreError): ...
class DamagedError(StoreError): ...
class CallError(Exception): ...

def verify_index(
    path: str | Path,
    plan: Plan,
    *,
    most: int,
    place: str | Path,
) -> tuple[int, int, int, list[str]]: ...

@final
class IndexStore:
    def __new__(
        cls,
        path: str | Path,
        plan: Plan,
        *,
        most: int,
        most_matches: int,
        sync: str,
        cache: int,
        buffers: int,
    ) -> Self: ...
    def add(self, pages: _PageArrays) -> IndexAnswers: ...
    def query(self, pages: _PageArrays) -> IndexAnswers: ...
    def commits(self) -> tuple[int, int]: ...
    def remove(self, ids: list[bytes]) -> list[bool]: ...
    def expire(self, before: int) -> int: ...
    def ids(self, most: int) -> list[bytes]: ...
    def compact(self, requests_before: int) -> None: ...
    def verify(self) -> tuple[int, int, int, list[str]]: ...
    def backup(self, path: str | Path) -> None: ...
    def flush(self) -> None: ...
    def stats(self) -> tuple[int, int, int, int, int, int]: ...
    def close(self) -> None: ...

@final
class PageReader:
    def __new__(cls, kinds: Sequence[Any], *, hash: str, site_rule: str, min_tokens: int) -> Self: ...

@final
class IndexAnswers:
    @property
    def flags(self) -> npt.NDArray[np.uint8]: ...
    @property
    def matches(self) -> IndexMatches | None: ...

@final
class IndexMatches:
    @property
    def offsets(self) -> npt.NDArray[np.int64]: ...
    @property
    def ids(self) -> list[bytes]: ...
    @property
    def scores(self) -> npt.NDArray[np.float64]: ...
    @property
    def rules(self) -> npt.NDArray[np.int16]: ...
    @property
    def copies(self) -> npt.NDArray[np.uint32]: ...
    @property
    def more(self) -> npt.NDArray[np.uint32]: ...

class _PageParts(Protocol):
    @property
    def content(self) -> bytes | npt.NDArray[np.uint64]: ...
    @property
    def id(self) -> bytes: ...
    @property
    def html(self) -> bool: ...
    @property
    def charset(self) -> str | None: ...
    @property
    def url(self) -> str | None: ...
    @property
    def time(self) -> int: ...
    @property
    def request(self) -> tuple[bytes, bytes, int] | None: ...

def index_pages(store: IndexStore, reader: PageReader, pages: Sequence[_PageParts], *, add: bool) -> IndexAnswers: ...
def site_hashes(sites: pa.StringArray) -> npt.NDArray[np.uint64]: ...
def token_identities(tokens: pa.LargeListArray) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]: ...
