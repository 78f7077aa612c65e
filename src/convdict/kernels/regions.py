"""Copies of a tile's region out of the grid and back, around its edges."""

from __future__ import annotations

from typing import Any

from .compile import kernel
from .geometry import Geometry
from .lanes import VECTOR_BYTES, load, store


@kernel
def copy(source: Any, i: int, target: Any, j: int, n: int) -> None:
    """target[j : j + n] = source[i : i + n], in vectors of which the last two may overlap"""
    lanes = VECTOR_BYTES // source.itemsize
    if n < lanes:
        for k in range(n):
            target[j + k] = source[i + k]
    else:
        for k in range(0, n - lanes, lanes):
            store(target, j + k, load(source, i + k))
        k = n - lanes
        store(target, j + k, load(source, i + k))


@kernel
def gather(g: Any, geometry: Geometry, t: int, buffer: Any) -> None:
    """buffer = the region of tile t"""
    channels, n0, n1, n2 = geometry.grid
    a0, a1, a2, t0, t1, t2 = geometry.tiles[t]
    h0, h1, h2 = geometry.halo
    channel, plane, row = geometry.strides
    width = t2 + h2
    inside = min(width, n2 - a2)
    for c in range(channels):
        for i in range(t0 + h0):
            for j in range(t1 + h1):
                source = ((c * n0 + (a0 + i) % n0) * n1 + (a1 + j) % n1) * n2
                target = c * channel + i * plane + j * row
                copy(g, source + a2, buffer, target, inside)
                for k in range(inside, width):
                    buffer[target + k] = g[source + (a2 + k) % n2]


@kernel
def scatter(g: Any, geometry: Geometry, t: int, buffer: Any) -> None:
    """the region of tile t = buffer"""
    channels, n0, n1, n2 = geometry.grid
    a0, a1, a2, t0, t1, t2 = geometry.tiles[t]
    h0, h1, h2 = geometry.halo
    channel, plane, row = geometry.strides
    width = t2 + h2
    inside = min(width, n2 - a2)
    for c in range(channels):
        for i in range(t0 + h0):
            for j in range(t1 + h1):
                target = ((c * n0 + (a0 + i) % n0) * n1 + (a1 + j) % n1) * n2
                source = c * channel + i * plane + j * row
                copy(buffer, source, g, target + a2, inside)
                for k in range(inside, width):
                    g[target + (a2 + k) % n2] = buffer[source + k]
