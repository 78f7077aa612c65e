"""Coordinate descent on a growing working set: the default solver.

A round is: scan all correlations with the residual; read the duality gap off them; keep the
nonzeros and, at every position where some kernel is still called for, add the most wanted
one; descend on these few coordinates. Nothing the size of kernels × samples is ever stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np

from ..kernels.active import Active, admit, census, collect, measure, nonzeros, settle
from ..kernels.descent import descend
from ..kernels.geometry import padded_rows
from ..kernels.lanes import lane_count
from ..model.duality import Judge, Judgement
from ..model.problem import Array, Problem, Progress, Solution, Triplets
from ..model.residual import weighted_residual
from ..threads import parallel_map
from .fista import FISTA
from .settings import between, whole

MOST_MAPS = 1 << 26  # coefficients that FISTA may hold densely where descent got stuck


@dataclass(frozen=True)
class WorkingSet:
    """Settings of the working-set solver; the defaults suit nearly everything."""

    max_iter: int = 500  # rounds
    share: float = 0.1  # add positions above 1 + share · (largest ratio − 1) of their tile
    passes: int = 3  # over all tiles in the first round, and one more in every later one
    repeats: int = 5  # visits in a row to a tile's restless coordinates
    calm: float = 0.1  # restless means: moved by more than this share of the largest move
    effort: float = 0.03  # moves below this share of the largest violation are left alone
    dense: float = 1.0  # rows of nonzeros per coefficient from which FISTA takes over
    patience: int = 25  # rounds without a better gap before precision is held to be reached

    def __post_init__(self) -> None:
        whole(0, max_iter=self.max_iter, repeats=self.repeats)
        whole(1, passes=self.passes, patience=self.patience)
        between(-1e-9, 1, share=self.share, calm=self.calm, effort=self.effort)
        between(0, inf, dense=self.dense)

    def solve(
        self,
        problem: Problem,
        *,
        start: Triplets | None,
        tol: float,
        callback: Callable[[Progress], None] | None,
    ) -> Solution:
        begun = perf_counter()
        run = _Run(problem, start)
        least, since = np.inf, 0
        for iteration in range(self.max_iter + 1):
            now = run.judge(run.g, run.l1(), tol)
            if callback:
                seconds = perf_counter() - begun
                callback(Progress(iteration, now.objective, now.gap, run.nnz(), seconds))
            if now.gap <= tol:
                return Solution(run.triplets(), iteration, "gap", now.scale, now.seen)
            least, since = (now.gap, 0) if now.gap < least else (least, since + 1)
            stuck = since > self.patience
            if stuck and not (problem.dtype == np.float64 and problem.n_coefficients < MOST_MAPS):
                return Solution(run.triplets(), iteration, "precision")
            if stuck or (iteration > 1 and run.rows_per_coefficient() > self.dense):
                rest = FISTA().solve(problem, start=run.triplets(), tol=tol, callback=callback)
                return rest._replace(n_iter=iteration + rest.n_iter)
            run.select(now, self.share)
            violation = min(max(float(now.ratio.max()) - 1, 0.1 * tol), 1.0)
            tiny = self.effort * violation
            for _ in range(self.passes + iteration):
                if run.descend(self.repeats, tiny, self.calm) <= tiny:
                    break
        return Solution(run.triplets(), self.max_iter, "budget")


class _Run:
    """The state: the weighted residual g = W²⊙(s − Dx) and the active coordinates."""

    def __init__(self, problem: Problem, start: Triplets | None) -> None:
        self.problem = problem
        self.judge = Judge(problem)
        self.cut = self.judge.scan.cut
        self.lanes = lane_count(problem.dtype)
        self.rows = padded_rows(problem.d3).reshape(-1)
        self.squares = self.rows * self.rows
        self.norms = self.squares.reshape(problem.n_kernels, -1).sum(axis=1)
        self.w2 = np.empty(0, problem.dtype) if problem.w2 is None else problem.w2.reshape(-1)
        self.g = weighted_residual(problem, start or Triplets.empty(problem.dtype))
        self.active = self._room(np.zeros(len(self.cut.geometry.tiles), np.int64))
        if start is not None:
            self._adopt(start)

    def _room(self, sizes: Array) -> Active:
        return Active.room(sizes, self.problem.dtype)

    def l1(self) -> float:
        """Σ λ_m ‖x_m‖₁"""
        a = self.active
        return float(np.sum(self.problem.lmbda[a.kernel] * np.abs(a.value), dtype=np.float64))

    def nnz(self) -> int:
        return int(np.count_nonzero(self.active.value))

    def rows_per_coefficient(self) -> float:
        """What a pass over the nonzeros costs, as a share of what an FFT of all maps does."""
        return self.nnz() * self.cut.geometry.chunks.size / self.problem.n_coefficients

    def select(self, now: Judgement, share: float) -> None:
        """Active coordinates of the next descent: nonzeros, and those most wanted."""
        geometry, ratio, best = self.cut.geometry, now.ratio.reshape(-1), now.best.reshape(-1)
        old, sizes = self.active, np.zeros(len(geometry.tiles), np.int64)
        parallel_map(lambda s: census(*s, geometry, old, ratio, share, sizes), self.cut.coarse)
        new = self._room(sizes)
        parallel_map(lambda s: collect(*s, geometry, old, ratio, best, share, new), self.cut.coarse)
        self._take(new)

    def _take(self, active: Active) -> None:
        """Let these be the active coordinates."""
        data = self.w2, self.squares, self.norms, self.problem.lmbda, self.lanes, active
        parallel_map(lambda s: measure(*s, self.cut.geometry, *data), self.cut.coarse)
        self.active = active

    def descend(self, repeats: int, tiny: float, calm: float) -> float:
        """Once over all tiles, strips of one colour at a time; returns the largest move."""
        number = self.problem.dtype.type
        data = self.g.reshape(-1), self.w2, self.rows, self.lanes, self.active
        settings = self.problem.nonnegative, repeats, number(tiny), number(calm)
        largest = 0.0
        for colour in self.cut.colours:
            strips = sorted((self.cut.strips[i] for i in colour), key=self._work, reverse=True)
            moves = parallel_map(lambda s: descend(*s, self.cut.geometry, *data, *settings), strips)
            largest = max(largest, *moves)
        return largest

    def _work(self, strip: tuple[int, int]) -> int:
        return int(self.active.length[slice(*strip)].sum())

    def _adopt(self, start: Triplets) -> None:
        """Active coordinates from codes: each in its tile, with its curvature."""
        geometry, n = self.cut.geometry, len(start.value)
        tile, place = np.empty((2, n), np.int64)
        sizes = np.zeros(len(geometry.tiles), np.int64)
        settle(geometry, self.cut.steps, start.position, tile, place, sizes)
        new = self._room(sizes)
        admit(tile, place, start.kernel, start.value, new)
        self._take(new)

    def triplets(self) -> Triplets:
        """The nonzeros, in the order of codes."""
        n = self.nnz()
        found = Triplets(np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, self.g.dtype))
        nonzeros(self.cut.geometry, self.active, *found)
        return found.sorted()
