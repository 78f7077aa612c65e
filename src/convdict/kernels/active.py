"""The active coordinates: those a round works on, tile by tile."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compile import kernel
from .descent import inner
from .geometry import Geometry
from .regions import gather

Array = NDArray[Any]


class Active(NamedTuple):
    """Coordinates of tile t at first[t] … first[t] + length[t] − 1 of the flat arrays."""

    first: Array  # int64, (n_tiles,)
    length: Array  # int64, (n_tiles,)
    kernel: Array  # int32
    place: Array  # int32, offset in the tile's buffer
    value: Array  # zero where nothing is stored
    step: Array  # 1 / h, with the curvature h = Σ (W d)² over the coordinate's samples
    threshold: Array  # λ / h

    @classmethod
    def room(cls, sizes: Array, dtype: Any) -> Active:
        """Empty lists, with room for `sizes[t]` coordinates in tile t."""
        first = np.zeros(len(sizes), np.int64)
        np.cumsum(sizes[:-1], out=first[1:])
        n = int(sizes.sum())
        numbers = [np.zeros(n, dtype) for _ in range(3)]
        integers = [np.zeros(n, np.int32) for _ in range(2)]
        return cls(first, np.zeros(len(sizes), np.int64), *integers, *numbers)


@kernel
def settle(
    geometry: Geometry, steps: Any, position: Any, tile: Any, place: Any, sizes: Any
) -> None:
    """The tile and the place of every position, and how many of them each tile holds."""
    n1, n2 = geometry.grid[2], geometry.grid[3]
    plane, row = geometry.strides[1], geometry.strides[2]
    for a in range(position.size):
        p0, rest = divmod(position[a], n1 * n2)
        p1, p2 = divmod(rest, n2)
        t = steps[0][p0] + steps[1][p1] + steps[2][p2]
        a0, a1, a2 = geometry.tiles[t, :3]
        tile[a], place[a] = t, (p0 - a0) * plane + (p1 - a1) * row + p2 - a2
        sizes[t] += 1


@kernel
def admit(tile: Any, place: Any, kernels: Any, values: Any, active: Active) -> None:
    """Enter coordinates, each in its tile."""
    for a in range(tile.size):
        n = active.first[tile[a]] + active.length[tile[a]]
        active.kernel[n], active.place[n], active.value[n] = kernels[a], place[a], values[a]
        active.length[tile[a]] += 1


@kernel
def nonzeros(geometry: Geometry, active: Active, kernels: Any, positions: Any, values: Any) -> None:
    """The inverse of `admit`, tile by tile."""
    n1, n2 = geometry.grid[2], geometry.grid[3]
    plane, row = geometry.strides[1], geometry.strides[2]
    n = 0
    for t in range(active.first.size):
        a0, a1, a2 = geometry.tiles[t, :3]
        for a in range(active.first[t], active.first[t] + active.length[t]):
            if active.value[a] != 0:
                i, rest = divmod(active.place[a], plane)
                j, k = divmod(rest, row)
                positions[n] = ((a0 + i) * n1 + a1 + j) * n2 + a2 + k
                kernels[n], values[n] = active.kernel[a], active.value[a]
                n += 1


@kernel
def _bar(geometry: Geometry, t: int, ratio: Any, share: float) -> Any:
    """The ratio from which a position of tile t is worth adding: 1 + share · (max − 1)."""
    n1, n2 = geometry.grid[2], geometry.grid[3]
    a0, a1, a2, t0, t1, t2 = geometry.tiles[t]
    top = ratio.dtype.type(1)
    for i in range(a0, a0 + t0):
        for j in range(a1, a1 + t1):
            p = (i * n1 + j) * n2 + a2
            for k in range(p, p + t2):
                top = max(top, ratio[k])
    return ratio.dtype.type(1 + share * (top - 1))


@kernel
def census(
    first: int, last: int, geometry: Geometry, old: Active, ratio: Any, share: float, sizes: Any
) -> None:
    """sizes[t] = nonzeros of tile t + positions above its bar: the room that `collect` needs."""
    n1, n2 = geometry.grid[2], geometry.grid[3]
    for t in range(first, last):
        n = 0
        for a in range(old.first[t], old.first[t] + old.length[t]):
            n += old.value[a] != 0
        bar = _bar(geometry, t, ratio, share)
        a0, a1, a2, t0, t1, t2 = geometry.tiles[t]
        for i in range(a0, a0 + t0):
            for j in range(a1, a1 + t1):
                p = (i * n1 + j) * n2 + a2
                for k in range(p, p + t2):
                    n += ratio[k] > bar
        sizes[t] = n


@kernel
def collect(
    first: int,
    last: int,
    geometry: Geometry,
    old: Active,
    ratio: Any,
    best: Any,
    share: float,
    new: Active,
) -> None:
    """new = the nonzeros of old, and at each position above the bar the kernel in `best`."""
    n1, n2 = geometry.grid[2], geometry.grid[3]
    plane, row = geometry.strides[1], geometry.strides[2]
    head = np.full(geometry.buffer_size, -1, np.int64)  # last coordinate listed at a place
    for t in range(first, last):
        start = new.first[t]
        n = start
        before = np.full(old.length[t], -1, np.int64)  # the one listed at its place before it
        for a in range(old.first[t], old.first[t] + old.length[t]):
            if old.value[a] != 0:
                new.kernel[n], new.place[n] = old.kernel[a], old.place[a]
                new.value[n] = old.value[a]
                before[n - start] = head[old.place[a]]
                head[old.place[a]] = n
                n += 1
        kept = n
        bar = _bar(geometry, t, ratio, share)
        a0, a1, a2, t0, t1, t2 = geometry.tiles[t]
        for i in range(t0):
            for j in range(t1):
                p = ((a0 + i) * n1 + a1 + j) * n2 + a2
                for k in range(t2):
                    if ratio[p + k] > bar:
                        place = i * plane + j * row + k
                        a = head[place]
                        while a >= 0 and new.kernel[a] != best[p + k]:
                            a = before[a - start]
                        if a < 0:
                            new.kernel[n], new.place[n] = best[p + k], place
                            n += 1
        for a in range(start, kept):
            head[new.place[a]] = -1
        new.length[t] = n - start


@kernel
def measure(
    first: int,
    last: int,
    geometry: Geometry,
    w2: Any,
    squares: Any,
    norms: Any,
    lmbda: Any,
    lanes: int,
    active: Active,
) -> None:
    """step = 1 / h and threshold = λ / h, with the curvature h = Σ W²d², or ‖d‖² where W is 1.

    A coordinate that no observed sample sees has h = 0: it becomes zero and stays there.
    """
    weighted = w2.size > 0
    buffer = np.zeros(geometry.buffer_size if weighted else 0, squares.dtype)
    for t in range(first, last):
        if weighted and active.length[t] > 0:
            gather(w2, geometry, t, buffer)
        for a in range(active.first[t], active.first[t] + active.length[t]):
            m, p = np.int64(active.kernel[a]), np.int64(active.place[a])
            h = norms[m]
            if weighted:
                h = inner(buffer, geometry.chunks, squares, lanes, m, p)
            if h > 0:
                active.step[a], active.threshold[a] = 1 / h, lmbda[m] / h
            else:
                active.value[a], active.step[a], active.threshold[a] = 0, 0, 1
