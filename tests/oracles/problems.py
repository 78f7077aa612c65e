"""Small problems of every kind, with their optima from an explicit matrix."""

from __future__ import annotations

import numpy as np

from convdict.model.problem import Problem
from tests.oracles import dense

# name: (M, C, *kernel), the grid
SHAPES = {
    "1-D": ((3, 1, 5), (31,)),
    "1-D channels": ((2, 3, 4), (20,)),
    "2-D": ((3, 1, 3, 4), (9, 8)),
    "2-D channels": ((4, 2, 3, 3), (7, 6)),
    "more channels than kernels": ((1, 3, 2, 2), (5, 6)),
    "3-D": ((2, 1, 2, 3, 2), (4, 5, 3)),
    "kernel as large as the grid": ((2, 1, 7, 5), (7, 5)),
}


def make(name, rng, *, weights=None, nonnegative=False, dtype="float64", penalty=0.15):
    """A problem of unit-variance noise with kernels of different sizes and penalties."""
    shape, grid = SHAPES[name]
    m, c = shape[:2]
    scale = rng.uniform(0.5, 2, (m, *(1,) * (len(shape) - 1)))
    d = rng.standard_normal(shape) * scale
    s, w = rng.standard_normal((c, *grid)), None
    if weights == "ones":
        w = np.ones_like(s)
    elif weights == "binary":
        w = (rng.random(s.shape) > 0.3).astype(float)
    elif weights == "real":
        w = rng.uniform(0.2, 2, s.shape) * (rng.random(s.shape) > 0.2)
    s = s if w is None else np.where(w > 0, s, 0)
    D = dense.matrix(d, s.shape, channel_axis=0)
    w2 = 1.0 if w is None else w.ravel() ** 2
    lmbda = penalty * np.abs(D.T @ (w2 * s.ravel())).max() * rng.uniform(0.5, 1.5, m)
    return Problem(d, s, lmbda, w, nonnegative).astype(dtype)


def value(problem, x):
    """The objective of dense maps, in float64."""
    p = problem.astype(np.float64)
    D = dense.matrix(p.d, p.s.shape, channel_axis=0)
    w = None if p.w is None else p.w.ravel()
    return dense.objective(D, np.ravel(x).astype(float), p.s.ravel(), _each(p), w)


def optimum(problem):
    """The least objective, by coordinate descent on the explicit matrix."""
    p = problem.astype(np.float64)
    D = dense.matrix(p.d, p.s.shape, channel_axis=0)
    w = None if p.w is None else p.w.ravel()
    x = dense.lasso(D, p.s.ravel(), _each(p), w=w, nonnegative=p.nonnegative)
    return dense.objective(D, x, p.s.ravel(), _each(p), w)


def _each(problem):
    """λ of every coefficient."""
    return np.repeat(problem.lmbda, problem.n_coefficients // problem.n_kernels)
