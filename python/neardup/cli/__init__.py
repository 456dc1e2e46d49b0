"""The command line: one module a verb, each a thin layer over the library."""

from neardup.cli.main import main, program

__all__ = ["main", "program"]
