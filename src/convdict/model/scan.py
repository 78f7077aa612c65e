"""What a residual calls for: correlations with every kernel everywhere, as two small maps."""

from __future__ import annotations

import numpy as np

from ..kernels.closer import columns, drift, look
from ..kernels.correlate import packed, scan
from ..kernels.geometry import cut
from ..kernels.lanes import lane_count
from ..threads import parallel_map
from .problem import Array, Problem, Seen

MANY = 0.6  # share of doubtful positions from which scanning all is faster than looking
HUGE = 1e30  # beyond this float32 may have overflowed on the way


class Scan:
    """g ↦ (ratio, best): max_m |⟨d_m at p, g⟩| / λ_m at every position p, and which m.

    Both maps have the size of the grid; the M times larger array of all correlations is
    never made. `g` is the weighted residual W²⊙(s − Dx) or a dual point in its place.
    """

    LIMIT = 1.0  # what `again` cares about: ratios above it

    def __init__(self, problem: Problem) -> None:
        d, lmbda, dtype = problem.d3, problem.lmbda, problem.dtype
        self.cut = cut(problem.grid, problem.kernel, d.shape[1], dtype)
        self._packed, self._columns = packed(d, lmbda), columns(d, lmbda)
        self._settings = problem.n_kernels, lane_count(dtype), not problem.nonnegative
        self._taps = d[0].size
        norms = np.sqrt(np.sum(np.square(d, dtype=np.float64), axis=(1, 2, 3, 4)))
        reach = np.max(norms / lmbda)  # how far a ratio moves when g moves by one
        terms = sum(d.shape[1:]) + 16  # the longest sums in `drift`, whose rounding must not count
        self._reach = dtype.type(reach * (1 + terms * np.finfo(dtype).eps))

    def __call__(self, g: Array) -> tuple[Array, Array]:
        ratio, best = np.zeros(g.shape[1:], g.dtype), np.zeros(g.shape[1:], np.int32)
        outputs = ratio.reshape(-1), best.reshape(-1)
        parallel_map(lambda span: self._all(span, g, *outputs), self.cut.spans)
        return ratio, best

    def again(self, g: Array, seen: Seen) -> Seen:
        """What a scan of g would find above `LIMIT`, and bounds elsewhere, from an earlier g."""
        ratio, best = seen.ratio.copy(), seen.best.copy()
        outputs = ratio.reshape(-1), best.reshape(-1)
        limit = g.dtype.type(self.LIMIT)

        def work(span: tuple[int, int]) -> None:
            if self._drift(span, seen.g, g, outputs[0]) > MANY:
                self._all(span, g, *outputs)
            else:
                data = g.reshape(-1), self._columns, *self._settings, limit
                look(*span, self.cut.geometry, *data, *outputs)

        parallel_map(work, self.cut.spans)
        return Seen(g.copy(), ratio, best)

    def sound(self, seen: Seen) -> Seen:
        """What was seen in any precision, its bounds raised by all that rounding may have taken.

        |fl⟨d, g⟩ − ⟨d, g⟩| ≤ nε‖d‖‖g‖ with n terms, and a few ε more for rounding d and λ.
        This g was not the one looked at, but ‖g‖ cannot have been larger than now by more
        than the bounds have grown since.
        """
        g, ratio = seen.g.astype(np.float64), seen.ratio.astype(np.float64)
        room, zero = ratio.copy(), np.zeros_like(g)
        parallel_map(lambda span: self._drift(span, zero, g, room.reshape(-1)), self.cut.spans)
        ratio += (self._taps + 16) * np.finfo(seen.g.dtype).eps * room
        return Seen(g, np.where((room < HUGE) & (self._reach < HUGE), ratio, np.inf), seen.best)

    def _all(self, span: tuple[int, int], g: Array, ratio: Array, best: Array) -> None:
        data = g.reshape(-1), self._packed, *self._settings
        scan(*span, self.cut.geometry, *data, ratio, best)

    def _drift(self, span: tuple[int, int], before: Array, now: Array, bound: Array) -> float:
        lanes, limit = self._settings[1], now.dtype.type(self.LIMIT)
        flat = now.reshape(-1), before.reshape(-1)
        return float(drift(*span, self.cut.geometry, *flat, self._reach, lanes, limit, bound))
