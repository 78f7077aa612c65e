"""Every kind of file gives the values that were written into it."""

import io
import wave
from pathlib import Path

import h5py
import numpy as np
import pytest
import tifffile
import zarr
from PIL import Image
from scipy.io import wavfile

from convdict.signals.files import KNOWN, Unreadable, n_axes_of, open_signals, parted, suffix


def read(path, n_axes=2, channel_axis=None):
    opened = open_signals(path, n_axes, channel_axis)
    return [opened.read(i) for i in range(opened.count)]


def only(path, *axes):
    (signal,) = read(path, *axes)
    return signal


@pytest.fixture
def grey(rng):
    return rng.integers(0, 256, (13, 17), dtype=np.uint8)


@pytest.fixture
def colour(rng):
    return rng.integers(0, 256, (13, 17, 3), dtype=np.uint8)


@pytest.mark.parametrize("kind", [".png", ".bmp", ".pgm", ".PNG"])
def test_grey_pictures(tmp_path, grey, kind):
    path = tmp_path / f"image{kind}"
    Image.fromarray(grey).save(path)
    signal = only(path)
    np.testing.assert_array_equal(signal.values, grey)
    assert signal.channels_last is False
    assert not signal.note


@pytest.mark.parametrize("kind", [".png", ".bmp", ".ppm", ".tif"])
def test_pictures_in_colour(tmp_path, colour, kind):
    path = tmp_path / f"image{kind}"
    Image.fromarray(colour).save(path)
    signal = only(path)
    np.testing.assert_array_equal(signal.values, colour)
    assert signal.channels_last is True


def test_jpegs_are_about_what_was_written(tmp_path):
    ramp = np.tile(np.linspace(0, 255, 64).astype(np.uint8), (64, 1))
    Image.fromarray(ramp).save(tmp_path / "ramp.jpg", quality=95)
    assert np.abs(only(tmp_path / "ramp.jpg").values.astype(int) - ramp).max() < 8


def test_a_palette_is_looked_up_and_transparency_left_out(tmp_path, colour):
    picture = Image.fromarray(colour).quantize(256)
    picture.save(tmp_path / "palette.png")
    np.testing.assert_array_equal(
        only(tmp_path / "palette.png").values, np.asarray(picture.convert("RGB"))
    )
    alpha = np.dstack([colour, np.full((13, 17, 1), 90, np.uint8)])
    Image.fromarray(alpha, "RGBA").save(tmp_path / "alpha.png")
    np.testing.assert_array_equal(only(tmp_path / "alpha.png").values, colour)


def test_a_picture_taken_sideways_is_turned(tmp_path, grey):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: rotate by 270°
    Image.fromarray(grey).save(tmp_path / "phone.png", exif=exif)
    np.testing.assert_array_equal(only(tmp_path / "phone.png").values, np.rot90(grey, -1))


@pytest.mark.parametrize("kind", [".png", ".pgm"])
def test_sixteen_bits_are_no_more_than_that(tmp_path, rng, kind):
    """Pillow reads some of them into 32 bits."""
    deep = rng.integers(0, 1 << 16, (9, 11), dtype=np.uint16)
    if kind == ".pgm":
        (tmp_path / "deep.pgm").write_bytes(b"P5 11 9 65535\n" + deep.astype(">u2").tobytes())
    else:
        Image.fromarray(deep).save(tmp_path / "deep.png")
    values = only(tmp_path / f"deep{kind}").values
    np.testing.assert_array_equal(values, deep)
    assert values.dtype == np.uint16


def test_black_and_white(tmp_path, rng):
    bits = rng.random((9, 11)) < 0.5
    Image.fromarray(bits).save(tmp_path / "bits.png")
    np.testing.assert_array_equal(only(tmp_path / "bits.png").values, bits)


def test_of_an_animation_the_first_frame_is_taken_and_said(tmp_path):
    frames = [Image.new("L", (8, 6), level) for level in (10, 200, 90)]
    frames[0].save(tmp_path / "film.gif", save_all=True, append_images=frames[1:])
    signal = only(tmp_path / "film.gif")
    assert signal.values.shape[:2] == (6, 8)
    assert np.abs(signal.values.astype(int) - 10).max() <= 1
    assert "first of its 3 frames" in signal.note


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32", "float64"])
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_stacks_are_as_many_signals_as_pages(tmp_path, rng, dtype, compression):
    stack = (rng.standard_normal((5, 12, 10)) * 50 + 100).astype(dtype)
    tifffile.imwrite(
        tmp_path / "stack.tif", stack, compression=compression, photometric="minisblack"
    )
    pages = read(tmp_path / "stack.tif")
    np.testing.assert_array_equal(np.stack([page.values for page in pages]), stack)
    assert {page.values.dtype for page in pages} == {np.dtype(dtype)}
    volume = only(tmp_path / "stack.tif", 3)
    np.testing.assert_array_equal(volume.values, stack)


