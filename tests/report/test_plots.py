"""Figures show what they are given."""

import matplotlib as mpl
import numpy as np
import pytest

import convdict as cd
from convdict.errors import InputError
from convdict.report.plots import plot_restored, saved

from ..oracles import runs

mpl.use("agg")


@pytest.fixture(autouse=True)
def closed():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="module")
def learner():
    learner, images, _ = runs.make("surrogate")
    return learner.fit(images)


def test_a_dictionary_is_its_mosaic(learner, tmp_path):
    d = cd.Dictionary.of(learner)
    d.save(tmp_path / "d.npz")
    for told in (learner, d, tmp_path / "d.npz"):
        figure = cd.plot_dictionary(told, columns=2)
        np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), d.mosaic(columns=2))
        assert figure.axes[0].get_title() == "3 kernels of 4×3"
    assert cd.plot_dictionary(learner.dictionary_, ax=figure.axes[0]) is figure


def test_a_history_is_its_columns(learner):
    for told in (learner, learner.history_):
        figure = cd.plot_history(told)
        lines = {ax.get_title(): ax.lines[0] for ax in figure.axes}
        np.testing.assert_array_equal(
            lines["functional value of samples"].get_ydata(), learner.history_.value
        )
        assert len(lines) == 6
    with pytest.raises(InputError, match="history is empty"):
        cd.plot_history(cd.History())


@pytest.mark.parametrize("boundary", ["circular", "free"])
def test_codes_are_dots(rng, boundary):
    image = rng.standard_normal((20, 30))
    codes = cd.sparse_code(image, rng.standard_normal((2, 4, 4)), 1.0, boundary=boundary)
    figure = cd.plot_codes(codes, image=image)
    dots = figure.axes[0].collections[0].get_offsets()
    np.testing.assert_array_equal(
        np.asarray(dots)[:, ::-1], codes.position + np.array(codes.origin)
    )
    with pytest.raises(InputError, match="codes is a ndarray"):
        cd.plot_codes(image)


def test_codes_of_lines(rng):
    codes = cd.sparse_code(rng.standard_normal(60), rng.standard_normal((2, 5)), 0.5)
    dots = np.asarray(cd.plot_codes(codes).axes[0].collections[0].get_offsets())
    np.testing.assert_array_equal(dots, np.stack([codes.position[:, 0], codes.kernel], 1))


def test_before_and_after(rng, tmp_path):
    before, after = rng.random((2, 9, 9))
    figure = plot_restored(before, after, truth=after)
    assert [ax.get_title() for ax in figure.axes] == ["before", "after", "truth"]
    np.testing.assert_array_equal(figure.axes[1].images[0].get_array(), after)
    saved(figure, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(InputError, match=r"a.xyz"):
        saved(plot_restored(before, after), tmp_path / "a.xyz")
