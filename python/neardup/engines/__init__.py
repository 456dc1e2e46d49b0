"""Engines run a detector over a source and give back the same tables; the local one is the reference."""

from neardup.engines.local import run
from neardup.engines.outcome import PAGES_OUT, PAIRS_OUT, Outcome
from neardup.engines.progress import Progress, Silent
from neardup.engines.settings import Settings

__all__ = ["PAGES_OUT", "PAIRS_OUT", "Outcome", "Progress", "Settings", "Silent", "run"]
