"""Batch learning by ADMM consensus, at every frequency.

Steps of coding and of the dictionary take turns (Garcia-Cardona and Wohlberg 2018). Every image
has a dictionary of its own, which fits its codes, and all of them have to agree (Šorel and
Šroubek 2016):

    x_k, y_k, u_k:  min ½‖D x_k − s_k‖² + λ‖y_k‖₁  with x_k = y_k
    d_k, g, h_k:    min Σ_k ½‖Y_k d_k − s_k‖² + ι_C(g)  with d_k = g for all k
"""

from __future__ import annotations

from math import log10, sqrt
from typing import NamedTuple

import numpy as np

from ...model.problem import Array
from ...threads import parallel_map
from ..constraint import Constraint
from .balance import Balance
from .frequency import irfft, nearest, product, rfft, squared_norm, support

RELAXATION = 1.8
FIRST_SIGMA = 1.0


class BatchStep(NamedTuple):
    """What one iteration of a batch method found."""

    d: Array  # feasible
    value: float  # mean of ½‖W(Σ d*y − s)‖² + λ‖y‖₁ at the dictionary that coded
    nnz: int
    residual: float  # the larger of the dictionary's relative residuals


class Consensus:
    """Memory: for every image the maps twice, as v = y + u and as the kernels d_k + h_k."""

    takes_masks = False

    def __init__(
        self, s: Array, w: Array | None, d: Array, lmbda: float, constraint: Constraint
    ) -> None:
        self.lmbda, self.constraint = lmbda, constraint
        self.grid, self.kernel = s.shape[1:], d.shape[1:]
        self.s_hat = rfft(s, self.grid)
        self.g, self.g_hat = d, rfft(d, self.grid)
        self.v = np.zeros((len(s), len(d), *self.grid), s.dtype)
        self.p_hat = np.repeat(self.g_hat[np.newaxis], len(s), axis=0)  # g + h_k
        self.h_scale = 1.0  # h_k = h_scale · (p_k − g)
        self.coding = Balance(50 * lmbda + 1, 1 + 18.3 ** (log10(lmbda) + 1))
        self.agreement = Balance(FIRST_SIGMA)

    def step(self) -> BatchStep:
        """Code once, fit once, agree once."""
        sums = _added(parallel_map(lambda k: self._fit(k, *self._code(k)), range(len(self.s_hat))))
        self._balance_codes(sums)
        residual = self._agree(sums)
        return BatchStep(self.g, sums["value"] / len(self.s_hat), int(sums["nnz"]), residual)

    def _code(self, k: int) -> tuple[Array, dict[str, float]]:
        """x = argmin ½‖Dx − s‖² + ½ρ‖x − y + u‖², y⁺ = S_{λ/ρ}(x + u); ŷ, and sums of squares."""
        v, limit = self.v[k], self.v.dtype.type(self.lmbda / self.coding.rho)
        u = np.clip(v, -limit, limit)
        y = v - u
        x_hat = nearest(self.g_hat, self.s_hat[k], rfft(y - u, self.grid), self.coding.rho)
        x = irfft(x_hat, self.grid)
        v += v.dtype.type(RELAXATION) * (x - y)
        u = np.clip(v, -limit, limit)
        new = v - u
        y_hat = rfft(new, self.grid)
        misfit = squared_norm(product(self.g_hat, y_hat) - self.s_hat[k], self.grid)
        return y_hat, {
            "value": 0.5 * misfit + self.lmbda * float(np.abs(new).sum(dtype=np.float64)),
            "nnz": float(np.count_nonzero(new)),
            "xx": _square(x),
            "yy": _square(new),
            "uu": _square(u),
            "x_y": _square(x - new),
            "y_y": _square(new - y),
        }

    def _fit(self, k: int, y_hat: Array, sums: dict[str, float]) -> dict[str, float]:
        """d_k = argmin ½‖Y_k d − s_k‖² + ½σ‖d − g + h_k‖², into p_k = αd_k + (1 − α)g + h_k."""
        h_hat = self.p_hat[k]
        h_hat -= self.g_hat
        h_hat *= h_hat.real.dtype.type(self.h_scale)
        d_hat = nearest(y_hat, self.s_hat[k], self.g_hat - h_hat, self.agreement.rho)
        more = {
            "dd": squared_norm(d_hat, self.grid),
            "d_g": squared_norm(d_hat - self.g_hat, self.grid),
            "hh": squared_norm(h_hat, self.grid),
        }
        d_hat *= d_hat.real.dtype.type(RELAXATION)
        d_hat += d_hat.real.dtype.type(1 - RELAXATION) * self.g_hat
        h_hat += d_hat  # where p_k lies
        return {**sums, **more}

    def _agree(self, sums: dict[str, float]) -> float:
        """g = Proj_C(mean of p_k); returns the larger of the relative residuals."""
        mean_hat, old = np.empty_like(self.g_hat), self.g

        def work(m: int) -> None:
            mean_hat[m] = self.p_hat[:, m].mean(axis=0)

        parallel_map(work, range(len(mean_hat)))
        d = irfft(mean_hat, self.grid)[support(self.kernel)]
        self.g = self.constraint(d[:, np.newaxis])[:, 0]
        self.g_hat = rfft(self.g, self.grid)
        n, gg = len(self.p_hat), _square(self.g)
        primal = sqrt(sums["d_g"] / max(sums["dd"], n * gg, 1e-300))
        dual = sqrt(n * _square(self.g - old) / max(sums["hh"], 1e-300))
        self.h_scale = 1 / self.agreement.factor(primal, dual)
        return max(primal, dual)

    def _balance_codes(self, sums: dict[str, float]) -> None:
        primal = sqrt(sums["x_y"] / max(sums["xx"], sums["yy"], 1e-300))
        dual = sqrt(sums["y_y"] / max(sums["uu"], 1e-300))
        factor = self.coding.factor(primal, dual)
        if factor != 1:
            parallel_map(lambda k: self._rescale(k, factor), range(len(self.v)))

    def _rescale(self, k: int, factor: float) -> None:
        """u⁺ = u / factor, for ρ that was just multiplied by it."""
        limit = self.v.dtype.type(self.lmbda / (self.coding.rho / factor))
        u = np.clip(self.v[k], -limit, limit)
        self.v[k] += u * u.dtype.type(1 / factor - 1)


def _added(each: list[dict[str, float]]) -> dict[str, float]:
    """Sums over images, by name."""
    return {name: sum(one[name] for one in each) for name in each[0]}


def _square(a: Array) -> float:
    """‖a‖²"""
    return float(np.einsum("i,i->", a.reshape(-1), a.reshape(-1), dtype=np.float64))
