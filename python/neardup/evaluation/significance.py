"""Whether a mean difference over queries could be chance: the paired randomisation test (Fisher; Smucker, Allan and
Carterette 2007 for retrieval).

If the two systems were the same, each query's difference might as well have the other sign. The p-value is the share of
random choices of signs whose mean is at least as far from 0 as the one observed, the observed one counted in. For up to
13 queries that differ all choices are counted, else 10,000 are drawn by a fixed seed. Cost: O(draws · queries).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

_DRAWS: Final = 10_000
_EXACT: Final = 13
_TOLERANCE: Final = 1e-12


def randomisation(differences: npt.NDArray[np.float64], seed: int = 0) -> float:
    """The two-sided p-value of the mean of paired differences.

    >>> randomisation(np.array([1.0, 1.0, 1.0])), randomisation(np.array([0.0, 0.0]))
    (0.25, 1.0)
    """
    moved = differences[np.abs(differences) > _TOLERANCE]
    if not len(moved):
        return 1.0
    observed = abs(float(moved.sum()))
    if len(moved) <= _EXACT:
        signs = 1 - 2 * (np.arange(1 << len(moved))[:, None] >> np.arange(len(moved)) & 1)
        return float(np.mean(np.abs(signs @ moved) >= observed - _TOLERANCE))
    generator = np.random.default_rng(seed)
    extreme = 1
    for start in range(0, _DRAWS, 1000):
        signs = generator.integers(0, 2, (min(1000, _DRAWS - start), len(moved)), np.int8) * 2 - 1
        extreme += int(np.sum(np.abs(signs @ moved) >= observed - _TOLERANCE))
    return extreme / (_DRAWS + 1)
