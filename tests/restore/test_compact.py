"""An image in few bytes: restored as it was measured, and damage is refused."""

import numpy as np
import pytest
from skimage import data

import convdict as cd
from convdict.errors import FileFormatError, InputError
from convdict.restore.compact import Encoded, Smooth
from convdict.restore.packing import pack, unpack
from convdict.restore.photographs import default_dictionary
from convdict.signals.steps import Contrast, Scale, prepare


def encoded(image, d, **options):
    ready = prepare(image, d.steps, channel_axis=d.channel_axis)
    return Encoded.of(image, ready, d, **options)


@pytest.fixture(scope="module")
def d():
    return default_dictionary()


@pytest.fixture(scope="module")
def camera():
    return np.ascontiguousarray(data.camera()[100:260, 150:320])


def test_what_was_measured_is_what_comes_back(tmp_path, camera, d):
    one = encoded(camera, d, penalty=0.05)
    one.save(tmp_path / "a.codes")
    again = Encoded.load(tmp_path / "a.codes")
    image = again.image(d)
    np.testing.assert_array_equal(image, one.image(d))
    assert image.dtype == np.uint8
    assert image.shape == camera.shape
    psnr = 10 * np.log10(255**2 / np.mean((image.astype(float) - camera) ** 2))
    assert again.psnr == pytest.approx(psnr, abs=1e-3)
    assert psnr > 25
    assert (tmp_path / "a.codes").stat().st_size < 0.5 * camera.size


def test_sparser_codes_are_fewer_bytes_and_a_worse_image(tmp_path, camera, d):
    found = []
    for penalty in (0.02, 0.05, 0.15):
        one = encoded(camera, d, penalty=penalty)
        one.save(tmp_path / "a.codes")
        found.append(((tmp_path / "a.codes").stat().st_size, one.psnr))
    sizes, psnrs = zip(*found, strict=True)
    assert sizes[0] > 1.5 * sizes[1] > 2.25 * sizes[2]
    assert psnrs[0] > psnrs[1] + 1 > psnrs[2] + 2


@pytest.mark.parametrize("dtype", ["uint16", "float32", "float64"])
def test_other_types(camera, d, dtype):
    peak = 65535 if dtype == "uint16" else 1
    image = (camera / 255 * peak).astype(dtype)
    one = encoded(image, d, penalty=0.03)
    assert one.image(d).dtype == dtype
    assert one.psnr > 28


def test_colour_and_steps_that_multiply(rng):
    photo = np.ascontiguousarray(data.stereo_motorcycle()[0][200:280, 300:390])
    kernels = np.repeat(default_dictionary().kernels[:, None] / np.sqrt(3), 3, axis=1)
    for steps in (default_dictionary().steps, (Scale(), Contrast(8.0, 0.1))):
        d = cd.Dictionary(kernels, np.full(64, 0.05), channel_axis=-1, steps=steps)
        one = encoded(photo, d)
        assert one.image(d).shape == photo.shape
        assert one.psnr > 17
        assert one.n_samples == 80 * 90


def test_lines(rng):
    s = np.sin(np.arange(500) / 5).astype(np.float32)
    learner = cd.ConvDictLearner(4, 30, 0.05, random_state=0, split=None, n_epochs=3).fit([s])
    d = cd.Dictionary.of(learner)
    assert encoded(s, d).psnr > 20


@pytest.mark.parametrize("image", [np.zeros((30, 30), np.uint8), np.full((1, 7), 3.0)])
def test_images_of_nothing(tmp_path, image, d):
    one = encoded(image, d)
    one.save(tmp_path / "a.codes")
    np.testing.assert_allclose(Encoded.load(tmp_path / "a.codes").image(d), image, atol=0.05)


def test_smooth_fields_are_few_numbers(rng):
    y, x = np.mgrid[:60, :80] / 80
    field = 100 + 20 * np.cos(3 * x) * y
    smooth = Smooth.of(field, field)
    np.testing.assert_allclose(smooth.field(field.shape), field, atol=1.5)
    assert smooth.cosines.size < 400


def test_another_dictionary_is_refused(camera, d):
    one = encoded(camera, d)
    with pytest.raises(InputError, match=r"has kernels \(2, 5, 5\) but the image was encoded"):
        one.image(cd.Dictionary.of_array(np.ones((2, 5, 5))))


@pytest.mark.parametrize(
    "damage",
    [
        {"version": 2},
        {"shape": [1 << 20, 1 << 20]},
        {"shape": [40, 40]},
        {"shape": ["a"]},
        {"dtype": "object"},
        {"boundary": "square"},
        {"kernels": [64, 12]},
        {"kernels": [1, 12, 12]},
        {"unit": -1.0},
        {"unit": "x"},
        {"base": [1.0, [900, 900]]},
        {"base": None},
        {"channel_axis": 7},
    ],
)
def test_headers_that_make_no_sense_are_refused(tmp_path, camera, d, damage):
    path = tmp_path / "a.codes"
    encoded(camera, d).save(path)
    about, blocks = unpack(path.read_bytes())
    path.write_bytes(pack({**about, **damage}, blocks))
    with pytest.raises(FileFormatError, match=r"a.codes is not an image that convdict"):
        Encoded.load(path)


def test_files_of_something_else_are_refused(tmp_path, camera, d):
    encoded(camera, d).save(tmp_path / "a.codes")
    whole = (tmp_path / "a.codes").read_bytes()
    for data_ in (b"", b"hello", whole[:-20], whole[: len(whole) // 2], whole[:30]):
        (tmp_path / "b.codes").write_bytes(data_)
        with pytest.raises(FileFormatError):
            Encoded.load(tmp_path / "b.codes")
