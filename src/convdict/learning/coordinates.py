"""min over d in C of ½dᵀAd − bᵀd, one kernel after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.problem import Array
from .quadratic import Minimum, inner, value_of


def minimise_by_kernel(
    *,
    apply: Callable[[Array], Array],
    linear: Array,
    start: Array,
    project: Callable[[Array], Array],
    metric: Array,
    tolerance: float,
    max_iter: int,
    leading: Array | None = None,
) -> Minimum:
    """d_m ← Proj_C(d_m − (Ad − b)_m / L_m) for m = 1 … M, over and over.

    Projected coordinate descent (Degraux, Kamilov, Boufounos and Liu 2017). L_m begins at
    `metric` and doubles until it bounds the curvature of the step that it leads to. A sweep
    applies A to M single kernels, where FISTA applies it once, to all.
    """
    d, Ad = start.copy(), apply(start)
    L = np.broadcast_to(metric, (len(d), *(1,) * (d.ndim - 1))).astype(np.float64).reshape(-1)
    residual, n_iter = np.inf, 0
    if not np.any(L > 0):  # nothing was ever coded
        return Minimum(start, 0, 0.0, value_of(start, Ad, linear), linear)
    while residual > tolerance and n_iter < max_iter:
        n_iter += 1
        before = d.copy()
        for m in range(len(d)):
            step, change = np.zeros_like(d), Ad
            while L[m] > 0:
                slope = (Ad[m] - linear[m]) / d.dtype.type(L[m])
                step[m] = project((d[m] - slope)[np.newaxis])[0] - d[m]
                change = apply(step)
                if inner(step, change) <= 1.001 * L[m] * inner(step, step):
                    break
                L[m] *= 2
            if step[m].any():
                d, Ad = d + step, Ad + change
        residual = float(np.linalg.norm(d - before))
    return Minimum(d, n_iter, residual, value_of(d, Ad, linear), linear)
