"""Results to files: tables and JSON that appear whole or not at all, and pages in the form they came in."""

from __future__ import annotations

from neardup.sinks.results import ROW_GROUP_ROWS, write_groups, write_json, write_table

__all__ = ["ROW_GROUP_ROWS", "write_groups", "write_json", "write_table"]
