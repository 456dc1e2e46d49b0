"""The working folder of a run: its intermediate tables, as Parquet on storage that every executor sees.

A table that was written is what Spark calls a reliable checkpoint: it ends the plan that made it, it is there when an
executor is not, and what is not deterministic (an order, an attempt of a task) was decided once. Unlike Spark's own
checkpoint it is read column by column, and works the same in a session of Spark Connect.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup.errors import NeardupError, UsageError
from neardup.sources.files import file_system, is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class Working:
    """Tables by name; ``close`` removes them all."""

    session: SparkSession
    folder: str
    _paths: dict[str, str] = field(default_factory=dict)

    def keep(self, frame: DataFrame, name: str) -> DataFrame:
        """Computes a frame and writes it down; gives it back as it was written."""
        path = f"{self.folder}/{secrets.token_hex(3)}-{name}"
        self._paths[name] = path
        frame.write.parquet(path)
        return self.session.read.schema(frame.schema).parquet(path)

    def has(self, name: str) -> bool:
        """Whether a table of the name was written."""
        return name in self._paths

    def path(self, name: str) -> str:
        """Where the latest table of a name was written, on a file system of this machine."""
        return self._paths[name].removeprefix("file://")

    def close(self) -> None:
        """Removes the folder."""
        if not is_remote(self.folder):
            shutil.rmtree(self.folder.removeprefix("file://"), ignore_errors=True)
            return
        jvm: Any = getattr(self.session, "_jvm", None)
        if jvm is not None:
            path = jvm.org.apache.hadoop.fs.Path(self.folder)
            path.getFileSystem(self.session._jsparkSession.sessionState().newHadoopConf()).delete(path, True)
            return
        # A session of Spark Connect has no JVM at hand: with the credentials of this process, or not at all.
        try:
            system, inside = file_system(re.sub("^s3[an]:", "s3:", self.folder))
            system.delete_dir(inside)
        except (OSError, NeardupError) as error:
            warnings.warn(f"the working folder {self.folder} could not be removed: {error}", stacklevel=2)


def working_folder(session: SparkSession, parent: str | None) -> Working:
    """A new folder in the named one; else in ``spark.checkpoint.dir``; else, on one machine, a temporary one."""
    configured = session.conf.get("spark.checkpoint.dir", None)
    if parent is None and configured:
        parent = configured
    if parent is None:
        master = session.conf.get("spark.master", "")
        if not (master or "").startswith("local"):
            raise UsageError(
                "a cluster needs a working folder that all its machines see",
                hint="give working= (--scratch), or set spark.checkpoint.dir",
            )
        parent = tempfile.gettempdir()
    name = f"neardup-{os.getpid()}-{secrets.token_hex(4)}"
    if is_remote(parent):
        return Working(session, f"{parent.rstrip('/')}/{name}")
    parent = os.path.abspath(parent.removeprefix("file://"))
    return Working(session, f"file://{parent}/{name}")
