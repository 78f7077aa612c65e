"""What a residual calls for: correlations with every kernel everywhere, as a few small maps."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..kernels.closer import columns, drift, glance, look
from ..kernels.correlate import packed, scan
from ..kernels.geometry import cut, padded_rows
from ..kernels.lanes import lane_count
from ..threads import parallel_map
from .problem import Array, Problem, Seen

MANY = 0.75  # share of doubtful positions from which scanning all is faster than looking
HUGE = 1e30  # beyond this float32 may have overflowed on the way

Span = tuple[int, int]


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
        ratio, best, _ = self._maps(g)
        return ratio, best

    def first(self, g: Array) -> Seen:
        """Everything there is to see of g."""
        return Seen(g.copy(), *self._maps(g))

    def again(self, g: Array, seen: Seen, *, few: bool = False) -> None:
        """Let the maps be of this g: what a scan finds above `LIMIT`, and bounds elsewhere.

        Where there should be `few` doubts they are settled by what needs no long compiling.
        """
        maps = _flat(*seen[1:])

        def work(span: Span) -> None:
            if self._drift(span, seen.g, g, self._reach, *maps) > MANY:
                self._all(span, g, *maps)
            elif few:
                data = g.reshape(-1), self._rows, *self._settings, g.dtype.type(self.LIMIT)
                glance(*span, self.cut.geometry, *data, *maps)
            else:
                told = g.reshape(-1), self._rows, self._columns, *self._settings
                look(*span, self.cut.geometry, *told, g.dtype.type(self.LIMIT), *maps)

        parallel_map(work, self.cut.spans)

    def recall(self, problem: Problem) -> Seen | None:
        """The problem's memory, for its kernels: |⟨a′, g⟩| ≤ |⟨a, g⟩| + ‖a′ − a‖‖g‖, a = d / λ."""
        memory, dtype = problem.memory, problem.dtype
        if memory is None or memory.atoms.shape != problem.d.shape:
            return None
        if memory.seen.g.dtype.itemsize < dtype.itemsize:  # its rounding would not be covered
            return None
        if memory.nonnegative and not problem.nonnegative:
            return None
        g, ratio, best, rest = memory.seen
        seen = Seen(g.astype(dtype), ratio.astype(dtype), best.copy(), rest.astype(dtype))
        self._add_norm(self._longest(atoms(problem) - memory.atoms), seen)
        return seen

    def sound(self, seen: Seen) -> Seen:
        """What was seen in any precision, its bounds raised by all that rounding may have taken.

        |fl⟨d, g⟩ − ⟨d, g⟩| ≤ nε‖d‖‖g‖ with n terms, and a few ε more for rounding d and λ.
        This g was not the one looked at, but ‖d‖‖g‖ cannot have been larger than now by more
        than the bounds have grown since.
        """
        g, slack, rest = (a.astype(np.float64) for a in (seen.g, seen.ratio, seen.rest))
        self._add_norm(self._reach, Seen(g, slack, seen.best, rest))
        slack[~((slack < HUGE) & (self._reach < HUGE))] = np.inf
        slack *= (self._d[0].size + 16) * np.finfo(seen.g.dtype).eps
        np.add(seen.rest, slack, out=rest)
        slack += seen.ratio
        return Seen(g, slack, seen.best.copy(), rest)

    def _longest(self, atoms: Array) -> Any:
        """max ‖a‖, a little more than that: the sums in `drift` are rounded."""
        norms = np.sqrt(np.sum(atoms * atoms, axis=tuple(range(1, atoms.ndim))))
        terms = sum(self._d.shape[1:]) + 16
        dtype = self._d.dtype
        return dtype.type(np.max(norms) * (1 + terms * np.finfo(dtype).eps))

    def _add_norm(self, reach: Any, seen: Seen) -> None:
        """Both bounds at p += reach · ‖g at p‖"""
        zero = np.empty(0, seen.g.dtype)
        told = zero, seen.g, reach, *_flat(*seen[1:])
        parallel_map(lambda span: self._drift(span, *told), self.cut.spans)

    @cached_property
    def _packed(self) -> Array:
        return packed(self._d, self._lmbda)

    @cached_property
    def _columns(self) -> Array:
        return columns(self._d, self._lmbda)

    @cached_property
    def _rows(self) -> Array:
        return padded_rows(self._d / self._lmbda.reshape(-1, 1, 1, 1, 1)).reshape(-1)

    def _maps(self, g: Array) -> tuple[Array, Array, Array]:
        shape, dtype = g.shape[1:], g.dtype
        maps = np.zeros(shape, dtype), np.zeros(shape, np.int32), np.zeros(shape, dtype)
        parallel_map(lambda span: self._all(span, g, *_flat(*maps)), self.cut.spans)
        return maps

    def _all(self, span: Span, g: Array, ratio: Array, best: Array, rest: Array) -> None:
        data = g.reshape(-1), self._packed, *self._settings
        scan(*span, self.cut.geometry, *data, ratio, best, rest)

    def _drift(
        self, span: Span, before: Array, now: Array, reach: Any, ratio: Array, _: Any, rest: Array
    ) -> float:
        lanes, limit = self._settings[1], now.dtype.type(self.LIMIT)
        flat = _flat(now, before)
        return float(drift(*span, self.cut.geometry, *flat, reach, lanes, limit, ratio, rest))


def _flat(*maps: Array) -> tuple[Array, ...]:
    return tuple(a.reshape(-1) for a in maps)


def atoms(problem: Problem) -> Array:
    """d_m / λ_m in float64."""
    lmbda = problem.lmbda.astype(np.float64)
    result: Array = problem.d / lmbda.reshape(-1, *(1,) * (problem.d.ndim - 1))
    return result