def test_stacks_in_colour_and_planes_apart(tmp_path, rng):
    stack = rng.integers(0, 256, (3, 12, 10, 3), dtype=np.uint8)
    tifffile.imwrite(tmp_path / "colour.tif", stack, photometric="rgb")
    pages = read(tmp_path / "colour.tif")
    np.testing.assert_array_equal(np.stack([page.values for page in pages]), stack)
    planes = rng.integers(0, 256, (3, 12, 10), dtype=np.uint8)
    tifffile.imwrite(tmp_path / "p.tif", planes, photometric="rgb", planarconfig="separate")
    np.testing.assert_array_equal(only(tmp_path / "p.tif").values, np.moveaxis(planes, 0, -1))


def test_white_may_be_zero(tmp_path, grey):
    tifffile.imwrite(tmp_path / "white.tif", grey, photometric="miniswhite")
    np.testing.assert_array_equal(only(tmp_path / "white.tif").values, 255 - grey)


def test_arrays_are_one_signal_or_several(tmp_path, rng):
    several = rng.standard_normal((4, 9, 8))
    np.save(tmp_path / "several.npy", several)
    np.savez(tmp_path / "packed.npz", several)
    for path in (tmp_path / "several.npy", tmp_path / "packed.npz"):
        np.testing.assert_array_equal(np.stack([s.values for s in read(path)]), several)
        np.testing.assert_array_equal(only(path, 3).values, several)
        np.testing.assert_array_equal(only(path, 2, -1).values, several)


def test_of_a_large_array_only_what_is_asked_for_is_read(tmp_path):
    """Three gigabytes that are a hole in a file: there is no time to read them."""
    large = np.lib.format.open_memmap(
        tmp_path / "large.npy", mode="w+", dtype=np.float32, shape=(800, 1000, 1000)
    )
    large[700, 3, 5] = 7
    del large
    opened = open_signals(tmp_path / "large.npy", 2, None)
    assert opened.count == 800
    assert opened.read(700).values[3, 5] == 7


def test_stores(tmp_path, rng):
    several = rng.standard_normal((4, 9, 8)).astype(np.float32)
    with h5py.File(tmp_path / "store.h5", "w") as file:
        file["frames"] = several
        file.create_group("about")
    zarr.save_array(str(tmp_path / "store.zarr"), several)
    for path in ("store.h5", "store.zarr", "store.h5:frames"):
        found = read(tmp_path / path)
        np.testing.assert_array_equal(np.stack([s.values for s in found]), several)
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["a"], file["b"] = several, 2 * several
    with pytest.raises(Unreadable, match=r"two.h5 holds 2 arrays \(a, b\): name one as two.h5:a"):
        read(tmp_path / "two.h5")
    np.testing.assert_array_equal(read(tmp_path / "two.h5:b")[1].values, 2 * several[1])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float32"])
def test_sounds(tmp_path, rng, dtype):
    samples = (rng.standard_normal(500) * 30 + 128 * (dtype == "uint8")).astype(dtype)
    wavfile.write(tmp_path / "mono.wav", 8000, samples)
    values = only(tmp_path / "mono.wav", 1).values
    expected = samples.astype(int) - 128 if dtype == "uint8" else samples
    np.testing.assert_array_equal(values, expected)
    stereo = np.stack([samples, samples[::-1]], axis=1)
    wavfile.write(tmp_path / "stereo.wav", 8000, stereo)
    left, right = read(tmp_path / "stereo.wav", 1)
    np.testing.assert_array_equal(left.values[::-1], right.values)
    assert only(tmp_path / "stereo.wav", 1, -1).values.shape == (500, 2)


