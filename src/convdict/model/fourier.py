"""Convolution by FFT: Dx = Σ_m d_m * x_m and its adjoint, circular on the grid.

Maps are worked on in blocks of kernels that fit a core's cache, and blocks in groups, one
task each. Neither depends on the number of threads, so neither do results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TypeVar

import numpy as np
import scipy.fft

from ..threads import parallel_map
from .problem import Array, Problem

Result = TypeVar("Result")
Group = tuple[slice, ...]

BLOCK = 1 << 16  # coefficients that one block holds, unless a single map is larger
N_GROUPS = 16  # tasks at most, each with a spectrum of its own to sum into


def cut(n_kernels: int, grid: tuple[int, ...]) -> tuple[Group, ...]:
    """Kernels 0 … M − 1 as blocks of kernels, and the blocks as groups."""
    width = max(1, BLOCK // prod(grid))
    blocks = [slice(i, min(i + width, n_kernels)) for i in range(0, n_kernels, width)]
    n_groups = min(N_GROUPS, len(blocks))
    ends = [len(blocks) * i // n_groups for i in range(n_groups + 1)]
    return tuple(tuple(blocks[i:j]) for i, j in pairwise(ends))


def sum_in_order(parts: tuple[Array, ...]) -> Array:
    """The sum of what the groups made, always in their order; overwrites the first."""
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


def inner(a: Array, b: Array) -> float:
    """⟨a, b⟩, summed in float64."""
    return float(np.einsum("i,i", a.reshape(-1), b.reshape(-1), dtype=np.float64))


def per_map(values: Array, n_axes: int) -> Array:
    """One number per kernel, shaped to meet maps of shape (M, *grid)."""
    return values.reshape(-1, *(1,) * n_axes)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The kernels of a dictionary in the frequency domain of a grid."""

    d_hat: Array  # (M, C, *half), complex
    grid: tuple[int, ...]
    groups: tuple[Group, ...]

    @classmethod
    def of(cls, d: Array, grid: tuple[int, ...]) -> Spectrum:
        """d̂_mc = F(d_mc), kernels padded with zeros to the grid."""
        dtype = np.result_type(d.dtype, np.complex64)
        d_hat = np.empty((*d.shape[:2], *grid[:-1], grid[-1] // 2 + 1), dtype)
        axes = range(-len(grid), 0)

        def work(group: Group) -> None:
            for block in group:
                d_hat[block] = scipy.fft.rfftn(d[block], s=grid, axes=axes, workers=1)

        parallel_map(work, cut(len(d), d_hat.shape[1:]))
        return cls(d_hat, grid, cut(len(d), grid))

    def rfft(self, a: Array) -> Array:
        """â = F(a), the half spectrum over the axes of the grid."""
        a_hat: Array = scipy.fft.rfftn(a, axes=range(-len(self.grid), 0), workers=1)
        return a_hat

    def irfft(self, a_hat: Array) -> Array:
        """a = F⁻¹(â); overwrites â."""
        axes = range(-len(self.grid), 0)
        a: Array = scipy.fft.irfftn(a_hat, s=self.grid, axes=axes, workers=1, overwrite_x=True)
        return a

    def zeros(self) -> Array:
        """The spectrum of a blank signal."""
        return np.zeros(self.d_hat.shape[1:], self.d_hat.dtype)

    def each(self, work: Callable[[Group], Result]) -> list[Result]:
        """`work(group)` for every group of blocks, several at once."""
        return parallel_map(work, self.groups)

    def add(self, x: Array, block: slice, total_hat: Array) -> None:
        """total̂_c += Σ_m d̂_mc x̂_m over the kernels of a block."""
        if not x.any():
            return
        x_hat = self.rfft(x)
        for c, total in enumerate(total_hat):
            total += np.sum(self.d_hat[block, c] * x_hat, axis=0)

    def correlate(self, r_hat: Array, block: slice) -> Array:
        """F⁻¹(Σ_c conj(d̂_mc) r̂_c) for the kernels m of a block."""
        a_hat = np.conj(self.d_hat[block, 0])
        a_hat *= r_hat[0]
        for c in range(1, len(r_hat)):
            a_hat += np.conj(self.d_hat[block, c]) * r_hat[c]
        return self.irfft(a_hat)

    def forward(self, x: Array) -> Array:
        """Dx = Σ_m d_m * x_m, of shape (C, *grid)."""

        def work(group: Group) -> Array:
            part_hat = self.zeros()
            for block in group:
                self.add(x[block], block, part_hat)
            return part_hat

        return self.irfft(sum_in_order(tuple(self.each(work))))

    def adjoint(self, r: Array) -> Array:
        """Dᵀr = (Σ_c d_mc ⋆ r_c)_m, of shape (M, *grid)."""
        r_hat = self.rfft(r)
        x = np.empty((len(self.d_hat), *self.grid), r.dtype)

        def work(group: Group) -> None:
            for block in group:
                x[block] = self.correlate(r_hat, block)

        self.each(work)
        return x

    def bands(self) -> list[slice]:
        """All frequencies, raveled, in pieces for which `gram` is small."""
        n_channels, n = self.d_hat.shape[1], prod(self.d_hat.shape[2:])
        width = max(1, BLOCK // n_channels**2)
        return [slice(i, min(i + width, n)) for i in range(0, n, width)]

    def gram(self, band: slice) -> Array:
        """D̂D̂ᴴ = Σ_m d̂_mc conj(d̂_mc'), of shape (band, C, C), Hermitian."""
        a = self.d_hat.reshape(*self.d_hat.shape[:2], -1)[..., band]
        if a.shape[1] == 1:
            squares: Array = np.sum(np.square(a.real) + np.square(a.imag), axis=0)
            return squares.reshape(-1, 1, 1)
        a = np.ascontiguousarray(a.transpose(2, 1, 0))
        product: Array = np.matmul(a, np.conj(a).transpose(0, 2, 1))
        return product


def spectral_bound(problem: Problem, spectrum: Spectrum) -> float:
    """‖DᵀW²D‖ ≤ max w² · max over frequencies of the largest eigenvalue of D̂D̂ᴴ.

    With W left out it is an equality. It is raised by the rounding that went into it.
    """

    def largest(band: slice) -> float:
        a = spectrum.gram(band)
        values = a if a.shape[1] == 1 else np.linalg.eigvalsh(a)
        return float(values.max())

    w2 = 1.0 if problem.w2 is None else float(problem.w2.max())
    rounding = 1.0 + 32.0 * float(np.finfo(problem.dtype).eps)
    return rounding * w2 * max(parallel_map(largest, spectrum.bands()))
