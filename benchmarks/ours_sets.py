"""Writes the shingle sets of a file's pages, on our own tokens, for the exact answer. usage: FILE OUT K

The sets come straight from the tokens; nothing of the code that finds pairs is used.
"""

import sys

import numpy as np
import pyarrow as pa

from neardup.methods.shingles import ShingleSet
from neardup.sources import Fields, open_inputs
from neardup.text import read

sets = []
with open_inputs([sys.argv[1]], Fields()) as source:
    for chunk in source.chunks():
        tokens = read(chunk.load().pages).tokens
        sets.append(ShingleSet(k=int(sys.argv[3])).compute(tokens))
lengths = np.concatenate([pa.compute.list_value_length(part).to_numpy() for part in sets])
np.savez(
    sys.argv[2],
    offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    values=np.concatenate([part.flatten().to_numpy() for part in sets]),
)
