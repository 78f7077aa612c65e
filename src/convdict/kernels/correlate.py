"""The scan: how strongly the residual still calls for each coefficient."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compile import kernel
from .geometry import Geometry
from .lanes import fused, load, magnitude, splat, store, where_larger
from .regions import gather

Array = NDArray[Any]

BLOCK = 8  # kernels that share one pass over the samples: 16 accumulators of 32 registers


def packed(d: Array, lmbda: Array) -> Array:
    """d_m / λ_m in the order in which the scan reads them: (M / 8, C, k0, k1, k2, 8)."""
    scaled = (d / lmbda.reshape(-1, 1, 1, 1, 1)).astype(d.dtype)
    blocks = -(-d.shape[0] // BLOCK)
    filled = np.zeros((blocks * BLOCK, *d.shape[1:]), d.dtype)
    filled[: d.shape[0]] = scaled
    split = filled.reshape(blocks, BLOCK, *d.shape[1:])
    return np.ascontiguousarray(np.moveaxis(split, 1, -1)).reshape(-1)


@kernel
def scan(
    first: int,
    last: int,
    geometry: Geometry,
    g: Any,
    packed: Any,
    n_kernels: int,
    lanes: int,
    signed: bool,
    ratio: Any,
    best: Any,
    rest: Any,
) -> None:
    """ratio[p] = max_m |⟨d_m at p, g⟩| / λ_m, and best[p] the m that attains it.

    rest[p] is the most that any other attains. For non-negative codes without the modulus,
    and never below zero. Two vectors of positions times eight kernels stay in registers while
    the samples stream by.
    """
    channels, n1, n2 = geometry.grid[0], geometry.grid[2], geometry.grid[3]
    h0, h1, h2 = geometry.halo
    channel, plane, row = geometry.strides
    buffer = np.zeros(geometry.buffer_size, g.dtype)
    found = np.empty(6 * lanes, g.dtype)
    zero = splat(g.dtype.type(0))
    for t in range(first, last):
        gather(g, geometry, t, buffer)
        a0, a1, a2, t0, t1, t2 = geometry.tiles[t]
        for i in range(t0):
            for j in range(t1):
                for k in range(0, t2, 2 * lanes):
                    base = i * plane + j * row + k
                    top0 = top1 = who0 = who1 = rest0 = rest1 = zero
                    q = 0
                    for m in range(0, n_kernels, 8):
                        a = b = c = d = e = f = u = v = zero
                        A = B = C = D = E = F = U = V = zero
                        for z in range(channels):
                            for y in range(h0 + 1):
                                for x in range(h1 + 1):
                                    p = base + z * channel + y * plane + x * row
                                    for o in range(p, p + h2 + 1):
                                        near = load(buffer, o)
                                        far = load(buffer, o + lanes)
                                        w = splat(packed[q])
                                        a = fused(w, near, a)
                                        A = fused(w, far, A)
                                        w = splat(packed[q + 1])
                                        b = fused(w, near, b)
                                        B = fused(w, far, B)
                                        w = splat(packed[q + 2])
                                        c = fused(w, near, c)
                                        C = fused(w, far, C)
                                        w = splat(packed[q + 3])
                                        d = fused(w, near, d)
                                        D = fused(w, far, D)
                                        w = splat(packed[q + 4])
                                        e = fused(w, near, e)
                                        E = fused(w, far, E)
                                        w = splat(packed[q + 5])
                                        f = fused(w, near, f)
                                        F = fused(w, far, F)
                                        w = splat(packed[q + 6])
                                        u = fused(w, near, u)
                                        U = fused(w, far, U)
                                        w = splat(packed[q + 7])
                                        v = fused(w, near, v)
                                        V = fused(w, far, V)
                                        q += 8
                        for s, (one, two) in enumerate(
                            ((a, A), (b, B), (c, C), (d, D), (e, E), (f, F), (u, U), (v, V))
                        ):
                            if signed:
                                one = magnitude(one)
                                two = magnitude(two)
                            name = splat(g.dtype.type(m + s))
                            less = where_larger(one, top0, top0, one)
                            rest0 = where_larger(less, rest0, less, rest0)
                            who0 = where_larger(one, top0, name, who0)
                            top0 = where_larger(one, top0, one, top0)
                            less = where_larger(two, top1, top1, two)
                            rest1 = where_larger(less, rest1, less, rest1)
                            who1 = where_larger(two, top1, name, who1)
                            top1 = where_larger(two, top1, two, top1)
                    store(found, 0, top0)
                    store(found, lanes, top1)
                    store(found, 2 * lanes, who0)
                    store(found, 3 * lanes, who1)
                    store(found, 4 * lanes, rest0)
                    store(found, 5 * lanes, rest1)
                    p = ((a0 + i) * n1 + a1 + j) * n2 + a2 + k
                    for s in range(min(2 * lanes, t2 - k)):
                        ratio[p + s] = found[s]
                        best[p + s] = np.int32(found[2 * lanes + s])
                        rest[p + s] = found[4 * lanes + s]
