"""The experiment `restoration`: what it gives to everybody, and how it judges what comes back."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.restoration import panels
from benchmarks.restoration.pictures import Case, with_holes, with_noise
from benchmarks.restoration.quality import psnr
from benchmarks.restoration.settings import QUICK, Settings
from benchmarks.restoration.trial import Entrant, contest, trial
from benchmarks.rivals import interpolation


@pytest.fixture
def truth() -> np.ndarray:
    return np.linspace(0.1, 0.9, 24 * 30 * 3, dtype=np.float32).reshape(24, 30, 3)


def test_psnr_has_a_peak_of_one(truth):
    assert psnr(truth, truth + np.float32(0.1)) == pytest.approx(20.0, abs=1e-4)


def test_noise_is_as_strong_as_it_should_be_and_always_the_same(truth):
    case = with_noise("ramp", truth, 0.1)
    assert case.given.dtype == np.float32
    assert np.std(case.given - truth) == pytest.approx(0.1, rel=0.05)
    np.testing.assert_array_equal(case.given, with_noise("ramp", truth, 0.1).given)


def test_holes_are_zero_and_the_rest_is_untouched(truth):
    case = with_holes("ramp", truth, 0.8)
    assert np.mean(case.seen) == pytest.approx(0.2, abs=0.04)
    np.testing.assert_array_equal(case.given, np.where(case.seen, truth, 0))


def test_the_middle_of_a_case_is_that_of_all_its_parts(truth):
    part = with_holes("ramp", truth, 0.5).middle(10)
    assert part.truth.shape == part.given.shape == part.seen.shape == (10, 10, 3)
    np.testing.assert_array_equal(part.truth, truth[7:17, 10:20])
    assert with_noise("ramp", truth, 0.1).middle(1000).truth.shape == (24, 24, 3)


def test_of_several_ways_the_one_nearest_the_truth_is_taken(truth):
    pytest.importorskip("skimage")
    case = with_noise("ramp", truth, 0.1)
    ways = {"half": lambda case: case.given / 2, "exact": lambda case: case.truth + 0.01}
    found, picture = trial(Entrant("somebody", "Somebody", ways), case, Settings(repeats=3))
    assert found["setting"] == "exact"
    assert found["psnr"] == pytest.approx(40.0, abs=1e-2)
    assert len(found["seconds"]) == 3
    np.testing.assert_array_equal(picture, truth + 0.01)


def test_who_fails_has_a_row_that_says_so(truth):
    pytest.importorskip("skimage")

    def fail(case: Case) -> np.ndarray:
        raise ValueError("no way")

    entrants = [Entrant("somebody", "Somebody", {"": fail})]
    found, pictures = contest(with_noise("ramp", truth, 0.1), entrants, Settings())
    assert found["rows"][0]["psnr"] == pytest.approx(20.0, abs=0.5)
    assert found["rows"][1]["failed"] == "ValueError: no way"
    assert sorted(pictures) == ["given", "truth"]


def test_linear_interpolation_is_exact_on_a_plane():
    i, j = np.mgrid[:12, :14].astype(np.float32)
    plane = 0.01 * i + 0.02 * j
    seen = np.random.default_rng(0).random(plane.shape) > 0.3
    seen[[0, -1]] = seen[:, [0, -1]] = True  # every hole lies between samples
    damaged = np.where(seen, plane, np.float32(0.0))
    np.testing.assert_allclose(interpolation.linear(damaged, seen), plane, atol=1e-6)


def test_pictures_come_back_from_their_texts_as_bytes(truth):
    found = panels.decode(panels.encode(truth))
    np.testing.assert_array_equal(found, np.rint(255 * truth).astype(np.uint8))


def test_quick_settings_are_settings():
    assert Settings(**QUICK).quick
