"""What the batch methods do at every frequency: systems of rank one, or of a few times that.

Arrays have the frequencies of one image last, kernels first. A signal Σ_m d_m * x_m is
aᵀb at every frequency, whether a are kernels and b maps or the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import scipy.fft

from ...model.problem import Array
from ...threads import parallel_map

BAND = 1 << 8  # frequencies whose systems are solved together: they fit a core's cache


def rfft(a: Array, grid: tuple[int, ...]) -> Array:
    """F(a) over the last axes, padded with zeros to the grid: the half spectrum."""
    a_hat: Array = scipy.fft.rfftn(a, s=grid, axes=range(-len(grid), 0), workers=1)
    return a_hat


def irfft(a_hat: Array, grid: tuple[int, ...]) -> Array:
    """The inverse; may overwrite what it is given."""
    axes = range(-len(grid), 0)
    a: Array = scipy.fft.irfftn(a_hat, s=grid, axes=axes, workers=1, overwrite_x=True)
    return a


def support(kernel: tuple[int, ...]) -> tuple[slice, ...]:
    """Where kernels lie in arrays of shape (M, *grid)."""
    return slice(None), *(slice(k) for k in kernel)


def product(a_hat: Array, b_hat: Array) -> Array:
    """Σ_m â_m b̂_m"""
    found: Array = np.einsum("m...,m...->...", a_hat, b_hat)
    return found


def nearest(a_hat: Array, s_hat: Array, z_hat: Array, weight: float) -> Array:
    """argmin over b of ½‖aᵀb − s‖² + ½ weight ‖b − z‖², by Sherman and Morrison.

    b = z + conj(a) (s − aᵀz) / (weight + ‖a‖²)
    """
    square = np.einsum("m...,m...->...", a_hat.real, a_hat.real)
    square += np.einsum("m...,m...->...", a_hat.imag, a_hat.imag)
    share = (s_hat - product(a_hat, z_hat)) / (square + square.dtype.type(weight))
    b_hat = np.conj(a_hat)
    b_hat *= share
    b_hat += z_hat
    return b_hat


def squared_norm(a_hat: Array, grid: tuple[int, ...]) -> float:
    """‖a‖² from the half spectrum, by Parseval: inner columns stand for two frequencies each."""
    power = a_hat.real**2 + a_hat.imag**2
    last = grid[-1] // 2 + 1
    twice = np.full(last, 2.0)
    twice[0] = 1
    if grid[-1] % 2 == 0:
        twice[-1] = 1
    columns = power.reshape(-1, last).sum(axis=0, dtype=np.float64)
    return float(columns @ twice) / prod(grid)


class ManyRankOne(NamedTuple):
    """(I + Σ_k conj(a_k) a_kᵀ)⁻¹ at every frequency, by Sherman and Morrison, iterated.

    With A_k = A_{k−1} + conj(a_k) a_kᵀ and A_0 = I,

        γ_k = A_{k−1}⁻¹ conj(a_k),   A_k⁻¹b = A_{k−1}⁻¹b − γ_k (a_kᵀ A_{k−1}⁻¹b) / (1 + a_kᵀγ_k)

    (Wohlberg, IEEE Transactions on Image Processing 25(1), 2016).
    """

    a_hat: Array  # (K, M, n_frequencies)
    gamma: Array
    scale: Array  # (K, n_frequencies), 1 / (1 + a_kᵀγ_k)

    @classmethod
    def of(cls, a_hat: Array) -> ManyRankOne:
        a = a_hat.reshape(*a_hat.shape[:2], -1)
        gamma = np.empty_like(a)
        scale = np.empty((len(a), a.shape[2]), a.real.dtype)
        found = cls(a, gamma, scale)

        def work(start: int) -> None:
            band = slice(start, start + BAND)
            mine = np.ascontiguousarray(a[..., band])
            for k in range(len(a)):
                g = found._inverse(np.conj(mine[k]), mine[:k], band)
                gamma[k, :, band] = g
                scale[k, band] = 1 / (1 + product(mine[k], g).real)

        parallel_map(work, range(0, a.shape[2], BAND))
        return found

    def solve(self, b_hat: Array) -> Array:
        """A⁻¹b̂ for b̂ of shape (M, …)."""
        b = b_hat.reshape(len(b_hat), -1)
        x = np.empty_like(b)

        def work(start: int) -> None:
            band = slice(start, start + BAND)
            x[:, band] = self._inverse(b[:, band].copy(), self.a_hat[..., band], band)

        parallel_map(work, range(0, b.shape[1], BAND))
        return x.reshape(b_hat.shape)

    def _inverse(self, b: Array, a: Sequence[Array] | Array, band: slice) -> Array:
        """Apply A_k⁻¹, k = len(a), in place."""
        for k, one in enumerate(a):
            b -= self.gamma[k, :, band] * (product(one, b) * self.scale[k, band])
        return b
