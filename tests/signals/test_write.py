"""What is written is what is read again."""

import numpy as np
import pytest

from convdict.errors import InputError
from convdict.signals.files import open_signals
from convdict.signals.write import write_signal


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("a.png", "uint8"),
        ("a.tif", "uint8"),
        ("a.tif", "uint16"),
        ("a.tif", "float32"),
        ("a.npy", "float64"),
        ("a.bmp", "uint8"),
    ],
)
def test_types_that_a_file_can_hold_come_back(tmp_path, rng, name, dtype, colour):
    shape = (9, 8, 3) if colour else (9, 8)
    values = (rng.random(shape) * 200).astype(dtype)
    write_signal(tmp_path / name, values, channels_last=colour)
    axis = -1 if colour else None
    found = open_signals(tmp_path / name, 2, axis).read(0).values
    np.testing.assert_array_equal(found, values)
    assert found.dtype == values.dtype


def test_sixteen_bits_in_png(tmp_path, rng):
    values = rng.integers(0, 1 << 16, (9, 8), dtype=np.uint16)
    write_signal(tmp_path / "a.png", values)
    np.testing.assert_array_equal(open_signals(tmp_path / "a.png", 2, None).read(0).values, values)


def test_pictures_of_floating_point_have_white_at_one(tmp_path):
    write_signal(tmp_path / "a.png", np.array([[-1.0, 0.0, 0.5, 1.0, 2.0]]))
    found = open_signals(tmp_path / "a.png", 2, None).read(0).values
    np.testing.assert_array_equal(found, [[0, 0, 128, 255, 255]])


def test_lines(tmp_path, rng):
    values = rng.standard_normal(50).astype(np.float32)
    for name in ("a.wav", "a.csv", "a.npy"):
        write_signal(tmp_path / name, values)
        found = open_signals(tmp_path / name, 1, None).read(0).values
        np.testing.assert_allclose(found, values, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float32"])
def test_sounds_keep_type_and_rate(tmp_path, rng, dtype):
    values = (rng.standard_normal(300) * 30).astype(dtype)
    write_signal(tmp_path / "a.wav", values, rate=8000)
    found = open_signals(tmp_path / "a.wav", 1, None).read(0)
    np.testing.assert_array_equal(found.values, values)
    assert found.values.dtype == dtype
    assert found.rate == 8000


@pytest.mark.parametrize("name", ["a.xyz", "a", "nowhere/a.png"])
def test_what_cannot_be_written_is_said(tmp_path, name):
    with pytest.raises(InputError):
        write_signal(tmp_path / name, np.zeros((4, 4)))
