"""Every form of the Hessian against the explicit matrix XᵀW²X."""

from __future__ import annotations

import numpy as np
import pytest

from convdict.errors import InputError
from convdict.statistics.surrogate import HESSIANS, Surrogate
from tests.oracles import design, problems

CASES = [*problems.SHAPES, "wraps more than once"]
DOMAINS = list(HESSIANS)


def make(name, rng, weights=None):
    """A problem, codes for it, and X."""
    if name == "wraps more than once":  # lags are longer than the grid
        problem = problems.make("2-D", rng, weights=weights)
        cut = (slice(None), slice(0, 4), slice(0, 5))
        w = None if problem.w is None else problem.w[cut].copy()
        problem = problems.Problem(problem.d, problem.s[cut].copy(), problem.lmbda, w)
    else:
        problem = problems.make(name, rng, weights=weights)
    codes, x = design.sparse_maps(rng, problem.n_kernels, problem.grid)
    return problem, codes, design.matrix(x, problem.kernel)


def expected(X, problem, d, *, weighted):
    """XᵀW²X d, channel by channel."""
    w2 = problem.w2 if weighted and problem.w2 is not None else np.ones_like(problem.s)
    flat = [X.T @ (w.ravel() * (X @ v)) for w, v in zip(w2, design.columns(d), strict=True)]
    return design.kernels(flat, d.shape)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("name", CASES)
def test_a_hessian_is_the_explicit_one(name, domain, rng):
    problem, codes, X = make(name, rng)
    surrogate = Surrogate(problem.d.shape, domain, np.dtype(np.float64))
    term = surrogate.terms(problem, codes)
    surrogate.add([(problem, term, 1.0)])
    d = rng.standard_normal(problem.d.shape)
    found = surrogate.hessian.apply(d)
    np.testing.assert_allclose(found, expected(X, problem, d, weighted=False), atol=1e-10)
    diagonal = np.sum(X * X, axis=0).reshape(problem.n_kernels, -1)
    np.testing.assert_allclose(surrogate.energy, diagonal[:, 0], atol=1e-10)


@pytest.mark.parametrize("domain", DOMAINS)
def test_single_precision_is_as_good_as_it_can_be(domain, rng):
    problem, codes, X = make("2-D channels", rng)
    single = problem.astype(np.float32)
    surrogate = Surrogate(problem.d.shape, domain, np.dtype(np.float32))
    codes = codes._replace(value=codes.value.astype(np.float32))
    surrogate.add([(single, surrogate.terms(single, codes), 1.0)])
    found = surrogate.hessian.apply(single.d)
    assert found.dtype == np.float32
    wanted = expected(X, problem, problem.d, weighted=False)
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("domain", ["sparse", "dense"])
@pytest.mark.parametrize("weights", ["binary", "real"])
@pytest.mark.parametrize("name", ["1-D channels", "2-D", "3-D"])
def test_matrices_keep_weights_exactly(name, weights, domain, rng):
    problem, codes, X = make(name, rng, weights)
    surrogate = Surrogate(problem.d.shape, domain, np.dtype(np.float64))
    surrogate.add([(problem, surrogate.terms(problem, codes), 1.0)])
    d = rng.standard_normal(problem.d.shape)
    found = surrogate.hessian.apply(d)
    np.testing.assert_allclose(found, expected(X, problem, d, weighted=True), atol=1e-10)


