"""Signals from sparse codes, without ever making them dense."""

from __future__ import annotations

from typing import Any

from .compile import kernel
from .lanes import fused, load, splat, store


@kernel
def synthesize(
    rows: Any, shape: Any, lanes: int, kernels: Any, positions: Any, values: Any, signal: Any
) -> None:
    """signal += Σ_a x_a · d_{m_a} at p_a, on a circular grid.

    The kernels come as padded rows, and `shape` is theirs: (C, k0, k1, k2). A row that ends
    well inside the grid is added a vector at a time, padding and all.
    """
    channels, k0, k1, k2 = shape
    _, n0, n1, n2 = signal.shape
    flat = signal.reshape(-1)
    width = -(-k2 // lanes) * lanes
    for a in range(values.size):
        p, x = positions[a], values[a]
        p0, p1, p2 = p // (n1 * n2), p // n2 % n1, p % n2
        many = splat(x)
        q = kernels[a] * channels * k0 * k1 * width
        for c in range(channels):
            for i in range(k0):
                y = p0 + i if p0 + i < n0 else p0 + i - n0
                for j in range(k1):
                    z = p1 + j if p1 + j < n1 else p1 + j - n1
                    start = ((c * n0 + y) * n1 + z) * n2
                    if p2 + width <= n2:
                        for k in range(0, width, lanes):
                            o = start + p2 + k
                            store(flat, o, fused(many, load(rows, q + k), load(flat, o)))
                    else:
                        for k in range(k2):
                            o = p2 + k if p2 + k < n2 else p2 + k - n2
                            flat[start + o] += x * rows[q + k]
                    q += width
