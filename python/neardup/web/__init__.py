"""Servers of neardup: the service of an index."""
