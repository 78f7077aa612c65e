"""What a signal says about the dictionary: exact, or above what it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from convdict.statistics.surrogate import HESSIANS, Surrogate
from tests.oracles import design, problems

WEIGHTS = [None, "ones", "binary", "real"]


def make(name, weights, domain, rng):
    problem = problems.make(name, rng, weights=weights)
    codes, x = design.sparse_maps(rng, problem.n_kernels, problem.grid)
    surrogate = Surrogate(problem.d.shape, domain, np.dtype(np.float64))
    surrogate.add([(problem, surrogate.terms(problem, codes), 1.0)])
    X = design.matrix(x, problem.kernel)
    l1 = np.sum(problem.lmbda[codes.kernel] * np.abs(codes.value))

    def objective(d):
        r = np.stack([X @ v for v in design.columns(d)]) - problem.s.reshape(len(problem.s), -1)
        w = 1 if problem.w is None else problem.w.reshape(r.shape)
        return 0.5 * np.sum((w * r) ** 2) + l1

    def value(d):
        return (
            0.5 * np.vdot(d, surrogate.hessian.apply(d))
            - np.vdot(surrogate.linear, d)
            + surrogate.constant
        )

    def gradient(d):
        return surrogate.hessian.apply(d) - surrogate.linear

    return problem, objective, value, gradient


@pytest.mark.parametrize("domain", list(HESSIANS))
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", ["1-D channels", "2-D", "3-D"])
def test_value_and_gradient_agree_at_the_dictionary_of_the_codes(name, weights, domain, rng):
    problem, objective, value, gradient = make(name, weights, domain, rng)
    assert value(problem.d) == pytest.approx(objective(problem.d), rel=1e-12)
    step = rng.standard_normal(problem.d.shape)
    h = 1e-5
    slope = (objective(problem.d + h * step) - objective(problem.d - h * step)) / (2 * h)
    assert np.vdot(gradient(problem.d), step) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("domain", list(HESSIANS))
@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_surrogate_is_exact_or_above(weights, domain, rng):
    problem, objective, value, _ = make("2-D channels", weights, domain, rng)
    exact = weights in (None, "ones") or domain in ("sparse", "dense")
    for _ in range(5):
        d = problem.d + rng.standard_normal(problem.d.shape)
        if exact:
            assert value(d) == pytest.approx(objective(d), rel=1e-10)
        else:
            assert value(d) > objective(d)
