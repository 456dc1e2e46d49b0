"""Results of runs: one reader of result folders and of results in memory, their pages and texts, and their revision."""

from __future__ import annotations

from neardup.results.folder import Result, open_result

__all__ = ["Result", "open_result"]
