"""min over u of ½‖W⊙(u − s)‖² + (μ/2)‖∇u‖²: smooth, and smoothly across what W hides."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .gradient import dct_filter, laplacian, laplacian_spectrum

Array = NDArray[Any]


def smooth(s: Array, strength: float) -> Array:
    """(1 + μ∇ᵀ∇) u = s, exactly."""
    return dct_filter(s, 1.0 / (1.0 + strength * laplacian_spectrum(s.shape)))


def smooth_masked(
    s: Array, w2: Array, strength: float, *, tol: float, max_iter: int
) -> tuple[Array, float]:
    """(W² + μ∇ᵀ∇) u = W²s by conjugate gradients, in float64, from a constant u.

    The preconditioner M puts the mean of W² for W², so that one DCT inverts it. Returns u and
    the error √(⟨r, M⁻¹r⟩ / ⟨r₀, M⁻¹r₀⟩), r the residual: M⁻¹ makes it blind to the scale of μ.
    """
    response = 1.0 / (w2.mean() + strength * laplacian_spectrum(s.shape))
    u = np.full(s.shape, np.average(s, weights=w2))
    r = w2 * (s - u)
    z = direction = dct_filter(r, response)
    rz = start = np.vdot(r, z)
    for _ in range(max_iter):
        if rz <= tol * tol * start:
            break
        a_direction = w2 * direction + strength * laplacian(direction)
        step = rz / np.vdot(direction, a_direction)
        u += step * direction
        r -= step * a_direction
        z = dct_filter(r, response)
        rz, rz_old = np.vdot(r, z), rz
        direction = z + (rz / rz_old) * direction
    return u, sqrt(rz / start) if start > 0.0 else 0.0
