"""Looking again: what is known of a residual's correlations still bounds those of its like.

⟨d, g⟩ changes by no more than ‖d‖ times the change of g under the kernel. Of a residual that
has changed a little most positions therefore need no second look: `drift` says which do, and
`look` scans those, wherever they are. Two bounds are kept of a position, for the kernel that
was strongest and for all others: where a coefficient is nonzero its ratio stays about one,
but that one kernel is nearly always all there is to look at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compile import kernel
from .descent import inner
from .geometry import Geometry, round_up
from .lanes import (
    add,
    fused,
    highest,
    lane_count,
    load,
    magnitude,
    multiply,
    root,
    splat,
    store,
    where_larger,
)
from .regions import gather

Array = NDArray[Any]

GROUP = 8  # positions that share one pass over the kernels, taken two vectors at a time


def columns(d: Array, lmbda: Array) -> Array:
    """d_m / λ_m in the order in which `look` reads them: (blocks, C, k0, k1, k2, 2 · lanes)."""
    width = 2 * lane_count(d.dtype)
    filled = np.zeros((round_up(d.shape[0], width), *d.shape[1:]), d.dtype)
    filled[: d.shape[0]] = d / lmbda.reshape(-1, 1, 1, 1, 1)
    split = filled.reshape(-1, width, *d.shape[1:])
    return np.ascontiguousarray(np.moveaxis(split, 1, -1)).reshape(-1)


@kernel
def slide(buffer: Any, start: int, count: int, step: int, extent: int, lanes: int) -> None:
    """buffer[i] = Σ_o buffer[i + o · step], o < extent, for vectors at i = start … start + count"""
    for i in range(start, start + count, lanes):
        a = load(buffer, i)
        for o in range(1, extent):
            a = add(a, load(buffer, i + o * step))
        store(buffer, i, a)


@kernel
def drift(
    first: int,
    last: int,
    geometry: Geometry,
    now: Any,
    before: Any,
    reach: Any,
    lanes: int,
    limit: Any,
    ratio: Any,
    rest: Any,
) -> Any:
    """Both bounds at p += reach · ‖now − before‖ over what kernels at p see, rounded up.

    An empty `before` is zero. Returns the share of positions with both above `limit`.
    """
    channels, n1, n2 = geometry.grid[0], geometry.grid[2], geometry.grid[3]
    h0, h1, h2 = geometry.halo
    channel, plane, row = geometry.strides
    new = np.zeros(geometry.buffer_size, now.dtype)  # rows of one array would be strided, and
    old = np.zeros(geometry.buffer_size, now.dtype)  # all that they are given to compiled anew
    up = now.dtype.type(1 + 4 * np.finfo(now.dtype).eps)
    zero, minus, far = splat(now.dtype.type(0)), splat(now.dtype.type(-1)), splat(reach)
    tiny = splat(np.finfo(now.dtype).tiny)  # more than all that squares lose by underflow
    doubtful, n = 0, 0
    for t in range(first, last):
        gather(now, geometry, t, new)
        if before.size > 0:
            gather(before, geometry, t, old)
        a0, a1, a2, t0, t1, t2 = geometry.tiles[t]
        for i in range(0, channel, lanes):
            a = zero
            for z in range(channels):
                e = fused(minus, load(old, z * channel + i), load(new, z * channel + i))
                a = fused(e, e, a)
            store(new, i, a)
        for i in range(t0 + h0):
            for j in range(t1 + h1):
                slide(new, i * plane + j * row, t2, np.int64(1), h2 + 1, lanes)
            for j in range(t1):
                slide(new, i * plane + j * row, t2, row, h1 + 1, lanes)
        for i in range(t0):
            for j in range(t1):
                q = i * plane + j * row
                slide(new, q, t2, plane, h0 + 1, lanes)
                for k in range(q, q + t2, lanes):
                    store(new, k, multiply(far, root(add(load(new, k), tiny))))
                p = ((a0 + i) * n1 + a1 + j) * n2 + a2
                for k in range(t2):
                    ratio[p + k] = (ratio[p + k] + new[q + k]) * up
                    rest[p + k] = (rest[p + k] + new[q + k]) * up
                    doubtful += not (ratio[p + k] <= limit or rest[p + k] <= limit)
                n += t2
    return doubtful / n


@kernel
def look(
    first: int,
    last: int,
    geometry: Geometry,
    g: Any,
    rows: Any,
    columns: Any,
    n_kernels: int,
    lanes: int,
    signed: bool,
    limit: Any,
    ratio: Any,
    best: Any,
    rest: Any,
) -> None:
    """What `scan` does, at the positions whose ratio is not known to be at most `limit`.

    Where no kernel but the best can exceed it, that one is all that is looked at.
    """
    channels, n1, n2 = geometry.grid[0], geometry.grid[2], geometry.grid[3]
    h0, h1, h2 = geometry.halo
    channel, plane, row = geometry.strides
    buffer = np.zeros(geometry.buffer_size, g.dtype)
    place = np.empty(geometry.buffer_size, np.int64)
    position, easy, single = np.empty_like(place), np.empty_like(place), np.empty_like(place)
    found = np.empty(3 * GROUP * lanes, g.dtype)
    zero = splat(g.dtype.type(0))
    for t in range(first, last):
        a0, a1, a2, t0, t1, t2 = geometry.tiles[t]
        n = n_single = 0
        for i in range(t0):
            for j in range(t1):
                p = ((a0 + i) * n1 + a1 + j) * n2 + a2
                for k in range(t2):
                    if ratio[p + k] <= limit:
                        continue
                    if rest[p + k] <= limit:
                        easy[n_single], single[n_single] = i * plane + j * row + k, p + k
                        n_single += 1
                    else:
                        place[n], position[n] = i * plane + j * row + k, p + k
                        n += 1
        if n + n_single == 0:
            continue
        gather(g, geometry, t, buffer)
        for r in range(n_single):
            p = single[r]
            value = inner(buffer, geometry.chunks, rows, lanes, np.int64(best[p]), easy[r])
            ratio[p] = max(abs(value) if signed else value, rest[p])
        for r in range(n, (n + 7) // 8 * 8):
            place[r] = place[n - 1]
        for r in range(0, n, 8):
            p0, p1, p2, p3 = place[r], place[r + 1], place[r + 2], place[r + 3]
            p4, p5, p6, p7 = place[r + 4], place[r + 5], place[r + 6], place[r + 7]
            for s in range(0, found.size, lanes):
                store(found, s, zero)
            q = 0
            for m in range(0, n_kernels, 2 * lanes):
                a = b = c = d = e = f = u = v = zero
                A = B = C = D = E = F = U = V = zero
                for z in range(channels):
                    for y in range(h0 + 1):
                        for x in range(h1 + 1):
                            start = z * channel + y * plane + x * row
                            for o in range(start, start + h2 + 1):
                                near = load(columns, q)
                                far = load(columns, q + lanes)
                                w = splat(buffer[p0 + o])
                                a = fused(w, near, a)
                                A = fused(w, far, A)
                                w = splat(buffer[p1 + o])
                                b = fused(w, near, b)
                                B = fused(w, far, B)
                                w = splat(buffer[p2 + o])
                                c = fused(w, near, c)
                                C = fused(w, far, C)
                                w = splat(buffer[p3 + o])
                                d = fused(w, near, d)
                                D = fused(w, far, D)
                                w = splat(buffer[p4 + o])
                                e = fused(w, near, e)
                                E = fused(w, far, E)
                                w = splat(buffer[p5 + o])
                                f = fused(w, near, f)
                                F = fused(w, far, F)
                                w = splat(buffer[p6 + o])
                                u = fused(w, near, u)
                                U = fused(w, far, U)
                                w = splat(buffer[p7 + o])
                                v = fused(w, near, v)
                                V = fused(w, far, V)
                                q += 2 * lanes
                one_name = splat(g.dtype.type(m))
                two_name = splat(g.dtype.type(m + lanes))
                at = 0
                for one, two in ((a, A), (b, B), (c, C), (d, D), (e, E), (f, F), (u, U), (v, V)):
                    if signed:
                        one = magnitude(one)
                        two = magnitude(two)
                    top, who = load(found, at), load(found, at + lanes)
                    low = load(found, at + 2 * lanes)
                    less = where_larger(one, top, top, one)
                    low = where_larger(less, low, less, low)
                    who = where_larger(one, top, one_name, who)
                    top = where_larger(one, top, one, top)
                    less = where_larger(two, top, top, two)
                    low = where_larger(less, low, less, low)
                    who = where_larger(two, top, two_name, who)
                    top = where_larger(two, top, two, top)
                    store(found, at, top)
                    store(found, at + lanes, who)
                    store(found, at + 2 * lanes, low)
                    at += 3 * lanes
            for s in range(min(8, n - r)):
                at, p = 3 * s * lanes, position[r + s]
                top, less = highest(load(found, at)), highest(load(found, at + 2 * lanes))
                who = np.int32(n_kernels)
                for m in range(lanes):  # of equals the first, as in `scan`
                    if found[at + m] == top:
                        who = min(who, np.int32(found[at + lanes + m]) + np.int32(m))
                for m in range(lanes):
                    if np.int32(found[at + lanes + m]) + np.int32(m) != who:
                        less = max(less, found[at + m])
                ratio[p], best[p], rest[p] = top, who if top > 0 else 0, less


@kernel
def glance(
    first: int,
    last: int,
    geometry: Geometry,
    g: Any,
    rows: Any,
    n_kernels: int,
    lanes: int,
    signed: bool,
    limit: Any,
    ratio: Any,
    best: Any,
    rest: Any,
) -> None:
    """What `look` does, one kernel after the other: slower, but it compiles in no time.

    For certificates, which have doubts about few positions.
    """
    n1, n2 = geometry.grid[2], geometry.grid[3]
    plane, row = geometry.strides[1], geometry.strides[2]
    buffer = np.zeros(geometry.buffer_size, g.dtype)
    zero = g.dtype.type(0)
    for t in range(first, last):
        a0, a1, a2, t0, t1, t2 = geometry.tiles[t]
        gathered = False
        for i in range(t0):
            for j in range(t1):
                line = ((a0 + i) * n1 + a1 + j) * n2 + a2
                for k in range(t2):
                    p = line + k
                    if ratio[p] <= limit:
                        continue
                    if not gathered:
                        gather(g, geometry, t, buffer)
                        gathered = True
                    place = i * plane + j * row + k
                    begin, end = 0, n_kernels
                    top, less, who = zero, zero, 0
                    if rest[p] <= limit:
                        begin, end, less = best[p], best[p] + 1, rest[p]
                    for m in range(begin, end):
                        value = inner(buffer, geometry.chunks, rows, lanes, m, place)
                        value = abs(value) if signed else max(value, zero)
                        if value > top:
                            top, less, who = value, max(less, top), m
                        else:
                            less = max(less, value)
                    if rest[p] <= limit:
                        ratio[p] = max(top, rest[p])
                    else:
                        ratio[p], best[p], rest[p] = top, who, less
