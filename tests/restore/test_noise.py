"""How much noise there is, and which samples it has ruined."""

import numpy as np
import pytest
from skimage import data

from convdict.restore.noise import impulses, noise_level


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("name", ["camera", "coins", "brick"])
def test_the_noise_of_photographs(name, sigma, rng):
    image = getattr(data, name)() / 255
    own = noise_level(image)
    found = noise_level(image + sigma * rng.standard_normal(image.shape))
    assert found == pytest.approx(np.hypot(sigma, own), rel=0.15)


@pytest.mark.parametrize("shape", [(4000,), (80, 60), (20, 20, 20), (4000, 1), (2, 500)])
def test_pure_noise_of_any_shape(shape, rng):
    assert noise_level(0.7 * rng.standard_normal(shape)) == pytest.approx(0.7, rel=0.12)


def test_hidden_samples_are_not_looked_at(rng):
    image = 0.1 * rng.standard_normal((200, 200))
    seen = rng.random(image.shape) < 0.8
    spoilt = np.where(seen, image, np.nan)
    assert noise_level(spoilt) == pytest.approx(0.1, rel=0.1)
    assert noise_level(np.where(seen, image, 1e3), seen) == pytest.approx(0.1, rel=0.1)
    assert noise_level(image, np.zeros(image.shape)) == 0
    assert noise_level(np.ones((9, 9))) == 0


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_salt_and_pepper_is_found(share, rng):
    image = data.camera()
    ruined = rng.random(image.shape) < share
    spoilt = np.where(ruined, 255 * (rng.random(image.shape) < 0.5), image).astype(np.uint8)
    ruined &= spoilt != image
    found = impulses(spoilt)
    assert (found & ruined).sum() > 0.85 * ruined.sum()
    assert (found & ~ruined).sum() < 0.02 * ruined.size


def test_nothing_is_found_in_a_clean_photograph():
    assert impulses(data.coins()).mean() < 2e-3
