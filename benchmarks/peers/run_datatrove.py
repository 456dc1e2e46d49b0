"""datatrove: its four MinHash stages with the library's own English tokeniser, a worker a core.

It works file by file, so the input is first dealt out to as many files as there are workers (that is timed with it:
its user has to do the same). The answer is a list of what stays, read off its output.
"""

import glob
import gzip
import json
import os
import shutil
from contextlib import ExitStack

from answers import arguments, write_kept
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.typeshelper import Languages
from documents import BANDS, ROWS, SHINGLE_WORDS

if __name__ == "__main__":
    path, answer, _ = arguments()
    workers = len(os.sched_getaffinity(0))
    work = answer / "work"
    shutil.rmtree(work, ignore_errors=True)
    (work / "input").mkdir(parents=True)
    ids = []
    with ExitStack() as files:
        names = [work / "input" / f"{number}.jsonl" for number in range(workers)]
        shards = [files.enter_context(open(name, "wb")) for name in names]
        for number, line in enumerate(files.enter_context(open(path, "rb"))):
            ids.append(json.loads(line)["id"])
            shards[number % workers].write(line)

    folder = str(work)
    config = MinhashConfig(
        n_grams=SHINGLE_WORDS,
        num_buckets=BANDS,
        hashes_per_bucket=ROWS,
        hash_config=HashConfig(precision=64, hash_fc="xxhash"),
    )
    signatures = MinhashDedupSignature(output_folder=f"{folder}/signatures", config=config, language=Languages.english)
    buckets = MinhashDedupBuckets(input_folder=f"{folder}/signatures", output_folder=f"{folder}/buckets", config=config)
    cluster = MinhashDedupCluster(input_folder=f"{folder}/buckets", output_folder=f"{folder}/remove", config=config)
    stages = (
        ("signatures", [JsonlReader(f"{folder}/input"), signatures], workers),
        ("buckets", [buckets], BANDS),
        ("cluster", [cluster], 1),
        (
            "filter",
            [
                JsonlReader(f"{folder}/input"),
                MinhashDedupFilter(input_folder=f"{folder}/remove"),
                JsonlWriter(f"{folder}/output"),
            ],
            workers,
        ),
    )
    for name, pipeline, tasks in stages:
        LocalPipelineExecutor(
            pipeline=pipeline, tasks=tasks, workers=workers, logging_dir=f"{folder}/logs-{name}"
        ).run()
    stays = set()
    for output in glob.glob(f"{folder}/output/*.jsonl.gz"):
        with gzip.open(output, "rt", encoding="utf-8") as lines:
            stays.update(json.loads(line)["id"] for line in lines)
    write_kept(answer, (one in stays for one in ids))
    shutil.rmtree(work)
