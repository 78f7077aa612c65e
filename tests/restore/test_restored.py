"""Restoration makes images better, and leaves type, range and what was seen as they are."""

import numpy as np
import pytest
from PIL import Image
from skimage import data

import convdict as cd
from convdict.errors import InputError
from convdict.restore import restored
from convdict.restore.photographs import NAMES, default_dictionary, photographs
from convdict.signals.steps import Contrast, Lowpass, Scale


def psnr(image, truth, peak=1.0):
    error = np.asarray(image, np.float64) - np.asarray(truth, np.float64)
    return 10 * np.log10(peak**2 / np.mean(error**2))


@pytest.fixture(scope="module")
def moon():
    return np.ascontiguousarray(data.moon()[150:310, 180:340] / np.float32(255))


@pytest.fixture(scope="module")
def street():
    """Not among the photographs that the dictionary was learned from."""
    return np.ascontiguousarray(data.stereo_motorcycle()[0][180:340, 280:440])


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(3)


def test_noise_goes(street, noise):
    truth = street.mean(axis=2).astype(np.float32) / 255
    noisy = truth + np.float32(0.1) * noise.standard_normal(truth.shape).astype(np.float32)
    clean = cd.denoise(noisy, sigma=0.1)
    assert psnr(clean, truth) > psnr(noisy, truth) + 5
    estimated = cd.denoise(noisy)
    assert psnr(estimated, truth) > psnr(clean, truth) - 0.3
    assert clean.dtype == np.float32
    assert clean.shape == truth.shape
    assert noisy.min() <= clean.min()
    assert clean.max() <= noisy.max()


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float64"])
def test_every_type_of_image_comes_back_as_it_is(street, noise, dtype):
    peak = {"uint8": 255, "uint16": 65535, "int16": 32767, "float64": 1.0}[dtype]
    truth = street.mean(axis=2) / 255 * peak
    noisy = truth + 0.1 * peak * noise.standard_normal(truth.shape)
    if dtype != "float64":
        noisy = np.clip(np.rint(noisy), 0, peak)
    clean = cd.denoise(noisy.astype(dtype), sigma=0.1 * peak)
    assert clean.dtype == dtype
    assert psnr(clean, truth, peak) > psnr(noisy, truth, peak) + 5


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_colour_wherever_its_axis_is(street, noise, axis):
    truth = street / np.float32(255)
    noisy = truth + np.float32(0.1) * noise.standard_normal(truth.shape).astype(np.float32)
    moved = np.moveaxis(noisy, -1, axis)
    clean = np.moveaxis(cd.denoise(moved, sigma=0.1, channel_axis=axis), axis, -1)
    alone = [cd.denoise(np.ascontiguousarray(noisy[..., c]), sigma=0.1) for c in range(3)]
    assert psnr(clean, truth) > psnr(noisy, truth) + 6
    assert psnr(clean, truth) > psnr(np.stack(alone, -1), truth), "channels help one another"


def test_a_dictionary_with_channels(street, noise):
    truth = street / np.float32(255)
    noisy = truth + np.float32(0.1) * noise.standard_normal(truth.shape).astype(np.float32)
    grey = default_dictionary()
    kernels = np.repeat(grey.kernels[:, None] / np.sqrt(3), 3, axis=1)
    d = cd.Dictionary(kernels, grey.penalty, channel_axis=-1, steps=grey.steps)
    clean = cd.denoise(noisy, d, sigma=0.1, channel_axis=-1)
    assert psnr(clean, truth) > psnr(noisy, truth) + 3


def test_holes_are_filled_and_the_rest_stays(moon, noise):
    seen = noise.random(moon.shape) >= 0.5
    whole = cd.inpaint(np.where(seen, moon, 0.9), seen)
    np.testing.assert_array_equal(whole[seen], moon[seen])
    mean = np.where(seen, moon, moon[seen].mean())
    assert psnr(whole, moon) > psnr(mean, moon) + 10
    missing = np.where(seen, moon, np.float32(np.nan))
    np.testing.assert_array_equal(cd.inpaint(missing), whole)
    masked = np.ma.masked_array(moon, ~seen)
    np.testing.assert_array_equal(cd.inpaint(masked), whole)


def test_missing_samples_are_not_black(street, noise):
    """In colour, too, NaN is where nothing was seen."""
    truth = street / np.float32(255)
    noisy = truth + np.float32(0.05) * noise.standard_normal(truth.shape).astype(np.float32)
    noisy[40:44, 50:53] = np.nan
    clean = cd.denoise(noisy, sigma=0.05, channel_axis=-1)
    assert np.abs(clean[38:46, 48:55] - truth[38:46, 48:55]).mean() < 0.12
    assert np.isfinite(clean).all()


