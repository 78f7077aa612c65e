"""The halves of every batch method find the optimum that independent solvers find."""

import numpy as np
import pytest

import convdict as cd
from convdict.learning.batch.balance import PERIOD, Balance
from convdict.learning.batch.consensus import Consensus
from convdict.learning.batch.decoupled import Decoupled
from convdict.learning.batch.frequency import irfft, rfft
from convdict.learning.batch.slices import Slices, _add, _cut
from convdict.learning.constraint import Constraint

GRID, KERNEL, LAMBDA = (14, 12), (4, 3), 0.3
SHAPES = [((9,), (4,)), ((8, 7), (3, 2)), ((5, 6, 4), (2, 3, 1))]
BALL = Constraint("ball")


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def signals(rng):
    return rng.standard_normal((3, *GRID))


@pytest.fixture
def d(rng):
    return Constraint("sphere")(rng.standard_normal((5, 1, *KERNEL)))[:, 0]


@pytest.fixture
def weights(rng):
    return (rng.random((3, *GRID)) > 0.3).astype(float)


def sparse_maps(rng, n=3):
    return rng.standard_normal((n, 5, *GRID)) * (rng.random((n, 5, *GRID)) < 0.1)


def matrix(maps):
    """X with Xd = Σ_m d_m * x_m, by its columns."""
    columns = []
    for m in range(len(maps)):
        for offset in np.ndindex(*KERNEL):
            columns.append(np.roll(maps[m], offset, axis=(0, 1)).reshape(-1))
    return np.array(columns).T


def fitted(maps, signals, weights):
    """argmin over ‖d_m‖ ≤ 1 of Σ ½‖W(Xd − s)‖², by projected gradients."""
    a = np.concatenate([w.reshape(-1, 1) * matrix(x) for x, w in zip(maps, weights, strict=True)])
    b = (weights * signals).reshape(-1)
    d = np.zeros(a.shape[1])
    step = 1 / np.linalg.norm(a, 2) ** 2
    for _ in range(20000):
        moved = (d - step * (a.T @ (a @ d - b))).reshape(5, 1, *KERNEL)
        d, before = BALL(moved).reshape(-1), d
        if np.linalg.norm(d - before) < 1e-13:
            break
    return d.reshape(5, *KERNEL)


def objective(signals, d, weights=(None, None, None)):
    return np.mean(
        [
            cd.sparse_code(
                s, d, LAMBDA, None if weights is None else weights[k], tol=1e-9
            ).objective
            for k, s in enumerate(signals)
        ]
    )


@pytest.mark.filterwarnings("ignore:.*smaller than twice")
def test_consensus_codes_to_the_optimum(signals, d):
    run = Consensus(signals, None, d, LAMBDA, BALL)
    for _ in range(1500):
        sums = [run._code(k)[1] for k in range(3)]
        run._balance_codes({name: sum(one[name] for one in sums) for name in sums[0]})
    value = sum(one["value"] for one in sums) / 3
    assert value == pytest.approx(objective(signals, d), rel=1e-6)


def test_consensus_fits_to_the_optimum(signals, d, rng):
    run = Consensus(signals, None, d, LAMBDA, BALL)
    maps = sparse_maps(rng)
    y_hat = rfft(maps, GRID)
    for _ in range(3000):
        sums = [run._fit(k, y_hat[k], {}) for k in range(3)]
        run._agree({name: sum(one[name] for one in sums) for name in sums[0]})
    np.testing.assert_allclose(run.g, fitted(maps, signals, np.ones_like(signals)), atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*smaller than twice")
def test_decoupled_codes_to_the_optimum(signals, d, weights):
    run = Decoupled(signals, weights, d, LAMBDA, BALL)
    g_hat = rfft(d, GRID)
    for _ in range(4000):
        values = [run._code(k, g_hat)[0] for k in range(3)]
    assert np.mean(values) == pytest.approx(objective(signals, d, weights), rel=1e-6)


def test_decoupled_fits_to_the_optimum(signals, d, weights, rng):
    run = Decoupled(signals, weights, d, LAMBDA, BALL)
    maps = sparse_maps(rng)
    run.y_hat = rfft(maps, GRID)
    for _ in range(6000):
        run._fit()
    np.testing.assert_allclose(run.g, fitted(maps, signals, weights), atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*smaller than twice")
def test_slices_code_to_the_optimum(signals, d):
    run = Slices(signals, None, d, LAMBDA, BALL)
    for _ in range(3000):
        for k in range(3):
            run._code(k)
            run._join(k)
    assert run._value()[0] == pytest.approx(objective(signals, d), rel=1e-5)


def test_a_kernel_of_the_slices_fits_its_users_best(signals, d, rng):
    run = Slices(signals, None, d, LAMBDA, BALL)
    for k in range(3):
        run._code(k)
        run._join(k)
        run._code(k)
    codes = [one.copy() for one in run.codes]

    def misfit(kernel):
        run.d[2] = kernel
        every = zip(run.slices, run.u, run.codes, strict=True)
        return sum(np.sum((s + u - a @ run.d) ** 2) for s, u, a in every)

    run._kernel(2)
    found = run.d[2].copy()
    assert np.linalg.norm(found) == pytest.approx(1)
    least = misfit(found)
    for size in (1e-3, 0.1, 10):
        other = found + size * rng.standard_normal(found.shape)
        assert misfit(other / np.linalg.norm(other)) > least
    for before, after in zip(codes, run.codes, strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(("grid", "kernel"), SHAPES)
def test_cutting_and_adding_are_adjoint(rng, grid, kernel):
    s = rng.standard_normal(grid)
    slices = rng.standard_normal((s.size, int(np.prod(kernel))))
    assert np.vdot(_cut(s, kernel), slices) == pytest.approx(np.vdot(s, _add(slices, kernel, grid)))
    np.testing.assert_allclose(_add(_cut(s, kernel), kernel, grid), np.prod(kernel) * s)


@pytest.mark.parametrize("kind", [Consensus, Decoupled, Slices])
def test_both_halves_together_learn(kind, rng):
    """Most of what is lost by kernels that are a little off is won back."""
    truth = Constraint("sphere")(rng.standard_normal((3, 1, 5, 5)))[:, 0]
    maps = rng.standard_normal((4, 3, 24, 24)) * (rng.random((4, 3, 24, 24)) < 0.02)
    d_hat = rfft(truth, (24, 24))
    s = np.stack([irfft((d_hat * rfft(x, (24, 24))).sum(axis=0), (24, 24)) for x in maps])
    start = Constraint("sphere")(truth[:, None] + 0.1 * rng.standard_normal((3, 1, 5, 5)))[:, 0]
    run = kind(s, None, start.copy(), 0.02, BALL)
    for _ in range(150):
        found = run.step()
    assert (np.linalg.norm(found.d.reshape(3, -1), axis=1) <= 1 + 1e-6).all()
    best, before, after = (cd.evaluate(d, s, 0.02).value for d in (truth, start, found.d))
    assert after - best < 0.3 * (before - best)


def test_the_penalty_follows_its_residuals():
    balance = Balance(2.0)
    factors = [balance.factor(4.0, 1.0) for _ in range(PERIOD)]
    assert factors == [1.0] * (PERIOD - 1) + [2.0]
    assert balance.rho == 4.0
    factors = [balance.factor(1.0, 2.0) for _ in range(PERIOD)]
    assert factors[-1] == pytest.approx(0.5**0.5)
    assert [balance.factor(1.0, 1.1) for _ in range(PERIOD)] == [1.0] * PERIOD
    assert [balance.factor(0.0, 1.0) for _ in range(PERIOD)] == [1.0] * PERIOD
