"""`show`, `evaluate`, `encode`, `decode`, `denoise`, `inpaint`: files in, files and figures out."""

import json

import numpy as np
import pytest
import tifffile
from PIL import Image
from skimage import data

import convdict as cd

from .conftest import SMALL


def pixels(path):
    return np.asarray(Image.open(path))


def psnr(a, b):
    return 10 * np.log10(255**2 / np.mean((a.astype(float) - b) ** 2))


@pytest.fixture
def moon(tmp_path):
    values = np.ascontiguousarray(data.moon()[150:290, 180:330])
    Image.fromarray(values).save(tmp_path / "moon.png")
    return values


def test_show(call, learned, tmp_path):
    out, _ = call("show", learned)
    assert "3" in out
    assert "4×3" in out
    assert "scale, lowpass" in out
    out, _ = call("show", learned, "--json", "-o", "kernels.png")
    told = json.loads(out)
    assert told["kernels"] == 3
    assert told["size"] == [4, 3]
    assert told["images"] == pytest.approx(6)
    assert pixels(tmp_path / "kernels.png").ndim == 3
    for path in ("dictionary.npy", "dictionary.npz", "checkpoints/000000006.npz"):
        assert json.loads(call("show", learned / path, "--json")[0])["kernels"] == 3


def test_evaluate(call, learned, photos):
    out, _ = call("evaluate", learned, photos, "--json")
    told = json.loads(out)
    files = cd.SignalFiles(photos, n_axes=2)
    d = cd.Dictionary.load(learned)
    expected = cd.evaluate(d.kernels, files, d.penalty, tol=1e-3)
    assert told["value"] == pytest.approx(expected.value)
    assert told["images"] == 6
    out, _ = call("evaluate", learned, photos)
    assert f"{expected.value:.6g}" in out
    assert "the mean of 6 images" in out


def test_encode_and_decode(call, moon, tmp_path):
    cd.Dictionary.given(_default()).save(tmp_path / "d.npz")
    out, _ = call("encode", "d.npz", "moon.png", "-l", 0.03, "--json")
    told = json.loads(out)
    size = (tmp_path / "moon.codes").stat().st_size
    assert told["bytes"] == size
    assert told["bits_per_pixel"] == pytest.approx(8 * size / moon.size)
    assert call("decode", "d.npz", "moon.codes", "-o", "again.png")[0].startswith("written")
    assert psnr(pixels(tmp_path / "again.png"), moon) == pytest.approx(told["psnr"], abs=1e-3)
    assert told["psnr"] > 28
    assert told["bits_per_pixel"] < 3
    out, _ = call("encode", "d.npz", "moon.png", "-o", "b.codes")
    assert "bits per pixel" in out
    assert "PSNR" in out
    _, err = call("decode", "d.npz", "moon.png", code=1)
    assert "is not an image that convdict has encoded" in err


def _default():
    from convdict.restore.photographs import default_dictionary

    return default_dictionary()


def test_sounds_keep_their_rate_and_are_not_overwritten(call, tmp_path, rng):
    from scipy.io import wavfile

    samples = (3000 * np.sin(np.arange(4000) / 9)).astype(np.int16)
    wavfile.write(tmp_path / "a.wav", 8000, samples)
    call("learn", "a.wav", "-n", 4, "-k", 40, "--seed", 0, "-o", "run", "--quiet")
    call("encode", "run", "a.wav")
    call("decode", "run", "a.codes")
    call("denoise", "a.wav", "-d", "run", "--sigma", 20)
    for name in ("a-decoded.wav", "a-denoised.wav"):
        rate, found = wavfile.read(tmp_path / name)
        assert rate == 8000
        assert found.dtype == np.int16
        assert np.corrcoef(found, samples)[0, 1] > 0.95
    np.testing.assert_array_equal(wavfile.read(tmp_path / "a.wav")[1], samples)


def test_denoise(call, moon, tmp_path, rng):
    noisy = np.clip(moon + 25 * rng.standard_normal(moon.shape), 0, 255).astype(np.uint8)
    Image.fromarray(noisy).save(tmp_path / "noisy.png")
    call("denoise", "noisy.png", "--sigma", 25)
    np.testing.assert_array_equal(
        pixels(tmp_path / "noisy-denoised.png"), cd.denoise(noisy, sigma=25)
    )
    assert psnr(pixels(tmp_path / "noisy-denoised.png"), moon) > psnr(noisy, moon) + 5
    call("denoise", "noisy.png", "-o", "b.png")
    np.testing.assert_array_equal(pixels(tmp_path / "b.png"), cd.denoise(noisy))
    peppered = np.where(rng.random(moon.shape) < 0.1, 0, moon).astype(np.uint8)
    Image.fromarray(peppered).save(tmp_path / "peppered.png")
    call("denoise", "peppered.png", "--impulse", "-o", "c.png")
    assert psnr(pixels(tmp_path / "c.png"), moon) > psnr(peppered, moon) + 10


