"""text-dedup: its own command, then its union-find file read back as clusters."""

import os
import pickle
import shutil
import subprocess
import sys

from answers import arguments, write_labels
from documents import BANDS, FUNCTIONS, ROWS, SHINGLE_WORDS

path, answer, _ = arguments()
cache, output = answer / "cache", answer / "output"
for folder in (cache, output):
    shutil.rmtree(folder, ignore_errors=True)
options = {
    "path": "json",
    "data_files": path,
    "split": "train",
    "cache_dir": str(cache),
    "output": str(output),
    "column": "text",
    "batch_size": "10000",
    "num_proc": str(len(os.sched_getaffinity(0))),
    "ngram": str(SHINGLE_WORDS),
    "min_length": str(SHINGLE_WORDS),
    "num_perm": str(FUNCTIONS),
    "b": str(BANDS),
    "r": str(ROWS),
    "hash_func": "xxh3",
    "hash_bits": "64",
}
command = [sys.executable, "-m", "text_dedup.minhash", "--debug"]
for name, value in options.items():
    command += [f"--{name}", value]
home = str(answer / "hf")
subprocess.run(
    command, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": home, "HF_DATASETS_CACHE": home}
)
with open(output / "uf.pkl", "rb") as file:
    found = pickle.load(file)
parent = getattr(found, "parent", found)


def first_of(document: int) -> int:
    while parent.get(document, document) != document:
        document = parent[document]
    return document


with open(path, "rb") as lines:
    documents = sum(1 for _ in lines)
write_labels(answer, map(first_of, range(documents)))
for folder in (cache, output, answer / "hf"):
    shutil.rmtree(folder, ignore_errors=True)
