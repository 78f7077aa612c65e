"""Folders as sequences: complete, lazy, read ahead, and patient with what cannot be read."""

import os
import threading
import time
import warnings

import numpy as np
import pytest
import tifffile
from PIL import Image

from convdict.errors import InputError
from convdict.signals import folder
from convdict.signals.folder import ReadNote, SignalFiles, SkippedFile, files_of


def save(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(values).save(path)


@pytest.fixture
def photos(tmp_path, rng):
    """Seven pictures of different sizes, some in a folder of their own."""
    values = {}
    for name in ("b.png", "a.png", "deeper/c.png", "deeper/d.bmp", "e.PNG", "f.png", "g.png"):
        values[name] = rng.integers(0, 256, rng.integers(8, 30, 2), dtype=np.uint8)
        save(tmp_path / "photos" / name, values[name])
    (tmp_path / "photos/notes.txt").write_text("no picture")
    (tmp_path / "photos/.hidden.png").write_text("no picture")
    return tmp_path / "photos", values


def test_a_folder_is_all_its_pictures_in_order(photos):
    path, values = photos
    files = SignalFiles(path, n_axes=2, steps=None)
    order = ["a.png", "b.png", "e.PNG", "f.png", "g.png", "deeper/c.png", "deeper/d.bmp"]
    assert [os.path.relpath(files.name(i), path) for i in range(len(files))] == order
    for i, name in enumerate(order):
        np.testing.assert_array_equal(files.stored(i), values[name])
        np.testing.assert_array_equal(files[i], values[name])
    np.testing.assert_array_equal(files[-1], values["deeper/d.bmp"])
    with pytest.raises(IndexError):
        files[7]
    assert files.summary() == "7 files"


def test_runs_are_not_learned_from(photos):
    path, _ = photos
    (path / "run-1/checkpoints").mkdir(parents=True)
    (path / "run-1/.convdict-run").touch()
    for name in ("kernels.npy", "checkpoints/a.npz", "drawing.png"):
        (path / "run-1" / name).touch()
    assert len(files_of(path)) == 7


def test_globs_lists_and_single_files(photos):
    path, _ = photos
    assert len(files_of(str(path / "*.png"))) == 4
    assert len(files_of(str(path / "**/*.*"))) == 7
    assert files_of([path / "g.png", path / "a.png", path / "g.png"]) == [
        path / "g.png",
        path / "a.png",
    ]
    with pytest.raises(InputError, match="there is no file or folder"):
        files_of(path / "nowhere")


def test_a_stack_beside_pictures(photos, rng):
    path, _ = photos
    tifffile.imwrite(
        path / "stack.tif",
        rng.integers(0, 99, (5, 9, 9)).astype(np.uint16),
        photometric="minisblack",
    )
    files = SignalFiles(path, n_axes=2)
    assert len(files) == 12
    assert files.summary() == "12 signals in 8 files"
    names = [os.path.basename(files.name(i)) for i in range(len(files))]
    assert [n for n in names if "stack" in n] == [f"stack.tif[{i}]" for i in range(5)]


def test_whole_numbers_become_shares_of_their_range(tmp_path):
    for name, dtype, top in (("a.tif", np.uint8, 255), ("b.tif", np.uint16, 65535)):
        values = np.array([[0, top // 5, top]] * 3, dtype)
        tifffile.imwrite(tmp_path / name, values, photometric="minisblack")
    for s in SignalFiles(tmp_path, n_axes=2, steps="scale"):
        np.testing.assert_allclose(s[0], [0, 0.2, 1], atol=1e-6)
        assert s.dtype == np.float32


def test_colours_become_grey_and_the_other_way_round(tmp_path, rng):
    colour = rng.integers(0, 256, (9, 8, 3), dtype=np.uint8)
    save(tmp_path / "colour.png", colour)
    save(tmp_path / "grey.png", colour[..., 0])
    with pytest.warns(ReadNote, match=r"colour.png is in colour and was made grey"):
        grey = SignalFiles(tmp_path, n_axes=2, steps=None).stored(0)
    weights = np.array([0.299, 0.587, 0.114])
    np.testing.assert_allclose(grey, colour @ weights, atol=0.51)
    files = SignalFiles(tmp_path, n_axes=2, channel_axis=0, steps=None)
    np.testing.assert_array_equal(files.stored(0), np.moveaxis(colour, -1, 0))
    with pytest.warns(ReadNote, match=r"grey.png is grey"):
        np.testing.assert_array_equal(files.stored(1), [colour[..., 0]] * 3)


def test_a_note_is_made_once(tmp_path, rng):
    for i in range(5):
        save(tmp_path / f"{i}.png", rng.integers(0, 256, (9, 8, 3), dtype=np.uint8))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        files = SignalFiles(tmp_path, n_axes=2)
        for _ in range(2):
            list(files.ahead(range(5)))
    assert len(caught) == 1


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5, 6], [6, 2, 2, 0, 5], [3], []])
def test_reading_ahead_is_reading(photos, order):
    files = SignalFiles(photos[0], n_axes=2)
    found = list(files.ahead(order))
    assert [index for index, _, _ in found] == order
    for index, s, w in found:
        np.testing.assert_array_equal(s, files[index])
        assert w is None


def test_the_next_signals_are_read_while_one_is_in_use(photos, monkeypatch):
    files = SignalFiles(photos[0], n_axes=2)
    read = []
    learnable = files.learnable
    monkeypatch.setattr(files, "learnable", lambda i, mask: (read.append(i), learnable(i, mask))[1])
    stream = files.ahead(range(7))
    next(stream)
    deadline = time.monotonic() + 10
    while len(read) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert read[:2] == [0, 1], "the second was read though nobody has asked for it yet"
    next(stream)
    while len(read) < folder.AHEAD and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(read) <= 2 + folder.AHEAD
    stream.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("convdict-read") and
                not t.daemon and t.is_alive() and _still_there(t)]  # fmt: skip