def test_denoise_with_a_dictionary_of_ones_own(call, learned, photos, tmp_path):
    call("denoise", photos / "0.png", "-d", learned, "--sigma", 5, "-o", "a.png")
    expected = cd.denoise(pixels(photos / "0.png"), learned, sigma=5)
    np.testing.assert_array_equal(pixels(tmp_path / "a.png"), expected)


def test_colour(call, tmp_path, rng):
    cat = np.ascontiguousarray(data.stereo_motorcycle()[0][200:300, 300:410])
    noisy = np.clip(cat + 25 * rng.standard_normal(cat.shape), 0, 255).astype(np.uint8)
    Image.fromarray(noisy).save(tmp_path / "cat.png")
    call("denoise", "cat.png", "--sigma", 25, "-o", "a.png")
    assert psnr(pixels(tmp_path / "a.png"), cat) > psnr(noisy, cat) + 5


def test_inpaint(call, moon, tmp_path, rng):
    seen = rng.random(moon.shape) > 0.4
    Image.fromarray(np.where(seen, moon, 7).astype(np.uint8)).save(tmp_path / "holes.png")
    Image.fromarray(seen).save(tmp_path / "mask.png")
    call("inpaint", "holes.png", "--mask", "mask.png", "-o", "a.png")
    whole = pixels(tmp_path / "a.png")
    np.testing.assert_array_equal(whole[seen], moon[seen])
    assert psnr(whole, moon) > 30
    marked = np.where(seen, np.maximum(moon, 1), 0).astype(np.uint8)
    Image.fromarray(marked).save(tmp_path / "marked.png")
    call("inpaint", "marked.png", "--key", 0, "-o", "b.png")
    assert psnr(pixels(tmp_path / "b.png"), moon) > 30
    rgb = np.where(seen[..., None], np.stack([moon] * 3, -1), (255, 0, 255)).astype(np.uint8)
    Image.fromarray(rgb).save(tmp_path / "rgb.png")
    call("inpaint", "rgb.png", "--key", "ff00ff")
    assert psnr(pixels(tmp_path / "rgb-inpainted.png")[..., 0], moon) > 30


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "nowhere"], "nowhere"),
        (["show", "photos"], "photos"),
        (["show", "photos/0.png"], "0.png"),
        (["evaluate", "learned", "nowhere"], "there is no file or folder"),
        (["encode", "learned", "nowhere.png"], "nowhere.png"),
        (["encode", "learned", "photos"], "holds 6 signals"),
        (["decode", "learned", "nowhere.codes"], "nowhere.codes"),
        (["denoise", "nowhere.png"], "there is no file nowhere.png"),
        (["denoise", "photos/0.png", "-o", "photos/0.png"], "is the image itself"),
        (["denoise", "photos/0.png", "-d", "photos/1.png"], "it is no NumPy archive"),
        (["inpaint", "photos/0.png", "--key", "300"], "--key 300"),
        (["inpaint", "photos/0.png", "--mask", "small.png"], "the mask is of size 4×5"),
        (["denoise", "photos/0.png", "-o", "a.xyz"], "files to write end in"),
        (["denoise", "photos/0.png", "-o", "nowhere/a.png"], "there is no folder"),
        (["denoise", "photos/0.png", "--sigma", "-1"], "sigma"),
        (["inpaint", "photos/0.png", "--key", "pink"], "--key pink"),
        (["inpaint", "photos/0.png", "--mask", "nowhere.png"], "nowhere.png"),
    ],
)
def test_bad_input_is_a_sentence(call, learned, words, message, tmp_path):
    Image.fromarray(np.ones((4, 5), bool)).save(tmp_path / "small.png")
    _, err = call(*words, code=1)
    assert message in err.strip().splitlines()[-1]


def test_help_teaches_by_example(call):
    from convdict.command.main import COMMANDS

    out, _ = call("--help")
    for command in COMMANDS:
        assert f"\n  {command.name} " in out
        assert (
            f"convdict {command.name}" in call(command.name, "--help")[0] or command.name == "demo"
        )
    assert "convdict, version" in call("--version")[0]
    call("nonsense", code=2)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(call, shell):
    assert "_CONVDICT_COMPLETE" in call("completion", shell)[0]


