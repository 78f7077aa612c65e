"""Masks: in whatever form they come they mean the same."""

from __future__ import annotations

import numpy as np
import pytest

import convdict as cd
from convdict.errors import InputError
from tests.oracles import runs

KINDS = ["surrogate", "sgd", "masked", "free boundary", "frequency"]


def learned(kind, images, mask=None, **changes):
    return runs.make(kind, **changes)[0].fit(images, mask=mask)


@pytest.mark.parametrize("kind", [*KINDS, "channels"])
def test_a_mask_of_ones_is_no_mask(kind):
    _, images, _ = runs.make(kind)
    plain = learned(kind, images)
    for ones in (np.ones(images.shape), np.ones(images.shape[:3], bool), np.ones(images[0].shape)):
        runs.check_same(learned(kind, images, ones), plain)


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_pixels_may_be_masked_or_nan_or_masked_arrays(kind, rng):
    _, images, _ = runs.make(kind)
    hidden = rng.random(images.shape) < 0.2
    garbage = np.where(hidden, 1e6, images)
    plain = learned(kind, images, ~hidden)
    runs.check_same(learned(kind, garbage, ~hidden), plain)
    runs.check_same(learned(kind, np.where(hidden, np.nan, images)), plain)
    runs.check_same(learned(kind, np.ma.masked_array(garbage, hidden)), plain)
    runs.check_same(learned(kind, list(garbage), [1 - h for h in hidden]), plain)
    pairs = np.where(hidden, np.inf, images)
    runs.check_same(learned(kind, pairs, (~h for h in hidden)), plain)


@pytest.mark.parametrize(  # square images, or as many as rows, are easily taken for stacks
    ("size", "n"), [((25, 18), 3), ((25, 18), 18), ((15, 15), 3), ((15, 15), 15)]
)
def test_one_mask_may_be_for_all(size, n, rng):
    images = np.concatenate([runs.signals(size, 1, (4, 3), seed) for seed in range(n)])
    mask = rng.random(size) < 0.8
    learner = learned("sgd", images, mask, n_epochs=1)
    for each in ([mask] * n, np.stack([mask] * n)):
        runs.check_same(learned("sgd", images, each, n_epochs=1), learner)
    assert learner.evaluate(images, mask=mask).value == pytest.approx(
        learner.evaluate(images, mask=[mask] * n).value, rel=1e-12
    )


@pytest.mark.parametrize("channel_axis", [0, 1, -1])
def test_a_mask_without_channels_is_for_all_of_them(channel_axis, rng):
    _, images, _ = runs.make("channels")
    images = np.moveaxis(images, -1, channel_axis + (channel_axis >= 0))
    settings = {"channel_axis": channel_axis}
    masks = rng.random((len(images), 25, 18)) < 0.8
    each = np.stack([masks, masks], channel_axis + (channel_axis >= 0))
    plain = learned("channels", images, each, **settings)
    runs.check_same(learned("channels", images, masks, **settings), plain)
    runs.check_same(learned("channels", list(images), list(masks), **settings), plain)
    shared = learned("channels", images, each[0], **settings)
    runs.check_same(learned("channels", images, masks[0], **settings), shared)


@pytest.mark.parametrize("domain", ["lag", "sparse", "frequency"])
@pytest.mark.parametrize("method", ["surrogate", "sgd"])
def test_weights_enter_squared(method, domain, rng):
    """The weight ω with the penalty ω²λ is no weight with λ, but for units."""
    settings = {"method": method, "domain": domain, "dtype": "float64", "split": None}
    settings |= {"step_size": 0.5, "tolerance": (1e-9, 0.0), "coding_tol": 1e-7}
    learner, images, _ = runs.make("surrogate", **settings)
    plain = learner.fit(images).dictionary_
    settings["step_size"] /= 4
    weighted = learned("surrogate", images, np.full(images.shape, 2.0), penalty=1.2, **settings)
    np.testing.assert_allclose(weighted.dictionary_, plain, atol=1e-5)
    np.testing.assert_allclose(weighted.history_.value, 4 * learner.history_.value, rtol=1e-5)


def test_learning_from_what_is_seen_says_something_of_what_is_hidden(rng):
    _, images, _ = runs.make("surrogate")
    mask = rng.random(images.shape) < 0.7
    settings = {"n_epochs": 8, "n_kernels": 4, "penalty": 0.1}
    seen = learned("surrogate", np.where(mask, images, np.nan), **settings)
    clean = learned("surrogate", images, **settings)
    first = runs.make("surrogate", **settings)[0].fit(images, callback=lambda _: True)
    values = [cd.evaluate(x.dictionary_, images, 0.1).value for x in (clean, seen, first)]
    assert values[1] < 0.5 * (values[0] + values[2])


@pytest.mark.parametrize(
    ("mask", "complaint"),
    [
        (np.ones((4, 25, 17)), r"image 0: mask has shape \(25, 17\)"),
        (np.ones((3, 25, 18)), "mask has 3 entries but there are 4 images"),
        (np.ones((5, 25, 18)), "mask has 5 entries but there are 4 images"),
        ([np.ones((25, 18))] * 3, "mask has 3 entries"),
        ([np.ones((25, 18))] * 5, "mask has 5 entries"),
        (np.ones((18, 25)), r"mask has shape \(18, 25\)"),
        (np.ones(18), r"mask has shape \(18,\)"),
        (np.zeros((25, 18)), "hides every pixel"),
        (-np.ones((25, 18)), "negative"),
        (np.full((25, 18), np.nan), "NaN"),
        (True, r"mask has shape \(\)"),
        ([np.ones((25, 18))] * 3 + [np.ones((25, 1))], r"image 3: mask has shape \(25, 1\)"),
    ],
)
@pytest.mark.parametrize("go", ["fit", "partial_fit"])
def test_bad_masks_are_refused_with_a_sentence(mask, complaint, go):
    for again in (mask, iter(mask)) if isinstance(mask, list) else (mask,):
        learner, images, _ = runs.make("surrogate", n_epochs=1, shuffle=False)
        with pytest.raises(InputError, match=complaint):
            getattr(learner, go)(images, mask=again)


def test_masks_that_end_too_soon():
    learner, images, _ = runs.make("surrogate", n_epochs=1)
    with pytest.raises(InputError, match="mask ends before image 2"):
        learner.fit(iter(images), mask=iter(np.ones((2, 25, 18))))
    assert learner.n_steps_ == 2, "what was learned before is kept"


@pytest.mark.parametrize("kind", ["masked", "sgd"])
def test_hidden_tiles_change_nothing(kind, rng):
    """Half an image that is hidden is half an image."""
    _, images, _ = runs.make(kind)
    mask = np.ones(images.shape)
    mask[:, 12:] = 0
    settings = {"split": (13, 18), "n_epochs": 1, "shuffle": False}
    half = learned(kind, images[:, :12], **settings)
    settings["split"] = (12, 18)
    runs.check_same(
        learned(kind, images[:, :24], mask[:, :24], **settings),
        half,
        but=["parameters", "begun_with"],
    )
