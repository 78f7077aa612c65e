"""Sums over all samples, in float64 whatever the samples are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import kernel

APART = 32  # partial sums, so that no addition waits for the one before


@kernel
def products(g: Any, s: Any, inverse: Any) -> tuple[float, float]:
    """Σ v g² and Σ s g, for v the `inverse` or, where that is empty, ones"""
    gg, sg = np.zeros(APART), np.zeros(APART)
    weighted = inverse.size > 0
    whole = g.size - g.size % APART
    for i in range(0, whole, APART):
        for j in range(APART):
            x = np.float64(g[i + j])
            gg[j] += x * x * np.float64(inverse[i + j]) if weighted else x * x
            sg[j] += x * np.float64(s[i + j])
    for i in range(whole, g.size):
        x = np.float64(g[i])
        gg[0] += x * x * np.float64(inverse[i]) if weighted else x * x
        sg[0] += x * np.float64(s[i])
    return gg.sum(), sg.sum()
