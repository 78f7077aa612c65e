"""From images to the signals that are learned from: whole, in tiles, or random regions."""

from __future__ import annotations

import zlib
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from ..model.pose import Observed
from ..model.problem import Array

Key = tuple[int, int]  # which image, and which piece of it


class Piece(NamedTuple):
    """A signal to learn from, channels first."""

    key: Key
    s: Array  # (C, *spatial), zero where it is missing
    w: Array | None  # its weights; None means all ones
    share: float = 1.0  # of its image

    @property
    def fingerprint(self) -> int:
        """A checksum of what there is to learn from."""
        weights = 0 if self.w is None else zlib.crc32(self.w.data)
        return zlib.crc32(self.s.data, zlib.crc32(repr(self.s.shape).encode(), weights))


def pieces(
    observed: Observed,
    index: int,
    *,
    split: tuple[int, ...] | None,
    rng: np.random.Generator | None,
    dtype: np.dtype[Any],
) -> list[Piece]:
    """An image cut into tiles, or as many random regions of that size if there is an `rng`.

    Pieces without any observed sample are left out.
    """
    spatial = observed.s.shape[1:]
    boxes = tiles(spatial, split)
    if rng is not None and split is not None:
        boxes = regions(spatial, split, len(boxes), rng)
    found: list[Piece] = []
    for number, box in enumerate(boxes):
        at = (slice(None), *box)
        w = None if observed.w is None else observed.w[at]
        if w is not None and (w == 1).all():
            w = None
        if w is None or w.any():
            cut = np.ascontiguousarray(observed.s[at], dtype)
            weights = None if w is None else np.ascontiguousarray(w, dtype)
            found.append(Piece((index, number), cut, weights))
    return [piece._replace(share=1 / len(found)) for piece in found]


def tiles(shape: tuple[int, ...], split: tuple[int, ...] | None) -> list[tuple[slice, ...]]:
    """Every sample in exactly one box, none larger than `split`, all about as large."""
    if split is None:
        return [tuple(slice(0, n) for n in shape)]
    edges = []
    for n, most in zip(shape, split, strict=True):
        count = -(-n // most)
        ends = [n * i // count for i in range(count + 1)]
        edges.append([slice(a, b) for a, b in pairwise(ends)])
    return list(product(*edges))


def regions(
    shape: tuple[int, ...], size: tuple[int, ...], count: int, rng: np.random.Generator
) -> list[tuple[slice, ...]]:
    """Boxes at random places, as the authors' earlier method drew them: some samples are in
    several, some in none."""
    sizes = [min(n, k) for n, k in zip(shape, size, strict=True)]
    corners = [rng.integers(0, n - k + 1, count) for n, k in zip(shape, sizes, strict=True)]
    return [
        tuple(slice(int(a), int(a) + k) for a, k in zip(corner, sizes, strict=True))
        for corner in zip(*corners, strict=True)
    ]
