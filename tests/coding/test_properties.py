"""What must hold for any problem whatever."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import convdict as cd
from convdict.model.duality import certify
from convdict.model.pose import pose
from tests.oracles import dense

pytestmark = pytest.mark.filterwarnings("ignore::convdict.errors.ArtefactWarning")


@st.composite
def problems(draw):
    """Images, kernels and options of any admissible shape."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_axes = draw(st.integers(1, 3))
    image = tuple(draw(st.integers(1, 24 if n_axes < 3 else 8)) for _ in range(n_axes))
    boundary = draw(st.sampled_from(["circular", "free"]))
    kernel = tuple(draw(st.integers(1, n if boundary == "circular" else n + 3)) for n in image)
    channels = draw(st.sampled_from([None, 1, 3]))
    axis = None if channels is None else draw(st.integers(0, n_axes))
    shape = image if channels is None else (*image[:axis], channels, *image[axis:])
    atoms = (draw(st.integers(1, 9)), *(() if channels is None else (channels,)), *kernel)
    options = {
        "boundary": boundary,
        "channel_axis": axis,
        "nonnegative": draw(st.booleans()),
        "mask": draw(st.sampled_from([None, "binary", "real"])),
    }
    if options["mask"] is not None:
        options["mask"] = rng.random(shape) * (rng.random(shape) < 0.7)
        options["mask"].flat[0] = 1
    s, d = rng.standard_normal(shape), rng.standard_normal(atoms)
    strongest = cd.lambda_max(d, s, **options)
    return s, d, max(draw(st.floats(0.05, 1.1)) * strongest, 1e-6), options


@settings(max_examples=80, deadline=None)
@given(problems())
def test_codes_are_certified_and_better_than_nothing(problem):
    s, d, penalty, options = problem
    codes = cd.sparse_code(s, d, penalty, **options)
    assert -1e-12 <= codes.gap <= 1e-3
    assert np.isfinite(codes.value).all()
    w = np.ones_like(s) if options["mask"] is None else options["mask"]
    assert codes.objective <= 0.5 * np.sum((w * s) ** 2) * (1 + 1e-9)
    residual = w * (s - cd.reconstruct(codes, d))
    value = 0.5 * np.sum(residual**2) + penalty * np.abs(codes.value).sum(dtype=float)
    assert codes.objective == pytest.approx(value, rel=1e-5)
    if options["nonnegative"]:
        assert (codes.value > 0).all()
    if penalty >= cd.lambda_max(d, s, **options):
        assert codes.nnz == 0


@settings(max_examples=40, deadline=None)
@given(problems())
def test_synthesis_and_scan_are_adjoint(problem):
    s, d, penalty, options = problem
    rng = np.random.default_rng(0)
    place = {k: options[k] for k in ("boundary", "channel_axis")}
    D = dense.matrix(d, s.shape, **place)
    codes = cd.sparse_code(s, d, penalty, **options)
    x = codes.to_dense().ravel().astype(float)
    probe = rng.standard_normal(s.size)
    assert cd.reconstruct(codes, d).ravel() @ probe == pytest.approx(
        x @ (D.T @ probe), rel=1e-5, abs=1e-5
    )
    c = D.T @ probe
    top = c.max() if options["nonnegative"] else np.abs(c).max()
    options = {**options, "mask": None}
    assert cd.lambda_max(d, probe.reshape(s.shape), **options) == pytest.approx(max(top, 0))


@settings(max_examples=25, deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_permuting_kernels_permutes_codes(problem, random):
    s, d, penalty, options = problem
    order = list(range(len(d)))
    random.shuffle(order)
    codes = cd.sparse_code(s, d, penalty, tol=1e-6, **options)
    shuffled = cd.sparse_code(s, d[order], penalty, tol=1e-6, **options)
    assert shuffled.objective == pytest.approx(codes.objective, rel=2e-6)
    np.testing.assert_allclose(
        cd.reconstruct(shuffled, d[order]) * (options["mask"] is None or options["mask"] > 0),
        cd.reconstruct(codes, d) * (options["mask"] is None or options["mask"] > 0),
        atol=5e-2 * np.abs(s).max(),
    )


@settings(max_examples=25, deadline=None)
@given(problems())
def test_the_objective_never_rises_along_rounds(problem):
    s, d, penalty, options = problem
    seen = []
    cd.sparse_code(
        s, d, penalty, tol=1e-9, solver=cd.WorkingSet(dense=1), callback=seen.append, **options
    )
    objectives = np.array([record.objective for record in seen])
    assert (np.diff(objectives) <= 1e-12 * objectives[0]).all()


@settings(max_examples=25, deadline=None)
@given(problems())
def test_any_codes_can_be_certified(problem):
    """The gap bounds the distance to the optimum also for codes that are far from it."""
    s, d, penalty, options = problem
    exact, _ = pose(s, d, penalty, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rough = cd.sparse_code(s, d, penalty, solver=cd.WorkingSet(max_iter=1), **options)
    best = cd.sparse_code(s, d, penalty, tol=1e-9, **options).objective
    rng = np.random.default_rng(0)
    for scale in (None, rng.uniform(0.5, 1, exact.s.shape), rng.standard_normal(exact.s.shape)):
        objective, gap = certify(exact, rough.triplets(), scale)
        assert objective * (1 - gap) <= best * (1 + 1e-9)
        assert objective >= best * (1 - 1e-9)


@settings(max_examples=25, deadline=None)
@given(problems())
def test_starting_from_codes_ends_at_the_same_optimum(problem):
    s, d, penalty, options = problem
    cold = cd.sparse_code(s, d, penalty, tol=1e-7, **options)
    other = cd.sparse_code(s, d * 1.1, penalty, **options)
    warm = cd.sparse_code(s, d, penalty, tol=1e-7, init=other, **options)
    assert warm.objective == pytest.approx(cold.objective, rel=3e-7)
    again = cd.sparse_code(s, d, penalty, tol=1e-7, init=cold, **options)
    assert again.n_iter <= 1 or cold.nnz == 0
