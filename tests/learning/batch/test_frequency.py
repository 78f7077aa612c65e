"""What happens at every frequency, against explicit systems of equations."""

import numpy as np
import pytest

from convdict.learning.batch.frequency import (
    ManyRankOne,
    irfft,
    nearest,
    product,
    rfft,
    squared_norm,
)

GRIDS = [(9,), (8, 7), (6, 8), (5, 4, 6)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def spectra(rng, *shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


@pytest.mark.parametrize("grid", GRIDS)
def test_norms_and_sums_of_convolutions(rng, grid):
    a, b = rng.standard_normal((2, 3, *grid))
    a_hat, b_hat = rfft(a, grid), rfft(b, grid)
    assert squared_norm(a_hat, grid) == pytest.approx(np.sum(a**2))
    found = irfft(product(a_hat, b_hat), grid)
    whole = np.fft.ifftn(sum(np.fft.fftn(x) * np.fft.fftn(y) for x, y in zip(a, b, strict=True)))
    np.testing.assert_allclose(found, whole.real, atol=1e-12)


def test_the_nearest_solution_of_rank_one(rng):
    a, z, s = spectra(rng, 4, 5), spectra(rng, 4, 5), spectra(rng, 5)
    found = nearest(a, s, z, 0.7)
    for f in range(5):
        system = np.outer(a[:, f].conj(), a[:, f]) + 0.7 * np.eye(4)
        wanted = np.linalg.solve(system, a[:, f].conj() * s[f] + 0.7 * z[:, f])
        np.testing.assert_allclose(found[:, f], wanted)


def test_many_systems_of_rank_one(rng):
    a, b = spectra(rng, 3, 4, 7, 100), spectra(rng, 4, 7, 100)
    found = ManyRankOne.of(a).solve(b)
    for place in ((0, 0), (3, 17), (6, 99)):
        rows = a[:, :, *place]
        system = np.eye(4) + rows.conj().T @ rows
        np.testing.assert_allclose(found[:, *place], np.linalg.solve(system, b[:, *place]))
