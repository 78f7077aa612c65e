"""From codes to signals and residuals."""

from __future__ import annotations

import numpy as np

from ..kernels.geometry import padded_rows, three
from ..kernels.lanes import lane_count
from ..kernels.synthesis import synthesize
from .problem import Array, Problem, Triplets


def synthesis(d: Array, codes: Triplets, grid: tuple[int, ...]) -> Array:
    """Dx = Σ_m d_m * x_m on a circular grid, for d of shape (M, C, *kernel)."""
    signal = np.zeros((d.shape[1], *three(grid)), d.dtype)
    shape = (d.shape[1], *three(d.shape[2:]))
    rows = padded_rows(d.reshape(-1, *shape)).reshape(-1)
    values = codes.value.astype(d.dtype)
    synthesize(rows, shape, lane_count(d.dtype), codes.kernel, codes.position, values, signal)
    return signal.reshape(d.shape[1], *grid)


def weighted_residual(problem: Problem, codes: Triplets) -> Array:
    """g = W²⊙(s − Dx), whose correlations with the kernels are minus the gradient."""
    g = problem.s - synthesis(problem.d, codes, problem.grid)
    return g if problem.w2 is None else g * problem.w2
