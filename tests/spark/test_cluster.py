"""Real servers on loopback: a cluster of a master and two workers as processes of their own, one of which is killed in
mid-run, and a Spark Connect server."""

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
from neardup.testing import web

HERE = Path(__file__).parent
#: Small and quick to plan, as in ``conftest``, but with adaptive execution.
SMALL = {
    "spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2", "spark.driver.host": "127.0.0.1",
    "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}  # fmt: skip


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def spark_process(log: Path, *arguments: str, cwd: Path | None = None, memory: str = "256m") -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__file__).parent
    known = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": memory,
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "PYSPARK_PYTHON": sys.executable,
    }
    with open(log, "wb") as written:
        # A group of its own: an executor goes with its worker.
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), *arguments],
            env=known, cwd=cwd, stdout=written, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip


def end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(what: str, log: Path, seconds: float = 300) -> None:
    until = time.monotonic() + seconds
    while what not in log.read_text(errors="replace"):
        assert time.monotonic() < until, f"{what!r} did not come: {log.read_text(errors='replace')[-2000:]}"
        time.sleep(0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages in four files, and what the local engine finds in them."""
    made = tmp_path_factory.mktemp("cluster")
    pages = everything()
    for number in range(4):
        lines = [json.dumps(page) for page in pages[number::4]]
        (made / f"pages{number}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    web(seed=9, sites=3, pages=30, words=50).write_warc(made / "pages4.warc.gz")
    here = os.getcwd()
    os.chdir(made)
    try:
        dedup("pages*", "local", detector="site-aware")
    finally:
        os.chdir(here)
    return made


@pytest.fixture(scope="module")
def cluster(java: None, folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a master, and its two workers."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    started = []
    try:
        master = folder / "master.log"
        started.append(
            spark_process(
                master, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port),
                "--webui-port", str(free_port()),
            )
        )  # fmt: skip
        wait_for("I have been elected leader", master)
        started += [
            spark_process(
                folder / f"worker{number}.log", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1",
                "--cores", "1", "--memory", "1g", "--webui-port", str(free_port()), "--work-dir",
                str(folder / f"work{number}"), address,
            )
            for number in range(2)
        ]  # fmt: skip
        for number in range(2):
            wait_for("Successfully registered with master", folder / f"worker{number}.log")
        yield address, started[1:]
    finally:
        for process in reversed(started):
            end(process)


def environment(**more: str) -> dict[str, str]:
    """Of a driver that is told to be small."""
    told = {**SMALL, "spark.driver.memory": "512m", "spark.executor.memory": "512m", **more}
    options = " ".join(f"--conf {name}={value}" for name, value in told.items())
    return {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": f"{options} pyspark-shell"}


def assert_as_local(folder: Path, name: str) -> None:
    expected, found = open_result(folder / "local"), open_result(folder / name)
    assert found.pages.equals(expected.pages)
    assert found.pairs.equals(expected.pairs)
    assert found.clusters.equals(expected.clusters)
    for told in ("counts", "warnings", "skipped", "bytes", "detector"):
        assert found.report[told] == expected.report[told], told
    # Tables in parts, and nothing left behind.
    assert all((folder / name / f"{table}.parquet").is_dir() for table in ("pages", "pairs", "clusters"))
    assert not list(folder.glob("neardup-*"))


def command(folder: Path, *arguments: str) -> str:
    """What ``neardup dedup`` says of files that it is told of by names relative to its directory."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "neardup", "dedup", "pages*", "-d", "site-aware", "--engine", "spark",
         *arguments],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_line(cluster: tuple[str, list[subprocess.Popen[bytes]]], folder: Path) -> None:
    said = command(folder, "--out", "spark", "--master", cluster[0])
    assert f"{open_result(folder / 'local').report['counts']['pages']} pages" in said
    assert_as_local(folder, "spark")


def test_a_worker_that_dies_changes_nothing(cluster: tuple[str, list[subprocess.Popen[bytes]]], folder: Path) -> None:
    address, workers = cluster
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(HERE / "on_a_cluster.py"), address, "pages*", "survived"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(), cwd=folder,
    ) as driver:  # fmt: skip
        assert driver.stdout is not None
        assert driver.stdin is not None
        for line in driver.stdout:
            if line.startswith("begin") and "reading" not in line:
                break
        end(workers[1])
        rest = driver.communicate("go on\n", timeout=900)[0]
    assert driver.returncode == 0
    assert rest.splitlines()[-1] == "done"
    assert_as_local(folder, "survived")


@pytest.fixture
def connect(java: None, folder: Path) -> Iterator[str]:
    """The address of a Spark Connect server, which works in another directory than its clients."""
    pytest.importorskip("grpc", reason="Spark Connect needs grpc: pip install 'neardup[spark]'")
    port, elsewhere = free_port(), folder / "elsewhere"
    elsewhere.mkdir()
    told = SMALL | {
        "spark.connect.grpc.binding.port": str(port), "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.ui.enabled": "false",
    }  # fmt: skip
    options = [part for name, value in told.items() for part in ("--conf", f"{name}={value}")]
    log = folder / "connect.log"
    server = spark_process(
        log, "org.apache.spark.deploy.SparkSubmit", "--master", "local[2]", "--driver-memory", "1g", *options,
        "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal", cwd=elsewhere,
        memory="1g",
    )  # fmt: skip
    try:
        wait_for("Spark Connect server started", log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        end(server)


def test_spark_connect(connect: str, folder: Path) -> None:
    command(folder, "--out", "connected", "--remote", connect)
    assert_as_local(folder, "connected")
    # A frame of the user's own.
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "on_a_cluster.py"), connect],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "equal"
