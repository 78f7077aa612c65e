"""Kernels that do not do their work, and where better ones could come from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter1d

from ..model.problem import Array
from ..model.residual import weighted_residual
from .coded import Coded
from .distance import aligned_correlations

MEMORY = 1000.0  # codes per kernel that usage is counted over
EVIDENCE = 30.0  # codes per kernel before anything is called unused
RARE = 0.01  # of the mean usage: less is unused
SAME = 0.97  # correlation from which two kernels are one
TURNED = 0.5  # correlation with itself before the update, below which a kernel is restless
DUPLICATE_INTERVAL = 32  # steps between two looks for duplicates


class Health(NamedTuple):
    unused: Array  # kernels, in order
    duplicates: Array  # the later one of each pair
    restless: Array


class Watch:
    """Counts codes per kernel, the latest most, and looks for kernels that are of no use."""

    def __init__(self, n_kernels: int) -> None:
        self.usage = np.zeros(n_kernels)
        self.duplicates = np.empty(0, np.int64)

    def look(self, batch: list[Coded], before: Array, after: Array, step: int) -> Health:
        """After a step that made the kernels `after` from those `before`."""
        for coded in batch:
            self.usage += np.bincount(coded.codes.kernel, minlength=len(self.usage))
        most = MEMORY * len(self.usage)
        self.usage *= min(1.0, most / max(self.usage.sum(), 1.0))
        mean = self.usage.mean()
        rare = self.usage < RARE * mean if mean >= EVIDENCE else np.zeros(len(after), bool)
        if step % DUPLICATE_INTERVAL == 0 or step == 1:
            pairs = np.triu(aligned_correlations(after, after) > SAME, 1)
            self.duplicates = np.flatnonzero(pairs.any(axis=0))
        turned = np.abs(_cosine(before, after)) < TURNED
        return Health(np.flatnonzero(rare), self.duplicates, np.flatnonzero(turned))

    def repaired(self, kernel: int) -> None:
        """Give a new kernel time to prove itself."""
        self.usage[kernel] = self.usage.mean()
        self.duplicates = self.duplicates[self.duplicates != kernel]


def worst_explained(batch: list[Coded], d: Array, count: int) -> list[Array]:
    """The `count` patches (C, *kernel) with the most energy that the codes leave over."""
    kernel = d.shape[2:]
    candidates = []
    for coded in batch:
        r = weighted_residual(coded.problem, coded.codes)
        energy = np.sum(np.square(r, dtype=np.float64), axis=0)
        for axis, k in enumerate(kernel):  # of the patch that begins at each position
            energy = uniform_filter1d(energy, k, axis, mode="wrap", origin=-(k // 2))
        for _ in range(count):
            p = np.unravel_index(int(energy.argmax()), energy.shape)
            if energy[p] <= 0:
                break
            candidates.append((float(energy[p]), r[(slice(None), *_box(p, kernel, r, 0))]))
            energy[_box(p, kernel, r, 1)] = 0
    candidates.sort(key=lambda pair: -pair[0])
    return [patch for _, patch in candidates[:count]]


def _box(p: tuple[Any, ...], kernel: tuple[int, ...], r: Array, before: int) -> tuple[Any, ...]:
    """The samples that a kernel at p covers, and as many `before` it, around the circle."""
    sides = zip(p, kernel, r.shape[1:], strict=True)
    return np.ix_(*(np.arange(a - before * k, a + k) % n for a, k, n in sides))


def _cosine(a: Array, b: Array) -> Array:
    axes = tuple(range(1, a.ndim))
    norms = np.sqrt(np.sum(a * a, axis=axes) * np.sum(b * b, axis=axes))
    products = np.sum(a * b, axis=axes)
    cosine: Array = np.divide(products, norms, out=np.ones_like(products), where=norms > 0)
    return cosine
