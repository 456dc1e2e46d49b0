"""Engines run a detector over a source and give back the same tables; the local one is the reference."""

from neardup.engines.common.progress import Progress, Silent
from neardup.engines.common.settings import Settings
from neardup.engines.common.tables import PAGES_OUT, PAIRS_OUT
from neardup.engines.local.run import Outcome, run

__all__ = ["PAGES_OUT", "PAIRS_OUT", "Outcome", "Progress", "Settings", "Silent", "run"]
