"""Penalties that suit every place and every kernel: equations, symmetries, and what they gain."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from skimage import data

import convdict as cd
from convdict.restore.adapted import (
    FAIR,
    FAIREST,
    LEAST,
    MOST,
    PER_SIGMA,
    ROOT,
    fair_shares,
    local_weights,
    n_codings,
    turns,
)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(5)


def psnr(image, truth):
    return -10 * np.log10(np.mean((np.asarray(image, float) - truth) ** 2))


@pytest.fixture(scope="module")
def street():
    """Walls and spokes, not among the photographs that the dictionary was learned from."""
    return data.stereo_motorcycle()[0][180:340, 280:440].mean(axis=2).astype(np.float32) / 255


def test_weights_stand_for_penalties(rng):
    """c·σ / W² is λ = ROOT·σ·√(σ/τ), within its limits."""
    s = rng.standard_normal((40, 50)) * np.linspace(0.01, 2, 50)
    sigma = 0.1
    w = local_weights(s, None, sigma, [3, 3], None)
    tau = np.sqrt(np.maximum(gaussian_filter(s * s, 3) - sigma**2, 1e-6 * sigma**2))
    lmbda = np.clip(ROOT * sigma * np.sqrt(sigma / tau), LEAST * sigma, MOST * sigma)
    np.testing.assert_allclose(PER_SIGMA * sigma / w**2, lmbda, rtol=1e-9)
    assert lmbda.min() < 1.1 * LEAST * sigma
    assert lmbda.max() == pytest.approx(MOST * sigma)


def test_what_is_hidden_has_no_say(rng):
    s = rng.standard_normal((3, 30, 40)).astype(np.float32)
    seen = (rng.random(s.shape) > 0.3).astype(np.float32)
    told = {"sigma": 0.2, "size": [2, 2], "channel_axis": 0}
    usual = local_weights(s, seen, **told)
    other = local_weights(np.where(seen > 0, s, 99).astype(np.float32), seen, **told)
    np.testing.assert_array_equal(usual, other)
    np.testing.assert_array_equal(usual == 0, seen == 0)


def test_kernels_with_large_coefficients_are_penalised_less(rng):
    d = rng.standard_normal((3, 4, 4))
    d /= np.linalg.norm(d, axis=(1, 2), keepdims=True)
    x = np.zeros((3, 30, 30))
    x[0, 3::9, 3::9], x[1, 7::9, 7::9] = 4.0, 1.0  # the third is never used
    s = cd.reconstruct(_codes(x, d), d)
    found = fair_shares(cd.sparse_code(s, d, 1e-3, tol=1e-5))
    assert found[0] < 1 < found[1]
    assert found[1] / found[0] == pytest.approx(4**FAIR, rel=0.02)
    assert found[2] == FAIREST


def _codes(x, d):
    """Codes that hold these maps, whatever they explain."""
    from dataclasses import replace

    from convdict.model.problem import Triplets

    some = cd.sparse_code(np.zeros(x.shape[1:]), d, 1.0)
    return type(some).of(Triplets.from_dense(x), len(d), x.shape[1:], replace(some.signal))


def test_without_codes_all_kernels_are_alike(rng):
    d = rng.standard_normal((5, 4, 4))
    np.testing.assert_array_equal(fair_shares(cd.sparse_code(np.zeros((20, 20)), d, 1.0)), 1.0)


def test_turned_kernels(rng):
    d = rng.standard_normal((5, 3, 6, 4))
    mirrored, upside_down, both = turns(d, 2)
    np.testing.assert_array_equal(mirrored, d[..., ::-1])
    np.testing.assert_array_equal(upside_down, d[:, :, ::-1])
    np.testing.assert_array_equal(both, d[:, :, ::-1, ::-1])
    assert turns(d[:, 0, 0], 1) == []
    assert [n_codings(n, True) for n in (1, 2, 3)] == [2, 5, 5]
    assert n_codings(2, False) == 1


def test_the_image_turned_is_restored_the_same(street, rng):
    """With all four turns of the kernels no direction is special: a mirrored image, mirrored."""
    noisy = street + np.float32(0.1) * rng.standard_normal(street.shape).astype(np.float32)
    clean = cd.denoise(noisy, sigma=0.1, tol=1e-3)
    mirrored = cd.denoise(np.ascontiguousarray(noisy[:, ::-1]), sigma=0.1, tol=1e-3)[:, ::-1]
    assert np.sqrt(np.mean((clean - mirrored) ** 2)) < 0.1 * np.sqrt(np.mean((clean - street) ** 2))


@pytest.mark.parametrize(("sigma", "gain"), [(0.02, 1.0), (0.05, 0.5), (0.1, 0.2)])
def test_it_is_better_than_one_penalty_for_all(street, rng, sigma, gain):
    noise = rng.standard_normal(street.shape).astype(np.float32)
    noisy = street + np.float32(sigma) * noise
    plain = cd.denoise(noisy, penalty=PER_SIGMA * sigma)
    assert psnr(cd.denoise(noisy, sigma=sigma), street) > psnr(plain, street) + gain


def test_sounds_are_restored_in_their_own_direction(rng):
    t = np.arange(2000)
    click = np.exp(-np.arange(40) / 8.0) * np.sin(np.arange(40) / 2)
    x = np.zeros(2000)
    x[100::173] = 1.0
    truth = np.convolve(x, click)[: len(t)]
    d = (click / np.linalg.norm(click))[None]
    noisy = truth + 0.05 * rng.standard_normal(len(t))
    clean = cd.denoise(noisy, cd.Dictionary(d, 0.1), sigma=0.05)
    assert psnr(clean, truth) > psnr(noisy, truth) + 8


def test_one_coding_where_time_counts(street, rng):
    """Large images are coded once by default, and any if that is wished."""
    noisy = street + np.float32(0.1) * rng.standard_normal(street.shape).astype(np.float32)
    shares = []
    fast = cd.denoise(noisy, sigma=0.1, thorough=False, callback=shares.append)
    slow = cd.denoise(noisy, sigma=0.1, thorough=True)
    plain = cd.denoise(noisy, penalty=PER_SIGMA * 0.1)
    assert psnr(plain, street) < psnr(fast, street) < psnr(slow, street)
    assert len(set(shares)) > 3, "it tells how far the coding is"
