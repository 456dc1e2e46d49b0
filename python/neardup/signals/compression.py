"""Modified normalised compression distance, mcd (Huffman et al. 2007 §3.2.1).

mcd(A, B) = max(|c(AB) − c(AA)|, |c(AB) − c(BB)|) / max(c(AA), c(BB)), where c is the compressed size: 0 for the same
text, near 1 for two that share nothing. c(AA) belongs to the page and is computed once; c(AB) costs one compression of
both bodies. The page with the smaller id comes first, so that the distance has no direction.

**The window.** gzip looks back 32 KiB and no further: behind a longer A it does not find A again, c(AB), c(AA) and
c(BB) all become sums of parts, and mcd falls to nearly 0 for any two long pages. So ``gzip`` has no value for longer
texts, and ``wide`` (zstd with a window as long as both texts) is a signal of its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.uint32]

#: Methods, and the signals that are made with them.
METHODS = {"gzip": "mcd", "wide": "wide_mcd"}


def sizes(content: pa.LargeBinaryArray, a: Places, b: Places, method: str) -> Numbers:
    """Compressed sizes of text ``a`` followed by text ``b``; nan where one is longer than the method sees.

    >>> texts = pa.array([b"x" * 1000, b"y" * 40_000], pa.large_binary())
    >>> sizes(texts, np.array([0, 1], np.uint32), np.array([0, 1], np.uint32), "gzip").tolist()
    [35.0, nan]
    """
    found = _native.compressed_sizes(content, a, b, method=method).astype(np.float64)
    found[found == 0] = np.nan
    return found


def own_sizes(content: pa.LargeBinaryArray, method: str) -> Numbers:
    """c(AA) of each text.

    >>> own_sizes(pa.array([b"x" * 1000], pa.large_binary()), "gzip").tolist()
    [35.0]
    """
    every = np.arange(len(content), dtype=np.uint32)
    return sizes(content, every, every, method)


def mcd(ab: Numbers, aa: Numbers, bb: Numbers) -> Numbers:
    """The distance from the three sizes.

    >>> mcd(np.array([100.0, 190.0]), np.array([100.0, 100.0]), np.array([100.0, 95.0])).tolist()
    [0.0, 0.95]
    """
    distance: Numbers = np.maximum(np.abs(ab - aa), np.abs(ab - bb)) / np.maximum(aa, bb)
    return distance
