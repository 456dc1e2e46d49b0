"""The main job, end to end: inputs → a result folder that appears whole or not at all."""

from neardup.job.request import Request
from neardup.job.run import carry_out, dedup, find_duplicates, statistics_of

__all__ = ["Request", "carry_out", "dedup", "find_duplicates", "statistics_of"]
