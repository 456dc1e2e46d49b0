"""rensa: its full MinHash (R-MinHash over all shingles, not the path that samples 15 tokens), inline deduplication.

The answer is a list of what stays. Shingling is Python's, as in the library's own examples.
"""

import rensa
from answers import arguments, write_kept
from documents import BANDS, BATCH, FUNCTIONS, LSH_THRESHOLD, read_texts, shingles

path, answer, _ = arguments()
texts = read_texts(path)
deduplicator = rensa.RMinHashDeduplicator(threshold=LSH_THRESHOLD, num_perm=FUNCTIONS, use_lsh=True, num_bands=BANDS)
kept: list[bool] = []
for start in range(0, len(texts), BATCH):
    batch = texts[start : start + BATCH]
    kept += deduplicator.add_pairs([(str(start + at), shingles(text)) for at, text in enumerate(batch)])
write_kept(answer, kept)
