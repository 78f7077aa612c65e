"""What the door decides by itself: penalties, precision, and who solves what."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from itertools import pairwise

import numba
import numpy as np
import pytest

import convdict as cd
from convdict.coding import sparse_code as door
from convdict.coding import working_set
from convdict.errors import ConvergenceWarning
from convdict.kernels import compile as compiling


@pytest.fixture
def problem(rng):
    return rng.standard_normal((40, 30)), rng.standard_normal((4, 5, 5))


def test_lambda_max_is_where_codes_become_zero(problem):
    image, d = problem
    top = cd.lambda_max(d, image)
    assert cd.sparse_code(image, d, top * (1 + 1e-6)).nnz == 0
    assert cd.sparse_code(image, d, top * (1 - 1e-3), tol=1e-9).nnz > 0


def test_auto_is_a_tenth_of_lambda_max(problem):
    image, d = problem
    auto = cd.sparse_code(image, d, "auto", tol=1e-6)
    tenth = cd.sparse_code(image, d, 0.1 * cd.lambda_max(d, image), tol=1e-6)
    assert auto.objective == pytest.approx(tenth.objective, rel=1e-9)
    assert cd.sparse_code(np.zeros_like(image), d, "auto").nnz == 0


def test_tight_tolerances_are_worked_at_in_float64(problem):
    image, d = problem
    assert cd.sparse_code(image, d, 3.0).value.dtype == np.float32
    tight = cd.sparse_code(image, d, 3.0, tol=1e-9)
    assert tight.value.dtype == np.float64
    assert tight.converged


def test_float64_takes_over_where_float32_gets_no_further(problem):
    class Stuck:
        """Claims that its precision is exhausted, until it gets float64."""

        def solve(self, problem, *, start, tol, callback):
            found = cd.WorkingSet().solve(problem, start=start, tol=0.5, callback=callback)
            if problem.dtype == np.float32:
                return found._replace(reason="precision")
            return cd.WorkingSet().solve(problem, start=start, tol=tol, callback=callback)

    image, d = problem
    codes = cd.sparse_code(image, d, 3.0, tol=1e-4, solver=Stuck())
    assert codes.converged
    assert codes.value.dtype == np.float64
    with pytest.warns(ConvergenceWarning):
        codes = cd.sparse_code(image, d, 3.0, tol=1e-4, solver=Stuck(), dtype="float32")
    assert codes.value.dtype == np.float32


def test_dense_codes_are_handed_to_fista(problem, monkeypatch):
    image, d = problem
    called = []

    class Watched(cd.FISTA):
        def solve(self, problem, **kwargs):
            called.append(kwargs["start"])
            return super().solve(problem, **kwargs)

    monkeypatch.setattr(working_set, "FISTA", Watched)
    sparse = cd.sparse_code(image, d, 0.3 * cd.lambda_max(d, image))
    assert not called
    dense = cd.sparse_code(image, d, 0.002 * cd.lambda_max(d, image))
    assert dense.converged
    assert dense.density > 2 * sparse.density
    assert len(called) >= 1
    assert len(called[0].value) > 0, "FISTA starts from what was found so far"


def test_the_classical_stopping_rule_does_not_pass_for_convergence(problem):
    image, d = problem
    with pytest.warns(ConvergenceWarning, match="Not converged"):
        codes = cd.sparse_code(
            image, d, 3.0, tol=1e-6, solver=cd.ADMM(stop="residuals", residual_tol=1e-2)
        )
    assert not codes.converged


def test_callbacks_see_the_objective_in_the_users_units(problem):
    image, d = problem
    for scale in (1.0, 1e-3):
        seen = []
        codes = cd.sparse_code(image * scale, d * 7, 3.0 * scale * 7, callback=seen.append)
        assert seen[-1].objective == pytest.approx(codes.objective, rel=1e-5)
        assert seen[-1].nnz == codes.nnz
        assert [record.iteration for record in seen] == list(range(len(seen)))
        assert all(a.seconds <= b.seconds for a, b in pairwise(seen))


def test_a_fresh_start_of_the_same_image_needs_no_work(problem):
    image, d = problem
    codes = cd.sparse_code(image, d, 3.0)
    again = cd.sparse_code(image, d, 3.0, init=codes)
    assert again.n_iter == 0
    assert again == codes


@pytest.mark.parametrize("boundary", ["circular", "free"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_codes_remember_saves_work_and_nothing_else(problem, boundary, dtype, rng):
    image, d = problem
    settings = {"boundary": boundary, "dtype": dtype}
    codes = cd.sparse_code(image, d, 3.0, **settings)
    assert codes.memory is not None
    forgetful = replace(codes, memory=None)
    other = image + 0.1 * rng.standard_normal(image.shape)
    for changes in (
        {"dictionary": d + 0.01 * rng.standard_normal(d.shape)},
        {"dictionary": 7 * d},
        {"dictionary": 2 * rng.standard_normal(d.shape)},
        {"penalty": rng.uniform(1, 4, len(d))},
        {"image": other},
        {"image": 1e-3 * other, "penalty": 3e-3},
        {"mask": rng.random(image.shape) > 0.2},
        {"nonnegative": True},
    ):
        told = {"image": image, "dictionary": d, "penalty": 3.0, **settings, **changes}
        warm, same = (cd.sparse_code(**told, init=init) for init in (codes, forgetful))
        assert warm.converged
        assert warm.objective == pytest.approx(same.objective, rel=2e-3)
        assert abs(warm.n_iter - same.n_iter) <= 1


def test_codes_of_large_images_remember_nothing(problem, monkeypatch):
    image, d = problem
    usual = cd.sparse_code(image, d, 3.0)
    monkeypatch.setattr(door, "LARGE", image.size - 1)
    large = cd.sparse_code(image, d, 3.0)
    assert large.memory is None
    assert large == usual
    assert large.gap == pytest.approx(usual.gap, abs=1e-9)


def test_kernels_find_another_cache_where_the_usual_ones_are_closed(monkeypatch):
    plain, tried = numba.njit, []

    def closed_at_first(**options):
        tried.append(numba.config.CACHE_DIR)
        if len(tried) == 1:
            raise RuntimeError("cannot cache function: no locator available")
        return plain(**{**options, "cache": False})

    monkeypatch.setattr(numba, "njit", closed_at_first)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    double = compiling.kernel(lambda x: 2 * x)
    assert double(21) == 42
    assert tried[0] == ""
    assert "convdict-kernels" in tried[1]


def test_long_compilations_are_announced_and_short_ones_are_not(monkeypatch, caplog):
    monkeypatch.setattr(compiling, "PATIENCE", 0.01)
    with caplog.at_level(logging.WARNING, "convdict"):
        with compiling.announced("compiling"):
            time.sleep(0.3)
        assert caplog.messages == ["compiling"]
        monkeypatch.setattr(compiling, "PATIENCE", 60)
        with compiling.announced("not said"):
            pass
        assert caplog.messages == ["compiling"]


@pytest.mark.parametrize("factor", [1e-3, 1e-6, 1e3])
def test_codes_of_another_unit_are_no_worse_than_no_start(factor, rng):
    image, dictionary = rng.standard_normal((24, 20)), rng.standard_normal((4, 3, 3))
    old = cd.sparse_code(image, dictionary, 0.5)
    cold = cd.sparse_code(factor * image, dictionary, factor * 0.5)
    warm = cd.sparse_code(factor * image, dictionary, factor * 0.5, init=old)
    assert warm.converged
    assert warm.n_iter <= 2 * cold.n_iter


@pytest.mark.parametrize("solver", ["working_set", "fista"])
def test_what_single_precision_saw_certifies_nothing_in_double(solver, rng):
    for seed in range(20):
        numbers = np.random.default_rng(seed)
        image, dictionary = numbers.standard_normal(60), numbers.standard_normal((3, 2))
        old = cd.sparse_code(image, dictionary, 0.3, tol=1e-4)
        warm = cd.sparse_code(image, dictionary, 0.3, tol=1e-8, init=old, solver=solver)
        assert warm.gap >= -1e-12
        other = cd.sparse_code(image, dictionary, 0.3, tol=1e-10, solver="fista")
        assert (1 - warm.gap) * warm.objective <= other.objective * (1 + 1e-12)
