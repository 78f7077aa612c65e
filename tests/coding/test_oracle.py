"""Every solver on every kind of problem against an explicit Lasso."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso

import convdict as cd
from tests.oracles import dense

# name: (signal shape, kernel with channels, options)
PROBLEMS = {
    "1-D": ((40,), (3, 5), {}),
    "1-D odd, long kernels": ((37,), (2, 18), {}),
    "2-D": ((12, 13), (3, 3, 4), {}),
    "2-D odd": ((11, 9), (2, 4, 3), {}),
    "3-D": ((6, 5, 7), (2, 2, 2, 3), {}),
    "one kernel": ((9, 9), (1, 3, 3), {}),
    "one-pixel kernel": ((7, 8), (1, 1, 1), {}),
    "kernel as large as the image": ((6, 7), (2, 6, 7), {}),
    "many kernels": ((10, 10), (17, 3, 3), {}),
    "colour last": ((8, 9, 3), (3, 3, 3, 4), {"channel_axis": -1}),
    "colour first": ((2, 9, 8), (3, 2, 4, 3), {"channel_axis": 0}),
    "1-D channels": ((4, 30), (3, 4, 5), {"channel_axis": 0}),
    "3-D channels": ((2, 5, 6, 4), (2, 2, 2, 3, 2), {"channel_axis": 0}),
}


def make(name, rng, *, boundary="circular", weights=None, per_kernel=False):
    shape, kernel, options = PROBLEMS[name]
    image = rng.standard_normal(shape)
    dictionary = rng.standard_normal(kernel) * rng.uniform(
        0.3, 3, (kernel[0],) + (1,) * len(shape if "channel_axis" not in options else kernel[1:])
    )
    options = dict(options, boundary=boundary)
    if weights == "binary":
        options["mask"] = rng.random(shape) > 0.3
    elif weights == "real":
        options["mask"] = rng.uniform(0, 2, shape) * (rng.random(shape) > 0.2)
    strongest = cd.lambda_max(dictionary, image, **options)
    penalty = 0.15 * strongest
    if per_kernel:
        penalty = penalty * rng.uniform(0.5, 2, kernel[0])
    return image, dictionary, penalty, options


def optimum(image, dictionary, penalty, options, nonnegative=False):
    place = {k: v for k, v in options.items() if k in ("boundary", "channel_axis")}
    D = dense.matrix(dictionary, image.shape, **place)
    w = None if "mask" not in options else np.asarray(options["mask"], float).ravel()
    lmbda = np.repeat(np.broadcast_to(penalty, dictionary.shape[0]), D.shape[1] // len(dictionary))
    x = dense.lasso(D, image.ravel(), lmbda, w=w, nonnegative=nonnegative)
    return D, w, lmbda, dense.objective(D, x, image.ravel(), lmbda, w)


def check_codes(codes, D, w, lmbda, best, image, dictionary, tol):
    x = codes.to_dense().ravel().astype(float)
    exact = dense.objective(D, x, image.ravel(), lmbda, w)
    assert codes.objective == pytest.approx(exact, rel=1e-9)
    assert codes.gap <= tol
    assert codes.objective <= best * (1 + 1.01 * tol) + 1e-12
    assert codes.objective >= best * (1 - 1e-8)
    assert codes.objective * (1 - codes.gap) <= best * (1 + 1e-8)
    np.testing.assert_allclose(
        cd.reconstruct(codes, dictionary).ravel(), D @ x, atol=1e-9 * np.abs(image).max()
    )


@pytest.mark.filterwarnings("ignore::convdict.errors.ArtefactWarning")
@pytest.mark.parametrize("boundary", ["circular", "free"])
@pytest.mark.parametrize("weights", [None, "binary", "real"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_working_set_reaches_the_optimum(name, weights, boundary, rng):
    image, dictionary, penalty, options = make(
        name, rng, boundary=boundary, weights=weights, per_kernel=True
    )
    found = optimum(image, dictionary, penalty, options)
    codes = cd.sparse_code(image, dictionary, penalty, tol=1e-7, **options)
    check_codes(codes, *found, image, dictionary, 1e-7)


@pytest.mark.filterwarnings("ignore::convdict.errors.ArtefactWarning")
@pytest.mark.parametrize("solver", ["working_set", "admm", "fista"])
@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("weights", [None, "binary", "real"])
@pytest.mark.parametrize("name", ["1-D", "2-D odd", "colour last", "3-D"])
def test_solvers_reach_the_same_optimum(name, weights, nonnegative, solver, rng):
    image, dictionary, penalty, options = make(name, rng, weights=weights)
    found = optimum(image, dictionary, penalty, options, nonnegative)
    codes = cd.sparse_code(
        image, dictionary, penalty, solver=solver, tol=1e-6, nonnegative=nonnegative, **options
    )
    check_codes(codes, *found, image, dictionary, 1e-6)
    if nonnegative:
        assert (codes.value > 0).all()


@pytest.mark.parametrize("solver", ["working_set", "admm", "fista"])
def test_solvers_work_in_float32(solver, rng):
    image, dictionary, penalty, options = make("2-D", rng)
    *_, best = optimum(image, dictionary, penalty, options)
    codes = cd.sparse_code(image, dictionary, penalty, solver=solver, tol=1e-4, dtype="float32")
    assert codes.value.dtype == np.float32
    assert best * (1 - 1e-6) <= codes.objective <= best * (1 + 1e-4)


def test_agrees_with_scikit_learn(rng):
    image, dictionary, penalty, _ = make("2-D", rng)
    D = dense.matrix(dictionary, image.shape)
    n = D.shape[0]
    model = Lasso(alpha=penalty / n, fit_intercept=False, tol=1e-12, max_iter=1_000_000)
    x = model.fit(D, image.ravel()).coef_
    codes = cd.sparse_code(image, dictionary, penalty, tol=1e-10)
    assert codes.objective == pytest.approx(dense.objective(D, x, image.ravel(), penalty), rel=1e-8)
    np.testing.assert_allclose(codes.to_dense().ravel(), x, atol=1e-4 * np.abs(x).max())
