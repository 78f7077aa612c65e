"""Kernels that do not do their work are reported, and repaired when asked."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.signal

import convdict as cd
from convdict.learning.coded import Coded
from convdict.learning.health import DUPLICATE_INTERVAL, Watch, worst_explained
from convdict.model.problem import Problem, Triplets
from convdict.model.residual import weighted_residual

KERNEL = (5, 5)
TRUE = np.random.default_rng(11).standard_normal((4, *KERNEL))


def images():
    """Sums of four kernels."""
    rng = np.random.default_rng(12)
    found = rng.standard_normal((12, 40, 40)) * 0.01
    for image, d in product(found, TRUE):
        x = rng.standard_normal(image.shape) * (rng.random(image.shape) < 0.01)
        image += scipy.signal.convolve2d(x, d, mode="same", boundary="wrap")
    return found


def learned(init, **changes):
    settings = {"n_epochs": 4, "random_state": 0, "init": init, **changes}
    return cd.ConvDictLearner(len(init), KERNEL, 0.3, **settings).fit(images())


def noise(n):
    return np.random.default_rng(13).standard_normal((n, *KERNEL))


def test_an_unused_kernel_is_reported_and_repaired():
    """A kernel of high frequencies says nothing of images that have low ones only."""
    low = np.abs(np.fft.fftfreq(40)) < 0.15
    smooth = np.fft.ifft2(np.fft.fft2(images()) * low * low[:, None]).real
    init = noise(4)
    init[2] = np.outer([1, -4, 6, -4, 1], [1, -4, 6, -4, 1])
    left, repaired = (
        cd.ConvDictLearner(
            4, KERNEL, 0.2, n_epochs=4, random_state=0, init=init, repair=repair
        ).fit(smooth)
        for repair in (False, True)
    )
    assert left.history_[-1].unused == 1
    assert left.history_.repaired.sum() == 0
    assert repaired.history_.repaired.sum() == 1
    assert repaired.history_[-1].unused == 0
    assert repaired.score(smooth) > left.score(smooth)


def test_a_duplicate_is_reported_and_repaired():
    """The same kernel again, one pixel further and negated; steps are too small to part them."""
    init = TRUE.copy()
    init[:, -1] = 0
    init[1] = -np.roll(init[0], 1, axis=0)
    changes = {"method": "sgd", "step_size": 1e-6, "n_epochs": 1}
    left = learned(init, **changes)
    assert left.history_.duplicates.tolist() == [1] * 12
    assert left.history_.repaired.sum() == 0
    repaired = learned(init, **changes, repair=True)
    assert repaired.history_.repaired.tolist() == [1] + [0] * 11
    assert repaired.history_[-1].duplicates == 0
    assert repaired.score(images()) > 0.9 * left.score(images())


@pytest.mark.parametrize(("degrees", "restless"), [(0, 0), (58, 0), (62, 1), (90, 1), (180, 0)])
def test_a_kernel_that_turns_far_is_restless(degrees, restless):
    """By more than 60 degrees; its sign means nothing."""
    watch, before = Watch(5), np.zeros((5, 1, 2))
    before[..., 0] = 1
    after = before.copy()
    after[3, 0] = 3 * np.cos(np.radians(degrees)), 3 * np.sin(np.radians(degrees))
    assert watch.look(coded([0]), before, after, 2).restless.tolist() == [3] * restless


def coded(kernels, n=1):
    """Codes that use these kernels, in a batch of one."""
    kernels = np.sort(np.repeat(kernels, n)).astype(np.int32)
    at = np.arange(len(kernels), dtype=np.int64)
    problem = Problem(np.ones((5, 1, 2)), np.ones((1, len(at))), np.ones(5))
    return [Coded(problem, Triplets(kernels, at, np.ones(len(at))), 1.0, 0.1)]


def test_nothing_is_called_unused_without_evidence():
    watch, d = Watch(5), np.random.default_rng(0).standard_normal((5, 1, 6))
    assert len(watch.look(coded([0, 1, 2, 3], 30), d, d, 2).unused) == 0
    assert watch.look(coded([0, 1, 2, 3], 30), d, d, 3).unused.tolist() == [4]
    watch.repaired(4)
    assert len(watch.look(coded([0, 1, 2, 3], 1), d, d, 4).unused) == 0


def test_usage_of_long_ago_is_forgotten():
    watch, d = Watch(5), np.random.default_rng(0).standard_normal((5, 1, 6))
    watch.look(coded([4], 1000), d, d, 2)
    steps = 0
    while 4 not in watch.look(coded([0, 1, 2, 3], 500), d, d, 3).unused:
        steps += 1
    assert 1 < steps < 100
    assert watch.usage.sum() <= 1000 * 5 * (1 + 1e-9)


def test_duplicates_are_looked_for_now_and_then():
    watch, d = Watch(5), np.random.default_rng(0).standard_normal((5, 1, 6))
    d[3] = 2 * d[1]
    assert watch.look(coded([0]), d, d, 2).duplicates.tolist() == []
    assert watch.look(coded([0]), d, d, DUPLICATE_INTERVAL).duplicates.tolist() == [3]
    watch.repaired(3)
    assert watch.duplicates.tolist() == []


@pytest.mark.parametrize(
    "shape", [((3, 1, 4), (30,)), ((2, 2, 3, 2), (12, 9)), ((2, 1, 2, 3, 2), (6, 7, 5))]
)
@pytest.mark.parametrize("weights", [False, True])
def test_the_patch_that_is_explained_worst(shape, weights, rng):
    (m, c, *kernel), grid = shape
    d, s = rng.standard_normal((m, c, *kernel)), rng.standard_normal((c, *grid))
    w = rng.random(s.shape) if weights else None
    problem = Problem(d, s, np.ones(m), w)
    codes = Triplets(np.zeros(1, np.int32), np.zeros(1, np.int64), np.ones(1))
    r = weighted_residual(problem, codes)
    energies = {}
    for p in np.ndindex(*grid):
        at = np.ix_(
            range(c), *((i + np.arange(k)) % n for i, k, n in zip(p, kernel, grid, strict=True))
        )
        energies[p] = r[at]
    best = max(energies.values(), key=lambda patch: np.sum(patch**2))
    first, second = worst_explained([Coded(problem, codes, 1.0, 0.1)], d, 2)
    np.testing.assert_allclose(first, best)
    assert np.sum(second**2) <= np.sum(first**2)
    assert not np.isclose(second, first).any(), "patches do not overlap"


def test_nothing_left_over_is_no_seed():
    problem = Problem(np.ones((1, 1, 2)), np.zeros((1, 8)), np.ones(1))
    assert (
        worst_explained([Coded(problem, Triplets.empty(np.float64), 0.0, 0.0)], problem.d, 1) == []
    )