def test_what_is_hidden_does_not_count(moon, noise):
    """Not for the range, and not for the contrast."""
    seen = noise.random(moon.shape) >= 0.3
    usual = cd.inpaint(np.where(seen, moon, 0.5), seen)
    marked = cd.inpaint(np.where(seen, moon, np.float32(-999)), seen)
    np.testing.assert_array_equal(marked, usual)
    scaled = cd.inpaint(255 * np.where(seen, moon, 0.5), seen)
    np.testing.assert_allclose(scaled / 255, usual, atol=0.02)


def test_holes_in_colour_and_in_bytes(street, noise):
    seen = noise.random(street.shape[:2]) >= 0.5
    holes = np.where(seen[..., None], street, 0)
    whole = cd.inpaint(holes, seen, channel_axis=-1)
    assert whole.dtype == np.uint8
    np.testing.assert_array_equal(whole[seen], street[seen])
    assert psnr(whole, street, 255) > psnr(holes, street, 255) + 12
    each = noise.random(street.shape) >= 0.5
    apart = cd.inpaint(np.where(each, street, 0), each, channel_axis=-1)
    np.testing.assert_array_equal(apart[each], street[each])
    alone = [cd.inpaint(np.where(each, street, 0)[..., c], each[..., c]) for c in range(3)]
    assert psnr(apart, street, 255) > psnr(np.stack(alone, -1), street, 255) + 1, "all see more"


def test_colours_together_are_colours_one_by_one(street):
    """Where all channels of a pixel are seen or none, both ways to code colours are one."""
    image = np.ascontiguousarray(street[:60, :60] / np.float32(255))
    d = default_dictionary()
    mixing = restored._opponents(3)
    np.testing.assert_allclose(mixing @ mixing.T, np.eye(3), atol=1e-12)
    ready = [Scale()]
    flat = cd.Dictionary(d.kernels, d.penalty, steps=ready)
    one_by_one = cd.denoise(image, flat, penalty=0.1, sigma=0.04, channel_axis=-1, tol=1e-5)
    together = restored._in_colours(d.kernels, mixing)
    joint = cd.Dictionary(together, np.full(192, 0.1), channel_axis=-1, steps=ready)
    all_at_once = cd.denoise(image, joint, penalty=0.1, sigma=0.04, channel_axis=-1, tol=1e-5)
    np.testing.assert_allclose(one_by_one, all_at_once, atol=5e-3)


def test_noise_and_holes_together(moon, noise):
    seen = noise.random(moon.shape) >= 0.3
    noisy = moon + np.float32(0.08) * noise.standard_normal(moon.shape).astype(np.float32)
    kept = cd.inpaint(noisy, seen)
    np.testing.assert_array_equal(kept[seen], noisy[seen])
    for sigma in (0.08, None):
        better = cd.inpaint(noisy, seen, sigma=sigma)
        assert psnr(better, moon) > psnr(kept, moon) + 3


def test_salt_and_pepper_goes(street, noise):
    truth = np.rint(street.mean(axis=2)).astype(np.uint8)
    ruined = noise.random(truth.shape) < 0.1
    spoilt = np.where(ruined, 255 * (noise.random(truth.shape) < 0.5), truth).astype(np.uint8)
    for told in ("detect", ruined):
        clean = cd.denoise(spoilt, impulse=told)
        assert clean.dtype == np.uint8
        assert psnr(clean, truth, 255) > psnr(spoilt, truth, 255) + 10


def test_edges_are_no_worse_than_the_middle(moon, noise):
    noisy = moon + np.float32(0.1) * noise.standard_normal(moon.shape).astype(np.float32)
    error = (cd.denoise(noisy, sigma=0.1) - moon) ** 2
    edge = np.ones(moon.shape, bool)
    edge[8:-8, 8:-8] = False
    assert error[edge].mean() < 2 * error[~edge].mean()


def test_units_do_not_matter(moon, noise):
    noisy = (moon + 0.1 * noise.standard_normal(moon.shape)).astype(np.float64)
    d = default_dictionary()
    scaled = cd.Dictionary(d.kernels, d.penalty, steps=(Scale(1 / 40), *d.steps[1:]))
    np.testing.assert_allclose(
        cd.denoise(40 * noisy, scaled, sigma=4.0), 40 * cd.denoise(noisy, d, sigma=0.1), atol=0.05
    )


@pytest.mark.parametrize(
    "steps", [(Scale(), Lowpass(20.0)), (Scale(), Lowpass(), Contrast(16.0, 0.1))]
)
def test_what_was_done_before_learning_is_done_and_undone(moon, noise, steps):
    noisy = moon + np.float32(0.1) * noise.standard_normal(moon.shape).astype(np.float32)
    d = default_dictionary()
    clean = cd.denoise(noisy, cd.Dictionary(d.kernels, d.penalty, steps=steps), sigma=0.1)
    assert psnr(clean, moon) > psnr(noisy, moon) + 2


