"""FISTA: accelerated proximal gradient steps on all coefficients at once, by FFT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from ..model.fourier import Group, Spectrum, inner, per_map, spectral_bound, sum_in_order
from ..model.problem import Array, Problem, Progress, Solution, Triplets
from .settings import whole
from .stopping import Watch

# L relative to its bound at first, and at least; then its change before every step, and
# whenever it turns out to have been too small.
FIRST, LEAST, SHRINK, GROW = 0.1, 1e-3, 0.93, 1.5


@dataclass
class _State:
    """Two iterates with what they synthesise, and how far to extrapolate from them."""

    x: Array
    x_old: Array
    x_new: Array  # where the next iterate will be written
    dx: Array
    dx_old: Array
    L: float
    t: float = 1.0
    beta: float = 0.0


@dataclass(frozen=True)
class FISTA:
    """Beck & Teboulle's algorithm with the adaptive restart of O'Donoghue & Candès.

    L, the inverse of the step, never exceeds the computed Lipschitz constant of the gradient.
    Below that it goes as low as the step itself allows, which is known exactly and at no cost
    once the step is made: Dx⁺ and Dy are at hand.
    """

    max_iter: int = 10_000
    check_every: int = 10

    def __post_init__(self) -> None:
        whole(0, max_iter=self.max_iter)
        whole(1, check_every=self.check_every)

    def solve(
        self,
        problem: Problem,
        *,
        start: Triplets | None,
        tol: float,
        callback: Callable[[Progress], None] | None,
    ) -> Solution:
        spectrum = Spectrum.of(problem.d, problem.grid)
        bound = spectral_bound(problem, spectrum)
        watch = Watch(problem, spectrum, tol, callback)
        state = _begin(problem, spectrum, start, bound)
        for k in range(self.max_iter + 1):
            if k % self.check_every == 0 or k == self.max_iter:
                reason = watch.reason_to_stop(k, state.x, state.dx)
                if reason is not None:
                    break
            if k < self.max_iter:
                _step(problem, spectrum, state, bound)
        return Solution(
            Triplets.from_dense(state.x), k, reason or "budget", watch.scale, watch.seen
        )


def _begin(problem: Problem, spectrum: Spectrum, start: Triplets | None, bound: float) -> _State:
    start = start or Triplets.empty(problem.dtype)
    x = start.to_dense(problem.n_kernels, problem.grid).astype(problem.dtype, copy=False)
    if problem.nonnegative:
        np.maximum(x, 0, out=x)
    dx = spectrum.forward(x)
    return _State(x, x.copy(), np.empty_like(x), dx, dx.copy(), FIRST * bound)


def _step(problem: Problem, spectrum: Spectrum, state: _State, bound: float) -> None:
    """y = x + β(x − x_old), x⁺ = S_{λ/L}(y − ∇f(y)/L), for an L that keeps f below its model."""
    dy = state.dx + state.beta * (state.dx - state.dx_old)
    wwr = problem.s - dy
    if problem.w2 is not None:
        wwr *= problem.w2
    wwr_hat = spectrum.rfft(wwr)
    state.L = max(SHRINK * state.L, LEAST * bound)
    while True:
        dx_new, zz, turn = _proximal_step(problem, spectrum, state, wwr_hat)
        dz = dx_new - dy
        dzdz = inner(dz, dz if problem.w2 is None else problem.w2 * dz)
        if bound <= state.L or dzdz <= state.L * zz:
            break
        state.L = min(GROW * state.L, bound)

    t = 1.0 if turn > 0 else 0.5 + sqrt(0.25 + state.t**2)
    state.beta = 0.0 if turn > 0 else (state.t - 1.0) / t
    state.t = t
    state.x, state.x_old, state.x_new = state.x_new, state.x, state.x_old
    state.dx, state.dx_old = dx_new, state.dx


def _proximal_step(
    problem: Problem, spectrum: Spectrum, state: _State, wwr_hat: Array
) -> tuple[Array, float, float]:
    """x⁺ = S_{λ/L}(y + DᵀW²(s − Dy)/L); returns Dx⁺, ‖x⁺ − y‖² and ⟨y − x⁺, x⁺ − x⟩.

    The last is positive when the extrapolation has overshot: time to restart.
    """
    dtype, x, x_old, x_new = problem.dtype, state.x, state.x_old, state.x_new
    beta = dtype.type(state.beta)
    step_hat = wwr_hat * dtype.type(1.0 / state.L)
    high = per_map(problem.lmbda / dtype.type(state.L), len(problem.grid))
    low = np.full_like(high, -np.inf) if problem.nonnegative else -high

    def work(group: Group) -> tuple[Array, float, float]:
        part_hat, zz, turn = spectrum.zeros(), 0.0, 0.0
        for block in group:
            v = spectrum.correlate(step_hat, block)
            y = x[block] - x_old[block]
            y *= beta
            y += x[block]
            v += y
            new = np.subtract(v, np.clip(v, low[block], high[block]), out=x_new[block])
            spectrum.add(new, block, part_hat)
            z = np.subtract(new, y, out=y)
            zz += float(np.square(z, out=v).sum())
            move = np.subtract(new, x[block], out=v)
            turn -= float(np.multiply(z, move, out=v).sum())
        return part_hat, zz, turn

    parts, zzs, turns = zip(*spectrum.each(work), strict=True)
    return spectrum.irfft(sum_in_order(parts)), sum(zzs), sum(turns)
