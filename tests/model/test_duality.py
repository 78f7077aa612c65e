"""Certificates: what was seen in low precision may save work, but proves nothing by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convdict.model.duality import Judge, certify, relative_gap
from convdict.model.problem import Memory, Seen, Triplets
from convdict.model.residual import weighted_residual
from convdict.model.scan import Scan, atoms
from tests.oracles import problems

KINDS = [
    (name, weights, nonnegative)
    for name in problems.SHAPES
    for weights, nonnegative in ((None, False), ("binary", True), ("real", False))
]


def near_optimum(problem, rng):
    """Codes on the way to the optimum, and the residuals of a few steps of that way."""
    codes = Triplets.empty(problem.dtype)
    x = np.zeros((problem.n_kernels, *problem.grid), problem.dtype)
    for _ in range(4):
        x[tuple(rng.integers(0, n) for n in x.shape)] = abs(rng.standard_normal()) * 0.1
        codes = Triplets.from_dense(x)
        yield codes, weighted_residual(problem, codes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "weights", "nonnegative"), KINDS)
def test_a_scan_again_knows_all_that_exceeds_one(name, weights, nonnegative, dtype, rng):
    problem = problems.make(name, rng, weights=weights, nonnegative=nonnegative, dtype=dtype)
    problem = replace(problem, lmbda=3 * problem.lmbda)
    scan, seen = Scan(problem), None
    for _, g in near_optimum(problem, rng):
        ratio, best = scan(g)
        if seen is None:
            seen = scan.first(g)
        scan.again(g, seen)
        np.copyto(seen.g, g)
        close = 1e-5 if dtype == np.float32 else 1e-13
        assert (seen.ratio >= ratio * (1 - close)).all()
        clear = ratio > 1 + close
        np.testing.assert_allclose(seen.ratio[clear], ratio[clear], rtol=close)
        assert (seen.ratio[~clear] <= 1 + close).all()
        np.testing.assert_array_equal(seen.best[clear], best[clear])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "weights", "nonnegative"), KINDS)
def test_what_was_seen_in_any_precision_gives_the_gap_of_a_full_scan(
    name, weights, nonnegative, dtype, rng
):
    exact = problems.make(name, rng, weights=weights, nonnegative=nonnegative)
    judge = Judge(exact.astype(dtype))
    for codes, g in near_optimum(exact, rng):
        l1 = float(np.sum(exact.lmbda[codes.kernel] * np.abs(codes.value)))
        now = judge(g.astype(dtype), l1, 0.2)
        objective, gap = certify(exact, codes, now.scale, now.seen)
        point = g if now.scale is None else g * now.scale
        most = float(Scan(exact)(point)[0].max())
        w = np.ones_like(g) if exact.w is None else exact.w
        rho = np.divide(point, w, where=w > 0, out=0 * point)
        rr, sr = np.sum(rho**2), np.sum(exact.s * point)
        best, same = (
            relative_gap(rr=rr, sr=sr, l1=objective - rr / 2, ratio=ratio)[1]
            for ratio in (most, max(most, 1))
        )
        assert best - 1e-12 <= gap <= same + 1e-12


def test_bounds_that_overflowed_are_not_believed(rng):
    exact = problems.make("2-D", rng)
    codes, g = list(near_optimum(exact, rng))[-1]
    honest = certify(exact, codes)
    for g_seen, bound in ((g, np.inf), (g, np.nan), (1e200 * g, 0.0), (g * np.nan, 0.0)):
        ratio = np.full(exact.grid, bound)
        seen = Seen(g_seen, ratio, np.zeros(exact.grid, np.int32), ratio)
        assert certify(exact, codes, None, seen) == pytest.approx(honest, rel=1e-12)


def test_rounding_in_what_was_seen_is_allowed_for(rng):
    """Bounds just below one, from float32, must not hide ratios just above it."""
    exact = problems.make("2-D channels", rng)
    g = weighted_residual(exact, Triplets.empty(np.float64))
    ratio = Scan(exact)(g)[0]
    scan32 = Scan(exact.astype(np.float32))
    for _ in range(20):
        shrunk = g / rng.uniform(ratio.min(), ratio.max())
        seen = scan32.first(shrunk.astype(np.float32))
        sound = Scan(exact).sound(seen)
        truth = Scan(exact)(sound.g)[0]
        assert (sound.ratio >= truth).all()
        assert (sound.ratio <= truth + 1e-3).all()
        assert (sound.rest >= Scan(exact).first(sound.g).rest).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "weights", "nonnegative"), KINDS)
def test_a_memory_bounds_what_other_kernels_see(name, weights, nonnegative, dtype, rng):
    old = problems.make(name, rng, weights=weights, nonnegative=nonnegative)
    g = weighted_residual(old, Triplets.empty(np.float64))
    memory = Memory(Scan(old).first(g), atoms(old), nonnegative, 1.0)
    for change in (0, 0.01, 1):
        d = old.d + change * rng.standard_normal(old.d.shape)
        lmbda = old.lmbda * (1 + change * rng.random(old.n_kernels))
        new = replace(old, d=d, lmbda=lmbda, memory=memory).astype(dtype)
        seen = Scan(new).recall(new)
        truth = Scan(replace(old, d=d, lmbda=lmbda))(seen.g.astype(float))[0]
        assert (seen.ratio >= truth * (1 - 1e-5)).all()
        assert change > 0 or (seen.ratio <= memory.seen.ratio * (1 + 1e-5) + 1e-5).all()


def test_a_memory_of_something_else_is_not_recalled(rng):
    old = problems.make("2-D", rng, nonnegative=True)
    g = weighted_residual(old, Triplets.empty(np.float64))
    memory = Memory(Scan(old).first(g), atoms(old), True, 1.0)
    assert Scan(old).recall(old) is None
    smaller = replace(old, d=np.ascontiguousarray(old.d[..., :2]), memory=memory)
    assert Scan(smaller).recall(smaller) is None
    signed = replace(old, nonnegative=False, memory=memory)
    assert Scan(signed).recall(signed) is None


def test_a_memory_changes_units_within_reason(rng):
    seen = Seen(rng.random((1, 9)), *rng.random((3, 9)))
    memory = Memory(seen, rng.random((2, 1, 3)), False, 4.0)
    assert memory.in_unit(4.0) is memory
    other = memory.in_unit(0.5)
    np.testing.assert_array_equal(other.seen.g, 8 * seen.g)
    np.testing.assert_array_equal(other.atoms, memory.atoms / 8)
    assert memory.in_unit(1e-30) is None
