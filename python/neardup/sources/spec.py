"""What an input is: the names it goes by, and how its files are read. A run keeps it to open its input again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from neardup.record import record
from neardup.sources.base import PAGE_BYTES, Fields
from neardup.sources.files import STDIN_NAME
from neardup.sources.inputs import Inputs, open_inputs


@record(frozen=True, slots=True)
class InputSpec:
    """The recipe of an input; ``open`` makes a source of it.

    >>> spec = InputSpec(["pages.jsonl"], Fields(text="body"))
    >>> from dataclasses import asdict
    >>> InputSpec.from_json(asdict(spec)) == spec, spec.lasts
    (True, True)
    """

    paths: list[str]
    fields: Fields = field(default_factory=Fields)
    base_url: str | None = None
    format: str | None = None
    #: Pages of more bytes are skipped.
    max_page: int = PAGE_BYTES

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> InputSpec:
        """As ``input`` in ``run.json`` has it."""
        return InputSpec(**{**value, "fields": Fields(**value["fields"])})

    @property
    def lasts(self) -> bool:
        """Whether the input can be read another time: pages in memory and standard input cannot."""
        return bool(self.paths) and STDIN_NAME not in self.paths

    def open(self, spool: bool = False, again: bool = False) -> Inputs:
        """The source; ``spool`` and ``again`` are those of ``open_inputs``."""
        return open_inputs(self.paths, self.fields, self.base_url, self.format, spool, again, self.max_page)
