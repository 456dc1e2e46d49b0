"""A Spark session: the user's own, or one that is started here; and what is missing where none can be had."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from neardup.engines.spark.failures import first_line
from neardup.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The oldest Java that Spark 4 runs on.
JAVA: Final = 17
#: Where a Spark Connect server listens unless told otherwise, and how long it may take to answer.
CONNECT_PORT: Final = 15002
_ANSWER_SECONDS: Final = 20.0
_VERSION: Final = re.compile(r'version "(?:1\.)?(\d+)')


def need_pyspark() -> None:
    """Raises a MissingExtra unless PySpark 4 is installed, and pandas, which its ``mapInArrow`` asks for."""
    try:
        import pandas  # type: ignore[import-untyped]  # noqa: F401
        import pyspark
    except ImportError as error:
        raise MissingExtra(
            f"the Spark engine needs PySpark and pandas: {error.name} is not installed",
            hint="pip install 'neardup[spark]'",
        ) from None
    # Of pandas 3, which it may not fully support; what is used here is Arrow.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise MissingExtra(
            f"the Spark engine needs PySpark 4 or newer, this is {pyspark.__version__}",
            hint="pip install 'neardup[spark]'",
        )


def need_java(environment: dict[str, str] | None = None) -> str:
    """The ``java`` that Spark will start; raises a MissingExtra where there is none, or one too old.

    >>> need_java({"PATH": "/nowhere"})
    Traceback (most recent call last):
    neardup.errors.MissingExtra: Spark runs on Java 17 or newer, and no java was found: apt-get install
    openjdk-17-jre-headless (or your system's Java 17), or set JAVA_HOME
    """
    known = dict(os.environ) if environment is None else environment
    hint = f"apt-get install openjdk-{JAVA}-jre-headless (or your system's Java {JAVA}), or set JAVA_HOME"
    home = known.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java", path=known.get("PATH"))
    if java is None or not os.path.exists(java):
        raise MissingExtra(f"Spark runs on Java {JAVA} or newer, and no java was found", where=java, hint=hint)
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = _VERSION.search(told)
    if found is None or int(found[1]) < JAVA:
        version = found[1] if found else "one that does not say its version"
        raise MissingExtra(f"Spark runs on Java {JAVA} or newer, and this is {version}", where=java, hint=hint)
    return java


def start(master: str | None = None, remote: str | None = None, options: dict[str, str] | None = None) -> SparkSession:
    """A session on a cluster (``spark://…``, ``yarn``, ``local[4]``), or on a Spark Connect server (``sc://…``);
    without either, what ``spark-submit`` says, else this machine."""
    need_pyspark()
    if master is not None and remote is not None:
        raise UsageError("a session has a master or a remote, not both", hint="give one of them")
    if remote is None:
        need_java()
    else:
        _need_connect(remote)
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    builder = builder.appName("neardup")
    if remote is not None:
        builder = builder.remote(remote)
    elif master is not None or "SPARK_ENV_LOADED" not in os.environ:
        builder = builder.master(master or "local[*]")
        # Workers of this machine have the Python that has neardup.
        local = (master or "local").startswith("local")
        if local:
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            # Nothing of one machine needs to be reached from another.
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        # What a task fails of comes as an exception. On one machine a signal to all processes ends workers before their
        # tasks, which Spark would log with a stack trace each.
        builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "FATAL" if local else "ERROR")
        # The run has a display of its own.
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    for name, value in (options or {}).items():
        builder = builder.config(name, value)
    try:
        session: SparkSession = builder.getOrCreate()
        session.range(1).count()
    except Exception as error:
        raise UsageError(
            f"no Spark session could be had: {first_line(error)}",
            where=remote or master,
            hint="check the address, and that the cluster is up",
        ) from error
    return session


def _need_connect(remote: str) -> None:
    """Asks whether anybody listens there: the client itself would go on trying for ten minutes."""
    if importlib.util.find_spec("grpc") is None:
        raise MissingExtra("a remote session needs grpc beside PySpark", hint="pip install 'neardup[spark]'")
    address = urlsplit(remote)
    try:
        if address.scheme != "sc" or not address.hostname:
            raise ValueError("it begins with sc:// and a host")
        socket.create_connection((address.hostname, address.port or CONNECT_PORT), timeout=_ANSWER_SECONDS).close()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UsageError(
            f"no Spark Connect server answers: {reason}",
            where=remote,
            hint=f"an address is sc://HOST:PORT, and the port {CONNECT_PORT} unless the server was told another",
        ) from None


#: Spark's own batches are bounded by rows alone unless told; pages differ in size by a factor of a million.
_OPTIONS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
}


@contextmanager
def with_options(session: SparkSession) -> Iterator[None]:
    """Sets what a run needs, and puts back what was there."""
    before = {name: session.conf.get(name, None) for name in _OPTIONS}
    try:
        for name, value in _OPTIONS.items():
            session.conf.set(name, value)
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, earlier)
