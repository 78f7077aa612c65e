"""Two learners made one: what both have seen adds up."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import convdict as cd
from convdict.errors import InputError, NotFittedError
from convdict.learning.quadratic import minimise
from tests.oracles import runs

D = np.random.default_rng(5).standard_normal((3, 4, 3))


def pair(kind="surrogate", **changes):
    """Two learners of one beginning, on images of their own."""
    learners = []
    for half in (slice(0, 2), slice(2, 4)):
        learner, images, masks = runs.make(kind, **{"init": D, "n_epochs": 1, **changes})
        learners.append(learner.fit(images[half], mask=None if masks is None else masks[half]))
    return learners


@pytest.mark.parametrize("domain", ["lag", "frequency", "sparse", "dense"])
def test_statistics_add(domain):
    a, b = pair(domain=domain, split=None)
    before = copy.deepcopy(a), copy.deepcopy(b)
    merged = cd.merge(a, b)
    sums = [x._run.algorithm.statistics.state() for x in (a, b, merged)]
    for name in sums[0].keys() - {"hessian_box"}:
        np.testing.assert_allclose(sums[2][name], sums[0][name] + sums[1][name], rtol=1e-6)
    assert merged._run.algorithm.seen == a._run.algorithm.seen + b._run.algorithm.seen
    assert merged.n_images_ == 4
    runs.check_same(a, before[0])
    runs.check_same(b, before[1])


def test_the_dictionary_is_the_minimum_for_both():
    settings = {"dtype": "float64", "tolerance": (1e-9, 0.0), "constraint": "ball"}
    a, b = pair(**settings)
    merged = cd.merge(a, b)
    statistics = merged._run.algorithm.statistics
    again = minimise(
        apply=statistics.hessian.apply,
        linear=statistics.linear,
        start=merged._run.d,
        project=merged._run.settings.constraint,
        metric=np.ones((3, 1, 1, 1)) * statistics.energy.max(),
        tolerance=1e-10,
        max_iter=5000,
    )
    np.testing.assert_allclose(again.d, merged._run.d, atol=1e-6)


def test_the_order_does_not_matter_and_learning_goes_on(tmp_path):
    a, b = pair(dtype="float64", tolerance=(1e-10, 0.0), constraint="ball")
    one, other = cd.merge(a, b), cd.merge(b, a)
    np.testing.assert_allclose(one.dictionary_, other.dictionary_, atol=1e-7)
    one.save(tmp_path / "merged")
    _, images, _ = runs.make("surrogate")
    loaded = cd.load(tmp_path / "merged").partial_fit(images)
    runs.check_same(one.partial_fit(images), loaded)


def test_together_they_know_more_than_alone():
    _, images, _ = runs.make("surrogate")
    a, b = pair(penalty=0.1)
    assert cd.merge(a, b).score(images) > max(a.score(images), b.score(images))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"method": "sgd"}, "of method 'surrogate'"),
        ({"domain": "sparse"}, "domain of these learners is lag and sparse"),
        ({"n_kernels": 4, "init": None}, "they must agree"),
        ({"kernel_size": (3, 4), "init": None}, "they must agree"),
        ({"boundary": "free"}, "boundary of these learners is circular and free"),
        ({"dtype": "float64"}, "dtype of these learners"),
        ({"constraint": "ball"}, "constraint of these learners"),
    ],
)
def test_what_cannot_be_added_is_refused(changes, complaint):
    (a, _), (_, b) = pair(), pair(**changes)
    with pytest.raises(InputError, match=complaint):
        cd.merge(a, b)


def test_nothing_else_can_be_merged():
    a, b = pair()
    for one, other in ((a, "b"), (None, b)):
        with pytest.raises(InputError, match="give two learners"):
            cd.merge(one, other)
    with pytest.raises(NotFittedError):
        cd.merge(a, cd.ConvDictLearner())


def test_what_is_replaced_after_merging_is_taken_back_whole():
    """Contributions of `a` keep their weight, although more has been seen now."""
    a, b = pair(revisit="replace", n_epochs=2, dtype="float64", split=None)
    _, images, _ = runs.make("surrogate")
    total = a._run.algorithm.statistics.total + b._run.algorithm.statistics.total
    merged = cd.merge(a, b)
    merged.set_params(n_epochs=3).resume(images[:2])
    assert merged._run.algorithm.statistics.total == pytest.approx(total, rel=1e-9)
