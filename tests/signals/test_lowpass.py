import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from convdict.errors import ConvergenceWarning, ConversionWarning, InputError
from convdict.signals import tikhonov
from convdict.signals.lowpass import lowpass_split, lowpass_split_tv
from tests.oracles.differences import dense_gradient

BOTH = pytest.mark.parametrize("split", [lowpass_split, lowpass_split_tv])

grids = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)
strengths = st.floats(1e-3, 1e3)
seeds = st.integers(0, 2**32 - 1)
steady = settings(deadline=None, derandomize=True, max_examples=40)


def normal_equations(image, mask, strength):
    """low from (W² + μ∇ᵀ∇) low = W² image, solved densely."""
    g = dense_gradient(image.shape)
    w2 = (mask**2).ravel()
    low = np.linalg.solve(np.diag(w2) + strength * g.T @ g, w2 * image.ravel())
    return low.reshape(image.shape)


# --- against oracles ---------------------------------------------------------------------


@steady
@given(grids, strengths, seeds)
def test_low_solves_the_normal_equations(grid, strength, seed):
    image = np.random.default_rng(seed).standard_normal(grid)
    low, high = lowpass_split(image, strength)
    np.testing.assert_allclose(low, normal_equations(image, np.ones(grid), strength), atol=1e-9)
    np.testing.assert_array_equal(high, image - low)


@steady
@given(grids, strengths, seeds, st.booleans())
def test_low_solves_the_normal_equations_with_a_mask(grid, strength, seed, weighted):
    rng = np.random.default_rng(seed)
    image = rng.standard_normal(grid)
    mask = (rng.random(grid) < 0.6) * (rng.uniform(0.1, 3.0, grid) if weighted else 1.0)
    mask.flat[0] = 1.0
    low, _ = lowpass_split(image, strength, mask=mask)
    np.testing.assert_allclose(low, normal_equations(image, mask, strength), atol=1e-7)


@pytest.mark.parametrize("masked", [False, True])
def test_low_is_the_minimum(masked, rng):
    image = rng.standard_normal((9, 11))
    mask = (rng.random(image.shape) < 0.5) * 1.0 if masked else np.ones(image.shape)
    low, _ = lowpass_split(image, 2.0, mask=mask)

    def objective(u):
        smoothness = sum((np.diff(u, axis=i) ** 2).sum() for i in (0, 1))
        return 0.5 * ((mask * (u - image)) ** 2).sum() + smoothness

    for _ in range(10):
        direction = rng.standard_normal(image.shape)
        slope = (objective(low + direction) - objective(low - direction)) / 2.0
        assert abs(slope) < 1e-7
        assert objective(low + 1e-3 * direction) > objective(low)


def test_low_is_that_of_a_periodic_filter_on_a_padded_image(rng):
    image = rng.random((40, 50))
    pad = 16
    padded = np.pad(image, pad, "symmetric")
    waves = [4.0 * np.sin(np.pi * np.fft.fftfreq(n)) ** 2 for n in padded.shape]
    response = 1.0 / (1.0 + 5.0 * np.add.outer(*waves))
    expected = np.fft.ifft2(response * np.fft.fft2(padded)).real[pad:-pad, pad:-pad]
    low, _ = lowpass_split(image)
    np.testing.assert_allclose(low, expected, atol=1e-3)
    np.testing.assert_allclose(low[8:-8, 8:-8], expected[8:-8, 8:-8], atol=1e-5)


# --- what holds for both splits ----------------------------------------------------------


@BOTH
@pytest.mark.parametrize("value", [0.0, 0.1, -7.0])
@pytest.mark.parametrize("masked", [False, True])
def test_a_constant_image_is_all_low(split, value, masked, rng):
    image = np.full((6, 7), value)
    mask = rng.random(image.shape) < 0.5 if masked else None
    low, high = split(image, mask=mask)
    np.testing.assert_allclose(low, image, atol=1e-12)
    np.testing.assert_allclose(high, 0.0, atol=1e-12)


@BOTH
def test_all_ones_mask_is_none(split, rng):
    image = rng.random((12, 9))
    for mask in (np.ones(image.shape), np.ones(image.shape, bool), np.ones(image.shape, int)):
        for with_mask, without in zip(split(image, mask=mask), split(image), strict=True):
            np.testing.assert_array_equal(with_mask, without)


@BOTH
def test_hidden_values_do_not_matter(split, rng):
    image, mask = rng.random((12, 9)), rng.random((12, 9)) < 0.7
    other = np.where(mask, image, 1e6 * rng.standard_normal(image.shape))
    np.testing.assert_array_equal(split(image, mask=mask)[0], split(other, mask=mask)[0])


