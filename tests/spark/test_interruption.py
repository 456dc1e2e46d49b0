"""A run on Spark that is asked to end, as a service manager does it: all its processes at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from neardup.testing import Web


def test_a_request_to_end_is_answered_in_one_line(small_web: Web, tmp_path: Path) -> None:
    small_web.write_jsonl(tmp_path / "pages.jsonl")
    words = ["dedup", "pages.jsonl", "--out", "out", "--engine", "spark", "--master", "local[2]"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    run = subprocess.Popen(
        [sys.executable, "-m", "neardup", *words],
        cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert run.stderr is not None
    said = []
    for line in run.stderr:
        said.append(line.decode())
        # Reading is done, and tasks of the next stage are under way.
        if said[-1].startswith("reading:") and said[-1].endswith(" s\n"):
            break
    else:
        pytest.fail("".join(said))
    os.killpg(run.pid, signal.SIGTERM)
    _, rest = run.communicate(timeout=60)
    assert run.returncode == 128 + signal.SIGTERM
    assert rest.decode().endswith("asked to end; nothing was left under the final names\n")
    for trace in ("Traceback", "\tat ", "Exception"):
        assert trace not in rest.decode()
    assert [path.name for path in tmp_path.iterdir() if path.name.lstrip(".").startswith("out")] == []
