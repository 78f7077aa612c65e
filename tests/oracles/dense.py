"""The convolutional model as an explicit matrix, built from its definition."""

from __future__ import annotations

import itertools

import numpy as np


def matrix(dictionary, shape, *, boundary="circular", channel_axis=None):
    """D such that (D @ maps.ravel()) is the raveled signal of the given shape."""
    d = np.asarray(dictionary, float)
    if channel_axis is None:
        d, spatial = d[:, None], shape
    else:
        spatial = tuple(n for a, n in enumerate(shape) if a != channel_axis % len(shape))
    kernel = d.shape[2:]
    first = [1 - k if boundary == "free" else 0 for k in kernel]
    columns = []
    for m in range(d.shape[0]):
        for p in itertools.product(*(range(f, n) for f, n in zip(first, spatial, strict=True))):
            column = np.zeros((d.shape[1], *spatial))
            for i in itertools.product(*(range(k) for k in kernel)):
                at = [a + b for a, b in zip(p, i, strict=True)]
                if boundary == "circular":
                    at = [a % n for a, n in zip(at, spatial, strict=True)]
                elif any(not 0 <= a < n for a, n in zip(at, spatial, strict=True)):
                    continue
                column[(slice(None), *at)] += d[(m, slice(None), *i)]
            if channel_axis is not None:
                column = np.moveaxis(column, 0, channel_axis)
            columns.append(column.ravel())
    return np.array(columns).T


def objective(D, x, s, lmbda, w=None):
    """½‖W(Dx − s)‖² + Σ λ|x|"""
    r = D @ x - s
    if w is not None:
        r = w * r
    return 0.5 * r @ r + np.sum(lmbda * np.abs(x))


def lasso(D, s, lmbda, *, w=None, nonnegative=False, gap=1e-9):
    """Plain cyclic coordinate descent in float64, until the duality gap says stop."""
    if w is not None:
        D, s = w[:, None] * D, w * s
    n = D.shape[1]
    lmbda = np.broadcast_to(lmbda, n)
    x, r, h = np.zeros(n), s.copy(), (D * D).sum(0)
    for _ in range(100_000):
        for j in np.flatnonzero(h):
            aim = x[j] * h[j] + D[:, j] @ r
            new = (
                max(aim - lmbda[j], 0)
                if nonnegative
                else np.sign(aim) * max(abs(aim) - lmbda[j], 0)
            )
            new /= h[j]
            if new != x[j]:
                r -= D[:, j] * (new - x[j])
                x[j] = new
        c = D.T @ r
        ratio = np.max((c if nonnegative else abs(c)) / lmbda)
        theta = r / max(1, ratio)
        primal = 0.5 * r @ r + lmbda @ abs(x)
        dual = 0.5 * s @ s - 0.5 * (s - theta) @ (s - theta)
        if primal - dual <= gap * max(primal, 1e-12):
            return x
    raise AssertionError("the oracle did not converge")
