"""The command line: one module a verb, each a thin layer over the library."""

from __future__ import annotations

import os
from typing import NoReturn

__all__ = ["program"]


def program() -> NoReturn:
    """The program as a process of its own. Whoever interrupts it while it is still being imported sees no traceback."""
    try:
        from neardup.cli.main import program as run

        run()
    except KeyboardInterrupt:
        os.write(2, b"interrupted; nothing was written\n")
        os._exit(130)
