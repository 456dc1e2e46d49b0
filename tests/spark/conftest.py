"""One Spark session for all tests of the Spark engine; without Java or PySpark they are skipped, and say why."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from neardup.engines.spark.session import need_java, need_pyspark
from neardup.errors import MissingExtra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Small, since a test has few pages: what a task costs is most of what a run costs here.
OPTIONS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Compiling a plan costs more than running it over a hundred pages.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.parquet.compression.codec": "uncompressed",
    # Files of a task are renamed once, not twice.
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    # Planning every stage anew is for data whose size is not known; the test of a cluster has it.
    "spark.sql.adaptive.enabled": "false",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What PySpark warns of by itself is not ours to mend: sockets it leaves open, and pandas it does not know yet."""
    for item in items:
        if "tests/spark" in item.nodeid:
            for ignored in ("ignore::ResourceWarning", "ignore:PySpark does not yet fully support:FutureWarning"):
                item.add_marker(pytest.mark.filterwarnings(ignored))


@pytest.fixture(scope="session")
def java() -> None:
    """Skips where Spark cannot run."""
    try:
        need_pyspark()
        need_java()
    except MissingExtra as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def spark(java: None) -> Iterator[SparkSession]:
    from neardup.engines.spark import start

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = start("local[2]", options=OPTIONS)
    yield session
    session.stop()
