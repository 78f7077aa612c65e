"""Codes in the two orders that kernels of compiled code look them up in."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from ..kernels.geometry import three
from .problem import Array, Triplets


def starts(codes: Triplets, n_kernels: int) -> Array:
    """Where the codes of each kernel begin, and the last ones end, in codes sorted by kernel."""
    return np.searchsorted(codes.kernel, np.arange(n_kernels + 1))


class ByPosition(NamedTuple):
    """Codes sorted by position, then kernel."""

    rank: Array  # of each code in this order
    before: Array  # how many codes lie before each position; one more entry for the end
    kernel: Array
    position: Array
    value: Array

    @classmethod
    def of(cls, codes: Triplets, grid: tuple[int, ...]) -> ByPosition:
        small = np.int32 if prod(grid) < 2**31 else np.int64
        position = codes.position.astype(small)
        order = np.argsort(position, kind="stable")
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        before = np.zeros(prod(three(grid)) + 1, np.int32)
        np.cumsum(np.bincount(position, minlength=len(before) - 1), out=before[1:])
        return cls(rank, before, codes.kernel[order], position[order], codes.value[order])