@BOTH
def test_nan_is_hidden_and_stays_nan_in_high(split, rng):
    image, mask = rng.random((12, 9)), rng.random((12, 9)) < 0.7
    low, high = split(np.where(mask, image, np.nan))
    np.testing.assert_array_equal(low, split(image, mask=mask)[0])
    np.testing.assert_array_equal(np.isnan(high), ~mask)


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_masked_arrays_are_nan_where_masked(split, dtype, rng):
    image, mask = rng.random((12, 9)).astype(dtype), rng.random((12, 9)) < 0.7
    masked = split(np.ma.array(np.where(mask, image, np.inf), mask=~mask))
    for one, other in zip(masked, split(np.where(mask, image, dtype(np.nan))), strict=True):
        assert type(one) is np.ndarray
        np.testing.assert_array_equal(one, other)


@BOTH
def test_a_mask_and_nan_hide_together(split, rng):
    image, mask = rng.random((12, 9)), rng.random((12, 9)) < 0.8
    holed = image.copy()
    holed[2:4, 3:5] = np.nan
    low, _ = split(holed, mask=mask)
    np.testing.assert_array_equal(low, split(image, mask=mask & ~np.isnan(holed))[0])


@BOTH
def test_a_weight_is_squared(split, rng):
    image = rng.random((8, 9))
    mask = np.where(rng.random(image.shape) < 0.7, 2.0, 0.0)
    args = {"tol": 1e-8} if split is lowpass_split_tv else {}
    twice, _ = split(image, 4.0, mask=mask, **args)
    once, _ = split(image, 1.0, mask=mask / 2.0, **args)
    np.testing.assert_allclose(twice, once, atol=1e-4)


@BOTH
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("masking", ["none", "image", "grid"])
def test_channels_are_split_one_by_one(split, axis, masking, rng):
    channels = rng.random((3, 10, 8))
    masks = rng.random(channels.shape) < 0.7
    if masking == "grid":
        masks[:] = masks[0]
    image = np.moveaxis(channels, 0, axis)
    mask = {"none": None, "image": np.moveaxis(masks, 0, axis), "grid": masks[0]}[masking]
    together = split(image, mask=mask, channel_axis=axis)
    for c in range(3):
        alone = split(channels[c], mask=None if mask is None else masks[c])
        for whole, part in zip(together, alone, strict=True):
            assert whole.shape == image.shape
            np.testing.assert_array_equal(np.moveaxis(whole, axis, 0)[c], part)


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("masked", [False, True])
def test_precision_and_inputs_are_kept(split, dtype, masked, rng):
    image = rng.random((12, 9)).astype(dtype)
    mask = rng.random((12, 9)) < 0.7 if masked else None
    image.flags.writeable = False
    before = image.copy()
    low, high = split(image, mask=mask)
    assert low.dtype == high.dtype == dtype
    assert low.flags.writeable
    assert not np.shares_memory(low, image)
    np.testing.assert_array_equal(image, before)
    np.testing.assert_allclose(low, split(before.astype(np.float64), mask=mask)[0], atol=1e-6)


@BOTH
def test_layout_in_memory_does_not_matter(split, rng):
    image = rng.random((12, 9))
    low, _ = split(image)
    wide = np.zeros((24, 9))
    wide[::2] = image
    for same in (np.asfortranarray(image), wide[::2], image.astype(">f8"), image.tolist()):
        np.testing.assert_array_equal(split(same)[0], low)


@BOTH
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16])
def test_other_numbers_become_float32_and_say_so(split, dtype, rng):
    image = (rng.random((6, 7)) * 200).astype(dtype)
    with pytest.warns(ConversionWarning, match="values are not rescaled"):
        low, _ = split(image)
    assert low.dtype == np.float32
    np.testing.assert_array_equal(low, split(image.astype(np.float32))[0])


@BOTH
def test_strength_zero_leaves_nothing_in_high(split, rng):
    image = rng.random((6, 7))
    low, high = split(image, 0.0, mask=rng.uniform(0.5, 2.0, image.shape))
    np.testing.assert_array_equal(low, image)
    np.testing.assert_array_equal(high, 0.0)
    assert not np.shares_memory(low, image)
    with pytest.raises(InputError, match="strength is 0 but pixels are hidden"):
        split(image, 0.0, mask=image > 0.5)


@BOTH
def test_a_large_strength_leaves_the_mean(split, rng):
    image, mask = rng.random((6, 7)), rng.random((6, 7))
    low, _ = split(image, 1e9, mask=mask)
    np.testing.assert_allclose(low, np.average(image, weights=mask**2), atol=1e-6)


