"""Inputs of any mix (WARC, JSONL, Parquet, CSV, page files, standard input) as one source of page batches."""

from __future__ import annotations

from neardup.sources.base import Chunk, Fields, Loaded, Source
from neardup.sources.inputs import Inputs, open_inputs
from neardup.sources.spec import InputSpec

__all__ = ["Chunk", "Fields", "InputSpec", "Inputs", "Loaded", "Source", "open_inputs"]
