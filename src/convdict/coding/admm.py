"""ADMM with its linear systems solved at every frequency, and two ways to bring in a mask.

x is split into x, which matches the data, and y, which is sparse (Wohlberg 2016). What the
method keeps from step to step is v = y + u, with u the scaled dual variable: y and u are read
off it, y = S_{λ/ρ}(v) and u = v − y, so that a step becomes v⁺ = v + α(x − y), α being the
over-relaxation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, log10, sqrt
from typing import Literal, get_args

import numpy as np

from ..errors import InputError
from ..model.fourier import Group, Spectrum, per_map, sum_in_order
from ..model.problem import Array, Problem, Progress, Solution, Triplets
from ..threads import parallel_map
from .masking import MaskMethod, Side, simulates, sizes
from .settings import between, whole
from .stopping import Watch

# What converged fastest on natural images, in terms that do not depend on units: at first
# ρ = RHO ‖d‖² w² (λ / λ_max)^⅓, and the impulse kernel's squared norm is IMPULSE ‖d‖².
RHO, IMPULSE = 8.0, 3.0
FIRST_CHANGE = 5  # ρ may change after so many steps, twice as many, and so on
LARGEST_CHANGE, SMALLEST_CHANGE = 2.0, sqrt(1.2)


@dataclass(frozen=True)
class ADMM:
    """Settings of ADMM; `rho` None stands for a start that suits images, masked or not."""

    rho: float | None = None
    max_iter: int = 1000
    stop: Literal["gap", "residuals"] = "gap"
    residual_tol: float = 1e-3
    over_relaxation: float = 1.8
    auto_rho: bool = True
    mask_method: MaskMethod = "auto"
    check_every: int = 10

    def __post_init__(self) -> None:
        whole(0, max_iter=self.max_iter)
        whole(1, check_every=self.check_every)
        between(0, inf, residual_tol=self.residual_tol, rho=1 if self.rho is None else self.rho)
        between(0, 2, over_relaxation=self.over_relaxation)
        if self.stop not in ("gap", "residuals"):
            raise InputError(f"stop is {self.stop!r}: give 'gap' or 'residuals'")
        if self.mask_method not in get_args(MaskMethod):
            raise InputError(
                f"mask_method is {self.mask_method!r}: give 'auto', 'ams' or 'decoupling'"
            )

    def solve(
        self,
        problem: Problem,
        *,
        start: Triplets | None,
        tol: float,
        callback: Callable[[Progress], None] | None,
    ) -> Solution:
        if problem.w is not None and bool(np.all(problem.w == 1)):
            problem = replace(problem, w=None)
        spectrum = Spectrum.of(problem.d, problem.grid)
        watch = Watch(problem, spectrum, tol, callback)
        run = _Run(problem, spectrum, self, start, watch.largest_ratio())
        watched = self.stop == "gap" or callback is not None
        for k in range(self.max_iter + 1):
            if watched and (k % self.check_every == 0 or k == self.max_iter):
                y = run.codes()
                reason = watch.reason_to_stop(k, y, spectrum.forward(y))
                if reason is not None and self.stop == "gap":
                    return Solution(Triplets.from_dense(y), k, reason, watch.scale, watch.seen)
            if k < self.max_iter:
                largest = run.step()
                if self.stop == "residuals" and largest <= self.residual_tol:
                    return Solution(Triplets.from_dense(run.codes()), k + 1, "residuals")
        return Solution(Triplets.from_dense(run.codes()), self.max_iter, "budget")


@dataclass(frozen=True)
class _Inverse:
    """(κI + D̂D̂ᴴ)⁻¹ at every frequency, for any κ: kept is D̂D̂ᴴ = V diag(e) Vᴴ."""

    parts: list[tuple[slice, Array, Array | None]]  # band, e (band, C), V (band, C, C)

    @classmethod
    def of(cls, spectrum: Spectrum) -> _Inverse:
        def decompose(band: slice) -> tuple[slice, Array, Array | None]:
            a = spectrum.gram(band)
            return (band, a[..., 0], None) if a.shape[1] == 1 else (band, *np.linalg.eigh(a))

        return cls(parallel_map(decompose, spectrum.bands()))

    def __call__(self, b_hat: Array, kappa: float) -> Array:
        """q̂ = V diag(e + κ)⁻¹ Vᴴ b̂."""
        b, q_hat = b_hat.reshape(len(b_hat), -1), np.empty_like(b_hat)
        q = q_hat.reshape(b.shape)

        def solve(part: tuple[slice, Array, Array | None]) -> None:
            band, e, v = part
            scale = e + e.dtype.type(kappa)
            if v is None:
                q[:, band] = b[:, band] / scale.T
            else:
                turned = np.einsum("fcd,cf->fd", np.conj(v), b[:, band]) / scale
                q[:, band] = np.einsum("fcd,fd->cf", v, turned)

        parallel_map(solve, self.parts)
        return q_hat


class _Run:
    """The state: v of the maps, D(y − u) in the frequency domain, the mask's side, and ρ."""

    def __init__(
        self,
        problem: Problem,
        spectrum: Spectrum,
        settings: ADMM,
        start: Triplets | None,
        ratio: float,
    ) -> None:
        self.problem, self.spectrum = problem, spectrum
        self.alpha, self.auto_rho = settings.over_relaxation, settings.auto_rho
        self.inverse, self.s_hat = _Inverse.of(spectrum), spectrum.rfft(problem.s)
        self.high = per_map(problem.lmbda, len(problem.grid))
        self.low = np.full_like(self.high, -inf) if problem.nonnegative else -self.high
        self.n_steps, self.next_change = 0, FIRST_CHANGE

        size = float(np.sum(np.square(problem.d))) / problem.n_kernels or 1.0
        w2, weight, self.side = problem.w2, 1.0, None
        self.rho = 1.0
        r = self._adopt(start or Triplets.empty(problem.dtype))
        if w2 is not None:
            weight = float(np.mean(w2[w2 > 0])) if w2.any() else 1.0
            simulated = simulates(settings.mask_method, w2)
            self.side = Side.of(w2, simulated, IMPULSE * size, self.rho, r)
        level = min(1.0 / ratio, 1.0) if ratio > 0 else 1.0  # λ / λ_max
        self.balance = 1.0 + 18.3 ** (log10(level) + 1.0)  # ξ of Wohlberg (2017)
        self._change(settings.rho or RHO * size * weight * level ** (1 / 3))

    def _adopt(self, start: Triplets) -> Array:
        """v = y + u for given y, where ρu = DᵀW²r is clipped to what y allows; returns r."""
        p = self.problem
        y = start.to_dense(p.n_kernels, p.grid).astype(p.dtype, copy=False)
        if p.nonnegative:
            np.maximum(y, 0, out=y)
        r = p.s - self.spectrum.forward(y)
        wwr_hat = self.spectrum.rfft(r if p.w2 is None else p.w2 * r)

        def work(group: Group) -> None:
            for block in group:
                u = self.spectrum.correlate(wwr_hat, block)
                np.clip(u, self.low[block], self.high[block], out=u)
                np.copyto(u, self.high[block], where=y[block] > 0)
                np.copyto(u, self.low[block], where=y[block] < 0)
                y[block] += u

        self.spectrum.each(work)
        self.v = y
        return r

    def _split(self, block: slice, rho: float) -> tuple[Array, Array]:
        """y = S_{λ/ρ}(v) and u = v − y."""
        scale = self.v.dtype.type(1.0 / rho)
        v = self.v[block]
        u = np.clip(v, self.low[block] * scale, self.high[block] * scale)
        return v - u, u

    def _change(self, rho: float) -> None:
        """u⁺ = uρ / ρ⁺, and D(y − u⁺) anew."""
        old, self.rho = self.rho, rho
        if self.side is not None:
            self.side.change(rho)

        def work(group: Group) -> Array:
            part_hat = self.spectrum.zeros()
            for block in group:
                y, u = self._split(block, old)
                u *= u.dtype.type(old / rho)
                np.add(y, u, out=self.v[block])
                self.spectrum.add(np.subtract(y, u, out=u), block, part_hat)
            return part_hat

        self.dz_hat = sum_in_order(tuple(self.spectrum.each(work)))

    def codes(self) -> Array:
        """y of all maps."""
        y = np.empty_like(self.v)

        def work(group: Group) -> None:
            for block in group:
                y[block] = self._split(block, self.rho)[0]

        self.spectrum.each(work)
        return y

    def step(self) -> float:
        """x = z + Dᵀ(ρI + DDᵀ)⁻¹(s − Dz) for z = y − u; v⁺ = v + α(x − y).

        Returns the larger of the normalised residuals.
        """
        kappa, b_hat = self.rho, self.s_hat - self.dz_hat
        if self.side is not None:
            kappa, extra = self.side.system()
            b_hat += self.spectrum.rfft(extra)
        q_hat = self.inverse(b_hat, kappa)
        alpha = self.v.dtype.type(self.alpha)

        def work(group: Group) -> tuple[Array, Array]:
            part_hat, total = self.spectrum.zeros(), np.zeros(5)
            for block in group:
                y_old, u = self._split(block, self.rho)
                h = self.spectrum.correlate(q_hat, block)
                h -= u  # x − y
                self.v[block] += np.multiply(h, alpha, out=u)
                y, u = self._split(block, self.rho)
                total += sizes(h, y_old, y, u)
                self.spectrum.add(np.subtract(y, u, out=y), block, part_hat)
            return part_hat, total

        parts, totals = zip(*self.spectrum.each(work), strict=True)
        self.dz_hat = sum_in_order(parts)
        maps = sum_in_order(totals)
        everything = maps
        if self.side is not None:
            everything = maps + self.side.step(self.spectrum.irfft(q_hat), self.alpha)
        self.n_steps += 1
        self._rebalance(*_residuals(maps))
        return max(_residuals(everything))

    def _rebalance(self, primal: float, dual: float) -> None:
        """ρ⁺ = ρ √(r / ξs), now and then, to keep the residuals r and s of the maps in balance."""
        if not self.auto_rho or self.n_steps < self.next_change:
            return
        self.next_change *= 2
        if primal > 0 and dual > 0:
            change = sqrt(primal / (self.balance * dual))
            if max(change, 1 / change) > SMALLEST_CHANGE:
                self._change(self.rho * min(max(change, 1 / LARGEST_CHANGE), LARGEST_CHANGE))


def _residuals(sizes: Array) -> tuple[float, float]:
    """‖x − y‖ / max(‖x‖, ‖y‖) and ‖y − y_old‖ / ‖u‖."""
    primal, x, y, dual, u = np.sqrt(sizes)
    return float(primal / (max(x, y) or 1.0)), float(dual / (u or 1.0))
