"""What a residual calls for: correlations with every kernel everywhere, as two small maps."""

from __future__ import annotations

from functools import cached_property
from typing import Any

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
        d, dtype = problem.d3, problem.dtype
        self.cut = cut(problem.grid, problem.kernel, d.shape[1], dtype)
        self._d, self._lmbda = d, problem.lmbda
        self._settings = problem.n_kernels, lane_count(dtype), not problem.nonnegative
        self._reach = self._longest(atoms(problem))

    def __call__(self, g: Array) -> tuple[Array, Array]:
        ratio, best = np.zeros(g.shape[1:], g.dtype), np.zeros(g.shape[1:], np.int32)
        outputs = ratio.reshape(-1), best.reshape(-1)
        parallel_map(lambda span: self._all(span, g, *outputs), self.cut.spans)
        return ratio, best

    def again(self, g: Array, seen: Seen) -> None:
        """Let `seen` be of this g: what a scan finds above `LIMIT`, and bounds elsewhere."""
        outputs = seen.ratio.reshape(-1), seen.best.reshape(-1)
        limit = g.dtype.type(self.LIMIT)

        def work(span: tuple[int, int]) -> None:
            if self._drift(span, seen.g, g, self._reach, outputs[0]) > MANY:
                self._all(span, g, *outputs)
            else:
                data = g.reshape(-1), self._columns, *self._settings, limit
                look(*span, self.cut.geometry, *data, *outputs)

        parallel_map(work, self.cut.spans)
        np.copyto(seen.g, g)

    def recall(self, problem: Problem) -> Seen | None:
        """The problem's memory, for its kernels: |⟨a′, g⟩| ≤ |⟨a, g⟩| + ‖a′ − a‖‖g‖, a = d / λ."""
        memory = problem.memory
        if memory is None or memory.atoms.shape != problem.d.shape:
            return None
        if memory.nonnegative and not problem.nonnegative:
            return None
        g = np.ascontiguousarray(memory.g, problem.dtype)
        best = np.zeros(problem.grid, np.int32)
        seen = Seen(g.copy(), memory.ratio.astype(problem.dtype), best)
        self._add_norm(g, self._longest(atoms(problem) - memory.atoms), seen.ratio)
        return seen

    def sound(self, seen: Seen) -> Seen:
        """What was seen in any precision, its bounds raised by all that rounding may have taken.

        |fl⟨d, g⟩ − ⟨d, g⟩| ≤ nε‖d‖‖g‖ with n terms, and a few ε more for rounding d and λ.
        This g was not the one looked at, but ‖g‖ cannot have been larger than now by more
        than the bounds have grown since.
        """
        g, room = seen.g.astype(np.float64), seen.ratio.astype(np.float64)
        self._add_norm(g, self._reach, room)
        believed = (room < HUGE) & (self._reach < HUGE)
        room *= (self._d[0].size + 16) * np.finfo(seen.g.dtype).eps
        room += seen.ratio
        return Seen(g, np.where(believed, room, np.inf), seen.best.copy())

    def _longest(self, atoms: Array) -> Any:
        """max ‖a‖, a little more than that: the sums in `drift` are rounded."""
        norms = np.sqrt(np.sum(atoms * atoms, axis=tuple(range(1, atoms.ndim))))
        terms = sum(self._d.shape[1:]) + 16
        dtype = self._d.dtype
        return dtype.type(np.max(norms) * (1 + terms * np.finfo(dtype).eps))

    def _add_norm(self, g: Array, reach: Any, bound: Array) -> None:
        """bound[p] += reach · ‖g at p‖"""
        zero, flat = np.empty(0, g.dtype), bound.reshape(-1)
        parallel_map(lambda span: self._drift(span, zero, g, reach, flat), self.cut.spans)

    @cached_property
    def _packed(self) -> Array:
        return packed(self._d, self._lmbda)

    @cached_property
    def _columns(self) -> Array:
        return columns(self._d, self._lmbda)

    def _all(self, span: tuple[int, int], g: Array, ratio: Array, best: Array) -> None:
        data = g.reshape(-1), self._packed, *self._settings
        scan(*span, self.cut.geometry, *data, ratio, best)

    def _drift(
        self, span: tuple[int, int], before: Array, now: Array, reach: Any, bound: Array
    ) -> float:
        lanes, limit = self._settings[1], now.dtype.type(self.LIMIT)
        flat = now.reshape(-1), before.reshape(-1)
        return float(drift(*span, self.cut.geometry, *flat, reach, lanes, limit, bound))


def atoms(problem: Problem) -> Array:
    """d_m / λ_m in float64."""
    lmbda = problem.lmbda.astype(np.float64)
    result: Array = problem.d / lmbda.reshape(-1, *(1,) * (problem.d.ndim - 1))
    return result