@pytest.mark.parametrize("domain", DOMAINS)
def test_statistics_add_up(domain, rng):
    parts, total, linear = [], 0.0, 0.0
    surrogate = Surrogate((3, 1, 3, 4), domain, np.dtype(np.float64))
    d = rng.standard_normal((3, 1, 3, 4))
    for weight in (1.0, 0.5, 2.0):
        problem, codes, X = make("2-D", rng)
        term = surrogate.terms(problem, codes)
        parts.append((problem, term, weight))
        total = total + weight * expected(X, problem, d, weighted=False)
        linear = linear + weight * design.kernels([X.T @ problem.s.ravel()], d.shape)
    surrogate.add(parts[:1])
    surrogate.scale(0.25)
    surrogate.add([(parts[0][0], parts[0][1], 0.75), *parts[1:]])
    np.testing.assert_allclose(surrogate.hessian.apply(d), total, atol=1e-10)
    np.testing.assert_allclose(surrogate.linear, linear, atol=1e-10)
    assert surrogate.total == pytest.approx(3.5)

    taken = [(problem, term, -weight) for problem, term, weight in parts[1:]]
    surrogate.add(taken)
    alone = Surrogate((3, 1, 3, 4), domain, np.dtype(np.float64))
    alone.add(parts[:1])
    np.testing.assert_allclose(surrogate.hessian.apply(d), alone.hessian.apply(d), atol=1e-10)
    assert surrogate.constant == pytest.approx(alone.constant)


@pytest.mark.parametrize("domain", DOMAINS)
def test_merged_statistics_are_those_of_all_signals(domain, rng):
    parts = []
    all_in_one = Surrogate((3, 1, 3, 4), domain, np.dtype(np.float64))
    halves = [Surrogate((3, 1, 3, 4), domain, np.dtype(np.float64)) for _ in range(2)]
    for half in halves:
        problem, codes, _ = make("2-D", rng)
        parts.append((problem, half.terms(problem, codes), 1.0))
        half.add(parts[-1:])
    all_in_one.add(parts)
    halves[0].merge(halves[1])
    d = rng.standard_normal((3, 1, 3, 4))
    np.testing.assert_allclose(halves[0].hessian.apply(d), all_in_one.hessian.apply(d), atol=1e-12)
    np.testing.assert_allclose(halves[0].linear, all_in_one.linear, atol=1e-12)
    np.testing.assert_allclose(halves[0].energy, all_in_one.energy, atol=1e-12)
    assert halves[0].constant == pytest.approx(all_in_one.constant)
    with pytest.raises(InputError, match="cannot be merged"):
        halves[0].merge(_other_form(domain, rng))


def _other_form(domain, rng):
    """Statistics of a form that cannot be merged."""
    other = "lag" if domain != "lag" else "sparse"
    problem, codes, _ = make("2-D", rng)
    surrogate = Surrogate((3, 1, 3, 4), other, np.dtype(np.float64))
    surrogate.add([(problem, surrogate.terms(problem, codes), 1.0)])
    return surrogate


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_forgotten_kernel_was_never_used(domain, rng):
    problem, codes, _ = make("2-D", rng)
    with_all, without = (Surrogate(problem.d.shape, domain, np.dtype(np.float64)) for _ in range(2))
    with_all.add([(problem, with_all.terms(problem, codes), 1.0)])
    with_all.forget(1)
    others = type(codes)(*(a[codes.kernel != 1] for a in codes))
    without.add([(problem, without.terms(problem, others), 1.0)])
    d = rng.standard_normal(problem.d.shape)
    np.testing.assert_allclose(with_all.hessian.apply(d), without.hessian.apply(d), atol=1e-10)
    np.testing.assert_allclose(with_all.linear, without.linear, atol=1e-10)


@pytest.mark.parametrize("domain", DOMAINS)
def test_what_is_kept_brings_everything_back(domain, rng):
    problem, codes, _ = make("2-D", rng)
    one, other = (Surrogate(problem.d.shape, domain, np.dtype(np.float64)) for _ in range(2))
    one.add([(problem, one.terms(problem, codes), 1.0)])
    other.restore(one.state())
    np.testing.assert_array_equal(other.hessian.apply(problem.d), one.hessian.apply(problem.d))
    assert (other.constant, other.total) == (one.constant, one.total)


def test_frequencies_are_those_of_one_grid(rng):
    surrogate = Surrogate((3, 1, 3, 4), "frequency", np.dtype(np.float64))
    problem, codes, _ = make("2-D", rng)
    surrogate.add([(problem, surrogate.terms(problem, codes), 1.0)])
    problem, codes, _ = make("wraps more than once", rng)
    with pytest.raises(InputError, match="signals of one size"):
        surrogate.terms(problem, codes)