def test_sounds_of_24_bits(tmp_path):
    samples = np.array([0, 1, -1, 8388607, -8388608], np.int64)
    with wave.open(str(tmp_path / "deep.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(3)
        file.setframerate(8000)
        file.writeframes(b"".join(int(s).to_bytes(3, "little", signed=True) for s in samples))
    values = only(tmp_path / "deep.wav", 1).values
    np.testing.assert_array_equal(values // 256, samples)


def test_tables(tmp_path):
    (tmp_path / "named.csv").write_text("time,level\n0,1.5\n1,\n2,-3e2\n\n")
    time, level = read(tmp_path / "named.csv", 1)
    np.testing.assert_array_equal(time.values, [0, 1, 2])
    np.testing.assert_array_equal(level.values, [1.5, np.nan, -300])
    (tmp_path / "plain.tsv").write_text("1\t2\n3\t4\n")
    np.testing.assert_array_equal(only(tmp_path / "plain.tsv", 1, -1).values, [[1, 2], [3, 4]])


def _truncated(path):
    file = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(file, "JPEG")
    path.write_bytes(file.getvalue()[:900])


def _pickled(path):
    np.save(path, np.array([{"a": 1}]), allow_pickle=True)


BAD = {
    "empty.png": lambda p: p.write_bytes(b""),
    "text.png": lambda p: p.write_text("no picture"),
    "short.jpg": _truncated,
    "empty.tif": lambda p: p.write_bytes(b""),
    "text.tif": lambda p: p.write_text("no picture at all, but long enough to look"),
    "empty.npy": lambda p: p.write_bytes(b""),
    "text.npy": lambda p: p.write_text("1 2 3"),
    "objects.npy": _pickled,
    "names.npy": lambda p: np.save(p, np.array(["a", "b"])),
    "complex.npy": lambda p: np.save(p, np.ones((4, 4), complex)),
    "flat.npy": lambda p: np.save(p, np.ones(4)),
    "two.npz": lambda p: np.savez(p, a=np.ones((4, 4)), b=np.ones((4, 4))),
    "text.npz": lambda p: p.write_text("no archive"),
    "text.h5": lambda p: p.write_text("no store"),
    "nothing.h5": lambda p: h5py.File(p, "w").close(),
    "file.zarr": lambda p: p.write_text("no store"),
    "photo.xyz": lambda p: p.write_text(""),
}  # fmt: skip
BAD_LINES = {
    "text.wav": lambda p: p.write_text("no sound"),
    "silent.wav": lambda p: wavfile.write(p, 8000, np.empty(0, np.int16)),
    "words.csv": lambda p: p.write_text("1,2\nthree,4\n"),
    "ragged.csv": lambda p: p.write_text("1,2\n3\n"),
    "empty.csv": lambda p: p.write_text(""),
    "bytes.csv": lambda p: p.write_bytes(b"\xff\xfe\x00\x01"),
}


@pytest.mark.parametrize("name", [*BAD, *BAD_LINES])
def test_what_cannot_be_read_is_named_in_a_sentence(tmp_path, name):
    path = tmp_path / name
    (BAD | BAD_LINES)[name](path)
    with pytest.raises(Unreadable) as caught:
        read(path, 1 if name in BAD_LINES else 2)
    message = str(caught.value)
    assert name in message
    assert "\n" not in message
    assert len(message) > len(name) + 10, "and says why"


def test_files_of_another_number_of_axes_are_refused(tmp_path, grey):
    Image.fromarray(grey).save(tmp_path / "a.png")
    with pytest.raises(Unreadable, match="has 2 axes but kernels have 1"):
        read(tmp_path / "a.png", 1)
    (tmp_path / "a.csv").write_text("1\n2\n")
    with pytest.raises(Unreadable, match="has 1 axis but kernels have 2"):
        read(tmp_path / "a.csv", 2)


def test_suffixes_say_what_is_in_a_file(tmp_path):
    assert {kind: n_axes_of(tmp_path / f"a{kind}") for kind in KNOWN} == {
        **dict.fromkeys((".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp"), 2),
        **dict.fromkeys((".pgm", ".ppm", ".pnm", ".tif", ".tiff"), 2),
        **dict.fromkeys((".npy", ".npz", ".h5", ".hdf5", ".zarr")),
        **dict.fromkeys((".wav", ".csv", ".tsv"), 1),
    }
    assert suffix(tmp_path / "store.h5:a/b.png") == ".h5"
    assert parted(Path(r"C:\data\store.H5:a/b")) == (Path(r"C:\data\store.H5"), "a/b")
    assert suffix(tmp_path / "odd:name.PNG") == ".png"
