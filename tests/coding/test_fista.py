"""FISTA against an explicit Lasso."""

from __future__ import annotations

import numpy as np
import pytest

from convdict import threads
from convdict.coding.fista import FISTA
from convdict.model.problem import Problem, Triplets
from tests.oracles import problems

SOLVER = FISTA(max_iter=20_000)


def solve(problem, *, solver=SOLVER, start=None, tol=1e-7, callback=None):
    return solver.solve(problem, start=start, tol=tol, callback=callback)


def value(problem, codes):
    return problems.value(problem, codes.to_dense(problem.n_kernels, problem.grid))


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("weights", [None, "binary", "real"])
@pytest.mark.parametrize("name", problems.SHAPES)
def test_reaches_the_optimum(name, weights, nonnegative, rng):
    problem = problems.make(name, rng, weights=weights, nonnegative=nonnegative)
    records = []
    solution = solve(problem, callback=records.append)
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


def test_weights_of_one_are_no_weights(rng):
    problem = problems.make("2-D", rng, weights="ones")
    plain = Problem(problem.d, problem.s, problem.lmbda)
    for a, b in zip(solve(problem).codes, solve(plain).codes, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("weights", [None, "real"])
def test_stops_at_once_when_started_at_the_solution(weights, rng):
    problem = problems.make("2-D channels", rng, weights=weights)
    first = solve(problem)
    again = solve(problem, start=first.codes)
    assert again.n_iter == 0
    assert again.reason == "gap"
    for a, b in zip(first.codes, again.codes, strict=True):
        np.testing.assert_array_equal(a, b)


def test_leaves_its_start_alone(rng):
    problem = problems.make("1-D", rng, nonnegative=True)
    start = Triplets.from_dense(rng.standard_normal((problem.n_kernels, *problem.grid)))
    before = start.value.copy()
    solution = solve(problem, start=start)
    np.testing.assert_array_equal(start.value, before)
    assert value(problem, solution.codes) <= problems.optimum(problem) * (1 + 2e-7)


@pytest.mark.parametrize("weights", [None, "real"])
def test_float32_stays_float32(weights, rng):
    problem = problems.make("2-D", rng, weights=weights, dtype="float32")
    solution = solve(problem, tol=1e-4)
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
    solution = solve(problem, solver=FISTA(max_iter=7, check_every=5), callback=records.append)
    assert (solution.reason, solution.n_iter) == ("budget", 7)
    assert [record.iteration for record in records] == [0, 5, 7]


def test_zero_where_zero_is_the_solution(rng):
    problem = problems.make("1-D", rng, penalty=10.0)
    solution = solve(problem)
    assert (solution.reason, solution.n_iter, len(solution.codes.value)) == ("gap", 0, 0)


@pytest.mark.parametrize("part", ["d", "s", "w"])
def test_nothing_to_explain_or_nothing_to_explain_it_with(part, rng):
    arrays = {"d": rng.standard_normal((2, 1, 3)), "s": rng.standard_normal((1, 9))}
    arrays["w"] = np.ones((1, 9))
    arrays[part] = 0 * arrays[part]
    arrays["s"] = arrays["s"] * arrays["w"]
    solution = solve(Problem(**arrays, lmbda=np.ones(2)))
    assert (solution.reason, len(solution.codes.value)) == ("gap", 0)


def test_the_number_of_threads_changes_no_bit(rng):
    d = rng.standard_normal((24, 1, 4, 4)).astype(np.float32)
    s = rng.standard_normal((1, 50, 70)).astype(np.float32)
    problem = Problem(d, s, np.full(24, 3, np.float32))
    before, results = threads.get_num_threads(), []
    try:
        for n in (1, 2):
            threads.set_num_threads(n)
            results.append(solve(problem, solver=FISTA(max_iter=25), tol=1e-6).codes)
    finally:
        threads.set_num_threads(before)
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)
