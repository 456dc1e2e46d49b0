"""The browser application of a run."""
