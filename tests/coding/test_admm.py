"""ADMM and its maskings against an explicit Lasso and against FISTA."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convdict import threads
from convdict.coding.admm import ADMM
from convdict.coding.fista import FISTA
from convdict.errors import InputError
from convdict.model.problem import Problem
from tests.oracles import problems

SOLVER = ADMM(max_iter=20_000)
METHODS = [
    (None, "auto"),
    ("binary", "ams"),
    ("binary", "decoupling"),
    ("binary", "auto"),
    ("real", "decoupling"),
    ("real", "auto"),
]


def solve(problem, *, solver=SOLVER, start=None, tol=1e-7, callback=None):
    return solver.solve(problem, start=start, tol=tol, callback=callback)


def value(problem, codes):
    return problems.value(problem, codes.to_dense(problem.n_kernels, problem.grid))


def assert_same(first, second):
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize(("weights", "method"), METHODS)
@pytest.mark.parametrize("name", problems.SHAPES)
def test_reaches_the_optimum(name, weights, method, nonnegative, rng):
    problem = problems.make(name, rng, weights=weights, nonnegative=nonnegative)
    records = []
    solver = replace(SOLVER, mask_method=method)
    solution = solve(problem, solver=solver, callback=records.append)
    assert solution.reason == "gap"
    best = problems.optimum(problem)
    found = value(problem, solution.codes)
    assert best * (1 - 1e-8) <= found <= best * (1 + 2e-7)
    assert records[-1].objective == pytest.approx(found, rel=1e-10)
    assert records[-1].nnz == len(solution.codes.value)
    for record in records:
        assert record.gap >= -1e-12
        assert record.objective - best <= record.gap * record.objective + 1e-8 * best
    if nonnegative:
        assert (solution.codes.value > 0).all()


@pytest.mark.parametrize("method", ["ams", "decoupling"])
def test_agrees_with_fista_on_hidden_pixels(method, rng):
    d = rng.standard_normal((6, 1, 4, 4))
    w = (rng.random((1, 24, 20)) > 0.3).astype(float)
    problem = Problem(d, w * rng.standard_normal(w.shape), np.full(6, 3.0), w)
    other = FISTA(max_iter=20_000).solve(problem, start=None, tol=1e-9, callback=None)
    solution = solve(problem, solver=replace(SOLVER, mask_method=method), tol=1e-9)
    x, y = (codes.to_dense(6, (24, 20)) for codes in (solution.codes, other.codes))
    np.testing.assert_allclose(x, y, atol=1e-4 * np.abs(y).max())


@pytest.mark.parametrize("method", ["auto", "ams", "decoupling"])
def test_weights_of_one_are_no_weights(method, rng):
    problem = problems.make("2-D", rng, weights="ones")
    plain = Problem(problem.d, problem.s, problem.lmbda)
    assert_same(
        solve(problem, solver=replace(SOLVER, mask_method=method)).codes, solve(plain).codes
    )


@pytest.mark.parametrize(("weights", "method"), METHODS)
def test_stops_at_once_when_started_at_the_solution(weights, method, rng):
    problem = problems.make("2-D channels", rng, weights=weights)
    solver = replace(SOLVER, mask_method=method)
    first = solve(problem, solver=solver, tol=1e-6)
    again = solve(problem, solver=solver, start=first.codes, tol=1e-6)
    assert again.n_iter == 0
    assert again.reason == "gap"
    np.testing.assert_allclose(again.codes.value, first.codes.value, rtol=1e-10)
    exact = solve(problem, solver=solver, tol=1e-10).codes
    warm = replace(solver, stop="residuals", residual_tol=1e-3)
    assert solve(problem, solver=warm, start=exact).n_iter <= 3


@pytest.mark.parametrize(("weights", "method"), METHODS)
def test_is_indifferent_to_units(weights, method, rng):
    problem = problems.make("2-D", rng, weights=weights)
    a, b, c = 4.0, 0.5, 1.0 if weights == "binary" else 2.0  # powers of two: no rounding
    w = None if problem.w is None else c * problem.w
    lmbda = a * b * problem.lmbda * (1.0 if w is None else c * c)
    other = Problem(a * problem.d, b * problem.s, lmbda, w)
    solver = replace(SOLVER, mask_method=method)
    first, second = solve(problem, solver=solver), solve(other, solver=solver)
    assert first.n_iter == second.n_iter
    np.testing.assert_allclose(second.codes.value * a / b, first.codes.value, rtol=1e-9)


@pytest.mark.parametrize(("weights", "method"), METHODS)
def test_stops_on_residuals(weights, method, rng):
    problem = problems.make("2-D", rng, weights=weights)
    solver = ADMM(stop="residuals", residual_tol=1e-6, max_iter=20_000, mask_method=method)
    records = []
    solution = solve(problem, solver=solver, callback=records.append)
    assert solution.reason == "residuals"
    assert value(problem, solution.codes) <= problems.optimum(problem) * (1 + 1e-4)
    assert_same(solution.codes, solve(problem, solver=solver).codes)
    assert [r.iteration for r in records] == list(range(0, solution.n_iter, 10))


@pytest.mark.parametrize("settings", [{"rho": 3.0}, {"rho": 0.5, "auto_rho": False}])
@pytest.mark.parametrize("over_relaxation", [1.0, 1.5])
def test_settings_change_the_way_not_the_goal(settings, over_relaxation, rng):
    problem = problems.make("2-D", rng, weights="binary")
    solver = replace(SOLVER, over_relaxation=over_relaxation, **settings)
    found = value(problem, solve(problem, solver=solver).codes)
    assert found == pytest.approx(problems.optimum(problem), rel=2e-7)


@pytest.mark.parametrize(("weights", "method"), METHODS)
def test_float32_stays_float32(weights, method, rng):
    problem = problems.make("2-D", rng, weights=weights, dtype="float32")
    solution = solve(problem, solver=replace(SOLVER, mask_method=method), tol=1e-4)
    assert solution.reason == "gap"
    assert solution.codes.value.dtype == np.float32
    assert value(problem, solution.codes) <= problems.optimum(problem) * (1 + 2e-4)


def test_says_so_when_float32_is_exhausted(rng):
    problem = problems.make("2-D", rng, dtype="float32")
    solution = solve(problem, tol=0.0)
    assert solution.reason == "precision"
    assert value(problem, solution.codes) <= problems.optimum(problem) * (1 + 1e-5)


def test_says_so_when_the_budget_is_spent(rng):
    records = []
    problem = problems.make("2-D", rng)
    solution = solve(problem, solver=ADMM(max_iter=7, check_every=5), callback=records.append)
    assert (solution.reason, solution.n_iter) == ("budget", 7)
    assert [record.iteration for record in records] == [0, 5, 7]


@pytest.mark.parametrize("stop", ["gap", "residuals"])
@pytest.mark.parametrize("part", ["d", "s", "w"])
def test_nothing_to_explain_or_nothing_to_explain_it_with(part, stop, rng):
    arrays = {"d": rng.standard_normal((2, 1, 3)), "s": rng.standard_normal((1, 9))}
    arrays["w"] = np.ones((1, 9))
    arrays[part] = 0 * arrays[part]
    arrays["s"] = arrays["s"] * arrays["w"]
    solution = solve(Problem(**arrays, lmbda=np.ones(2)), solver=ADMM(stop=stop))
    assert solution.reason == stop
    assert len(solution.codes.value) == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mask_method": "ams"}, "not all 0 or 1"),
        ({"mask_method": "additive"}, "mask_method is 'additive'"),
        ({"stop": "never"}, "stop is 'never'"),
        ({"rho": 0.0}, "rho is 0.0"),
    ],
)
def test_refuses_what_it_cannot_do(settings, words, rng):
    problem = problems.make("2-D", rng, weights="real")
    with pytest.raises(InputError, match=words):
        solve(problem, solver=ADMM(**settings))


@pytest.mark.parametrize("masked", [False, True])
def test_the_number_of_threads_changes_no_bit(masked, rng):
    d = rng.standard_normal((24, 1, 4, 4)).astype(np.float32)
    w = (rng.random((1, 50, 70)) > 0.3).astype(np.float32) if masked else None
    s = rng.standard_normal((1, 50, 70)).astype(np.float32)
    s = s if w is None else s * w
    problem = Problem(d, s, np.full(24, 3, np.float32), w)
    before, results = threads.get_num_threads(), []
    try:
        for n in (1, 2):
            threads.set_num_threads(n)
            results.append(solve(problem, solver=ADMM(max_iter=25), tol=1e-6).codes)
    finally:
        threads.set_num_threads(before)
    assert_same(*results)
