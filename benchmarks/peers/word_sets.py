"""Writes the shingle sets of a file's documents as peers see them: of words between white space. usage: FILE OUT"""

import sys

import numpy as np
from documents import read_texts, shingles

texts = read_texts(sys.argv[1])
offsets, parts = [0], []
for text in texts:
    # Python's own 64-bit hash: the numbers live in this one process.
    distinct = {hash(shingle) for shingle in shingles(text)}
    parts.append(np.fromiter(distinct, np.int64, len(distinct)).view(np.uint64))
    offsets.append(offsets[-1] + len(distinct))
np.savez(sys.argv[2], offsets=np.array(offsets, np.int64), values=np.concatenate(parts))
