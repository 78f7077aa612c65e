"""The sparse coding problem: data, and nothing about how it is solved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.geometry import three

Array = NDArray[Any]


class Seen(NamedTuple):
    """What is known of a residual's correlations: see `convdict.model.scan`."""

    g: Array  # the weighted residual, or a dual point in its place
    ratio: Array  # at every position no less than max_m |⟨d_m, g⟩| / λ_m
    best: Array  # the kernel that attains it, where `ratio` is above one
    rest: Array  # no less than what any other attains


class Memory(NamedTuple):
    """What was seen with some kernels, for a problem that differs a little."""

    seen: Seen
    atoms: Array  # d_m / λ_m, as they were
    nonnegative: bool
    unit: float  # of g; that of the atoms is its inverse

    def in_unit(self, unit: float) -> Memory | None:
        """The same in another unit, a power of two not too far from its own."""
        factor = self.unit / unit
        if factor == 1:
            return self
        if not 1e-6 < factor < 1e6:
            return None
        seen = self.seen._replace(g=self.seen.g * factor)
        return self._replace(seen=seen, atoms=self.atoms / factor, unit=unit)


@dataclass(frozen=True, eq=False)
class Problem:
    """min over x of ½‖W⊙(Σ_m d_m * x_m − s)‖² + Σ_m λ_m‖x_m‖₁, circular on `grid`.

    A free boundary is the same problem on a grid that is longer by kernel − 1 along every
    axis, its first kernel − 1 samples hidden by W: see `convdict.model.pose`.

    Every array is C-contiguous and of one dtype, float32 or float64.
    """

    d: Array  # (M, C, *kernel)
    s: Array  # (C, *grid), zero where W is zero
    lmbda: Array  # (M,), positive
    w: Array | None = None  # (C, *grid), non-negative; None means all ones
    nonnegative: bool = False
    memory: Memory | None = None  # of a residual like the first one to come

    @property
    def n_kernels(self) -> int:
        return int(self.d.shape[0])

    @property
    def kernel(self) -> tuple[int, ...]:
        return self.d.shape[2:]

    @property
    def grid(self) -> tuple[int, ...]:
        return self.s.shape[1:]

    @property
    def n_coefficients(self) -> int:
        return self.n_kernels * prod(self.grid)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.s.dtype

    @property
    def d3(self) -> Array:
        """The kernels with three axes, the leading ones of length one where there are fewer."""
        return self.d.reshape(self.d.shape[:2] + three(self.kernel))

    @cached_property
    def w2(self) -> Array | None:
        """W², the weight of a squared residual."""
        return None if self.w is None else self.w * self.w

    def astype(self, dtype: Any) -> Problem:
        if self.dtype == dtype:
            return self
        w = None if self.w is None else self.w.astype(dtype)
        return replace(
            self,
            d=self.d.astype(dtype),
            s=self.s.astype(dtype),
            lmbda=self.lmbda.astype(dtype),
            w=w,
        )


class Triplets(NamedTuple):
    """Sparse maps as flat arrays, sorted by kernel, then by position in raster order."""

    kernel: Array  # int32
    position: Array  # int64, raveled index into the grid
    value: Array

    @classmethod
    def empty(cls, dtype: Any) -> Triplets:
        return cls(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, dtype))

    @classmethod
    def from_dense(cls, x: Array) -> Triplets:
        """The nonzeros of maps of shape (M, *grid)."""
        flat = x.reshape(x.shape[0], -1)
        kernel, position = np.nonzero(flat)
        return cls(kernel.astype(np.int32), position.astype(np.int64), flat[kernel, position])

    def to_dense(self, n_kernels: int, grid: tuple[int, ...]) -> Array:
        x = np.zeros((n_kernels, prod(grid)), self.value.dtype)
        x[self.kernel, self.position] = self.value
        return x.reshape(n_kernels, *grid)

    def sorted(self) -> Triplets:
        order = np.argsort(self.kernel * (self.position.max(initial=0) + 1) + self.position)
        return Triplets(self.kernel[order], self.position[order], self.value[order])


class Progress(NamedTuple):
    """One record of a running solver, in its own precision: an estimate, not a certificate."""

    iteration: int
    objective: float
    gap: float
    nnz: int
    seconds: float


class Solution(NamedTuple):
    """What a coding solver hands back."""

    codes: Triplets
    n_iter: int
    reason: str  # why it stopped: "gap", "residuals", "budget" or "precision"
    scale: Array | None = None  # of the samples, for a good dual point (see `certify`)
    seen: Seen | None = None  # of that dual point
