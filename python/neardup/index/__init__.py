"""The durable index: "have I seen this page?", asked page by page, for months."""

from neardup.answers import Answer, Match, Stats
from neardup.index.build import add_inputs, build
from neardup.index.index import Index, Verified, verify

__all__ = ["Answer", "Index", "Match", "Stats", "Verified", "add_inputs", "build", "verify"]