def test_the_number_of_threads(call, photos):
    before = cd.get_num_threads()
    call("--threads", 1, "learn", photos, *SMALL, "--quiet")
    assert cd.get_num_threads() == 1
    cd.set_num_threads(before)


def test_decoding_with_another_dictionary_is_refused(call, learned, photos, tmp_path):
    """Of the same size, but not the same: it would look nearly right."""
    call("encode", learned, photos / "0.png", "-o", "a.codes")
    call("learn", photos, *SMALL[:-1], 8, "-o", "other", "--quiet")
    _, err = call("decode", "other", "a.codes", code=1)
    assert "another one than the image was encoded with" in err
    call("decode", learned, "a.codes")


def test_the_estimated_noise_is_told(call, moon, tmp_path, rng):
    noisy = np.clip(moon + 25 * rng.standard_normal(moon.shape), 0, 255).astype(np.uint8)
    Image.fromarray(noisy).save(tmp_path / "noisy.png")
    out, _ = call("denoise", "noisy.png")
    estimate = float(out.split("≈")[1].split(",")[0])
    assert estimate == pytest.approx(25, rel=0.15)
    assert "≈" not in call("denoise", "noisy.png", "--sigma", 25)[0]
    told = json.loads(call("denoise", "noisy.png", "--json")[0])
    assert told["sigma"] == pytest.approx(estimate, rel=0.01)
    assert told["out"] == "noisy-denoised.png"
    call("denoise", "noisy.png", "--fast", "-o", "fast.png")
    fast = cd.denoise(noisy, thorough=False)
    np.testing.assert_array_equal(pixels(tmp_path / "fast.png"), fast)


def test_stacks_are_restored_page_by_page(call, moon, tmp_path, rng):
    pages = np.stack(
        [np.clip(moon + s * rng.standard_normal(moon.shape), 0, 255) for s in (10, 25)]
    )
    tifffile.imwrite(tmp_path / "stack.tif", pages.astype(np.uint8), photometric="minisblack")
    call("denoise", "stack.tif", "--sigma", 20)
    found = tifffile.imread(tmp_path / "stack-denoised.tif")
    for page, noisy in zip(found, pages.astype(np.uint8), strict=True):
        np.testing.assert_array_equal(page, cd.denoise(noisy, sigma=20))


def test_grey_pictures_with_a_dictionary_in_colour(call, photos, tmp_path):
    call("learn", photos, *SMALL, "--colour", "-o", "coloured", "--quiet")
    call("denoise", photos / "0.png", "-d", "coloured", "--sigma", 5, "-o", "a.png")
    grey = pixels(photos / "0.png")
    as_colours = np.stack([grey] * 3, axis=-1)
    expected = cd.denoise(as_colours, tmp_path / "coloured", sigma=5, channel_axis=-1)[..., 0]
    np.testing.assert_array_equal(pixels(tmp_path / "a.png"), expected)


def test_masks_may_have_been_compressed(call, moon, tmp_path, rng):
    """Dark places that are not quite black are still missing."""
    seen = np.kron(rng.random((20, 22)) > 0.3, np.ones((8, 8), bool))[
        : moon.shape[0], : moon.shape[1]
    ]
    seen = np.pad(seen, [(0, moon.shape[0] - seen.shape[0]), (0, moon.shape[1] - seen.shape[1])],
                  constant_values=True)  # fmt: skip
    Image.fromarray(np.where(seen, moon, 7).astype(np.uint8)).save(tmp_path / "holes.png")
    mask = np.where(seen, 255, rng.integers(0, 20, seen.shape)).astype(np.uint8)
    Image.fromarray(mask).save(tmp_path / "mask.png")
    call("inpaint", "holes.png", "--mask", "mask.png", "-o", "a.png")
    holes = np.where(seen, moon, 7).astype(np.uint8)
    np.testing.assert_array_equal(pixels(tmp_path / "a.png"), cd.inpaint(holes, seen))


def test_nothing_to_fill(call, photos, tmp_path):
    told = json.loads(call("inpaint", photos / "0.png", "-o", "a.png", "--json")[0])
    assert told["hidden"] == 0
    out, _ = call("inpaint", photos / "0.png", "-o", "a.png")
    assert "nothing is missing" in out
    np.testing.assert_array_equal(pixels(tmp_path / "a.png"), pixels(photos / "0.png"))