# --- what only the linear split has ------------------------------------------------------


@steady
@given(seeds, st.floats(-5, 5), strengths)
def test_the_split_is_linear(seed, factor, strength):
    a, b = np.random.default_rng(seed).standard_normal((2, 5, 6))
    expected = lowpass_split(a, strength)[0] + factor * lowpass_split(b, strength)[0]
    np.testing.assert_allclose(lowpass_split(a + factor * b, strength)[0], expected, atol=1e-12)


def test_the_mean_stays_low(rng):
    image = rng.random((13, 8))
    low, high = lowpass_split(image)
    assert low.mean() == pytest.approx(image.mean())
    assert high.mean() == pytest.approx(0.0, abs=1e-15)


def test_a_ramp_goes_on_across_a_gap():
    ramp = np.arange(30.0)
    mask = np.ones(30)
    mask[10:20] = 0.0
    low, _ = lowpass_split(ramp, 0.01, mask=mask)
    np.testing.assert_allclose(np.diff(low[9:21]), np.diff(low[9:21]).mean(), atol=1e-8)
    np.testing.assert_allclose(low[9:21], ramp[9:21], atol=0.05)


def test_conjugate_gradients_that_stop_early_warn(rng, monkeypatch):
    def impatient(s, w2, strength, *, tol, max_iter):
        return whole(s, w2, strength, tol=tol, max_iter=2)

    whole = tikhonov.smooth_masked
    monkeypatch.setattr(tikhonov, "smooth_masked", impatient)
    with pytest.warns(ConvergenceWarning, match="stopped at a relative residual of"):
        lowpass_split(rng.random((20, 20)), mask=rng.random((20, 20)) < 0.3)


# --- what cannot be used -----------------------------------------------------------------

GOOD = np.ones((4, 5))


@BOTH
@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        (np.ones(()), "leaves 0 axes of space: give 1 to 3"),
        (np.ones((2, 2, 2, 2)), "leaves 4 axes of space: give 1 to 3"),
        (np.ones((0, 5)), "so it is empty: give at least one pixel"),
        (GOOD.astype(complex), "dtype complex128: give real numbers"),
        (GOOD.astype(object), "dtype object: give real numbers"),
        ("image.png", "give real numbers"),
        ([[1.0, 2.0], [3.0]], "image is not an array"),
        (np.where(np.eye(4), np.inf, 1.0), "holds infinities: mark missing pixels with NaN"),
        (np.full((4, 5), np.nan), "every pixel is hidden or NaN"),
    ],
)
def test_unusable_images(split, image, sentence):
    with pytest.raises(InputError, match=sentence):
        split(image)


@BOTH
@pytest.mark.parametrize("strength", [-1.0, np.nan, np.inf, "5", None, True, np.ones(2), 1j])
def test_unusable_strengths(split, strength):
    with pytest.raises(InputError, match=r"strength is .*: give a finite number, zero or more"):
        split(GOOD, strength)


@BOTH
@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        (np.ones((5, 4)), r"mask has shape \(5, 4\) but image has shape \(4, 5\)"),
        (np.ones(5), "give one value per pixel$"),
        (1.0, "give one value per pixel$"),
        (np.zeros((4, 5)), "every pixel is hidden or NaN: leave at least one"),
        (-GOOD, "holds the weight -1.0: 0 hides a pixel, 1 shows it"),
        (GOOD * np.nan, "holds the weight nan"),
        (GOOD * np.inf, "holds the weight inf"),
        (GOOD * 1e200, "holds the weight 1e[+]200"),
        (GOOD * 1e-200, "holds the weight 1e-200"),
        (GOOD * 1j, "mask is of dtype complex128"),
    ],
)
def test_unusable_masks(split, mask, sentence):
    with pytest.raises(InputError, match=sentence):
        split(GOOD, mask=mask)


@BOTH
def test_unusable_channels(split):
    image = np.ones((4, 5, 3))
    for axis in (3, -4, 0.5, "last"):
        with pytest.raises(InputError, match=r"channel_axis is .* but image has 3 axes"):
            split(image, channel_axis=axis)
    with pytest.raises(InputError, match=r", in shape \(4, 5\) for all channels alike"):
        split(image, mask=np.ones((5, 4)), channel_axis=-1)
    with pytest.raises(InputError, match="every pixel of channel 1 is hidden"):
        split(image, mask=image * [1.0, 0.0, 1.0], channel_axis=-1)
    with pytest.raises(InputError, match="leaves 0 axes of space"):
        split(np.ones(4), channel_axis=0)
