"""Codes seen as an operator on dictionaries: Xᵀ, and what comes of it."""

from __future__ import annotations

import numpy as np

from ..kernels.correlate_codes import correlate_codes
from ..kernels.geometry import round_up, three
from ..kernels.lanes import lane_count
from ..threads import parallel_map
from .order import starts
from .problem import Array, Triplets

N_TASKS = 8


def adjoint(codes: Triplets, r: Array, n_kernels: int, kernel: tuple[int, ...]) -> Array:
    """(Xᵀr)_mc[δ] = Σ_p x_m[p] r_c[p + δ] for r of shape (C, *grid), as (M, C, *kernel)."""
    n_channels, grid, size = len(r), three(r.shape[1:]), three(kernel)
    lanes = lane_count(r.dtype)
    width = round_up(size[2], lanes)
    margin = [(0, 0), (0, size[0] - 1), (0, size[1] - 1), (0, width - 1)]
    far = np.pad(r.reshape(n_channels, *grid), margin, mode="wrap")
    channel, plane, row = (stride // far.itemsize for stride in far.strides[:3])
    chunks = [
        c * channel + i * plane + j * row + v
        for c in range(n_channels)
        for i in range(size[0])
        for j in range(size[1])
        for v in range(0, width, lanes)
    ]
    p0, p1, p2 = np.unravel_index(codes.position, grid)
    corner = p0 * plane + p1 * row + p2
    rows = np.zeros((n_kernels, n_channels, size[0], size[1], width), r.dtype)
    data = starts(codes, n_kernels), corner, codes.value.astype(r.dtype), np.array(chunks), lanes
    step = -(-n_kernels // N_TASKS)
    parallel_map(
        lambda m: correlate_codes(
            m, min(m + step, n_kernels), *data, far.reshape(-1), rows.reshape(-1)
        ),
        range(0, n_kernels, step),
    )
    return np.ascontiguousarray(rows[..., : size[2]]).reshape(n_kernels, n_channels, *kernel)
