"""Differences between neighbours, with nothing beyond the border, and filters by DCT."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dctn, idctn

Array = NDArray[Any]


def gradient(u: Array) -> Array:
    """(∇u)_i[p] = u[p + e_i] − u[p], zero where p + e_i lies outside: shape (axes, *grid)."""
    g = np.zeros((u.ndim, *u.shape), u.dtype)
    for axis, g_i in enumerate(g):
        here, ahead = _neighbours(u, axis)
        np.subtract(ahead, here, out=_neighbours(g_i, axis)[0])
    return g


def gradient_adjoint(p: Array) -> Array:
    """(∇ᵀp)[p] = Σ_i p_i[p − e_i] − p_i[p], for p that is zero on the last face of its axis."""
    q = np.zeros(p.shape[1:], p.dtype)
    for axis, p_i in enumerate(p):
        here, ahead = _neighbours(q, axis)
        flow = _neighbours(p_i, axis)[0]
        here -= flow
        ahead += flow
    return q


def laplacian(u: Array) -> Array:
    """∇ᵀ∇u."""
    return gradient_adjoint(gradient(u))


def laplacian_spectrum(grid: tuple[int, ...]) -> Array:
    """Σ_i 4 sin²(πk_i / 2n_i): ∇ᵀ∇ is diagonal in the basis of the DCT-II."""
    waves = [4.0 * np.sin(0.5 * np.pi * np.arange(n) / n) ** 2 for n in grid]
    spectrum: Array = reduce(np.add.outer, waves)
    return spectrum


def dct_filter(u: Array, response: Array) -> Array:
    """DCT⁻¹(response · DCT(u)), in the precision of u."""
    filtered: Array = idctn(response.astype(u.dtype, copy=False) * dctn(u), overwrite_x=True)
    return filtered


def _neighbours(u: Array, axis: int) -> tuple[Array, Array]:
    """Views of all p that have p + e_axis, and of all those p + e_axis."""
    u = u.swapaxes(0, axis)
    return u[:-1], u[1:]
