"""Coordinate descent on the active coordinates of one tile after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compile import kernel
from .geometry import Geometry
from .lanes import add, fused, load, multiply, splat, store, total
from .regions import gather, scatter


@kernel
def inner(buffer: Any, chunks: Any, rows: Any, lanes: int, m: int, p: int) -> Any:
    """⟨d_m, buffer at p⟩, as four sums that do not wait for each other"""
    n = chunks.size
    k = m * n * lanes
    a = b = c = d = splat(buffer.dtype.type(0))
    for q in range(0, n - 3, 4):
        a = fused(load(buffer, p + chunks[q]), load(rows, k), a)
        b = fused(load(buffer, p + chunks[q + 1]), load(rows, k + lanes), b)
        c = fused(load(buffer, p + chunks[q + 2]), load(rows, k + 2 * lanes), c)
        d = fused(load(buffer, p + chunks[q + 3]), load(rows, k + 3 * lanes), d)
        k += 4 * lanes
    for q in range(n - n % 4, n):
        a = fused(load(buffer, p + chunks[q]), load(rows, k), a)
        k += lanes
    return total(add(add(a, b), add(c, d)))


@kernel
def subtract(buffer: Any, chunks: Any, rows: Any, lanes: int, m: int, p: int, dx: Any) -> None:
    """buffer at p −= dx · d_m"""
    n = chunks.size
    k = m * n * lanes
    minus = splat(-dx)
    for q in range(0, n - 3, 4):
        o, u, v, w = p + chunks[q], p + chunks[q + 1], p + chunks[q + 2], p + chunks[q + 3]
        a = fused(minus, load(rows, k), load(buffer, o))
        b = fused(minus, load(rows, k + lanes), load(buffer, u))
        c = fused(minus, load(rows, k + 2 * lanes), load(buffer, v))
        d = fused(minus, load(rows, k + 3 * lanes), load(buffer, w))
        store(buffer, o, a)
        store(buffer, u, b)
        store(buffer, v, c)
        store(buffer, w, d)
        k += 4 * lanes
    for q in range(n - n % 4, n):
        o = p + chunks[q]
        store(buffer, o, fused(minus, load(rows, k), load(buffer, o)))
        k += lanes


@kernel
def subtract_weighted(
    buffer: Any, w2: Any, chunks: Any, rows: Any, lanes: int, m: int, p: int, dx: Any
) -> None:
    """buffer at p −= dx · W² ⊙ d_m"""
    k = m * chunks.size * lanes
    minus = splat(-dx)
    for q in range(chunks.size):
        o = p + chunks[q]
        change = multiply(load(w2, o), load(rows, k))
        store(buffer, o, fused(minus, change, load(buffer, o)))
        k += lanes


@kernel
def descend(
    first: int,
    last: int,
    geometry: Geometry,
    g: Any,
    w2: Any,
    rows: Any,
    lanes: int,
    active: Any,
    nonnegative: bool,
    repeats: int,
    tiny: Any,
    calm: Any,
) -> Any:
    """x⁺ = S_{λ/h}(x + ⟨d, g⟩ / h), g⁺ = g − (x⁺ − x)·W²d, coordinate by coordinate.

    Few coordinates of a tile are far from where they belong, and those move each other.
    After a visit to all, only those that moved by more than `calm` times the largest move
    are visited again, up to `repeats` times, while they still move. Moves are measured in
    units of λ / h; one below `tiny` is not worth writing to the residual: x stays as it is,
    unless it would become zero. Returns the largest move.
    """
    chunks = geometry.chunks
    which, place, value = active.kernel, active.place, active.value
    step, threshold = active.step, active.threshold
    zero = g.dtype.type(0)
    lowest = zero if nonnegative else -g.dtype.type(np.inf)
    buffer = np.zeros(geometry.buffer_size, g.dtype)
    weights = np.zeros(geometry.buffer_size if w2.size > 0 else 0, g.dtype)
    most = 0
    for t in range(first, last):
        most = max(most, active.length[t])
    size = np.empty(most, g.dtype)
    restless = np.empty(most, np.int64)
    largest = zero
    for t in range(first, last):
        count, start = active.length[t], active.first[t]
        if count == 0:
            continue
        gather(g, geometry, t, buffer)
        if w2.size > 0:
            gather(w2, geometry, t, weights)
        for b in range(count):
            restless[b] = start + b
        n = count
        top = zero
        for turn in range(1 + repeats):
            most_now = zero
            still = 0
            for b in range(n):
                a = restless[b]
                m, p = np.int64(which[a]), np.int64(place[a])  # of one type wherever `inner` is
                x, limit = value[a], threshold[a]
                aim = x + inner(buffer, chunks, rows, lanes, m, p) * step[a]
                new = max(aim - limit, zero) + max(min(aim + limit, zero), lowest)
                dx = new - x
                moved = abs(dx) / limit
                if moved > tiny or (new == 0 and x != 0):
                    value[a] = new
                    if w2.size > 0:
                        subtract_weighted(buffer, weights, chunks, rows, lanes, m, p, dx)
                    else:
                        subtract(buffer, chunks, rows, lanes, m, p, dx)
                most_now = max(most_now, moved)
                if turn == 0:
                    size[b] = moved
                elif moved > tiny:
                    restless[still] = a
                    still += 1
            if turn == 0:
                top = most_now
                for b in range(n):
                    if size[b] > max(tiny, calm * top):
                        restless[still] = restless[b]
                        still += 1
            elif most_now <= calm * top:
                break
            n = still
            if n == 0:
                break
        largest = max(largest, top)
        scatter(g, geometry, t, buffer)
    return largest
