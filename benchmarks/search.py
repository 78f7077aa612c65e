"""The least work that reaches a given objective, found before anything is timed.

Both sides get the same favour: an oracle tells them where to stop, image by image. What is
timed afterwards is a plain run with that setting and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .judge import Problem, judge, objective
from .rivals import ours
from .timing import Stopwatch

SLACK = 1e-9  # an objective counts as reached within this fraction
Watch = Callable[[int, np.ndarray], bool]


@dataclass(frozen=True)
class Reached:
    n_iter: int
    seconds: float  # of the watched run, the watching left out: to compare settings, no more


def first_iteration(
    run: Callable[[Watch], object],
    arrived: Callable[[np.ndarray], bool],
    *,
    budget: float,
    every: int = 1,
) -> Reached | None:
    """The first iterate, of every so many, that has arrived, within `budget` seconds of work."""
    found: list[Reached] = []
    clock = Stopwatch()

    def watch(k: int, x: np.ndarray) -> bool:
        seconds = clock.stop()
        if k % every == 0 and arrived(x):
            found.append(Reached(k, seconds))
        clock.go()
        return bool(found) or seconds > budget

    run(watch)
    return found[0] if found else None


def at_most(problem: Problem, target: float) -> Callable[[np.ndarray], bool]:
    """Whether the judged objective of codes is at most `target`."""
    return lambda codes: objective(problem, codes) <= target * (1.0 + SLACK)


def certified(problem: Problem, gap: float) -> Callable[[np.ndarray], bool]:
    """Whether the judge finds a gap of at most `gap`."""
    return lambda codes: judge(problem, codes).gap <= gap


def loosest_tolerance(
    problem: Problem, tolerances: tuple[float, ...], target: float
) -> float | None:
    """The first of our tolerances, from loose to tight, whose judged objective is low enough."""
    for tol in sorted(tolerances, reverse=True):
        if at_most(problem, target)(ours.readable(ours.solve(problem, tol=tol))):
            return tol
    return None
