"""The Hessian as lags: exact, and as small for a large image as for a tile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import Any

import numpy as np
import scipy.fft

from ..kernels.geometry import three
from ..kernels.lags import half_lags, half_shape, merge_lags
from ..model.order import ByPosition, starts
from ..model.problem import Array, Problem
from ..threads import parallel_map
from .spectral import Spectral
from .terms import Terms

KERNELS_PER_TASK = 4


class Lag:
    """R_mn[δ] = Σ_p x_m[p] x_n[p + δ] for m ≤ n and |δ| < kernel, wrapped around a box.

    XᵀX has the entry R_mn[i − j] at ((m, i), (n, j)), so that Ad = Σ_n R_mn * d_n.
    """

    exact_weights = False

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        kernel = shape[2:]
        box = tuple(scipy.fft.next_fast_len(2 * k - 1, real=True) for k in kernel)
        self.spectral = Spectral(shape, box, dtype)
        self.lags = np.zeros((self.spectral.n_pairs, prod(box)), dtype)
        a, b, c = three(kernel)
        self._halo = a - 1, b - 1, c - 1
        n_kernels = shape[0]
        self._half = np.zeros((n_kernels, n_kernels, *half_shape(self._halo)), dtype)
        self._stale = False

    def admit(self, problem: Problem) -> None:
        """Signals of any size fit."""

    def scale(self, factor: float) -> None:
        """R ← factor · R"""
        self.lags *= self.lags.dtype.type(factor)
        self._stale = True

    def add(self, parts: Iterable[tuple[Problem, Terms, float]]) -> None:
        """R += weight · ω² · the lags of each signal's codes."""
        self._half.fill(0)
        for problem, terms, weight in parts:
            self._collect(problem, terms, weight)
        wrap = three(self.spectral.box)
        self._each(lambda m, last: merge_lags(m, last, self._halo, self._half, wrap, self.lags))
        self._stale = True

    def apply(self, d: Array) -> Array:
        """Σ_n R_mn * d_n"""
        if self._stale:
            self.spectral.set_pairs(self.lags.reshape(-1, *self.spectral.box))
            self._stale = False
        return self.spectral.apply(d)

    def forget(self, kernel: int) -> None:
        """R_mn = 0 wherever m or n is `kernel`."""
        m, n = np.triu_indices(self.spectral.n_kernels)
        self.lags[(m == kernel) | (n == kernel)] = 0
        self._stale = True

    def state(self) -> dict[str, Array]:
        """All that has to be kept."""
        return {"lags": self.lags}

    def restore(self, state: dict[str, Array]) -> None:
        self.lags[:] = state["lags"]
        self._stale = True

    def _collect(self, problem: Problem, terms: Terms, weight: float) -> None:
        codes = terms.codes
        near = ByPosition.of(codes, problem.grid)
        data = starts(codes, problem.n_kernels), *near, three(problem.grid), self._halo
        factor = self.lags.dtype.type(weight * terms.curvature)
        self._each(lambda m, last: half_lags(m, last, *data, factor, self._half))

    def _each(self, work: Callable[[int, int], None]) -> None:
        """`work(first, last)` for all kernels, a few at a time."""
        n = self.spectral.n_kernels
        parallel_map(lambda m: work(m, min(m + KERNELS_PER_TASK, n)), range(0, n, KERNELS_PER_TASK))
