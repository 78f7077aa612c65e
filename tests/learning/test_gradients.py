"""Gradients of Algorithm 1 against the explicit matrix and against finite differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convdict.learning.sgd import GRADIENTS
from tests.oracles import design, problems


@pytest.mark.parametrize("domain", list(GRADIENTS))
@pytest.mark.parametrize("weights", [None, "binary", "real"])
@pytest.mark.parametrize("name", list(problems.SHAPES))
def test_gradients_are_those_of_the_explicit_matrix(name, weights, domain, rng):
    problem = problems.make(name, rng, weights=weights)
    codes, x = design.sparse_maps(rng, problem.n_kernels, problem.grid)
    X = design.matrix(x, problem.kernel)
    w2 = np.ones_like(problem.s) if problem.w2 is None else problem.w2
    flat = [
        X.T @ (w.ravel() * (X @ v - s.ravel()))
        for w, v, s in zip(w2, design.columns(problem.d), problem.s, strict=True)
    ]
    found = GRADIENTS[domain](problem, codes)
    np.testing.assert_allclose(found, design.kernels(flat, problem.d.shape), atol=1e-10)


@pytest.mark.parametrize("domain", list(GRADIENTS))
@pytest.mark.parametrize("weights", [None, "real"])
def test_the_functional_value_falls_as_the_gradient_says(weights, domain, rng):
    """∇f(d) is the partial derivative at the optimal codes (Danskin)."""
    problem = problems.make("2-D", rng, weights=weights)
    from convdict.coding.fista import FISTA

    def optimum(d):
        moved = replace(problem, d=d)
        return FISTA().solve(moved, start=None, tol=1e-12, callback=None).codes

    codes = optimum(problem.d)
    gradient = GRADIENTS[domain](problem, codes)
    step = rng.standard_normal(problem.d.shape)
    h = 1e-4
    values = [
        problems.value(
            replace(problem, d=problem.d + sign * h * step),
            optimum(problem.d + sign * h * step).to_dense(problem.n_kernels, problem.grid),
        )
        for sign in (1, -1)
    ]
    slope = (values[0] - values[1]) / (2 * h)
    assert np.vdot(gradient, step) == pytest.approx(slope, rel=1e-4)
