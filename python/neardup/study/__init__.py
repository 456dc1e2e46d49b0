"""The study of a collection: how much of it repeats, in what clusters, where in the link graph, and how to estimate
that from a part (Pereira, Baeza-Yates and Ziviani, "Where and How Duplicates Occur in the Web", 2006)."""

from neardup.study.compare import compare_studies
from neardup.study.run import Study, open_study, study

__all__ = ["Study", "compare_studies", "open_study", "study"]
