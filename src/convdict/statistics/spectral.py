"""d ↦ Ad for block-Toeplitz A: products of small Hermitian matrices, one per frequency."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import scipy.fft

from ..kernels.hermitian import add_outer, apply_hermitian, from_blocks, to_blocks
from ..kernels.lanes import lane_count
from ..model.problem import Array
from ..threads import parallel_map

N_TASKS = 4
SMALL = 1 << 25  # bytes of Â below which threads take longer to start than to work


class Spectral:
    """Â on the frequencies of a box that kernels are padded to, in blocks of one vector."""

    def __init__(self, shape: tuple[int, ...], box: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.n_kernels, self.n_channels, *kernel = shape
        self.kernel, self.box, self.dtype = tuple(kernel), box, dtype
        self.half = (*box[:-1], box[-1] // 2 + 1)  # of the spectrum of a real array
        self.lanes = lane_count(dtype)
        self.n_blocks = -(-prod(self.half) // self.lanes)
        self.n_pairs = self.n_kernels * (self.n_kernels + 1) // 2
        self.a = np.zeros((self.n_blocks, self.n_pairs, 2, self.lanes), dtype)

    def set_pairs(self, pairs: Array) -> None:
        """Â_mn = F(R_mn), m ≤ n, for `pairs` of shape (n_pairs, *box)."""

        def work(rows: slice) -> None:
            self._transform(pairs[rows], rows.start, self.a)

        parallel_map(work, _slices(self.n_pairs))

    def add_outer(self, x: Array, weight: float) -> None:
        """Â += weight · conj(x̂) x̂ᵀ for maps x of shape (M, *box)."""
        x_hat = self._blank(self.n_kernels)
        self._transform(x, 0, x_hat)
        settings = self.dtype.type(weight), self.n_kernels, self.lanes, self.a.reshape(-1)
        parallel_map(
            lambda s: add_outer(s.start, s.stop, x_hat.reshape(-1), *settings),
            _slices(self.n_blocks),
        )

    def apply(self, d: Array) -> Array:
        """Ad = crop F⁻¹(Â F(pad d)), for d of shape (M, C, *kernel)."""
        rows = self.n_channels * self.n_kernels
        d_hat, y_hat = self._blank(rows), self._blank(rows)
        self._transform(np.moveaxis(d, 1, 0).reshape(rows, *self.kernel), 0, d_hat)
        settings = self.a.reshape(-1), self.n_kernels, self.n_channels, self.lanes
        arrays = d_hat.reshape(-1), y_hat.reshape(-1)
        blocks = [slice(0, self.n_blocks)] if self.a.nbytes < SMALL else _slices(self.n_blocks)
        parallel_map(lambda s: apply_hermitian(s.start, s.stop, *settings, *arrays), blocks)
        spectra = np.empty((rows, prod(self.half)), np.result_type(self.dtype, np.complex64))
        from_blocks(y_hat, self.lanes, spectra)
        y = scipy.fft.irfftn(
            spectra.reshape(rows, *self.half), s=self.box, axes=self._axes, workers=1
        )
        y = y[(slice(None), *(slice(k) for k in self.kernel))]
        y = y.reshape(self.n_channels, self.n_kernels, *self.kernel)
        return np.ascontiguousarray(np.moveaxis(y, 0, 1))

    def forget(self, kernel: int) -> None:
        """Â_mn = 0 wherever m or n is `kernel`."""
        m, n = np.triu_indices(self.n_kernels)
        self.a[:, (m == kernel) | (n == kernel)] = 0

    @property
    def _axes(self) -> range:
        return range(-len(self.box), 0)

    def _blank(self, rows: int) -> Array:
        return np.zeros((self.n_blocks, rows, 2, self.lanes), self.dtype)

    def _transform(self, x: Array, first: int, blocks: Array) -> None:
        """x̂ of some rows (n, *any), padded to the box, into the rows of `blocks` from `first`."""
        x_hat = scipy.fft.rfftn(x, s=self.box, axes=self._axes, workers=1)
        to_blocks(first, first + len(x), x_hat.reshape(len(x), -1), self.lanes, blocks)


def _slices(n: int) -> list[slice]:
    """[0, n) in a few pieces, whatever the number of threads."""
    ends = [n * i // N_TASKS for i in range(N_TASKS + 1)]
    return [slice(a, b) for a, b in pairwise(ends) if b > a]
