"""The demo prints what it promises and draws its picture."""

from __future__ import annotations

import numpy as np
from skimage.io import imread

from convdict import demo


def test_demo_prints_figures_and_draws_a_picture(tmp_path, capsys):
    assert demo.main(["--out", str(tmp_path), "--tol", "0.05"]) == 0
    text = capsys.readouterr().out
    for word in ("objective", "gap", "density", "time", "demo.png"):
        assert word in text
    picture = imread(tmp_path / "demo.png")
    assert picture.shape[0] > 300
    assert picture.std() > 10


def test_waves_are_normalised_different_and_without_brightness():
    kernels = demo.oriented_waves().reshape(64, -1).astype(float)
    np.testing.assert_allclose(np.linalg.norm(kernels, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(kernels.sum(axis=1), 0, atol=1e-5)
    correlations = np.abs(kernels @ kernels.T) - np.eye(64)
    assert correlations.max() < 0.99


def test_mosaic_holds_every_kernel_once():
    kernels = np.arange(1.0, 8)[:, None, None] * np.ones((7, 3, 2))
    picture = demo.mosaic(kernels, columns=4)
    assert picture.shape == (9, 13)
    assert np.count_nonzero(picture == 1) == 7 * 6
