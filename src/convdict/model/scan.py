"""What a residual calls for: correlations with every kernel everywhere, as two small maps."""

from __future__ import annotations

import numpy as np

from ..kernels.correlate import packed, scan
from ..kernels.geometry import cut
from ..kernels.lanes import lane_count
from ..threads import parallel_map
from .problem import Array, Problem


class Scan:
    """g ↦ (ratio, best): max_m |⟨d_m at p, g⟩| / λ_m at every position p, and which m.

    Both maps have the size of the grid; the M times larger array of all correlations is
    never made. `g` is the weighted residual W²⊙(s − Dx) or a dual point in its place.
    """

    def __init__(self, problem: Problem) -> None:
        d = problem.d3
        self.cut = cut(problem.grid, problem.kernel, d.shape[1], problem.dtype)
        self._packed = packed(d, problem.lmbda)
        self._n_kernels = problem.n_kernels
        self._signed = not problem.nonnegative

    def __call__(self, g: Array) -> tuple[Array, Array]:
        geometry, grid = self.cut.geometry, g.shape[1:]
        ratio, best = np.zeros(grid, g.dtype), np.zeros(grid, np.int32)
        outputs = ratio.reshape(-1), best.reshape(-1)
        settings = self._packed, self._n_kernels, lane_count(g.dtype), self._signed
        parallel_map(
            lambda strip: scan(*strip, geometry, g.reshape(-1), *settings, *outputs),
            self.cut.spans,
        )
        return ratio, best
