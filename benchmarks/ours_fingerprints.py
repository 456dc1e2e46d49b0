"""Clusters made fingerprints, the sketches of Alg. C: ``ours_fingerprints.py COUNT ANSWER``; prints nothing."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.plan import Limits, PageArrays

_WORDS = 6
_AGREEING = 372
_PIECES = 12
_OWN_BITS = 5
_BLOCK = 1 << 18


def made(count: int, random: np.random.Generator) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Sketches, and the cluster each was made for; members of one lie anywhere."""
    sizes = np.minimum(random.zipf(2.0, count // 2), count // 100)
    upto = int(np.searchsorted(np.cumsum(sizes), count)) + 1
    cluster = np.repeat(np.arange(upto, dtype=np.uint32), sizes[:upto])[:count]
    cluster = np.concatenate([cluster, np.arange(upto, upto + count - len(cluster), dtype=np.uint32)])
    random.shuffle(cluster)
    sketches = np.empty((count, _WORDS), np.uint64)
    steps = np.arange(1, _WORDS + 1, dtype=np.uint64) * np.uint64(0xD1B54A32D192ED03)
    for start in range(0, count, _BLOCK):
        block = cluster[start : start + _BLOCK].astype(np.uint64)
        rows = sketches[start : start + _BLOCK]
        for word in range(_WORDS):
            # A hash of the cluster's number stands for its sketch.
            value = block * np.uint64(0x9E3779B97F4A7C15) + steps[word]
            value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            rows[:, word] = value ^ (value >> np.uint64(31))
        for _ in range(_OWN_BITS):
            place = random.integers(0, 64 * _WORDS, len(rows))
            rows[np.arange(len(rows)), place // 64] ^= np.uint64(1) << (place % 64).astype(np.uint64)
    return sketches, cluster


def main(count: int, answer: str) -> None:
    seconds = {}
    begun = time.perf_counter()
    sketches, cluster = made(count, np.random.default_rng(20060806))
    seconds["making them"] = time.perf_counter() - begun
    begun = time.perf_counter()
    (pairs,) = _native.Plan([_WORDS], 0, [f"pieces(0,{_PIECES}) any bits(0,{_AGREEING})"]).match(
        PageArrays([sketches], []),
        np.arange(count, dtype=np.uint32),
        Limits(hot=20_000, accepted=8 << 20, possible=4096 * count),
    )
    seconds["pairs"] = time.perf_counter() - begun
    del sketches
    begun = time.perf_counter()
    found = _native.components(count, pairs.a.copy(), pairs.b.copy())
    seconds["components"] = time.perf_counter() - begun
    made_sizes = np.bincount(cluster)
    # The first member of each cluster, which is what components are named by.
    first = np.full(int(cluster.max()) + 1, count, np.int64)
    np.minimum.at(first, cluster, np.arange(count))
    told = {
        "seconds": seconds,
        "clusters": int((made_sizes >= 2).sum()),
        "found": int((np.bincount(found, minlength=count) >= 2).sum()),
        "same": bool((first[cluster] == found).all()),
        "largest": int(made_sizes.max()),
        "accepted": pairs.accepted,
        "largest_bucket": pairs.largest_bucket,
        "hot_buckets": pairs.hot_buckets,
    }
    with open(answer, "w") as file:
        json.dump(told, file)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
