"""The local engine: all cores of one machine. Its files have the names of those of the Spark engine."""
