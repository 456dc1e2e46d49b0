"""datasketch: MinHash over xxh32 of the shingles, a process a core; one LSH index; candidates are not verified."""

import os
from multiprocessing import Pool

import xxhash
from answers import Clusters, arguments
from datasketch import MinHash, MinHashLSH
from documents import BANDS, FUNCTIONS, ROWS, read_texts, shingles

EMPTY = MinHash(num_perm=FUNCTIONS, seed=1, hashfunc=xxhash.xxh32_intdigest)


def fingerprint(text: str) -> MinHash:
    minhash = EMPTY.copy()
    minhash.update_batch([shingle.encode() for shingle in set(shingles(text))])
    return minhash


def values(text: str):
    return fingerprint(text).hashvalues


if __name__ == "__main__":
    path, answer, pairs = arguments()
    texts = read_texts(path)
    with Pool(len(os.sched_getaffinity(0))) as pool:
        # Only the numbers travel between processes: whole objects would cost more than computing them.
        fingerprints = []
        for hashes in pool.imap(values, texts, chunksize=64):
            one = EMPTY.copy()
            one.hashvalues = hashes
            fingerprints.append(one)
    index = MinHashLSH(num_perm=FUNCTIONS, params=(BANDS, ROWS))
    with index.insertion_session() as session:
        for document, one in enumerate(fingerprints):
            session.insert(document, one, check_duplication=False)
    clusters = Clusters(len(texts), pairs)
    for document, one in enumerate(fingerprints):
        for other in index.query(one):
            if other < document:
                clusters.join(other, document)
    clusters.write(answer)
