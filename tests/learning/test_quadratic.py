"""The dictionary's update against independent minimisers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from convdict.learning.constraint import Constraint
from convdict.learning.coordinates import minimise_by_kernel
from convdict.learning.quadratic import largest_eigenvalue, minimise


def problem(rng, n_kernels=3, length=4, spread=100.0):
    """A positive definite A with kernels used very differently, and a b."""
    n = n_kernels * length
    root = rng.standard_normal((2 * n, n))
    root *= np.repeat(np.geomspace(1, spread, n_kernels) ** 0.5, length)
    return root.T @ root, 3 * root.T @ rng.standard_normal(2 * n)


def solve(A, b, project, *, metric=None, tolerance=1e-10, by=minimise):
    shape = (3, 1, 4)
    return by(
        apply=lambda d: (A @ d.ravel()).reshape(shape),
        linear=b.reshape(shape),
        start=project(np.ones(shape)),
        project=project,
        metric=np.diag(A).reshape(shape).max(axis=2, keepdims=True) if metric is None else metric,
        tolerance=tolerance,
        max_iter=20_000,
    )


@pytest.mark.parametrize("by", [minimise, minimise_by_kernel])
@pytest.mark.parametrize("options", [{}, {"zero_mean": True}, {"nonnegative": True}])
def test_the_minimum_over_the_ball_is_that_of_another_solver(options, by, rng):
    A, b = problem(rng)
    found = solve(A, b, Constraint("ball", **options), by=by)
    constraints = [
        {"type": "ineq", "fun": lambda v, m=m: 1 - np.sum(v.reshape(3, 4)[m] ** 2)}
        for m in range(3)
    ]
    if options.get("zero_mean"):
        constraints += [
            {"type": "eq", "fun": lambda v, m=m: v.reshape(3, 4)[m].sum()} for m in range(3)
        ]
    other = minimize(
        lambda v: 0.5 * v @ A @ v - b @ v,
        np.zeros(12),
        jac=lambda v: A @ v - b,
        constraints=constraints,
        bounds=[(0, None)] * 12 if options.get("nonnegative") else None,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert found.value == pytest.approx(other.fun, rel=1e-7)
    np.testing.assert_allclose(found.d.ravel(), other.x, atol=2e-5)


def test_metric_and_warm_start_lead_to_the_same_minimum(rng):
    A, b = problem(rng)
    project = Constraint("ball")
    plain = solve(A, b, project, metric=np.ones((3, 1, 1)))
    scaled = solve(A, b, project)
    np.testing.assert_allclose(scaled.d, plain.d, atol=1e-8)
    assert scaled.n_iter < plain.n_iter


def test_the_sphere_leads_to_a_stationary_point_of_unit_kernels(rng):
    A, b = problem(rng)
    found = solve(A, b, Constraint("sphere"))
    gradient = (A @ found.d.ravel() - b).reshape(3, 4)
    d = found.d.reshape(3, 4)
    np.testing.assert_allclose(np.linalg.norm(d, axis=1), 1, atol=1e-12)
    along = np.sum(gradient * d, axis=1, keepdims=True) * d
    np.testing.assert_allclose(gradient, along, atol=1e-6 * np.abs(A).max())


def test_nothing_coded_leaves_the_dictionary_alone():
    d = np.ones((3, 1, 4))
    found = minimise(
        apply=np.zeros_like,
        linear=np.zeros_like(d),
        start=d,
        project=Constraint(),
        metric=np.ones((3, 1, 1)),
        tolerance=1e-6,
        max_iter=10,
    )
    assert found.n_iter == 0
    np.testing.assert_array_equal(found.d, d)


@given(seed=st.integers(0, 2**32 - 1))
def test_ritz_values_approach_the_largest_eigenvalue_from_below(seed):
    rng = np.random.default_rng(seed)
    A, _ = problem(rng, spread=3)
    start = rng.standard_normal(12)
    exact = np.linalg.eigvalsh(A)[-1]
    first, vector = largest_eigenvalue(lambda v: A @ v, start, 4)
    second, _ = largest_eigenvalue(lambda v: A @ v, vector, 2)
    assert first <= exact * (1 + 1e-9)
    assert second >= first * (1 - 1e-9)
    for _ in range(300):
        last, vector = largest_eigenvalue(lambda v: A @ v, vector, 2)
    assert last == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("shape", ["ball", "sphere"])
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from([{}, {"zero_mean": True}, {"nonnegative": True}]),
)
def test_projections_are_the_nearest_points_of_their_sets(shape, seed, kind):
    rng = np.random.default_rng(seed)
    project = Constraint(shape, **kind)
    d = 2 * rng.standard_normal((2, 1, 3, 2))
    nearest = project(d)
    np.testing.assert_allclose(project(nearest), nearest, atol=1e-12)
    for _ in range(20):
        other = project(rng.standard_normal(d.shape))
        distances = [np.sum((e - d) ** 2, axis=(1, 2, 3)) for e in (nearest, other)]
        assert (distances[0] <= distances[1] + 1e-9).all()
