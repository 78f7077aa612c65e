"""The Hessian as one matrix: the paper's Option I, and the dense baseline beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import Any

import numpy as np

from ..kernels.geometry import three
from ..kernels.gram import sparse_gram
from ..model.order import ByPosition
from ..model.problem import Array, Problem, Triplets
from ..threads import parallel_map
from .terms import Terms

KERNELS_PER_TASK = 8
ROWS = 2048  # of the dense X at once


class Matrix:
    """A_c = Σ XᵀW_c²X of shape (M·L, M·L), one for each channel, weights kept exactly."""

    exact_weights = True

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._length = prod(shape[2:])
        size = shape[0] * self._length
        self.a = np.zeros((shape[1], size, size), dtype)

    def admit(self, problem: Problem) -> None:
        """Signals of any size fit."""

    def scale(self, factor: float) -> None:
        """A ← factor · A"""
        self.a *= self.a.dtype.type(factor)

    def add(self, parts: Iterable[tuple[Problem, Terms, float]]) -> None:
        """A += weight · XᵀW²X for each signal's codes."""
        for problem, terms, weight in parts:
            self._add(problem, terms.codes, weight)

    def _add(self, problem: Problem, codes: Triplets, weight: float) -> None:
        """Row by row of X, from the entries that are not zero."""
        near = ByPosition.of(codes, problem.grid)
        w2 = problem.w2
        w2 = np.empty((1, 0), self.a.dtype) if w2 is None else w2.reshape(len(w2), -1)
        data = near.before, near.kernel, near.value, three(problem.grid), three(problem.kernel)
        factor = self.a.dtype.type(weight)
        n = problem.n_kernels
        parallel_map(
            lambda m: sparse_gram(m, min(m + KERNELS_PER_TASK, n), *data, w2, factor, self.a),
            range(0, n, KERNELS_PER_TASK),
        )

    def apply(self, d: Array) -> Array:
        """A_c d_c for every channel"""
        columns = np.moveaxis(d, 1, 0).reshape(d.shape[1], -1, 1)
        y = (self.a @ columns).reshape(d.shape[1], d.shape[0], *d.shape[2:])
        return np.ascontiguousarray(np.moveaxis(y, 0, 1))

    def forget(self, kernel: int) -> None:
        """Rows and columns of a kernel become zero."""
        rows = slice(kernel * self._length, (kernel + 1) * self._length)
        self.a[:, rows], self.a[:, :, rows] = 0, 0

    def state(self) -> dict[str, Array]:
        """All that has to be kept."""
        return {"a": self.a}

    def restore(self, state: dict[str, Array]) -> None:
        self.a[:] = state["a"]


class DenseMatrix(Matrix):
    """The same matrix from a dense X, zeros and all: what sparsity is compared with."""

    def _add(self, problem: Problem, codes: Triplets, weight: float) -> None:
        for rows, x in dense_rows(problem, codes, self.a.dtype):
            for c, a in enumerate(self.a):
                w2 = 1 if problem.w2 is None else problem.w2[c].reshape(-1, 1)[rows]
                a += weight * (x.T @ (w2 * x))


def dense_rows(
    problem: Problem, codes: Triplets, dtype: np.dtype[Any]
) -> Iterator[tuple[slice, Array]]:
    """Some rows of X at a time, as (rows, M·L): row i has x_m[i − δ] at column (m, δ)."""
    maps = codes.to_dense(problem.n_kernels, problem.grid).astype(dtype)
    flat = maps.reshape(problem.n_kernels, -1)
    offsets = np.stack([o.ravel() for o in np.indices(problem.kernel)])
    n = prod(problem.grid)
    for start in range(0, n, ROWS):
        rows = np.arange(start, min(start + ROWS, n))
        at = np.stack(np.unravel_index(rows, problem.grid))[:, :, None] - offsets[:, None, :]
        wrapped = np.ravel_multi_index(tuple(at), problem.grid, mode="wrap")
        yield (
            slice(start, start + len(rows)),
            flat[:, wrapped].transpose(1, 0, 2).reshape(len(rows), -1),
        )
