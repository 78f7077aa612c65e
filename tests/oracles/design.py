"""Codes as an explicit matrix on dictionaries, built from its definition."""

from __future__ import annotations

import itertools

import numpy as np

from convdict.model.problem import Triplets


def matrix(x, kernel):
    """X such that X @ d_c.ravel() is Σ_m d_mc * x_m, raveled, for maps x of shape (M, *grid)."""
    axes = tuple(range(len(kernel)))
    columns = [
        np.roll(maps, offset, axes).ravel()
        for maps in x
        for offset in itertools.product(*(range(k) for k in kernel))
    ]
    return np.array(columns).T


def sparse_maps(rng, n_kernels, grid, density=0.3):
    """Random codes, as triplets and as dense maps."""
    x = rng.standard_normal((n_kernels, *grid)) * (rng.random((n_kernels, *grid)) < density)
    return Triplets.from_dense(x), x


def columns(d):
    """d of shape (M, C, *kernel) as (C, M·L)."""
    return np.moveaxis(d, 1, 0).reshape(d.shape[1], -1)


def kernels(flat, shape):
    """The inverse of `columns`."""
    m, c, *kernel = shape
    return np.moveaxis(np.reshape(flat, (c, m, *kernel)), 0, 1)
