"""convdict itself, called as a user calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..judge import Problem, SparseMaps


def solve(
    problem: Problem,
    *,
    tol: float,
    solver: str = "working_set",
    init: Any = None,
    callback: Callable[[Any], Any] | None = None,
) -> Any:
    """convdict's Codes."""
    import convdict

    return convdict.sparse_code(
        problem.s,
        problem.d,
        penalty=problem.lmbda,
        solver=solver,
        tol=tol,
        init=init,
        callback=callback,
    )


def readable(codes: Any) -> SparseMaps:
    """What the judge takes: kernel, raveled position, value (under a circular boundary)."""
    flat = np.ravel_multi_index(tuple(codes.position.T), codes.shape[1:])
    return SparseMaps(codes.kernel, flat, codes.value)
