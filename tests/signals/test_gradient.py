import numpy as np
import pytest

from convdict.signals.gradient import (
    dct_filter,
    gradient,
    gradient_adjoint,
    laplacian,
    laplacian_spectrum,
)
from tests.oracles.differences import dense_gradient

GRIDS = [(1,), (7,), (1, 5), (4, 6), (3, 1, 4), (3, 4, 5)]


@pytest.mark.parametrize("grid", GRIDS)
def test_gradient_and_its_adjoint_are_the_dense_matrix(grid, rng):
    matrix = dense_gradient(grid)
    u = rng.standard_normal(grid)
    p = gradient(rng.standard_normal(grid))  # zero on the last faces, as the adjoint wants it
    np.testing.assert_allclose(gradient(u).ravel(), matrix @ u.ravel(), atol=1e-14)
    np.testing.assert_allclose(gradient_adjoint(p).ravel(), matrix.T @ p.ravel(), atol=1e-14)


@pytest.mark.parametrize("grid", GRIDS)
def test_dct_diagonalises_the_laplacian(grid, rng):
    u = rng.standard_normal(grid)
    np.testing.assert_allclose(dct_filter(u, laplacian_spectrum(grid)), laplacian(u), atol=1e-13)


def test_precision_is_that_of_the_input(rng):
    u = rng.standard_normal((4, 5)).astype(np.float32)
    assert gradient(u).dtype == laplacian(u).dtype == np.float32
    assert dct_filter(u, laplacian_spectrum(u.shape)).dtype == np.float32
