"""Where indexes of tests live."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_MEMORY = "/dev/shm"


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory, where there is one: an index syncs with every addition, and what these tests kill, cut off
    and damage is what a process wrote, not what a disk made of it."""
    place = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
