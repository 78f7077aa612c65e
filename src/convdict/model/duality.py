"""The duality gap: a proof of accuracy for any code, whoever made it."""

from __future__ import annotations

from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from ..kernels.sums import products
from .problem import Array, Problem, Seen, Triplets
from .residual import weighted_residual
from .scan import Scan


def relative_gap(*, rr: float, sr: float, l1: float, ratio: float) -> tuple[float, float]:
    """P = ½‖ρ‖² + λ‖x‖₁, D = a⟨Ws, ρ⟩ − ½a²‖ρ‖², and the gap (P − D) / P.

    ρ = W(s − Dx) is the residual, `rr` = ‖ρ‖², `sr` = ⟨Ws, ρ⟩, `l1` = Σ λ_m‖x_m‖₁ and
    `ratio` = max |d_mᵀWρ| / λ_m (without the modulus for non-negative codes). The dual point
    is aρ with the best a that keeps it feasible, |a|·ratio ≤ 1. The value D is a lower bound
    of the optimum, so P exceeds the optimum by at most gap · P.
    """
    primal = 0.5 * rr + l1
    return primal, _relative(primal, _dual(rr, sr, ratio))


def _relative(primal: float, dual: float) -> float:
    """(P − D) / P; zero only where P is; what is not finite proves nothing."""
    if not (isfinite(primal) and isfinite(dual)):
        return inf
    return (primal - dual) / primal if primal > 0.0 else 0.0


def _dual(rr: float, sr: float, ratio: float) -> float:
    """max over a of a·sr − ½a²·rr, with 0 ≤ a ≤ 1 / ratio."""
    a = max(sr / rr, 0.0) if rr > 0.0 else 0.0
    if ratio > 0.0:
        a = min(a, 1.0 / ratio)
    return a * sr - 0.5 * a * a * rr


class Judgement(NamedTuple):
    objective: float
    gap: float
    ratio: Array  # of the scan, max_m |⟨d_m, g⟩| / λ_m at each position where it is above one
    best: Array  # and the kernel that attains it
    scale: Array | None  # of the samples, for the dual point behind `gap`; None is all ones
    seen: Seen  # of that dual point


class Judge:
    """Objective and duality gap of a problem's residuals, in the precision of the problem.

    It remembers the residual it last saw: of the next one most positions need no second look.
    """

    # Scaling the dual point locally improves the gap at most about so many times over:
    # beyond that another look is not worth its time.
    HOPE = 4.0

    def __init__(self, problem: Problem) -> None:
        self.scan = Scan(problem)
        self._problem = problem
        self._seen: Seen | None = None
        w2 = problem.w2
        self._inverse = np.empty(0, problem.dtype)
        if w2 is not None:
            self._inverse = np.divide(1, w2, where=w2 > 0, out=0 * w2).reshape(-1)

    def __call__(self, g: Array, l1: float, target: float) -> Judgement:
        """Judge g = W²⊙(s − Dx), trying harder for the gap when `target` is in reach."""
        seen = self._up_to_date(g)
        rr, sr = self._products(g)
        objective, gap = relative_gap(rr=rr, sr=sr, l1=l1, ratio=float(seen.ratio.max()))
        plain = Judgement(objective, gap, seen.ratio, seen.best, None, seen)
        if not target < gap <= self.HOPE * target:
            return plain
        scale = self._local_scale(seen.ratio)
        point = g * scale
        closer = Seen(seen.g, seen.ratio.copy(), seen.best.copy(), seen.rest.copy())
        self.scan.again(point, closer)
        finer = self.gap(point, objective, closer.ratio)
        if finer >= gap:
            return plain
        return plain._replace(gap=finer, scale=scale, seen=closer._replace(g=point))

    def gap(self, point: Array, objective: float, ratio: Array) -> float:
        """The gap that a dual point with these ratios proves, once it is made feasible."""
        return _relative(objective, _dual(*self._products(point), float(ratio.max())))

    def _up_to_date(self, g: Array) -> Seen:
        if self._seen is None:
            self._seen = self.scan.recall(self._problem)
        if self._seen is None:
            self._seen = self.scan.first(g)
        else:
            self.scan.again(g, self._seen)
            np.copyto(self._seen.g, g)
        return self._seen

    def objective(self, g: Array, l1: float) -> float:
        """½‖ρ‖² + Σ λ_m‖x_m‖₁"""
        return 0.5 * self._products(g)[0] + l1

    def _products(self, g: Array) -> tuple[float, float]:
        """‖ρ‖² and ⟨Ws, ρ⟩ for g = Wρ, summed in float64."""
        rr, sr = products(g.reshape(-1), self._problem.s.reshape(-1), self._inverse)
        return float(rr), float(sr)

    def _local_scale(self, ratio: Array) -> Array:
        """v[i] = min over the positions p whose kernels cover sample i of 1 / max(ratio[p], 1).

        The plain dual point is the residual divided by the worst ratio anywhere. Dividing
        each sample by the worst ratio near it gives up far less of the dual value. The
        result is not quite feasible, which another look then measures.
        """
        worst = np.maximum(ratio, 1)
        for axis, size in enumerate(self._problem.kernel):
            worst = _trailing_maximum(worst, size, axis)
        return 1 / worst


def _trailing_maximum(a: Array, size: int, axis: int) -> Array:
    """max of a[i − size + 1 … i] around the circle: of so many, then of twice as many."""
    covered = 1
    while covered < size:
        step = min(covered, size - covered)
        a = np.maximum(a, np.roll(a, step, axis))
        covered += step
    return a


def certify(
    problem: Problem, codes: Triplets, scale: Array | None = None, seen: Seen | None = None
) -> tuple[float, float]:
    """Objective and relative duality gap in float64, from nothing but the codes.

    Any `scale` of the samples gives a valid dual point; a good one, which whoever made the
    codes may know, gives a smaller gap. What the same has `seen` of that point, in whatever
    precision, bounds most correlations below one, and only the others are computed.
    """
    exact = problem.astype(np.float64)
    value = codes.value.astype(np.float64)
    l1 = float(np.sum(exact.lmbda[codes.kernel] * np.abs(value)))
    g = weighted_residual(exact, codes._replace(value=value))
    judge = Judge(exact)
    objective = judge.objective(g, l1)
    if scale is not None:
        g *= scale
    if seen is None:
        return objective, judge.gap(g, objective, judge.scan(g)[0])
    seen = judge.scan.sound(seen)
    judge.scan.again(g, seen, few=True)
    return objective, judge.gap(g, objective, seen.ratio)
