"""When a solver with dense maps may stop: its gap is small enough, or will not get smaller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from ..model.duality import Judge
from ..model.fourier import Group, Spectrum
from ..model.problem import Array, Problem, Progress, Seen

PATIENCE = 25  # checks without progress before the precision is held to be exhausted


@dataclass
class Watch:
    """Judges dense maps now and then, reports, and says when to stop."""

    problem: Problem
    spectrum: Spectrum
    tol: float
    callback: Callable[[Progress], None] | None
    least_gap: float = np.inf
    least_objective: float = np.inf
    stale: int = 0  # checks since either of them last improved
    scale: Array | None = None  # of the dual point behind the last gap
    seen: Seen | None = None  # of that point
    begun: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        self.judge = Judge(self.problem)

    def reason_to_stop(self, iteration: int, x: Array, dx: Array) -> str | None:
        """ "gap", "precision" or None, for maps x and dx = Σ_m d_m * x_m."""
        g = self.problem.s - dx
        if self.problem.w2 is not None:
            g *= self.problem.w2
        l1, nnz = self._count(x)
        objective, gap, _, _, self.scale, self.seen = self.judge(g, l1, self.tol)
        if self.callback is not None:
            seconds = perf_counter() - self.begun
            self.callback(Progress(iteration, objective, gap, nnz, seconds))
        if gap <= self.tol:
            return "gap"
        return "precision" if self._stalled(objective, gap) else None

    def largest_ratio(self) -> float:
        """max_m |d_mᵀW²s| / λ_m: at most one where zero is the solution."""
        s, w2 = self.problem.s, self.problem.w2
        return float(self.judge.scan(s if w2 is None else w2 * s)[0].max())

    def _count(self, x: Array) -> tuple[float, int]:
        """Σ_m λ_m‖x_m‖₁ and the number of nonzeros."""

        def work(group: Group) -> tuple[float, int]:
            l1, nnz = 0.0, 0
            for block in group:
                for lmbda, x_m in zip(self.problem.lmbda[block], x[block], strict=True):
                    l1 += float(lmbda) * float(np.sum(np.abs(x_m), dtype=np.float64))
                    nnz += int(np.count_nonzero(x_m))
            return l1, nnz

        l1s, nnzs = zip(*self.spectrum.each(work), strict=True)
        return sum(l1s), sum(nnzs)

    def _stalled(self, objective: float, gap: float) -> bool:
        """Neither the gap nor the objective has fallen by more than rounding for long."""
        eps = float(np.finfo(self.problem.dtype).eps)
        better = gap < 0.99 * self.least_gap or objective < (1 - 4 * eps) * self.least_objective
        self.least_gap = min(gap, self.least_gap)
        self.least_objective = min(objective, self.least_objective)
        self.stale = 0 if better else self.stale + 1
        return self.stale >= PATIENCE
