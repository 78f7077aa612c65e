"""How objective and certificate fall with time, on one image."""

from __future__ import annotations

from functools import partial
from statistics import median

import numpy as np

from .judge import Problem, judge
from .rivals import dense_fista, ours, sporco_admm
from .rivals.sporco_admm import Tuned
from .settings import Settings
from .timing import Stopwatch, say, timed

FISTA_ITERATIONS = 600


def record(problem: Problem, fastest: Tuned, settings: Settings) -> dict:
    """Points (seconds, judged objective, judged gap) for everybody; ours name their tolerance.

    The rivals' iterates are judged while their clock stands still. Ours are separate plain
    runs, one for every tolerance; what our callback reports within one run is kept as well.
    """
    curves = {
        "SPORCO, paper's settings": _watched(
            problem, partial(sporco_admm.paper, problem), settings, 500
        ),
        "SPORCO, fastest": _watched(
            problem, partial(sporco_admm.tuned, problem, fastest, 400), settings, 400
        ),
        "dense FISTA": _watched(
            problem,
            partial(dense_fista.solve, problem, FISTA_ITERATIONS),
            settings,
            FISTA_ITERATIONS,
        ),
        "convdict": _by_tolerance(problem, settings),
    }
    exact = Problem(problem.s.astype(np.float64), problem.d.astype(np.float64), problem.lmbda)
    sharpest = judge(problem, ours.readable(ours.solve(exact, tol=1e-5)))
    lowest = min(point[1] for points in curves.values() for point in points)
    records = []
    ours.solve(problem, tol=settings.certificate, callback=records.append)
    return {
        "curves": curves,
        "optimum": min(lowest, sharpest.objective),
        "optimum_known_to": sharpest.gap,
        "callback": [[r.seconds, r.objective, r.gap, r.nnz] for r in records],
    }


def _watched(problem: Problem, run, settings: Settings, n_iter: int) -> list[list[float]]:
    looks = set(np.geomspace(1, n_iter, settings.trace_points).astype(int))
    points: list[list[float]] = []
    clock = Stopwatch()

    def watch(k: int, x: np.ndarray) -> bool:
        if k in looks:
            seconds = clock.stop()
            seen = judge(problem, x)
            points.append([seconds, seen.objective, seen.gap])
            clock.go()
        return False

    last = run(watch)
    seconds = clock.stop()
    seen = judge(problem, last)
    points.append([seconds, seen.objective, seen.gap])
    say(f"trace: {len(points)} points in {clock.seconds:.1f} s of work")
    return points


def _by_tolerance(problem: Problem, settings: Settings) -> list[list[float]]:
    points = []
    for tol in settings.tolerances:
        runs = [timed(partial(ours.solve, problem, tol=tol)) for _ in range(3)]
        seen = judge(problem, ours.readable(runs[0][1]))
        points.append([median(s for s, _ in runs), seen.objective, seen.gap, tol])
    return points
