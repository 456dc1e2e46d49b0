"""Servers: the browser application of a run, and the service of an index."""