def test_lines(noise):
    t = np.arange(600)
    truth = np.sin(t / 9) * (np.sin(t / 70) > 0)
    noisy = truth + 0.2 * noise.standard_normal(600)
    learner = cd.ConvDictLearner(8, 40, 0.3, random_state=0, n_epochs=3, split=None)
    clean = cd.denoise(noisy, learner.fit([truth]), sigma=0.2)
    assert psnr(clean, truth) > psnr(noisy, truth) + 1.5
    with pytest.raises(InputError, match="1 axes of space: the dictionary that comes with"):
        cd.denoise(noisy)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: cd.denoise(s, sigma=-1), "sigma is -1"),
        (lambda s: cd.denoise(s, sigma=np.nan), "sigma is nan"),
        (lambda s: cd.denoise(s, impulse="find"), "impulse is 'find'"),
        (lambda s: cd.denoise(s, impulse=np.ones((3, 3))), "mask has shape"),
        (lambda s: cd.denoise(s.astype(complex)), "give real numbers"),
        (lambda s: cd.denoise(s[:0]), "give real numbers"),
        (lambda s: cd.denoise(s, np.ones((2, 9))), "the dictionary's kernels have 1|dictionary"),
        (lambda s: cd.inpaint(s, np.zeros(s.shape)), "hides everything"),
        (lambda s: cd.inpaint(np.full_like(s, np.nan)), "hides everything"),
        (lambda s: cd.inpaint(s, np.ones((3, 3))), "mask has shape"),
        (lambda s: cd.denoise(s, "nowhere.npz"), "nowhere"),
    ],
)
def test_bad_input_is_refused(moon, call, message):
    with pytest.raises((InputError, OSError), match=message):
        call(moon)


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (3, 200), (13, 13)])
def test_small_images(shape, noise):
    image = noise.random(shape)
    for result in (cd.denoise(image), cd.denoise(image, sigma=0.1), cd.inpaint(image)):
        assert result.shape == shape
        assert np.isfinite(result).all()


def test_constant_images_stay():
    image = np.full((40, 40), 130, np.uint8)
    np.testing.assert_array_equal(cd.denoise(image), image)
    np.testing.assert_array_equal(cd.inpaint(image, np.eye(40) > 0), image)


def test_the_default_dictionary_says_where_it_comes_from():
    d = default_dictionary()
    assert all(name in d.about["source"] for name in NAMES)
    assert d.about["command"] == "python -m convdict.restore.photographs"
    assert d.kernels.shape == (64, 12, 12)
    np.testing.assert_allclose(np.linalg.norm(d.kernels.reshape(64, -1), axis=1), 1, rtol=1e-5)


def test_the_default_dictionary_is_one_of_these_photographs():
    """Its functional value there is far below that of noise, and of kernels out of order."""
    photo = photographs()[4][:128, :128]
    d = default_dictionary()
    rng = np.random.default_rng(0)
    mixed = rng.permuted(d.kernels.reshape(64, -1), axis=1).reshape(d.kernels.shape)
    learned, other = (cd.sparse_code(photo, k, 0.1).objective for k in (d.kernels, mixed))
    assert learned < 0.6 * other


def test_paths_to_images_are_not_images(tmp_path):
    Image.new("L", (20, 20)).save(tmp_path / "a.png")
    with pytest.raises(InputError, match="give real numbers"):
        cd.denoise(str(tmp_path / "a.png"))


@pytest.mark.parametrize("told", [{"sigma": 0.1}, {}, {"penalty": 0.3}])
@pytest.mark.parametrize("colour", [False, True])
def test_the_share_of_the_work_goes_from_none_to_all(street, told, colour):
    image = street[:64, :64] / np.float32(255)
    image = image if colour else image[..., 0]
    shares = []
    cd.denoise(image, **told, channel_axis=-1 if colour else None, callback=shares.append)
    assert shares == sorted(shares)
    assert shares[0] <= 1
    assert shares[-1] == pytest.approx(1)
    with pytest.raises(InputError, match="callback is 3"):
        cd.denoise(image, **told, channel_axis=-1 if colour else None, callback=3)


def test_nothing_wrong_nothing_changed(street):
    """Without noise and without holes there is nothing to restore."""
    for image in (street, street[..., 0] / np.float32(255)):
        axis = -1 if image.ndim == 3 else None
        for found in (
            cd.denoise(image, sigma=0, channel_axis=axis),
            cd.inpaint(image, channel_axis=axis),
        ):
            np.testing.assert_array_equal(found, image)
            assert found is not image
