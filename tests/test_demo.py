"""The demo prints what it promises and draws its picture."""

from __future__ import annotations

import numpy as np
from skimage.io import imread

from convdict import demo


def test_demo_prints_figures_and_draws_a_picture(tmp_path, capsys):
    assert demo.main(["--out", str(tmp_path), "--tol", "0.05"]) == 0
    text = capsys.readouterr().out
    for word in ("step", "objective", "gap", "density", "time", "demo.png"):
        assert word in text
    picture = imread(tmp_path / "demo.png")
    assert picture.shape[0] > 300
    assert picture.std() > 10


def test_mosaic_holds_every_kernel_once():
    kernels = np.arange(1.0, 8)[:, None, None] * np.ones((7, 3, 2))
    picture = demo.mosaic(kernels, columns=4)
    assert picture.shape == (9, 13)
    assert np.count_nonzero(picture == 1) == 7 * 6
