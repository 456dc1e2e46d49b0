"""The compiled plan of a detector: what is held of a page, and what its rules say of pages. Everybody asks it."""

from neardup.plan.given import Given, beyond_tokens
from neardup.plan.held import Glances, HotEntries, Limits, PageArrays
from neardup.plan.plan import Cost, PairFindings, Plan, RuleFinding, Values

__all__ = [
    "Cost",
    "Given",
    "Glances",
    "HotEntries",
    "Limits",
    "PageArrays",
    "PairFindings",
    "Plan",
    "RuleFinding",
    "Values",
    "beyond_tokens",
]