def _still_there(thread):
    thread.join(5)
    return thread.is_alive()


def test_nothing_is_read_before_it_is_asked_for(photos):
    path, _ = photos
    files = SignalFiles(path, n_axes=2)
    for name in ("a.png", "b.png"):
        (path / name).write_text("spoilt since")
    assert files[2].shape
    with pytest.raises(InputError, match=r"a.png cannot be read"):
        files[0]


def test_a_bad_file_is_left_out_named_once_and_counted(photos):
    path, _values = photos
    (path / "bad.png").write_text("no picture")
    files = SignalFiles(path, n_axes=2, most_bad=0.2)
    with pytest.warns(SkippedFile, match=r"left out: bad.png cannot be read") as caught:
        found = [len(list(files.ahead(range(len(files))))) for _ in range(3)]
    assert found == [7, 7, 7]
    assert len(caught) == 1
    assert [os.path.basename(name) for name in files.bad] == ["bad.png"]
    assert files.summary() == "8 files, 1 left out"


def test_a_bad_stack_is_left_out_from_the_start(photos):
    path, _ = photos
    (path / "bad.tif").write_text("no stack")
    with pytest.warns(SkippedFile, match=r"bad.tif"):
        files = SignalFiles(path, n_axes=2)
    assert len(files) == 7
    assert files.summary() == "7 files, 1 left out"


def test_too_many_bad_files_are_an_error(photos):
    path, _ = photos
    for i in range(3):
        (path / f"bad{i}.png").write_text("no picture")
    files = SignalFiles(path, n_axes=2)
    with (
        pytest.warns(SkippedFile),
        pytest.raises(InputError, match="2 of 10 signals are of no use, more than the 10 %"),
    ):
        list(files.ahead(range(len(files))))


def test_nothing_at_all(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").mkdir()
    (tmp_path / "text/notes.txt").write_text("hello")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/a.tif").write_text("hello")
    for name in ("empty", "text"):
        with pytest.raises(InputError, match=f"{name} holds no file that can be read: those are"):
            SignalFiles(tmp_path / name, n_axes=2)
    with (
        pytest.warns(SkippedFile),
        pytest.raises(InputError, match=r"nothing in .*bad can be read"),
    ):
        SignalFiles(tmp_path / "bad", n_axes=2)
    (tmp_path / "one.png").write_text("hello")
    files = SignalFiles(tmp_path / "one.png", n_axes=2)
    with pytest.warns(SkippedFile), pytest.raises(InputError, match=r"one.png cannot be read"):
        list(files.ahead([0]))
