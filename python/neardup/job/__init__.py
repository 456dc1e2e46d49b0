"""The main job, end to end: inputs → a result folder that appears whole or not at all."""

from neardup.job.run import dedup, find_duplicates, statistics_of

__all__ = ["dedup", "find_duplicates", "statistics_of"]
