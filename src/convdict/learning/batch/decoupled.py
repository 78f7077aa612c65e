"""Batch learning with masks: mask decoupling, and the dictionary by iterated Sherman–Morrison.

The mask is taken out of the way of the convolution by variables of its own (Heide, Heidrich and
Wetzstein 2015; Wohlberg 2016):

    min ½‖W y₀‖² + λ‖y₁‖₁       with y₀ = D x − s and y₁ = x, for every image
    min Σ_k ½‖W_k g₀ₖ‖² + ι_C(g₁)  with g₀ₖ = Y_k d − s_k and g₁ = d
"""

from __future__ import annotations

import numpy as np

from ...model.problem import Array
from ...threads import parallel_map
from ..constraint import Constraint
from .consensus import RELAXATION, BatchStep
from .frequency import ManyRankOne, irfft, nearest, product, rfft, support

PER_LAMBDA = 50.0  # ρ = PER_LAMBDA · λ + ½ of the codes
FIRST_SIGMA = 10.0  # of the dictionary


class Decoupled:
    """Memory: for every image the maps three times, as v, as spectra and in the inverse."""

    takes_masks = True

    def __init__(
        self, s: Array, w: Array | None, d: Array, lmbda: float, constraint: Constraint
    ) -> None:
        self.lmbda, self.constraint = lmbda, constraint
        self.grid, self.kernel = s.shape[1:], d.shape[1:]
        self.s = s
        self.w2 = np.ones_like(s) if w is None else w * w
        self.rho, self.sigma = PER_LAMBDA * lmbda + 0.5, FIRST_SIGMA
        self.v = np.zeros((len(s), len(d), *self.grid), s.dtype)  # y₁ + u₁
        self.y0, self.u0 = -s, np.zeros_like(s)
        self.g0, self.h0 = -s, np.zeros_like(s)
        self.g, self.h = d, np.zeros((len(d), *self.grid), s.dtype)
        self.y_hat = np.zeros((len(s), *rfft(d, self.grid).shape), _complex(s))

    def step(self) -> BatchStep:
        """One step of coding for every image, one of the dictionary."""
        g_hat = rfft(self.g, self.grid)
        each = parallel_map(lambda k: self._code(k, g_hat), range(len(self.s)))
        values, counts = zip(*each, strict=True)
        old, h = self.g, self.h
        self._fit()
        scale = max(float(np.linalg.norm(self.g)), 1e-300)
        moved = float(np.linalg.norm(self.g - old)) / scale
        apart = float(np.linalg.norm(self.h - h)) / scale
        return BatchStep(self.g, sum(values) / len(each), sum(counts), max(moved, apart))

    def _code(self, k: int, g_hat: Array) -> tuple[float, int]:
        number = self.v.dtype.type
        v, limit, alpha = self.v[k], number(self.lmbda / self.rho), number(RELAXATION)
        u = np.clip(v, -limit, limit)
        y = v - u
        target = self.s[k] + self.y0[k] - self.u0[k]
        x_hat = nearest(g_hat, rfft(target, self.grid), rfft(y - u, self.grid), 1.0)
        a0 = alpha * (irfft(product(g_hat, x_hat), self.grid) - self.s[k])
        a0 += number(1 - RELAXATION) * self.y0[k]
        v += alpha * (irfft(x_hat, self.grid) - y)
        a0 += self.u0[k]
        self.y0[k] = _fitted(a0, self.w2[k], self.rho)
        self.u0[k] = a0 - self.y0[k]
        new = v - np.clip(v, -limit, limit)
        self.y_hat[k] = rfft(new, self.grid)
        r = irfft(product(g_hat, self.y_hat[k]), self.grid) - self.s[k]
        fit = 0.5 * float(np.sum(self.w2[k] * r * r, dtype=np.float64))
        l1 = float(np.abs(new).sum(dtype=np.float64))
        return fit + self.lmbda * l1, int(np.count_nonzero(new))

    def _fit(self) -> None:
        """d = (I + Σ Y_kᴴY_k)⁻¹(g₁ − h₁ + Σ Y_kᴴ(s_k + g₀ₖ − h₀ₖ)), then g₀, g₁ and duals."""
        padded = np.zeros_like(self.h)
        inside = support(self.kernel)
        padded[inside] = self.g
        b_hat = rfft(padded - self.h, self.grid)
        targets = rfft(self.s + self.g0 - self.h0, self.grid)
        for y_hat, target in zip(self.y_hat, targets, strict=True):
            b_hat += np.conj(y_hat) * target
        d_hat = ManyRankOne.of(self.y_hat).solve(b_hat)
        number = self.s.dtype.type

        def image(k: int) -> None:
            a0 = number(RELAXATION) * (irfft(product(d_hat, self.y_hat[k]), self.grid) - self.s[k])
            a0 += number(1 - RELAXATION) * self.g0[k] + self.h0[k]
            self.g0[k] = _fitted(a0, self.w2[k], self.sigma)
            self.h0[k] = a0 - self.g0[k]

        parallel_map(image, range(len(self.s)))
        a1 = number(RELAXATION) * irfft(d_hat.copy(), self.grid)
        a1 += number(1 - RELAXATION) * padded + self.h
        self.g = self.constraint(a1[inside][:, np.newaxis])[:, 0]
        self.h = a1
        self.h[inside] -= self.g


def _fitted(a: Array, w2: Array, rho: float) -> Array:
    """argmin over y of ½‖W y‖² + ½ρ‖y − a‖²"""
    number = a.dtype.type
    fitted: Array = number(rho) * a / (w2 + number(rho))
    return fitted


def _complex(s: Array) -> np.dtype[np.complexfloating]:
    return np.result_type(s.dtype, np.complex64)
