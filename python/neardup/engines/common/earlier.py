"""Earlier runs, as any engine meets them: what they saved beside their results, and how ``run.json`` names them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

#: The file, or folder of parts, in a result folder.
FILE: Final = "fingerprints.parquet"


#: In every result folder, the statistics that the fingerprints were computed with, where the detector needs such.
STATISTICS: Final = "collection.statistics"


def described_runs(runs: Sequence[tuple[str, Path]]) -> list[dict[str, str]]:
    """Earlier runs as ``run.json`` names them: as they were called, and where they are."""
    return [{"run": name, "folder": str(saved.parent.absolute())} for name, saved in runs]
