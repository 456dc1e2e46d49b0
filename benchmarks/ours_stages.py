"""Each stage alone, one thread, beside what the machine can do. usage: TEXTS PAGES WARC BYTES ROUNDS LIMITS

LIMITS is the program that says what one core can do (``examples/limits.rs`` of the core crate). Prints JSON: for each
stage its rate in MB/s (median), the limit it is held against, and the rate of that.
"""

import json
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Callable

import numpy as np
import pyarrow.compute as pc

from neardup.methods.projections import Projection
from neardup.methods.shingles import Bands, MinHash, ShingleSet, Supershingles
from neardup.sources import Fields, open_inputs
from neardup.text import read

_BUFFER = 1 << 20


def median_seconds(work: Callable[[], object], rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def chunks(path: str, limit: int) -> list:
    """The first chunks of a file, held in memory but not loaded."""
    held, size = [], 0
    with open_inputs([path], Fields()) as source:
        for chunk in source.chunks():
            held.append(chunk)
            size += chunk.nbytes
            if size >= limit:
                break
    return held


def content_bytes(batches: list) -> int:
    return sum(int(pc.sum(pc.binary_length(pages.column("content"))).as_py() or 0) for pages in batches)


def load_all(path: str) -> list:
    with open_inputs([path], Fields()) as source:
        return [chunk.load().pages for chunk in source.chunks()]


def take_off(path: str) -> int:
    with open_inputs([path], Fields()) as source:
        return sum(chunk.nbytes for chunk in source.chunks())


def plain_read(path: str) -> None:
    buffer = bytearray(_BUFFER)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def gunzip(path: str) -> int:
    """All members of a gzip file, one after another, with zlib."""
    size, member = 0, zlib.decompressobj(31)
    with open(path, "rb") as file:
        while piece := file.read(_BUFFER >> 4):
            while piece:
                size += len(member.decompress(piece))
                piece = member.unused_data
                if member.eof:
                    member = zlib.decompressobj(31)
    return size


def sort_rate(rounds: int) -> float:
    """64-bit numbers a second, sorted in pages of a thousand."""
    numbers = np.random.default_rng(1).integers(0, 1 << 63, (2000, 1000), dtype=np.uint64)
    return numbers.size / median_seconds(lambda: np.sort(numbers, axis=1), rounds)


def main() -> None:
    texts, pages, warc = sys.argv[1:4]
    limit, rounds = int(sys.argv[4]), int(sys.argv[5])
    stages: list[dict[str, object]] = []

    def stage(name: str, size: int, work: Callable[[], object], limit_name: str, limit_rate: float) -> None:
        rate = size / 1e6 / median_seconds(work, rounds)
        stages.append({"stage": name, "rate": rate, "limit": limit_name, "limit_rate": limit_rate})

    with open(texts, "rb") as file:
        file_bytes = len(file.read())
    answer = subprocess.run([sys.argv[6]], check=True, capture_output=True, text=True).stdout
    machine = {name: float(rate) / 1e6 for name, rate in (line.split() for line in answer.splitlines())}
    cache_rate = file_bytes / 1e6 / median_seconds(lambda: plain_read(texts), rounds)
    stage("JSONL file → blocks", file_bytes, lambda: take_off(texts), "read(2) of the file", cache_rate)

    text_chunks = chunks(texts, limit)
    text_bytes = sum(chunk.nbytes for chunk in text_chunks)
    parse_all = lambda: [chunk.load() for chunk in text_chunks]  # noqa: E731
    stage("JSONL blocks → pages", text_bytes, parse_all, "summing memory", machine["sum"])
    unpacking = gunzip(warc) / 1e6 / median_seconds(lambda: gunzip(warc), rounds)
    warc_bytes = content_bytes(load_all(warc))
    stage(".warc.gz → pages", warc_bytes, lambda: load_all(warc), "zlib on the file", unpacking)

    html = [chunk.load().pages for chunk in chunks(pages, limit)]
    plain = [chunk.load().pages for chunk in text_chunks]
    size = content_bytes(plain)
    read_html = lambda: [read(batch) for batch in html]  # noqa: E731
    stage("HTML → tokens", content_bytes(html), read_html, "finding words", machine["words"])
    stage("text → tokens", size, lambda: [read(batch) for batch in plain], "finding words", machine["words"])

    tokens = [read(batch).tokens for batch in plain]
    bytes_a_token = size / sum(len(batch.values) for batch in tokens)
    sorting = sort_rate(rounds) * bytes_a_token / 1e6
    multiplications = machine["multiply"] * bytes_a_token
    layout = MinHash(k=5, threshold=0.8).layout
    bands = Bands(k=5, bands=layout.bands, rows=layout.rows)
    for name, fingerprint, limit_name, limit_rate in (
        ("tokens → shingle sets", ShingleSet(k=5), "NumPy sorting as many", sorting),
        (f"tokens → {layout.bands} bands of {layout.rows}", bands, "as many multiplications", layout.functions),
        ("tokens → 6 supershingles (Alg. B)", Supershingles(), "as many multiplications", 84),
        ("tokens → 384 bits (Alg. C)", Projection(), "as many multiplications", 24),
    ):
        rate = limit_rate if limit_name.startswith("NumPy") else multiplications / limit_rate
        compute = lambda fingerprint=fingerprint: [fingerprint.compute(batch) for batch in tokens]  # noqa: E731
        stage(name, size, compute, limit_name, rate)
    print(json.dumps(stages))


if __name__ == "__main__":
    main()
