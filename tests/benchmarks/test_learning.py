"""The experiment `learning`: what it measures, on a learner that is hardly one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import convdict
from benchmarks import datasets
from benchmarks.dictionaries import noise
from benchmarks.judge import Problem, judge
from benchmarks.learning import bench, masked, search, sizes, summary
from benchmarks.learning.course import every, follow, judged, nearest_steps
from benchmarks.learning.examiner import Examiner
from benchmarks.learning.settings import QUICK, Settings
from benchmarks.rivals import dense_fista, learner

from .fake_learner import FakeLearner

PENALTY = 0.3


@pytest.fixture
def images() -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.standard_normal((16, 16)).astype(np.float32) for _ in range(3)]


@pytest.fixture
def d() -> np.ndarray:
    return noise(4, 5)


@pytest.fixture(autouse=True)
def _fake(monkeypatch):
    monkeypatch.setattr(convdict, "ConvDictLearner", FakeLearner, raising=False)


def test_the_value_is_the_mean_of_the_least_objectives(images, d):
    """Against minima that come from another solver."""
    examine = Examiner(images, PENALTY, 1e-4)
    found = [examine(d) for _ in range(2)]  # the second time from the codes of the first
    problems = [Problem(s, d, PENALTY) for s in images]
    least = [judge(problem, dense_fista.solve(problem, 800)) for problem in problems]
    assert max(judgement.gap for judgement in least) < 1e-4
    for mark in found:
        expected = np.mean([judgement.objective for judgement in least])
        assert mark.value == pytest.approx(expected, rel=1e-4)
        assert 0.0 <= mark.worst_gap <= 1.1e-4


def test_a_dictionary_that_is_not_finite_is_worth_nothing(images, d):
    d[0, 0, 0] = np.nan
    assert Examiner(images, PENALTY, 1e-2)(d).value == float("inf")


def test_a_course_keeps_copies_and_leaves_looking_out_of_the_time(images, d):
    asked = {"penalty": PENALTY, "n_epochs": 2}
    course = follow(lambda watch: learner.learn(images, d, watch=watch, **asked))
    assert len(course) == 6
    assert not course.ended_early
    assert course.seconds == sorted(course.seconds)
    assert not np.array_equal(course.dictionaries[0], course.dictionaries[1])
    points = judged(course, [3, 6], 1.0, Examiner(images, PENALTY, 1e-2))
    assert [point["images"] for point in points] == [3.0, 6.0]
    assert points[1]["seconds"] == course.seconds[5]


def test_a_course_can_be_ended(images, d):
    def learn(watch):
        return learner.learn(images, d, watch=watch, penalty=PENALTY)

    assert len(follow(learn, budget=0.0)) == 1
    course = follow(learn, enough=lambda step, _: step == 2)
    assert course.ended_early
    assert len(course) == 2


def test_an_entrant_that_fails_does_not_end_the_race(monkeypatch, images, d):
    def broken(*_, **__):
        raise ValueError("no such domain\nat all")

    monkeypatch.setattr(FakeLearner, "partial_fit", broken)
    where = bench.Bench(images, images, d, PENALTY, Examiner(images, PENALTY, 1e-2))
    assert bench.attempt(where.ours()) == "ValueError: no such domain"


def test_looks_are_at_steps_that_were_made():
    assert nearest_steps(10, 0.5, [0.1, 1, 2, 20, 30]) == [1, 10]
    assert nearest_steps(160, 4.0, [1, 2, 2, 40, 41]) == [4, 8, 160]
    assert every(2.0, 5.0) == [2.0, 4.0, 5.0]
    assert learner.steps_per_image(256, split=64) == 16
    assert learner.steps_per_image(256, split=None, batch_size=4) == 0.25
    assert learner.steps_per_image(256, split="auto") is None


def test_the_time_to_a_value_lies_on_a_straight_line_between_looks():
    points = [{"seconds": s, "value": v} for s, v in ((1.0, 10.0), (3.0, 6.0), (4.0, 7.0))]
    assert summary.time_to(points, 8.0) == pytest.approx(2.0)
    assert summary.time_to(points, 6.0) == pytest.approx(3.0)
    assert summary.time_to(points, 5.9) is None
    assert summary.time_to(points, 12.0) == 1.0  # how much sooner is not known
    assert summary.time_to(points, 12.0, start=14.0) == pytest.approx(0.5)
    assert summary.time_to([], 1.0, start=2.0) is None


def test_finalists_are_the_best_for_each_number_of_iterations():
    rows = [(10, 5.0), (10, 4.0), (25, 3.0), (25, 3.5)]
    assert search.finalists([{"n_iter": n, "value": v} for n, v in rows]) == [1, 2]


def test_sheets_and_pieces_hold_the_same_pixels(images):
    images = images + images[:1]
    large = sizes.sheets(images, 32)
    assert large.shape == (1, 32, 32)
    assert np.array_equal(large[0, 16:, :16], images[2])
    for small, whole in zip(sizes.pieces(large, 16), images, strict=True):
        assert np.array_equal(small, whole)


def test_hidden_pixels_are_gone(images):
    shown, mask = masked.hide(images[0], 0.3, np.random.default_rng(0))
    assert not shown[~mask].any()
    assert np.array_equal(shown[mask], images[0][mask])
    assert 0.1 < (~mask).mean() < 0.5


def test_photographs_are_parted_before_they_are_cut(monkeypatch):
    rng = np.random.default_rng(0)
    greys = [(name, rng.random((20, 30))) for name in "abc"]
    monkeypatch.setattr(datasets, "_greys", lambda *_, **__: greys)
    train, test = datasets.train_and_test(None, n_train=4, n_test=5, size=10)
    assert [photo.name for photo in train] == ["a-0", "b-0", "a-1", "b-1"]
    assert [photo.name for photo in test] == ["c-0", "c-1", "c-2", "c-3", "c-4"]


def test_settings_say_all_but_where_files_lie():
    told = Settings(**QUICK, photos=Path("somewhere")).as_json()
    assert "photos" not in told
    assert told["hurried"][0] == "10 iterations, ρ = 5, fixed"
