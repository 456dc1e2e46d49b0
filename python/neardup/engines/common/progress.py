"""How a run tells what it is doing; the command line shows it, the library is silent."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told of each stage as it begins, and of what is done within it."""

    def begin(self, stage: str, total_bytes: int | None = None, unit: str = "pages") -> None:
        """A stage begins; ``total_bytes`` is how much there is to read, where that is known. Where other things than
        pages are counted, ``unit`` names them, and they stand in for bytes."""
        ...

    def advance(self, pages: int, nbytes: int) -> None:
        """So much more was done."""
        ...

    def end(self) -> None:
        """The stage that began last is over."""
        ...


class Silent:
    """Says nothing.

    >>> Silent().begin("reading")
    """

    def begin(self, stage: str, total_bytes: int | None = None, unit: str = "pages") -> None:
        pass

    def advance(self, pages: int, nbytes: int) -> None:
        pass

    def end(self) -> None:
        pass
