"""Signals from sparse codes, without ever making them dense."""

from __future__ import annotations

from typing import Any

from .compile import kernel


@kernel
def synthesize(d: Any, kernels: Any, positions: Any, values: Any, signal: Any) -> None:
    """signal += Σ_a x_a · d_{m_a} at p_a, for d of shape (M, C, k0, k1, k2) on a circular grid"""
    _, channels, k0, k1, k2 = d.shape
    _, n0, n1, n2 = signal.shape
    for a in range(values.size):
        m, p, x = kernels[a], positions[a], values[a]
        p0, p1, p2 = p // (n1 * n2), p // n2 % n1, p % n2
        inside = min(k2, n2 - p2)
        for c in range(channels):
            for i in range(k0):
                y = (p0 + i) % n0
                for j in range(k1):
                    z = (p1 + j) % n1
                    for k in range(inside):
                        signal[c, y, z, p2 + k] += x * d[m, c, i, j, k]
                    for k in range(inside, k2):
                        signal[c, y, z, (p2 + k) % n2] += x * d[m, c, i, j, k]
