"""The course of one learning run: after every step, the seconds so far and the dictionary.

The clock stands while a dictionary is copied or looked at; judging comes after the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from ..timing import Stopwatch

Watch = Callable[[np.ndarray], bool]
Learn = Callable[..., np.ndarray]  # takes `watch` by keyword


@dataclass
class Course:
    seconds: list[float] = field(default_factory=list)
    dictionaries: list[np.ndarray] = field(default_factory=list)
    ended_early: bool = False

    def __len__(self) -> int:
        return len(self.seconds)


def follow(
    learn: Learn,
    *,
    budget: float | None = None,
    enough: Callable[[int, np.ndarray], bool] | None = None,
    every: int = 1,
) -> Course:
    """Run `learn` to its end, or until `budget` seconds have gone, or `enough(step, d)`.

    Of every so many steps one is kept.
    """
    course = Course()
    clock = Stopwatch()
    steps = count(1)

    def watch(d: np.ndarray) -> bool:
        if next(steps) % every:
            return False
        course.seconds.append(clock.stop())
        course.dictionaries.append(np.array(d, dtype=np.float32))
        over = budget is not None and course.seconds[-1] > budget
        if enough is not None:
            over = over or enough(len(course), course.dictionaries[-1])
        course.ended_early = over
        clock.go()
        return over

    learn(watch=watch)
    return course


def nearest_steps(n_steps: int, per_image: float, looks: Iterable[float]) -> list[int]:
    """The steps (from 1) after which these numbers of images have been seen, none twice."""
    wanted = {max(round(images * per_image), 1) for images in looks}
    return sorted(step for step in wanted if step <= n_steps)


def judged(
    course: Course, steps: Iterable[int], per_image: float, examine: Callable[[np.ndarray], Any]
) -> list[dict]:
    """What the examiner says of the dictionaries after these steps."""
    points = []
    for step in steps:
        mark = examine(course.dictionaries[step - 1])
        point = {"images": step / per_image, "seconds": course.seconds[step - 1]}
        points.append(point | {"step": step, "value": mark.value, "gap": mark.worst_gap})
    return points


def in_short(run: dict) -> str:
    """Where a run ended, for whoever watches."""
    if not run.get("points"):
        return run.get("failed", "no points")
    last = run["points"][-1]
    return f"{last['images']:.3g} images, {last['seconds']:.3g} s, value {last['value']:.3f}"


def every(distance: float, end: float) -> list[float]:
    """distance, 2 · distance, ... and the end itself."""
    found = list(np.arange(distance, end, distance))
    return [float(images) for images in [*found, end]]


def evenly(n_steps: int, n: int) -> Sequence[int]:
    """About `n` steps from the first to the last, closer together at first."""
    return sorted({round(step) for step in np.geomspace(1, n_steps, n)}) if n_steps else []
