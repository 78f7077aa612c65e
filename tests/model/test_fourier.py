"""Convolution by FFT against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from convdict import threads
from convdict.model import fourier
from convdict.model.fourier import Spectrum, spectral_bound
from convdict.model.problem import Problem
from tests.oracles import dense

# (M, C, *kernel) and the grid
SHAPES = [
    ((3, 1, 5), (20,)),
    ((2, 2, 7), (7,)),
    ((4, 1, 3, 4), (8, 9)),
    ((3, 3, 4, 2), (7, 5)),
    ((1, 1, 6, 5), (6, 5)),
    ((2, 2, 2, 3, 2), (4, 5, 3)),
    ((2, 1, 1), (1,)),
]


@pytest.fixture(params=SHAPES, ids=str)
def case(request, rng):
    shape, grid = request.param
    d = rng.standard_normal(shape)
    return d, grid, dense.matrix(d, (shape[1], *grid), channel_axis=0)


def test_forward_is_the_sum_of_convolutions(case, rng):
    d, grid, D = case
    x = rng.standard_normal((len(d), *grid))
    expected = (D @ x.ravel()).reshape(d.shape[1], *grid)
    np.testing.assert_allclose(Spectrum.of(d, grid).forward(x), expected, atol=1e-12)


def test_adjoint_is_the_transpose(case, rng):
    d, grid, D = case
    r = rng.standard_normal((d.shape[1], *grid))
    expected = (D.T @ r.ravel()).reshape(len(d), *grid)
    np.testing.assert_allclose(Spectrum.of(d, grid).adjoint(r), expected, atol=1e-12)


def test_blocks_and_groups_change_nothing_but_the_order_of_sums(rng, monkeypatch):
    d, grid = rng.standard_normal((37, 2, 3, 3)), (6, 7)
    x, r = rng.standard_normal((37, *grid)), rng.standard_normal((2, *grid))
    results = []
    for size in (1, 100, 1 << 16):
        monkeypatch.setattr(fourier, "BLOCK", size)
        spectrum = Spectrum.of(d, grid)
        blocks = [block for group in spectrum.groups for block in group]
        assert [m for b in blocks for m in range(b.start, b.stop)] == list(range(37))
        bound = spectral_bound(Problem(d, r, np.ones(37)), spectrum)
        results.append((spectrum.forward(x), spectrum.adjoint(r), bound))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_spectral_bound_is_the_largest_eigenvalue(case):
    d, grid, D = case
    bound = spectral_bound(
        Problem(d, np.zeros((d.shape[1], *grid)), np.ones(len(d))), Spectrum.of(d, grid)
    )
    assert bound == pytest.approx(np.linalg.norm(D, 2) ** 2, rel=1e-10)


def test_spectral_bound_bounds_the_weighted_problem(case, rng):
    d, grid, D = case
    w = rng.uniform(0, 3, (d.shape[1], *grid))
    bound = spectral_bound(Problem(d, 0 * w, np.ones(len(d)), w), Spectrum.of(d, grid))
    assert bound >= np.linalg.norm(w.reshape(-1, 1) * D, 2) ** 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_everything_keeps_its_precision(dtype, rng):
    d = rng.standard_normal((3, 2, 3, 3)).astype(dtype)
    spectrum = Spectrum.of(d, (7, 6))
    x = rng.standard_normal((3, 7, 6)).astype(dtype)
    assert spectrum.d_hat.dtype == np.result_type(dtype, np.complex64)
    assert spectrum.zeros().dtype == spectrum.d_hat.dtype
    assert spectrum.forward(x).dtype == dtype
    assert spectrum.adjoint(spectrum.forward(x)).dtype == dtype
    assert spectrum.gram(slice(0, 5)).dtype == spectrum.d_hat.dtype


def test_inputs_are_left_alone(rng):
    d, x = rng.standard_normal((3, 1, 4)), rng.standard_normal((3, 9))
    r = rng.standard_normal((1, 9))
    before = [a.copy() for a in (d, x, r)]
    for a in (d, x, r):
        a.flags.writeable = False
    spectrum = Spectrum.of(d, (9,))
    spectrum.forward(x)
    spectrum.adjoint(r)
    for a, b in zip((d, x, r), before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_number_of_threads_changes_no_bit(rng):
    d = rng.standard_normal((40, 2, 3, 3)).astype(np.float32)
    x = rng.standard_normal((40, 31, 64)).astype(np.float32)
    before, results = threads.get_num_threads(), []
    try:
        for n in (1, 2, 5):
            threads.set_num_threads(n)
            spectrum = Spectrum.of(d, (31, 64))
            y = spectrum.forward(x)
            results.append((y, spectrum.adjoint(y)))
    finally:
        threads.set_num_threads(before)
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
