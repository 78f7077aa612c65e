"""FISTA on dense maps with SciPy's FFT: what one writes in an afternoon, but with care.

The step is the computed bound 1/L, L = max over frequencies of Σ_m |d̂_m|², the momentum is
restarted when it points uphill (O'Donoghue and Candès, 2015), all in float32, FFTs on every
core. It looks at no objective and no gap: it does the iterations it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import scipy.fft

from ..environment import cores_at_hand
from ..judge import Problem

Watch = Callable[[int, np.ndarray], bool]


def solve(problem: Problem, n_iter: int, watch: Watch | None = None) -> np.ndarray:
    """x⁺ = soft(z + Dᵀ(s − Dz)/L, λ/L),  z⁺ = x⁺ + β(x⁺ − x)."""
    workers, grid = cores_at_hand(), problem.grid
    d_hat = scipy.fft.rfft2(problem.d, s=grid, workers=workers)
    s_hat = scipy.fft.rfft2(problem.s)
    step = np.float32(1.0 / (np.abs(d_hat) ** 2).sum(axis=0).max())
    threshold = step * np.float32(problem.lmbda)

    x = np.zeros((problem.n_kernels, *grid), np.float32)
    z, t = x.copy(), 1.0
    for k in range(1, n_iter + 1):
        r_hat = s_hat - (d_hat * scipy.fft.rfft2(z, workers=workers)).sum(axis=0)
        g = scipy.fft.irfft2(np.conj(d_hat) * r_hat, s=grid, workers=workers, overwrite_x=True)
        g *= step
        g += z
        g -= np.clip(g, -threshold, threshold)  # soft threshold
        moved = g - x
        if np.vdot(z - g, moved) > 0.0:
            t = 1.0
        t_next = 0.5 + sqrt(0.25 + t * t)
        x, z = g, moved
        z *= np.float32((t - 1.0) / t_next)
        z += x
        t = t_next
        if watch is not None and watch(k, x):
            break
    return x
