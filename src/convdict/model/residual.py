"""From codes to signals and residuals."""

from __future__ import annotations

import numpy as np

from ..kernels.geometry import three
from ..kernels.synthesis import synthesize
from .problem import Array, Problem, Triplets


def synthesis(d: Array, codes: Triplets, grid: tuple[int, ...]) -> Array:
    """Dx = Σ_m d_m * x_m on a circular grid, for d of shape (M, C, *kernel)."""
    signal = np.zeros((d.shape[1], *three(grid)), d.dtype)
    d3 = d.reshape(d.shape[:2] + three(d.shape[2:]))
    synthesize(d3, codes.kernel, codes.position, codes.value.astype(d.dtype), signal)
    return signal.reshape(d.shape[1], *grid)


def weighted_residual(problem: Problem, codes: Triplets) -> Array:
    """g = W²⊙(s − Dx), whose correlations with the kernels are minus the gradient."""
    g = problem.s - synthesis(problem.d, codes, problem.grid)
    return g if problem.w2 is None else g * problem.w2
