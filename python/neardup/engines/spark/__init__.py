"""The Spark engine: ``run`` a detector over a frame; every file here has the name of what it does in the local one."""

from neardup.engines.spark.outcome import SparkOutcome
from neardup.engines.spark.run import run, run_files
from neardup.engines.spark.session import start

__all__ = ["SparkOutcome", "run", "run_files", "start"]
