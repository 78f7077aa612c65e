"""Correlating sparse codes with a signal: what every gradient by the dictionary is made of."""

from __future__ import annotations

from typing import Any

from .compile import kernel
from .lanes import fused, load, splat, store


@kernel
def correlate_codes(
    first: int,
    last: int,
    starts: Any,
    corner: Any,
    value: Any,
    chunks: Any,
    lanes: int,
    signal: Any,
    rows: Any,
) -> None:
    """(Xᵀr)_m[δ] += Σ_p x_m[p] r[p + δ], first ≤ m < last, for padded rows of kernels.

    The codes of kernel m are those from starts[m] on. The signal is extended at its far ends,
    so that nothing wraps: sample p lies at `corner`, the samples of a kernel there at `chunks`.
    """
    n = chunks.size
    for m in range(first, last):
        base = m * n * lanes
        for a in range(starts[m], starts[m + 1]):
            x, p = splat(value[a]), corner[a]
            k = base
            for q in range(n):
                store(rows, k, fused(x, load(signal, p + chunks[q]), load(rows, k)))
                k += lanes
