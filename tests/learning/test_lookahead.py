"""Codes are asked for by where the dictionary is going; compared with all of its way."""

import numpy as np
import pytest

import convdict as cd
from convdict.learning.lookahead import WHOLE, Lookahead
from convdict.learning.update import PAPER_SIZE

from ..oracles import runs


def test_the_mean_weighs_minima_as_the_surrogate_weighs_codes(rng):
    """d̄(t) = Σ (α-weights) d(t'), with α = (1 − 1/t)^p from the first signal on."""
    way = rng.standard_normal((9, 3, 1, 4, 4))
    ahead = Lookahead(0.75, lambda d: d)
    p = 4.0
    for t, d in enumerate(way, 1):
        ahead.follow(d, (1 - 1 / t) ** p)
    weights = np.array([1.0])
    for t in range(2, 10):
        alpha = (1 - 1 / t) ** p
        weights = np.append(alpha * weights, 1 - alpha)
    mean = np.tensordot(weights, way, 1)
    np.testing.assert_allclose(ahead.mean, mean, atol=1e-12)
    np.testing.assert_allclose(ahead(way[-1], WHOLE), way[-1] + 0.75 * (way[-1] - mean))
    half = way[-1] + 0.375 * (way[-1] - mean)
    np.testing.assert_allclose(ahead(way[-1], WHOLE / 2), half)


def test_a_steady_drift_is_foreseen(rng):
    """Minima that move by v a signal: d − d̄ tends to v times the mean age of what is remembered."""
    v = rng.standard_normal((2, 1, 3, 3))
    ahead = Lookahead(1.0, lambda d: d)
    n, p = 4000, 10.0
    for t in range(1, n + 1):
        ahead.follow(t * v, (1 - 1 / t) ** p)
    np.testing.assert_allclose(ahead(n * v, WHOLE), (n + n / (p + 1)) * v, rtol=2e-3)


@pytest.mark.parametrize("kind", ["surrogate", "tiles", "free boundary", "repaired"])
def test_none_is_the_algorithm_of_the_paper(kind):
    """Values in the history are those of the surrogate's minima when, and only when, ω = 0."""
    for strength in (0.0, 3000.0):
        learner, images, _ = runs.make(
            kind, lookahead=strength, revisit="forget", repair=False, n_epochs=1, batch_size=1,
            split=None, shuffle=False, boundary="free", forgetting=1.0, coding_tol=1e-6,
            dtype="float64",
        )  # fmt: skip
        found = []
        learner.fit(images, callback=lambda at, found=found: found.append(at.dictionary_))
        values = [
            cd.sparse_code(s, d, learner.penalty_, boundary="free", tol=1e-6).objective
            for s, d in zip(images[1:], found, strict=False)
        ]
        same = np.allclose(learner.history_.value[1:], values, rtol=1e-4)
        assert same == (strength == 0.0)


def test_the_result_is_the_minimum_not_what_lies_ahead():
    learner, images, _ = runs.make("surrogate", revisit="forget", lookahead=300.0)
    run = learner.fit(images)._run
    memory = run.algorithm.seen / (learner.forgetting + 1)
    assert memory == pytest.approx(2 * images.size / PAPER_SIZE / 11)
    ahead = run.algorithm.coding_dictionary(run.d)
    np.testing.assert_array_equal(learner.dictionary_, run.d[:, 0])
    assert np.linalg.norm(ahead - run.d) > 1e-3
    np.testing.assert_allclose(np.linalg.norm(ahead.reshape(3, -1), axis=1), 1, rtol=1e-5)


def test_nothing_is_ahead_where_nothing_is_stale():
    """With contributions replaced, and for gradients, codes belong to the latest dictionary."""
    for told in ({"revisit": "replace"}, {"method": "sgd"}):
        learner, images, _ = runs.make("surrogate", **{"lookahead": 300.0, **told})
        run = learner.fit(images)._run
        np.testing.assert_array_equal(run.algorithm.coding_dictionary(run.d), run.d)


@pytest.mark.parametrize("value", [-0.1, "far", None, float("nan")])
def test_nonsense_is_refused(value):
    with pytest.raises(ValueError, match="lookahead is"):
        cd.ConvDictLearner(lookahead=value).fit(np.zeros((32, 32)))
