"""A real cluster: a master and two workers as processes of their own, one of which is killed in mid-run."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from collections_of_pages import everything

from neardup import open_result
from neardup.job import dedup

HERE = Path(__file__).parent


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def spark_process(log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "PYSPARK_PYTHON": sys.executable,
    }
    with open(log, "wb") as written:
        # A group of its own: an executor goes with its worker.
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), *arguments],
            env=environment, stdout=written, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip


def end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(what: str, log: Path, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while what not in log.read_text(errors="replace"):
        assert time.monotonic() < until, f"{what!r} did not come: {log.read_text(errors='replace')[-2000:]}"
        time.sleep(0.2)


@pytest.fixture
def cluster(java: None, tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a master, and its two workers."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    started = []
    try:
        master = tmp_path / "master.log"
        started.append(
            spark_process(
                master, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port),
                "--webui-port", str(free_port()),
            )
        )  # fmt: skip
        wait_for("I have been elected leader", master)
        for number in range(2):
            log = tmp_path / f"worker{number}.log"
            started.append(
                spark_process(
                    log, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1",
                    "--memory", "1g", "--webui-port", str(free_port()), "--work-dir",
                    str(tmp_path / f"work{number}"), address,
                )
            )  # fmt: skip
            wait_for("Successfully registered with master", log)
        yield address, started[1:]
    finally:
        for process in reversed(started):
            end(process)


def test_a_worker_that_dies_changes_nothing(cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path) -> None:
    address, workers = cluster
    pages = everything()
    for number in range(4):
        lines = [json.dumps(page) for page in pages[number::4]]
        (tmp_path / f"pages{number}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    given = str(tmp_path / "pages*.jsonl")
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": "--driver-memory 512m --conf spark.executor.memory=512m "
        "--conf spark.driver.host=127.0.0.1 "
        "--conf spark.sql.shuffle.partitions=2 --conf spark.sql.codegen.wholeStage=false "
        "--conf spark.sql.codegen.factoryMode=NO_CODEGEN pyspark-shell",
    }
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(HERE / "on_a_cluster.py"), address, given, str(tmp_path / "spark")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    ) as driver:  # fmt: skip
        assert driver.stdout is not None
        assert driver.stdin is not None
        for line in driver.stdout:
            if line.startswith("begin") and "reading" not in line:
                break
        end(workers[1])
        rest = driver.communicate("go on\n", timeout=400)[0]
    assert driver.returncode == 0
    assert rest.splitlines()[-1] == "done"
    expected = dedup(given, detector="site-aware")
    found = open_result(tmp_path / "spark")
    assert found.pages.equals(expected.pages)
    assert found.pairs.equals(expected.pairs)
    assert found.clusters.equals(expected.clusters)
    assert found.report["counts"] == expected.report["counts"]
