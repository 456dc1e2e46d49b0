"""What many tests share: the small generated web, as pages in memory; a disk of a size."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from neardup.testing import Web, web

# The same cases every time in `make test`, others in `make fuzz`.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("fuzz", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


#: Tests of these folders work in memory, where there is a file system for it: an index syncs with every addition, and
#: what its tests kill, cut off and damage is what a process wrote, not what a disk made of it.
IN_MEMORY = {"index"}
_MEMORY = "/dev/shm"


@pytest.fixture
def tmp_path(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder of the test's own."""
    if request.path.parent.name not in IN_MEMORY or not os.access(_MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="neardup-", dir=_MEMORY, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def small_web() -> Web:
    """300 pages on eight sites in five languages, with every planted relation."""
    return web(seed=3, sites=8, pages=300, words=120)


@pytest.fixture(scope="session")
def web_pages(small_web: Web) -> list[dict[str, Any]]:
    """The pages of the small web as ``find_duplicates`` takes them."""
    return [{"id": page.id, "url": page.url, "html": page.html, "date": page.date} for page in small_web.pages]


@pytest.fixture
def disk_of(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a file system of a size, as ``64k``; called again, it has another size and holds what it held."""
    place = tmp_path / "disk"
    place.mkdir()

    def sized(size: str) -> Path:
        how = ["-o", f"remount,size={size}"] if place.is_mount() else ["-t", "tmpfs", "-o", f"size={size}", "tmpfs"]
        if os.geteuid() or subprocess.run(["mount", *how, str(place)], capture_output=True).returncode:
            pytest.skip("no file system can be mounted here")
        return place

    yield sized
    if place.is_mount():
        subprocess.run(["umount", str(place)], check=True)
