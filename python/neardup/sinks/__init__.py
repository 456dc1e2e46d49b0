"""Results to files: tables and JSON that appear whole or not at all, and pages in the form they came in."""

from __future__ import annotations

from neardup.sinks.results import replacing, write_json, write_table
from neardup.sinks.rewrite import write_pages

__all__ = ["replacing", "write_json", "write_pages", "write_table"]
