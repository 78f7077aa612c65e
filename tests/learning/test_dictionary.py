"""Dictionaries with all that is needed to use them: kept whole, and refused if they are not."""

import json

import numpy as np
import pytest

import convdict as cd
from convdict import archive
from convdict.errors import ConvdictError, FileFormatError
from convdict.learning import dictionary as module
from convdict.signals.steps import Crop, Lowpass, Scale

from ..oracles import runs


def check_same(a, b):
    np.testing.assert_array_equal(a.kernels, b.kernels)
    np.testing.assert_array_equal(a.penalty, b.penalty)
    for name in ("channel_axis", "boundary", "nonnegative", "steps", "about"):
        assert getattr(a, name) == getattr(b, name)
    assert (a.usage is None) == (b.usage is None)
    if a.usage is not None:
        np.testing.assert_array_equal(a.usage, b.usage)


@pytest.mark.parametrize("kind", runs.KINDS)
def test_what_a_learner_has_learned_is_kept(kind, tmp_path):
    learner, images, mask = runs.make(kind, preprocess=[Scale(0.5), Crop(1)], repair=False)
    learner.fit(images, mask)
    d = cd.Dictionary.of(learner, source="nowhere")
    np.testing.assert_array_equal(d.kernels, learner.dictionary_)
    np.testing.assert_array_equal(d.penalty, learner.penalty_)
    assert len(d) == 3
    assert d.kernel == learner.dictionary_.shape[-d.n_axes :]
    assert d.steps == (Scale(0.5), Crop(1))
    assert d.about["source"] == "nowhere"
    d.save(tmp_path / "d.npz")
    check_same(cd.Dictionary.load(tmp_path / "d.npz"), d)
    learner.save(tmp_path / "learner.npz")
    check_same(cd.Dictionary.load(tmp_path / "learner.npz"), cd.Dictionary.of(learner))


def test_whatever_stands_for_a_dictionary(tmp_path, rng):
    kernels = rng.standard_normal((5, 4, 3)).astype(np.float32)
    d = cd.Dictionary.given(kernels, n_axes=2)
    assert d.steps == (Scale(), Lowpass())
    assert d.channel_axis is None
    assert (d.penalty > 0).all()
    assert cd.Dictionary.given(d) is d
    np.save(tmp_path / "kernels.npy", kernels)
    check_same(cd.Dictionary.given(tmp_path / "kernels.npy"), d)
    d.save(tmp_path / "dictionary.npz")
    check_same(cd.Dictionary.given(str(tmp_path)), d)
    learner, images, _ = runs.make("surrogate")
    check_same(cd.Dictionary.given(learner.fit(images)), cd.Dictionary.of(learner))
    colour = cd.Dictionary.given(rng.standard_normal((5, 3, 4, 4)), n_axes=2)
    assert colour.channel_axis == -1
    assert colour.kernel == (4, 4)
    np.testing.assert_array_equal(np.asarray(d), kernels)
    codes = cd.sparse_code(rng.standard_normal((20, 20)), d, 0.1)
    assert codes.converged


def test_what_is_no_dictionary_is_refused(tmp_path, rng):
    np.save(tmp_path / "flat.npy", np.ones(3))
    np.save(tmp_path / "nan.npy", np.full((3, 4, 4), np.nan))
    (tmp_path / "text.npy").write_text("hello")
    (tmp_path / "text.npz").write_text("hello")
    archive.write(tmp_path / "other.npz", {"format": "something"}, {"kernels": np.ones((2, 3))})
    for name in ("flat.npy", "nan.npy", "text.npy", "text.npz", "other.npz"):
        with pytest.raises(ConvdictError) as caught:
            cd.Dictionary.load(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises((ConvdictError, FileNotFoundError)):
        cd.Dictionary.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "damage",
    [
        {"steps": [{"step": "blur"}]},
        {"steps": 3},
        {"boundary": "square"},
        {"channel_axis": "last"},
        {"about": None},
        {"version": 99},
        {"kernels": np.ones(3)},
        {"kernels": np.full((3, 4, 4), np.nan)},
        {"penalty": np.ones(2)},
        {"penalty": -np.ones(3)},
        {"usage": np.ones(7)},
    ],
)
def test_damaged_files_are_refused(tmp_path, rng, damage):
    d = cd.Dictionary.of_array(rng.standard_normal((3, 4, 4)))
    d.save(tmp_path / "d.npz")
    about, arrays = archive.read(tmp_path / "d.npz", module.WHAT)
    for name, value in damage.items():
        (arrays if isinstance(value, np.ndarray) else about)[name] = value
    archive.write(tmp_path / "d.npz", about, arrays)
    with pytest.raises(FileFormatError):
        cd.Dictionary.load(tmp_path / "d.npz")


def test_a_notebook_shows_the_kernels(rng):
    d = cd.Dictionary.of_array(rng.standard_normal((3, 4, 4)))
    html = d._repr_html_()
    assert "data:image/png;base64," in html
    assert "3 kernels of 4×4" in html
    assert json.dumps(html)
