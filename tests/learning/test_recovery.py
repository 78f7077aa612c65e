"""Kernels that were planted are found again."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

import convdict as cd


def planted(rng, n_images, n_kernels=10, size=7, side=64, density=0.001, noise=25.0):
    """(images, kernels): s = Σ d_m * x_m + noise.

    The kernels are Gaussian noise under a Hann window, of norm one. A coefficient is not zero
    with probability `density`, and then standard normal. White noise of `noise` decibels below
    the signal is added.
    """
    window = np.hanning(size + 2)[1:-1]
    d = rng.standard_normal((n_kernels, size, size)) * np.outer(window, window)
    d /= np.linalg.norm(d, axis=(1, 2), keepdims=True)
    images = np.zeros((n_images, side, side))
    for image in images:
        for kernel in d:
            x = rng.standard_normal(image.shape) * (rng.random(image.shape) < density)
            image += scipy.signal.convolve2d(x, kernel, boundary="wrap", mode="same")
    sigma = np.sqrt(np.mean(images**2)) * 10 ** (-noise / 20)
    return images + sigma * rng.standard_normal(images.shape), d


@pytest.mark.parametrize(("method", "n_images"), [("surrogate", 20), ("sgd", 30)])
def test_95_per_cent_of_planted_kernels_are_found(method, n_images):
    """10 kernels of 7×7 in 20 or 30 images of 64×64, 4 coefficients each in an image, 25 dB.

    A kernel is found if a learned one, shifted and negated as need be, correlates with it by
    0.95 or more. There is some room for shifts and for kernels that settle on the same one:
    15 kernels of 9×9 are learned; twice, from other data and other beginnings.
    """
    found = []
    for seed in range(2):
        images, d = planted(np.random.default_rng(seed), n_images=n_images)
        learner = cd.ConvDictLearner(
            15, (9, 9), penalty=0.05, method=method, n_epochs=12, random_state=seed, repair=True
        )
        learner.fit(images)
        found.extend(cd.dictionary_distance(d, learner.dictionary_).correlations >= 0.95)
    assert np.mean(found) >= 0.95


def test_noise_louder_than_the_signal_does_not_stop_learning():
    """No codes at all would have a small relative gap: the noise is most of the objective."""
    images, d = planted(np.random.default_rng(0), 20, noise=-5.0)
    penalty = 3.5 * images.std()
    learner = cd.ConvDictLearner(15, (9, 9), penalty, n_epochs=12, random_state=0, repair=True)
    learner.fit(images)
    assert np.mean(cd.dictionary_distance(d, learner.dictionary_).correlations >= 0.9) >= 0.6
