"""SPORCO's learner at its fastest: how few iterations of coding, and with which ρ.

Every setting learns from a few images. For each number of iterations the best of them then
runs in full, and further if it has to, until it has the value that SPORCO reaches at the
paper's settings; the soonest there is the rival. FFTs run on as many threads as turn out best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ..environment import cores_at_hand
from ..rivals import sporco_online
from ..rivals.sporco_online import Hurried
from ..timing import say, timed
from .bench import Bench
from .course import follow, judged, nearest_steps
from .settings import Settings

Enter = Callable[[str, str, dict], None]


def find_fastest(
    bench: Bench,
    settings: Settings,
    target: float,
    paper: list[dict],
    save: Callable[[], None],
    enter: Enter,
) -> dict:
    threads = _best_threads(bench, settings.hurried[0])
    found: dict = {"threads": threads, "images": settings.search_images, "rows": []}
    found["paper"] = next((p for p in paper if p["images"] >= settings.search_images), paper[-1])
    tried = [replace(s, how=replace(s.how, threads=threads)) for s in settings.hurried]
    for setting in tried:
        found["rows"].append(_try(setting, bench, settings))
        row = found["rows"][-1]
        say(f"search: {setting}: {row['seconds']:.3g} s, value {row['value']:.3f}")
    found["finalists"] = finalists(found["rows"])
    save()
    for i in found["finalists"]:
        curve = _in_full(tried[i], bench, settings, target)
        enter(f"sporco_hurried_{i}", f"SPORCO, {tried[i]}", curve)
    return found


def finalists(rows: list[dict]) -> list[int]:
    """For each number of iterations, the setting with the least value."""
    best: dict[int, int] = {}
    for i, row in enumerate(rows):
        chosen = best.setdefault(row["n_iter"], i)
        if row["value"] < rows[chosen]["value"]:
            best[row["n_iter"]] = i
    return sorted(best.values())


def _best_threads(bench: Bench, setting: Hurried) -> int:
    """One FFTW thread or one per core: the value is the same, the time is not."""
    times = {}
    for threads in sorted({1, cores_at_hand()}):
        how = replace(setting, how=replace(setting.how, threads=threads))
        learn = partial(
            sporco_online.learn, bench.train[:1], bench.d, penalty=bench.penalty, setting=how
        )
        learn()  # plans and pages
        times[threads] = min(timed(learn)[0] for _ in range(2))
    return min(times, key=times.__getitem__)


def _try(setting: Hurried, bench: Bench, settings: Settings) -> dict:
    images = bench.train[: settings.search_images]
    course = follow(
        partial(sporco_online.learn, images, bench.d, penalty=bench.penalty, setting=setting)
    )
    mark = bench.examiner(course.dictionaries[-1])
    row = {"setting": str(setting), "n_iter": setting.n_iter, "seconds": course.seconds[-1]}
    return row | {"value": mark.value, "gap": mark.worst_gap}


def _in_full(setting: Hurried, bench: Bench, settings: Settings, target: float) -> dict:
    """One pass at least; then on, with a look every eighth of a pass, until the target is met."""
    n = len(bench.train)
    looks = max(n // 8, 1)

    def there(step: int, d: np.ndarray) -> bool:
        return step >= n and (step - n) % looks == 0 and bench.examiner(d).value <= target

    learn = partial(
        sporco_online.learn,
        bench.train,
        bench.d,
        penalty=bench.penalty,
        setting=setting,
        passes=settings.finalist_passes,
    )
    course = follow(learn, enough=there)
    wanted = [*settings.looks, *range(n, len(course) + 1, looks)]
    steps = nearest_steps(len(course), 1.0, wanted)
    return {"steps": len(course), "points": judged(course, steps, 1.0, bench.examiner)}
