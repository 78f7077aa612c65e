"""The line that says how far learning is."""

from __future__ import annotations

import io
import re

import convdict as cd
from convdict.learning.progress import _duration
from tests.oracles import runs


class Terminal(io.StringIO):
    def isatty(self):
        return True


def lines(file=None, kind="surrogate", **options):
    learner, images, _ = runs.make(kind)
    file = io.StringIO() if file is None else file
    learner.fit(images, callback=cd.ProgressLine(file=file, **options))
    return file.getvalue().splitlines(), learner


def test_every_step_without_an_interval():
    said, learner = lines(interval=0)
    assert len(said) == learner.n_steps_
    first = f"1 step, 1.0 images, value {learner.history_[0].value:.4g}, 0:00:00"
    assert said[0] == first
    for step, line in enumerate(said[1:], 2):
        assert line.startswith(f"{step} steps, {step}.0 images, value ")


def test_not_more_often_than_the_interval():
    assert len(lines(interval=1000)[0]) == 1


def test_the_total_says_how_long_is_left_and_when_all_is_done():
    said, _ = lines(interval=1000, total=8)
    assert len(said) == 2
    assert re.fullmatch(r"1 step, 1.0 of 8 images, value \S+, 0:00:00, 0:00:00 left", said[0])
    assert said[1].startswith("8 steps, 8.0 of 8 images")


def test_parts_of_images_are_counted():
    said, _ = lines(kind="tiles", interval=0)
    assert said[0].startswith("1 step, 0.5 images"), "three of six tiles"


def test_on_a_terminal_one_line_is_written_over():
    said, learner = lines(Terminal(), interval=0)
    assert len(said) == learner.n_steps_
    assert "\x1b" not in said[0]
    assert all(line.startswith("\x1b[F\x1b[K") for line in said[1:])
    assert "\x1b" not in "".join(lines(interval=0)[0])


def test_it_goes_to_standard_error_and_serves_several_fits(capsys):
    learner, images, _ = runs.make("surrogate")
    line = cd.ProgressLine(interval=1000)
    learner.fit(images, callback=line).fit(images, callback=line)
    said = capsys.readouterr()
    assert said.out == ""
    assert [text[:6] for text in said.err.splitlines()] == ["1 step", "1 step"]


def test_hours_and_minutes():
    assert [_duration(s) for s in (0, 59.4, 61, 3600 * 25 + 62)] == [
        "0:00:00",
        "0:00:59",
        "0:01:01",
        "25:01:02",
    ]
