"""The service of an index over HTTP: its API, what it lets in, and how it is run."""
