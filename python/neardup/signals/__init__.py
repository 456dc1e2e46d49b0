"""Signals of pairs of pages, and classifiers that learn from them which pairs are duplicates (Huffman et al. 2007)."""

from __future__ import annotations

from neardup.signals.catalogue import GROUPS, SIGNALS, Signal, names_of
from neardup.signals.computing import compute, write_signals
from neardup.signals.idf import Idf, build_idf

__all__ = ["GROUPS", "SIGNALS", "Idf", "Signal", "build_idf", "compute", "names_of", "write_signals"]
