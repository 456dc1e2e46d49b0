"""What every text peer is fed with: the documents of a JSONL file, and their 5-word shingles.

Words are lower-cased and split at white space, the usual way in this field. The parameters are the same for all:
128 functions in 16 bands of 8.
"""

import json

SHINGLE_WORDS = 5
FUNCTIONS = 128
BANDS, ROWS = 16, 8
#: Where 16 bands of 8 have their threshold: (1/16)^(1/8).
LSH_THRESHOLD = 0.7
#: Documents handed over in one call, where a library takes many.
BATCH = 2000


def read_texts(path: str) -> list[str]:
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def shingles(text: str) -> list[str]:
    words = text.lower().split()
    return list(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False)))
