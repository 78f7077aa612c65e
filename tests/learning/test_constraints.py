"""Kernels and codes are what was asked for, exactly, after every step."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import convdict as cd
from tests.oracles import runs

AXES = {"1-D": (1,), "3-D": (1, 2, 3), "channels": (1, 2, 3)}


def every_dictionary(kind, **changes):
    learner, images, masks = runs.make(kind, **changes)
    found = []
    learner.fit(images, mask=masks, callback=lambda at: found.append(at.dictionary_))
    return np.array(found)


@pytest.mark.parametrize(("method", "dtype"), [("surrogate", "float32"), ("sgd", "float64")])
@pytest.mark.parametrize("kind", ["surrogate", "channels", "1-D", "3-D", "masked", "repaired"])
def test_kernels_are_of_norm_one_or_less(kind, method, dtype):
    axes = tuple(1 + axis for axis in AXES.get(kind, (1, 2)))
    rounding = 4 * np.finfo(dtype).eps
    for constraint in ("sphere", "ball"):
        d = every_dictionary(kind, method=method, dtype=dtype, constraint=constraint)
        norms = np.sqrt(np.sum(np.square(d, dtype=np.float64), axis=axes))
        assert norms.max() <= 1 + rounding
        if constraint == "sphere":
            assert norms.min() >= 1 - rounding


@pytest.mark.parametrize(("constraint", "norm"), [("ball", 0.5), ("sphere", 1.0)])
def test_the_ball_lets_kernels_be_short(constraint, norm):
    """One that is never used stays as it was, where it may."""
    init = np.random.default_rng(0).standard_normal((3, 4, 3))
    init *= 0.5 / np.linalg.norm(init, axis=(1, 2), keepdims=True)
    learner, images, _ = runs.make("surrogate", init=init, penalty=[0.3, 0.3, 1e3])
    learner.set_params(constraint=constraint, dtype="float64").fit(images)
    np.testing.assert_allclose(learner.dictionary_[2], init[2] * (norm / 0.5), rtol=1e-12)


@pytest.mark.parametrize("method", ["surrogate", "sgd"])
@pytest.mark.parametrize("kind", ["surrogate", "channels", "1-D", "repaired"])
def test_kernels_of_zero_mean(kind, method):
    """In every channel."""
    learner, images, masks = runs.make(kind, method=method, zero_mean=True, dtype="float64")
    learner.fit(images, mask=masks)
    n_axes = len(np.atleast_1d(learner.kernel_size))
    means = learner.dictionary_.mean(axis=tuple(range(-n_axes, 0)))
    np.testing.assert_allclose(means, 0, atol=1e-15)


@pytest.mark.parametrize("method", ["surrogate", "sgd"])
@pytest.mark.parametrize("constraint", ["sphere", "ball"])
def test_nonnegative_kernels_and_codes(method, constraint):
    learner, images, _ = runs.make("surrogate", method=method, constraint=constraint)
    learner.set_params(nonnegative_kernels=True, nonnegative=True)
    learner.fit(np.abs(images))
    assert (learner.dictionary_ >= 0).all()
    assert learner.dictionary_.any(axis=(1, 2)).all()
    assert all((codes.value > 0).all() for codes in learner.transform(np.abs(images)))
    for kept in learner._run.kept.values():
        assert (kept.terms.codes.value > 0).all()
    learner.set_params(nonnegative_kernels=False, nonnegative=False).fit(images)
    assert (learner.dictionary_ < 0).any()
    assert any((codes.value < 0).any() for codes in learner.transform(images))


@pytest.mark.parametrize("init", [np.zeros((3, 4, 3)), -np.ones((3, 4, 3)), np.ones((3, 4, 3))])
@pytest.mark.parametrize("options", list(product([False, True], repeat=2)))
def test_a_first_dictionary_of_no_use_leads_to_no_nonsense(init, options):
    """Zeros, or what a constraint makes zeros of: nothing can be coded, and that is said.

    Not so with kernels that must not be negative: the nearest on the sphere have one entry.
    """
    zero_mean, nonnegative = options
    if zero_mean and nonnegative:
        return
    learner, images, _ = runs.make("surrogate", init=init, zero_mean=zero_mean)
    learner.set_params(nonnegative_kernels=nonnegative)
    if zero_mean or (not init.any() and not nonnegative):
        with pytest.warns(cd.errors.ConvdictWarning, match="nothing was learned"):
            learner.fit(images)
    else:
        learner.fit(images)
    assert np.isfinite(learner.dictionary_).all()


def test_penalties_may_differ_between_kernels():
    learner, images, _ = runs.make("surrogate", penalty=[0.2, 0.4, 1e3])
    learner.fit(images)
    np.testing.assert_array_equal(learner.penalty_, np.array([0.2, 0.4, 1e3], np.float32))
    used = np.zeros(3)
    for codes in learner.transform(images):
        used += np.bincount(codes.kernel, minlength=3)
    assert used[0] > 0
    assert used[1] > 0
    assert used[2] == 0


@pytest.mark.parametrize("kind", ["surrogate", "masked", "free boundary", "channels"])
def test_the_automatic_penalty_is_a_tenth_of_the_largest_useful_one(kind):
    learner, images, masks = runs.make(
        kind, penalty="auto", shuffle=False, split=None, batch_size=3, dtype="float64", n_epochs=1
    )
    first = runs.make(kind, dtype="float64")[0].set_params(random_state=7, split=None)
    d = first.fit(images, mask=masks, callback=lambda at: True)._run
    learner.fit(images, mask=masks, callback=lambda at: True)
    start = cd.learning.start.first_dictionary(None, learner._run.settings, d.d.shape[1], d.seed)
    start = start if kind == "channels" else start[:, 0]
    where = {"boundary": learner.boundary, "channel_axis": learner.channel_axis}
    largest = [
        cd.lambda_max(start, s, None if masks is None else m, **where)
        for s, m in zip(images, masks if masks is not None else images, strict=False)
    ]
    np.testing.assert_allclose(learner.penalty_, 0.1 * np.mean(largest), rtol=1e-9)
