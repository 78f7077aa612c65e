"""min over d in C of ½dᵀAd − bᵀd, by FISTA from a warm start."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..model.problem import Array

LANCZOS_STEPS = 8, 2  # at first, and from the leading vector of the update before
SLACK = 1.02  # Ritz values lie below the eigenvalue


class Minimum(NamedTuple):
    d: Array
    n_iter: int
    residual: float  # ‖g − Proj_C(g − ∇/L)‖ at the last auxiliary point
    value: float  # ½dᵀAd − bᵀd
    leading: Array  # about the eigenvector of the largest eigenvalue


def minimise(
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
    """The paper's FISTA with a step for each kernel, restarted where momentum points uphill.

    Kernels differ a hundredfold in how much they are used, and so in how far they may move
    at once. With H the diagonal `metric`, one number for a kernel, the step is (LH)⁻¹, for L a
    little above the largest eigenvalue of H⁻½AH⁻½ that Lanczos sees. Each step checks what L
    has to guarantee, ⟨z − y, A(z − y)⟩ ≤ L⟨z − y, H(z − y)⟩, and raises L if it does not hold:
    A is applied to the iterates, so the check costs nothing.
    """
    half = np.sqrt(metric)
    largest, leading = largest_eigenvalue(
        lambda v: apply(v / half) / half,
        next((v for v in (leading, start, linear) if v is not None and v.any()), linear),
        LANCZOS_STEPS[leading is not None],
    )
    x = y = start
    Ax = Ay = apply(x)
    if largest <= 0:  # nothing was ever coded
        return Minimum(start, 0, 0.0, value_of(x, Ax, linear), leading)
    L, gamma, residual, n_iter = SLACK * largest, 1.0, np.inf, 0
    while residual > tolerance and n_iter < max_iter:
        n_iter += 1
        z = project(y - (Ay - linear) / (y.dtype.type(L) * metric))
        Az = apply(z)
        step = z - y
        residual = float(np.linalg.norm(step))
        curvature, length = inner(step, Az - Ay), inner(step, metric * step)
        if curvature > 1.001 * L * length and residual > tolerance:
            L, residual = SLACK * curvature / length, np.inf
            continue
        if inner(metric * step, z - x) < 0:
            gamma = 1.0
        following = (1 + np.sqrt(1 + 4 * gamma**2)) / 2
        beta = y.dtype.type((gamma - 1) / following)
        y, Ay = z + beta * (z - x), Az + beta * (Az - Ax)
        x, Ax, gamma = z, Az, following
    return Minimum(x, n_iter, residual, value_of(x, Ax, linear), leading)


def largest_eigenvalue(
    apply: Callable[[Array], Array], start: Array, steps: int
) -> tuple[float, Array]:
    """The largest Ritz value of Lanczos steps, and its vector; zero for a zero matrix."""
    basis: list[Array] = []
    diagonal: list[float] = []
    beside: list[float] = []
    v, norm = start, float(np.linalg.norm(start))
    while len(basis) < steps and norm > 0:
        v = (v / norm).astype(start.dtype)
        w = apply(v)
        basis.append(v)
        diagonal.append(inner(v, w))
        for u in basis:  # in full: they are few, and rounding spoils the short recurrence
            w = w - u.dtype.type(inner(u, w)) * u
        norm = float(np.linalg.norm(w))
        if norm <= 1e-5 * abs(diagonal[0]):
            break
        beside.append(norm)
        v = w
    if not basis:
        return 0.0, start
    n = len(basis)
    values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside[: n - 1])
    ritz = sum(u.dtype.type(c) * u for c, u in zip(vectors[:, -1], basis, strict=True))
    return float(values[-1]), np.asarray(ritz)


def value_of(d: Array, Ad: Array, linear: Array) -> float:
    return 0.5 * inner(d, Ad) - inner(linear, d)


def inner(a: Array, b: Array) -> float:
    return float(np.sum(a * b, dtype=np.float64))
