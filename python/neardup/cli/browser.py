"""Files shown in the user's browser."""

from __future__ import annotations

from pathlib import Path

from neardup.errors import NeardupError


def open_in_browser(path: Path) -> None:
    """Opens a file in the browser that the system prefers."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        raise NeardupError("no browser could be started", where=str(path), hint="open the file by hand")
