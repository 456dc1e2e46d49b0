"""Single passes of ours over pages in memory, one thread. usage: ours_passes.py html|fingerprints FILE BYTES

Prints the bytes of the pages and the seconds of the pass as JSON. Reading the file is not part of it.
"""

import json
import sys
import time

import pyarrow.compute as pc

from neardup.methods.projections import Projection
from neardup.methods.shingles import Supershingles
from neardup.sources import Fields, open_inputs
from neardup.text import read


def batches(path: str, limit: int) -> list:
    held, size = [], 0
    with open_inputs([path], Fields()) as source:
        for chunk in source.chunks():
            pages = chunk.load().pages
            held.append(pages)
            size += content_bytes(pages)
            if size >= limit:
                break
    return held


def content_bytes(pages) -> int:
    return int(pc.sum(pc.binary_length(pages.column("content"))).as_py() or 0)


def main() -> None:
    what, path, limit = sys.argv[1:4]
    held = batches(path, int(limit))
    fingerprints = (Supershingles(), Projection()) if what == "fingerprints" else ()
    count = 0
    start = time.perf_counter()
    for pages in held:
        tokens = read(pages).tokens
        for fingerprint in fingerprints:
            fingerprint.compute(tokens)
        count += len(tokens.values)
    seconds = time.perf_counter() - start
    print(json.dumps({"bytes": sum(map(content_bytes, held)), "seconds": seconds, "tokens": count}))


if __name__ == "__main__":
    main()
