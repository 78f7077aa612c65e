"""From codes to signals and residuals."""

from __future__ import annotations

import numpy as np

from ..kernels.geometry import padded_rows, three
from ..kernels.lanes import lane_count
from ..kernels.synthesis import synthesize
from ..threads import parallel_map
from .problem import Array, Problem, Triplets

FEW = 1000  # coefficients that are added before another thread would be awake


def synthesis(d: Array, codes: Triplets, grid: tuple[int, ...]) -> Array:
    """Dx = Σ_m d_m * x_m on a circular grid, for d of shape (M, C, *kernel)."""
    shape = (d.shape[1], *three(d.shape[2:]))
    rows = padded_rows(d.reshape(-1, *shape)).reshape(-1)
    values = codes.value.astype(d.dtype)
    middle = len(values) // 2

    def part(some: slice) -> Array:
        signal = np.zeros((d.shape[1], *three(grid)), d.dtype)
        told = codes.kernel[some], codes.position[some], values[some]
        synthesize(rows, shape, lane_count(d.dtype), *told, signal)
        return signal

    halves = slice(middle), slice(middle, None)
    signal, *others = parallel_map(part, halves if len(values) > FEW else [slice(None)])
    for other in others:
        signal += other
    return signal.reshape(d.shape[1], *grid)


def weighted_residual(problem: Problem, codes: Triplets) -> Array:
    """g = W²⊙(s − Dx), whose correlations with the kernels are minus the gradient."""
    g = problem.s - synthesis(problem.d, codes, problem.grid)
    return g if problem.w2 is None else g * problem.w2
