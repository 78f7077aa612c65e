"""The one judge: objective and duality gap of anybody's codes, in float64.

It shares no code with the library or with any rival. Everybody gets the same float32
arrays; the judge widens those to float64, so all are judged on one and the same problem,
min over x of ½‖Σ_m d_m * x_m − s‖² + λ‖x‖₁ with circular boundaries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
import scipy.fft

from .environment import cores_at_hand

BLOCK_BYTES = 128 * 2**20  # float64 maps held at once, so that 4096² can be judged
REMEMBERED_BYTES = 1 << 27  # of spectra


@dataclass(frozen=True, eq=False)
class Problem:
    """One signal to be written with one dictionary; the arrays are what every rival gets."""

    s: np.ndarray  # (*grid)
    d: np.ndarray  # (M, *kernel)
    lmbda: float

    @property
    def grid(self) -> tuple[int, ...]:
        return self.s.shape

    @property
    def n_kernels(self) -> int:
        return self.d.shape[0]


@dataclass(frozen=True, eq=False)
class SparseMaps:
    """Codes as triplets: kernel, raveled position in the grid, value."""

    kernel: np.ndarray
    position: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class Judgement:
    """What the judge says of one set of codes."""

    objective: float
    gap: float  # (P − D) / P: the objective exceeds the optimum by at most gap · objective
    fit: float
    l1: float
    nnz: int
    density: float


def judge(problem: Problem, codes: np.ndarray | SparseMaps) -> Judgement:
    """P = ½‖r‖² + λ‖x‖₁ with r = s − Σ d*x, and the gap to the better of two lower bounds.

    Both are dual values D(θ) = ½‖s‖² − ½‖s − θ‖² with ‖Dᵀθ‖∞ ≤ λ. One takes θ along r, as is
    usual. The other first divides every sample of r by the worst violation of any kernel that
    covers it, which costs less than dividing all of them by the worst violation anywhere.
    """
    r, l1, nnz = residual(problem, codes)
    primal = 0.5 * float(np.vdot(r, r)) + problem.lmbda * l1
    violation = correlations(problem, r) / problem.lmbda
    dual = dual_value(problem, r, float(violation.max()))
    near = r / worst_near(violation, problem.d.shape[1:])
    violation = correlations(problem, near) / problem.lmbda
    dual = max(dual, dual_value(problem, near, float(violation.max())))
    gap = (primal - dual) / primal if primal > 0.0 else 0.0
    density = nnz / (problem.n_kernels * prod(problem.grid))
    return Judgement(primal, gap, primal - problem.lmbda * l1, l1, nnz, density)


def dual_value(problem: Problem, theta: np.ndarray, violation: float) -> float:
    """The largest D(aθ) over 0 ≤ a ≤ 1/violation."""
    s = problem.s.astype(np.float64)
    square, product = float(np.vdot(theta, theta)), float(np.vdot(s, theta))
    a = max(product / square, 0.0) if square > 0.0 else 0.0
    if violation > 0.0:
        a = min(a, 1.0 / violation)
    return a * product - 0.5 * a * a * square


def worst_near(violation: np.ndarray, kernel: tuple[int, ...]) -> np.ndarray:
    """For every sample i: the largest of 1 and the violations at i − δ, 0 ≤ δ < kernel."""
    worst = np.maximum(violation, 1.0)
    for axis, extent in enumerate(kernel):
        worst = np.maximum.reduce([np.roll(worst, shift, axis) for shift in range(extent)])
    return worst


def objective(problem: Problem, codes: np.ndarray | SparseMaps) -> float:
    """The objective alone, at half the price."""
    r, l1, _ = residual(problem, codes)
    return 0.5 * float(np.vdot(r, r)) + problem.lmbda * l1


def residual(problem: Problem, codes: np.ndarray | SparseMaps) -> tuple[np.ndarray, float, int]:
    """r = s − Σ d*x, ‖x‖₁ and the number of nonzeros."""
    axes = tuple(range(1, problem.s.ndim + 1))
    total: np.ndarray | float = 0.0
    l1, nnz = 0.0, 0
    for kernels in _blocks(problem):
        x = _dense(problem, codes, kernels)
        l1 += float(np.abs(x).sum())
        nnz += int(np.count_nonzero(x))
        x_hat = scipy.fft.rfftn(x, axes=axes, workers=cores_at_hand())
        total = total + (_spectrum(problem, kernels) * x_hat).sum(axis=0)
    return problem.s.astype(np.float64) - scipy.fft.irfftn(total, s=problem.grid), l1, nnz


def correlations(problem: Problem, r: np.ndarray) -> np.ndarray:
    """At every position, max over m of |d_mᵀr|."""
    axes = tuple(range(1, r.ndim + 1))
    r_hat = scipy.fft.rfftn(r, workers=cores_at_hand())
    largest = np.zeros(r.shape)
    for kernels in _blocks(problem):
        spectrum = np.conj(_spectrum(problem, kernels)) * r_hat
        found = scipy.fft.irfftn(spectrum, s=r.shape, axes=axes, workers=cores_at_hand())
        np.maximum(largest, np.abs(found).max(axis=0), out=largest)
    return largest


def _blocks(problem: Problem) -> Iterator[slice]:
    at_once = max(1, BLOCK_BYTES // (8 * prod(problem.grid)))
    for start in range(0, problem.n_kernels, at_once):
        yield slice(start, min(start + at_once, problem.n_kernels))


def _dense(problem: Problem, codes: np.ndarray | SparseMaps, kernels: slice) -> np.ndarray:
    if isinstance(codes, SparseMaps):
        x = np.zeros((kernels.stop - kernels.start, prod(problem.grid)))
        chosen = (codes.kernel >= kernels.start) & (codes.kernel < kernels.stop)
        # add, so that a place listed twice counts twice
        np.add.at(
            x, (codes.kernel[chosen] - kernels.start, codes.position[chosen]), codes.value[chosen]
        )
        return x.reshape(-1, *problem.grid)
    wanted = (problem.n_kernels, *problem.grid)
    if codes.shape != wanted:
        raise ValueError(f"codes have shape {codes.shape}, but the problem asks for {wanted}")
    return np.ascontiguousarray(codes[kernels], dtype=np.float64)


def _spectrum(problem: Problem, kernels: slice) -> np.ndarray:
    """In float64; remembered for the next image, where that takes little memory."""
    d = np.ascontiguousarray(problem.d[kernels], dtype=np.float64)
    small = 16 * len(problem.d) * prod(problem.grid) <= REMEMBERED_BYTES
    return (_remembered if small else _transform)(d.tobytes(), d.shape, problem.grid)


def _transform(d: bytes, shape: tuple[int, ...], grid: tuple[int, ...]) -> np.ndarray:
    axes = tuple(range(1, len(shape)))
    kernels = np.frombuffer(d).reshape(shape)
    return scipy.fft.rfftn(kernels, s=grid, axes=axes, workers=cores_at_hand())


_remembered = lru_cache(maxsize=4)(_transform)
