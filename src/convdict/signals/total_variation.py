"""min over u of ½‖W⊙(u − s)‖² + μ Σ_p ‖∇u(p)‖₂, with a duality gap."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .gradient import dct_filter, gradient, gradient_adjoint, laplacian_spectrum

Array = NDArray[Any]

_PENALTY = 6.0  # ρ/μ, for a signal whose mean absolute deviation is 1
_RELAXATION = 1.8
_CHECK_EVERY = 10


def flatten(
    s: Array, w2: Array, strength: float, *, tol: float, max_iter: int
) -> tuple[Array, float]:
    """The minimiser in float64, and its relative duality gap.

    Solved in units of the signal, as u(a·s + b, a·μ) = a·u(s, μ) + b.
    """
    seen = s[w2 > 0.0].astype(np.float64)
    if seen.min() == seen.max():
        return np.full(s.shape, seen[0]), 0.0
    centre = seen.mean()
    scale = np.abs(seen - centre).mean()
    s = np.where(w2 > 0.0, (s - centre) / scale, 0.0)
    u, gap = _admm(s, w2, strength / scale, tol, max_iter)
    return scale * u + centre, gap


def _admm(s: Array, w2: Array, mu: float, tol: float, max_iter: int) -> tuple[Array, float]:
    """ADMM on z = ∇u, with y the multiplier over ρ. What W hides is filled with the last u:

    u⁺ = argmin ½‖W⊙(u − s)‖² + ½⟨u − u_last, (c − W²)(u − u_last)⟩ + (ρ/2)‖∇u − z + y‖²
    v  = α∇u⁺ + (1 − α)z + y
    y⁺ = v, projected onto ‖y(p)‖₂ ≤ μ/ρ
    z⁺ = v − y⁺

    With c = max W², a single DCT solves for u⁺: (c + ρ∇ᵀ∇)u⁺ = W²s + (c − W²)u + ρ∇ᵀ(z − y).
    """
    c, rho, alpha = w2.max(), _PENALTY * mu, _RELAXATION
    response = 1.0 / (c + rho * laplacian_spectrum(s.shape))
    u = np.zeros_like(s)
    z = y = gradient(u)
    gap = np.inf
    for k in range(1, max_iter + 1):
        u = dct_filter(w2 * s + (c - w2) * u + rho * gradient_adjoint(z - y), response)
        v = alpha * gradient(u) + (1.0 - alpha) * z + y
        y = v / np.maximum(1.0, _PENALTY * norms(v))
        z = v - y
        if k % _CHECK_EVERY == 0 or k == max_iter:
            gap = relative_gap(u, rho * y, s=s, w2=w2, mu=mu)
            if gap <= tol:
                break
    return u, gap


def relative_gap(u: Array, p: Array, *, s: Array, w2: Array, mu: float) -> float:
    """(P − D) / P, P = ½‖W⊙(u − s)‖² + μ Σ_p ‖∇u(p)‖₂, D = min over v of ½‖W⊙(v − s)‖² + ⟨v, ∇ᵀp⟩.

    D bounds P from below if ‖p(p)‖₂ ≤ μ. Some minimiser stays within the range of the observed s,
    since clipping raises neither term of P; so v need only run over that range, and D is finite
    even where W = 0.
    """
    q = gradient_adjoint(p)
    bottom, top = s.min(), s.max()
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        v = np.where(w2 > 0.0, s - q / w2, np.where(q > 0.0, bottom, top))
    v = np.clip(v, bottom, top)
    primal = 0.5 * np.sum(w2 * (u - s) ** 2) + mu * np.sum(norms(gradient(u)))
    dual = np.sum(0.5 * w2 * (v - s) ** 2 + v * q)
    return float((primal - dual) / primal) if primal > 0.0 else 0.0


def norms(p: Array) -> Array:
    """‖p(p)‖₂ at every pixel."""
    lengths: Array = np.sqrt(np.einsum("i...,i...->...", p, p))
    return lengths
