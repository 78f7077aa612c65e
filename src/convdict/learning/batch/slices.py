"""Batch learning in the spatial domain, by slices (Papyan, Romano, Sulam and Elad 2017).

An image is the sum of slices, one at every position, as large as a kernel: s = Σᵢ Pᵢᵀsᵢ, and
each slice is coded by itself, sᵢ = Dαᵢ. ADMM brings both together:

    αᵢ ← argmin λ‖α‖₁ + ½ρ‖sᵢ + uᵢ − Dα‖²
    sᵢ ← argmin ½‖s − Σⱼ Pⱼᵀsⱼ‖² + ½ρ Σⱼ‖sⱼ − Dαⱼ + uⱼ‖²
    uᵢ ← uᵢ + sᵢ − Dαᵢ

The kernels follow one after the other, as in K-SVD: each is fitted to what the other kernels leave
of the slices that use it. K-SVD would fit its coefficients along with it, without their penalty;
the next coding would take that back, and dictionaries come out worse. So they stay as they are.
"""

from __future__ import annotations

from math import prod, sqrt

import numpy as np

from ...kernels.slice_lasso import slice_lasso
from ...model.fourier import sum_in_order
from ...model.problem import Array
from ...threads import parallel_map
from ..constraint import Constraint
from .consensus import BatchStep

RHO = 3.0  # the best of 0.03 to 10 for photographs in [0, 1]
SWEEPS = 20
TINY = 1e-4
ROWS = 1 << 12  # slices in one task


class Slices:
    """Memory: for every image its slices three times over, and the codes."""

    takes_masks = False

    def __init__(
        self, s: Array, w: Array | None, d: Array, lmbda: float, constraint: Constraint
    ) -> None:
        self.s, self.lmbda, self.rho = s, lmbda, RHO
        self.shape, self.grid = d.shape, s.shape[1:]
        self.length = prod(d.shape[1:])
        self.d = d.reshape(len(d), -1)
        share = s.dtype.type(1 / self.length)
        n = prod(self.grid)
        self.slices = np.stack([share * _cut(image, d.shape[1:]) for image in s])
        self.u = np.zeros((len(s), n, self.length), s.dtype)
        self.codes = np.zeros((len(s), n, len(d)), s.dtype)

    def step(self) -> BatchStep:
        """All slices coded, all kernels updated, all slices brought together."""
        for k in range(len(self.s)):
            self._code(k)
        value, nnz = self._value()
        old = self.d.copy()
        for m in range(len(self.d)):
            self._kernel(m)
        primal = [self._join(k) for k in range(len(self.s))]
        moved = float(np.linalg.norm(self.d - old)) / max(float(np.linalg.norm(old)), 1e-300)
        return BatchStep(self.d.reshape(self.shape), value, nnz, max(moved, sqrt(max(primal))))

    def _code(self, k: int) -> None:
        """αᵢ of every slice, from those of the step before."""
        gram = self.d @ self.d.T
        limit = self.d.dtype.type(self.lmbda / self.rho)
        tiny = self.d.dtype.type(TINY) * limit
        slices, u, codes = self.slices[k], self.u[k], self.codes[k]

        def work(first: int) -> None:
            rows = slice(first, first + ROWS)
            c = (slices[rows] + u[rows]) @ self.d.T
            slice_lasso(0, len(c), gram, limit, tiny, SWEEPS, c, codes[rows])

        parallel_map(work, range(0, len(slices), ROWS))

    def _value(self) -> tuple[float, int]:
        """Mean of ½‖s − Σ Pᵢᵀ(Dαᵢ)‖² + λ‖α‖₁: the codes as those of a convolutional model."""

        def work(k: int) -> tuple[float, int]:
            r = self.s[k] - _add(self.codes[k] @ self.d, self.shape[1:], self.grid)
            l1 = float(np.abs(self.codes[k]).sum(dtype=np.float64))
            fit = 0.5 * float(np.sum(r * r, dtype=np.float64))
            return fit + self.lmbda * l1, int(np.count_nonzero(self.codes[k]))

        values, counts = zip(*parallel_map(work, range(len(self.s))), strict=True)
        return sum(values) / len(values), sum(counts)

    def _kernel(self, m: int) -> None:
        """d_m ← Eᵀα / ‖Eᵀα‖ with E = S + U − Σ_{n≠m} α_n d_nᵀ: the unit kernel that fits best."""

        def part(k: int) -> Array:
            users = np.flatnonzero(self.codes[k][:, m])
            alpha = self.codes[k][users]
            rest = self.slices[k][users] + self.u[k][users] - alpha @ self.d
            found: Array = alpha[:, m] @ rest + (alpha[:, m] @ alpha[:, m]) * self.d[m]
            return found

        new = sum_in_order(tuple(parallel_map(part, range(len(self.s)))))
        norm = float(np.linalg.norm(new.astype(np.float64)))
        if norm > 0:
            self.d[m] = (new / norm).astype(self.d.dtype)

    def _join(self, k: int) -> float:
        """sᵢ and uᵢ of an image; returns the squared relative distance of slices and codes."""
        number = self.s.dtype.type
        coded = self.codes[k] @ self.d
        p = _cut(self.s[k], self.shape[1:])
        p *= number(1 / self.rho)
        p += coded
        p -= self.u[k]
        total = _add(p, self.shape[1:], self.grid)
        p -= number(1 / (self.rho + self.length)) * _cut(total, self.shape[1:])
        self.slices[k] = p
        p = p - coded
        self.u[k] += p
        size = max(float(np.vdot(coded, coded)), float(np.vdot(self.slices[k], self.slices[k])))
        return float(np.vdot(p, p)) / max(size, 1e-300)


def _cut(s: Array, kernel: tuple[int, ...]) -> Array:
    """R_i s for every i: the patches that start at every position, and wrap around."""
    padded = np.pad(s, [(0, k - 1) for k in kernel], mode="wrap")
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel)
    return windows.reshape(s.size, -1).copy()


def _add(slices: Array, kernel: tuple[int, ...], grid: tuple[int, ...]) -> Array:
    """Σᵢ Pᵢᵀsᵢ, the adjoint of cutting."""
    total = np.zeros(tuple(n + k - 1 for n, k in zip(grid, kernel, strict=True)), slices.dtype)
    by_offset = np.ascontiguousarray(slices.T).reshape(-1, *grid)
    for layer, offset in zip(by_offset, np.ndindex(*kernel), strict=True):
        total[tuple(slice(o, o + n) for o, n in zip(offset, grid, strict=True))] += layer
    for axis, n in enumerate(grid):  # what reaches over the end belongs to the beginning
        over = total.shape[axis] - n
        if over:
            head, tail = [slice(None)] * total.ndim, [slice(None)] * total.ndim
            head[axis], tail[axis] = slice(0, over), slice(n, None)
            total[tuple(head)] += total[tuple(tail)]
            tail[axis] = slice(0, n)
            total = total[tuple(tail)]
    return total
