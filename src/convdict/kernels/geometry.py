"""How a grid is cut into tiles that fit the cache and strips that may run at once.

Everything is written for three axes; a signal with fewer has leading axes of length one.
A coefficient at position p touches samples p … p + kernel − 1, wrapping at the end of the
grid. A tile is a box of positions; its *region*, the tile plus kernel − 1 samples, is copied
into a small buffer, so that no kernel in the inner loops ever wraps. Tiles that follow one
another along the longest stride form strips. Strips of one colour have disjoint regions:
they may change the residual at the same time, and the result does not depend on who runs
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .lanes import lane_count

Array = NDArray[Any]
Triple = tuple[int, int, int]

REGION_SAMPLES = 8192  # what a tile's region may hold: most of a first-level cache
HEIGHT = 64  # rows of a tile of an image
MOST_SPANS = 32  # pieces for threads to share: handing out more would only take time
COARSE = 1 << 16  # positions at least that a piece of quick work should have


class Geometry(NamedTuple):
    """What the kernels know about the cut. All integers are int64."""

    grid: Array  # (4,) channels and three axes
    tiles: Array  # (n_tiles, 6) first position and number of positions along each axis
    halo: Array  # (3,) kernel − 1
    strides: Array  # (3,) of the buffer: channel, plane, row
    chunks: Array  # where the kernel's chunks of lanes lie in the buffer, from its first sample
    buffer_size: int


@dataclass(frozen=True)
class Cut:
    """A geometry, and which of its tiles run together."""

    geometry: Geometry
    strips: list[tuple[int, int]]  # tiles first … last − 1 of each strip
    colours: list[list[int]]  # strips that may run at once
    spans: list[tuple[int, int]]  # the same tiles in a few pieces, for work that only reads g
    coarse: list[tuple[int, int]]  # in fewer, for work that takes little time per position
    steps: tuple[Array, Array, Array]  # position p lies in tile steps[0][p0] + … + steps[2][p2]


def three(shape: tuple[int, ...]) -> Triple:
    """A shape of one to three axes as one of three."""
    a, b, c = (1,) * (3 - len(shape)) + tuple(shape)
    return a, b, c


def round_up(n: int, step: int) -> int:
    return -(-n // step) * step


def _tile_shape(grid: Triple, kernel: Triple, lanes: int) -> Triple:
    """Rows as long as the cache allows, and at least a kernel of them."""
    most = [max(n - k + 1, 1) for n, k in zip(grid, kernel, strict=True)]
    rows = HEIGHT if grid[0] == 1 else max(HEIGHT // kernel[0], 1)
    tile = [min(most[0], max(kernel[0], 4)), min(most[1], max(kernel[1], rows)), 2 * lanes]

    def samples(width: int) -> int:
        region = zip((tile[0], tile[1], width), kernel, strict=True)
        return prod(t + k - 1 for t, k in region)

    while tile[2] < most[2] and samples(2 * tile[2]) <= REGION_SAMPLES:
        tile[2] *= 2
    return tile[0], tile[1], min(tile[2], most[2])


def _intervals(length: int, size: int) -> list[tuple[int, int]]:
    """[0, length) in equal steps of at most `size`, an even number of them if more than one."""
    count = -(-length // size)
    if count > 1 and count % 2 and length >= 2 * count:
        count += 1
    edges = [i * length // count for i in range(count + 1)]
    return [(a, b - a) for a, b in pairwise(edges)]


def _colouring(intervals: list[tuple[int, int]], length: int, halo: int) -> list[list[int]]:
    """Give each interval the first colour none of whose regions it meets, around the circle.

    Intervals come in order, so of a colour only the first and the last can be in the way.
    """

    def apart(i: int, j: int) -> bool:
        (a, size), (b, other) = intervals[i], intervals[j]
        return (a - b) % length >= other + halo and (b - a) % length >= size + halo

    colours: list[list[int]] = []
    for i in range(len(intervals)):
        for colour in colours:
            if apart(i, colour[0]) and apart(i, colour[-1]):
                colour.append(i)
                break
        else:
            colours.append([i])
    return colours


@lru_cache(maxsize=32)
def cut(grid: tuple[int, ...], kernel: tuple[int, ...], n_channels: int, dtype: Any) -> Cut:
    """Cut a grid for kernels of a given shape. Callers share the result: it is not to change."""
    n, k, lanes = three(grid), three(kernel), lane_count(np.dtype(dtype))
    tile = _tile_shape(n, k, lanes)
    axes = [_intervals(n[axis], tile[axis]) for axis in range(3)]
    across = next((axis for axis in range(3) if len(axes[axis]) > 1), 2)  # strips lie across it
    along = [axis for axis in range(3) if axis != across]

    tiles: list[list[int]] = []
    strips = []
    for piece in axes[across]:
        first = len(tiles)
        for others in product(*(axes[axis] for axis in along)):
            boxes = dict(zip([across, *along], [piece, *others], strict=True))
            tiles.append([boxes[a][0] for a in range(3)] + [boxes[a][1] for a in range(3)])
        strips.append((first, len(tiles)))

    size = [max(width for _, width in axis) for axis in axes]
    row = round_up(size[2], 2 * lanes) + round_up(k[2], lanes)
    plane = row * (size[1] + k[1] - 1)
    channel = plane * (size[0] + k[0] - 1)
    chunks = [
        c * channel + i * plane + j * row + v
        for c in range(n_channels)
        for i in range(k[0])
        for j in range(k[1])
        for v in range(0, k[2], lanes)
    ]
    geometry = Geometry(
        grid=np.array([n_channels, *n], np.int64),
        tiles=np.array(tiles, np.int64),
        halo=np.array(k, np.int64) - 1,
        strides=np.array([channel, plane, row], np.int64),
        chunks=np.array(chunks, np.int64),
        buffer_size=n_channels * channel + 4 * lanes,
    )
    colours = _colouring(axes[across], n[across], k[across] - 1)
    steps = [np.empty(0, np.int64)] * 3
    each = 1
    for axis in (along[1], along[0], across):  # tiles are numbered in this order, fastest first
        widths = [width for _, width in axes[axis]]
        steps[axis] = np.repeat(each * np.arange(len(widths)), widths)
        each *= len(widths)
    spans = _merged(strips, MOST_SPANS)
    coarse = _merged(strips, min(max(prod(n) // COARSE, 1), MOST_SPANS))
    return Cut(geometry, strips, colours, spans, coarse, (steps[0], steps[1], steps[2]))


def _merged(strips: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """The same tiles in at most so many pieces of about equal size."""
    ends = [strips[len(strips) * i // most][0] for i in range(most)] + [strips[-1][1]]
    return [(first, last) for first, last in pairwise(ends) if last > first]


def padded_rows(d: Array) -> Array:
    """Kernels (M, C, k0, k1, k2) as (M, chunks · lanes): every row filled up with zeros."""
    lanes = lane_count(d.dtype)
    padded = np.zeros((*d.shape[:-1], round_up(d.shape[-1], lanes)), d.dtype)
    padded[..., : d.shape[-1]] = d
    return padded.reshape(d.shape[0], -1)
