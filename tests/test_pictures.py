"""Kernels and codes as pixels: every one where it belongs."""

import io
from base64 import b64decode

import numpy as np
import pytest
from PIL import Image

import convdict as cd
from convdict.pictures import (
    BACKGROUND,
    DEAD,
    by_use,
    data_url,
    fired,
    for_notebook,
    grey,
    mosaic,
    tiles,
)


def pixels(url):
    head, _, body = url.partition(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(b64decode(body))))


def test_kernels_are_stretched_around_grey(rng):
    kernels = rng.standard_normal((3, 4, 5)) * [[[0.1]], [[1]], [[30]]]
    found = tiles(kernels, has_channels=False)
    assert found.shape == (3, 4, 5, 3)
    for picture, kernel in zip(found, kernels, strict=True):
        expected = 0.5 + 0.5 * kernel / np.abs(kernel).max()
        for c in range(3):
            np.testing.assert_allclose(picture[..., c], expected)


def test_kernels_of_other_forms(rng):
    assert tiles(rng.standard_normal((2, 30)), has_channels=False).shape == (2, 40, 80, 3)
    assert tiles(rng.standard_normal((2, 3, 30)), has_channels=True).shape == (2, 40, 80, 3)
    volume = rng.standard_normal((2, 5, 4, 3))
    found = tiles(volume, has_channels=False)
    peak = np.abs(volume[0]).max()
    np.testing.assert_allclose(found[0, ..., 0], 0.5 + 0.5 * volume[0, 2] / peak)
    colour = rng.standard_normal((2, 3, 4, 5))
    found = tiles(colour, has_channels=True)
    peak = np.abs(colour[1]).max()
    np.testing.assert_allclose(found[1], np.moveaxis(0.5 + 0.5 * colour[1] / peak, 0, -1))
    assert tiles(np.zeros((1, 2, 4, 5)), has_channels=True).shape == (1, 4, 5, 3)


def test_a_line_is_drawn_where_its_values_are():
    rise = tiles(np.linspace(-1, 1, 50)[None], has_channels=False)[0]
    dark = np.argwhere(rise[..., 0] < 0.5)
    assert np.corrcoef(dark[:, 1], -dark[:, 0])[0, 1] > 0.99


def test_the_most_used_come_first_and_dead_ones_are_framed(rng):
    kernels = rng.standard_normal((6, 4, 4))
    usage = np.array([5.0, 0.0, 100.0, 7.0, 50.0, 6.0])
    order, dead = by_use(usage, 6)
    np.testing.assert_array_equal(order, [2, 4, 3, 5, 0, 1])
    np.testing.assert_array_equal(np.flatnonzero(dead), [1])
    picture = mosaic(kernels, usage=usage, columns=3)
    assert picture.shape == (12, 18, 3)
    expected = np.rint(255 * tiles(kernels, has_channels=False))
    for place, m in enumerate(order):
        cell = picture[6 * (place // 3) :, 6 * (place % 3) :][:6, :6]
        np.testing.assert_array_equal(cell[1:5, 1:5], expected[m])
        assert tuple(cell[0, 0]) == (DEAD if m == 1 else BACKGROUND)


def test_without_usage_kernels_stay_in_order(rng):
    order, dead = by_use(None, 4)
    np.testing.assert_array_equal(order, range(4))
    assert not dead.any()
    kernels = rng.standard_normal((4, 3, 3))
    np.testing.assert_array_equal(
        mosaic(kernels, columns=4), mosaic(kernels[::-1], order=np.arange(4)[::-1], columns=4)
    )


def test_codes_are_dots_where_kernels_fire():
    kernel, value = np.array([0, 1, 1]), np.array([1.0, -0.25, 0.0625])
    position = np.array([[2, 3], [4, 5], [0, 0]])
    picture = fired(kernel, position, value, (2, 8, 9)).astype(float)
    assert picture.shape == (8, 9, 3)
    assert {tuple(p) for p in np.argwhere(picture.any(axis=-1))} == {(2, 3), (4, 5), (0, 0)}
    assert picture[2, 3].max() == 255
    assert picture[4, 5].max() == pytest.approx(128, abs=1)
    hue = picture[4, 5] / picture[4, 5].max(), picture[0, 0] / picture[0, 0].max()
    np.testing.assert_allclose(*hue, atol=0.03)
    assert np.abs(hue[0] - picture[2, 3] / 255).max() > 0.2, "kernels differ in colour"


def test_codes_of_lines_volumes_and_large_images(rng):
    line = fired(np.array([1]), np.array([[7]]), np.array([2.0]), (3, 20))
    assert line.shape == (3, 20, 3)
    assert line[1, 7].any()
    assert line.any(axis=-1).sum() == 1
    volume = fired(np.array([0]), np.array([[5, 2, 1]]), np.array([2.0]), (3, 9, 4, 4))
    assert volume[2, 1].any()
    large = fired(np.array([0]), np.array([[2999, 10]]), np.array([2.0]), (3, 3000, 100))
    assert max(large.shape) <= 720
    assert large.any(axis=-1).sum() == 1
    assert not fired(np.empty(0, int), np.empty((0, 2), int), np.empty(0), (3, 4, 5)).any()


def test_pictures_inside_links(rng):
    picture = rng.integers(0, 256, (5, 7, 3), dtype=np.uint8)
    np.testing.assert_array_equal(pixels(data_url(picture)), picture)
    enlarged = pixels(data_url(picture, least=20))
    assert enlarged.shape == (15, 21, 3)
    np.testing.assert_array_equal(enlarged[::3, ::3], picture)
    np.testing.assert_array_equal(grey(np.array([-1.0, 0, 0.5, 1, 2]), 0, 1), [0, 0, 128, 255, 255])
    assert "&lt;b&gt;" in for_notebook(picture, "<b>")


def test_a_notebook_shows_codes(rng):
    codes = cd.sparse_code(rng.standard_normal((20, 20)), rng.standard_normal((2, 4, 4)), 1.0)
    html = codes._repr_html_()
    assert "2 kernels on 20×20 positions" in html
    shown = pixels(html.split('src="')[1].split('"')[0])
    assert shown.any() == (codes.nnz > 0)
