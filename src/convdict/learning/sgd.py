"""Algorithm 1 of the paper: projected stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
import scipy.fft

from ..errors import InputError
from ..model.gradient import adjoint
from ..model.problem import Array, Problem, Triplets
from ..model.residual import weighted_residual
from ..statistics.matrix import dense_rows
from .coded import Coded
from .update import PAPER_SIZE, Update


def sparse_gradient(problem: Problem, codes: Triplets) -> Array:
    """XᵀW²(Xd − s), from the codes that are not zero: Option I."""
    g = weighted_residual(problem, codes)
    return -adjoint(codes, g, problem.n_kernels, problem.kernel)


def frequency_gradient(problem: Problem, codes: Triplets) -> Array:
    """crop F⁻¹(x̂ᴴ F(W²(F⁻¹(x̂ d̂) − s))): Option II."""
    grid, kernel = problem.grid, problem.kernel
    axes = range(-len(grid), 0)
    x = codes.to_dense(problem.n_kernels, grid).astype(problem.dtype)
    x_hat = scipy.fft.rfftn(x, axes=axes)[:, np.newaxis]
    d_hat = scipy.fft.rfftn(problem.d, s=grid, axes=axes)
    fit = scipy.fft.irfftn(np.sum(x_hat * d_hat, axis=0), s=grid, axes=axes)
    r = fit - problem.s
    r_hat = scipy.fft.rfftn(r if problem.w2 is None else problem.w2 * r, axes=axes)
    back = scipy.fft.irfftn(np.conj(x_hat) * r_hat, s=grid, axes=axes)
    return np.ascontiguousarray(back[(..., *(slice(k) for k in kernel))])


def dense_gradient(problem: Problem, codes: Triplets) -> Array:
    """XᵀW²(Xd − s) with a dense X, some rows at a time: the baseline."""
    n_kernels, n_channels = problem.d.shape[:2]
    total = np.zeros_like(problem.d)
    for rows, x in dense_rows(problem, codes, problem.dtype):
        for c in range(n_channels):
            r = x @ problem.d[:, c].reshape(-1) - problem.s[c].reshape(-1)[rows]
            if problem.w2 is not None:
                r = problem.w2[c].reshape(-1)[rows] * r
            total[:, c] += (r @ x).reshape(n_kernels, *problem.kernel)
    return total


GRADIENTS: dict[str, Callable[[Problem, Triplets], Array]] = {
    "sparse": sparse_gradient,
    "frequency": frequency_gradient,
    "dense": dense_gradient,
    "lag": sparse_gradient,  # the learner's default domain; there are no lags to keep here
}


class Sgd:
    """d ← Proj_C(d − η ∇f(d)), η = a / (b + t) or fixed, t in signals of the paper's size.

    The gradient is the sum over samples, as in the paper, and t counts samples in units of
    its 256² pixels. So small tiles make many small steps and large images or batches several
    at once, a share of the gradient each, and all learn alike.
    """

    def __init__(
        self,
        *,
        domain: str,
        step_size: float | tuple[float, float],
        constraint: Callable[[Array], Array],
    ) -> None:
        self._gradient = GRADIENTS[domain]
        self._step_size = step_size
        self._constraint = constraint
        self.seen = 0.0  # t

    def update(self, d: Array, batch: list[Coded]) -> Update:
        amount = sum(c.size for c in batch) / PAPER_SIZE
        steps = max(1, ceil(amount - 1e-9))
        old, before = d, self.seen
        for _ in range(steps):
            self.seen += amount / steps
            gradient = sum(self._gradient(replace(c.problem, d=d), c.codes) for c in batch)
            d = self._constraint(d - d.dtype.type(self.eta / steps) * gradient)
            if not np.isfinite(d).all():
                self.seen = before
                raise InputError(
                    "the dictionary is no longer finite: the step size is too large for these "
                    "signals; what was learned before is kept"
                )
        change = float(np.linalg.norm(d - old))
        return Update(d, n_iter=steps, residual=change, forgetting=0.0, surrogate=float("nan"))

    @property
    def eta(self) -> float:
        """η(t)"""
        if isinstance(self._step_size, tuple):
            a, b = self._step_size
            return a / (b + self.seen)
        return self._step_size

    def coding_dictionary(self, d: Array) -> Array:
        """The latest there is."""
        return d

    def forget(self, kernel: int, d: Array) -> None:
        """Nothing is remembered of any kernel."""

    def state(self) -> dict[str, Array]:
        return {"seen": np.array(self.seen)}

    def restore(self, state: dict[str, Any]) -> None:
        self.seen = float(state["seen"])
