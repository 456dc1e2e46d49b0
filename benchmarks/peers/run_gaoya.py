"""gaoya: word 5-grams and MinHash in Rust on all cores, candidates verified by their estimated similarity."""

import gaoya
from answers import Clusters, arguments
from documents import BANDS, BATCH, LSH_THRESHOLD, ROWS, SHINGLE_WORDS, read_texts

path, answer, pairs = arguments()
texts = read_texts(path)
index = gaoya.minhash.MinHashStringIndex(
    hash_size=32,
    jaccard_threshold=LSH_THRESHOLD,
    num_bands=BANDS,
    band_size=ROWS,
    id_container="vec",
    analyzer="word",
    lowercase=True,
    ngram_range=(SHINGLE_WORDS, SHINGLE_WORDS),
)
for start in range(0, len(texts), BATCH):
    batch = texts[start : start + BATCH]
    index.par_bulk_insert_docs(list(range(start, start + len(batch))), batch)
clusters = Clusters(len(texts), pairs)
for start in range(0, len(texts), BATCH):
    for document, found in enumerate(index.par_bulk_query(texts[start : start + BATCH]), start):
        for other in found:
            if other < document:
                clusters.join(other, document)
clusters.write(answer)
