"""Stage `race`: the value of everybody's dictionary against the seconds spent on learning it."""

from __future__ import annotations

from functools import partial
from statistics import median

import numpy as np

from ..results import Results
from ..rivals import learner, sklearn_patches, sporco_online
from ..rivals.sporco_admm import Tuned
from ..rivals.sporco_online import Hurried
from ..timing import Neighbours, say
from .bench import Bench, attempt, lay_out, warm_up
from .course import Course, Learn, every, in_short, judged, nearest_steps
from .entrants import ENTRANTS, Entrant
from .search import find_fastest
from .settings import Settings

SPORCO, SKLEARN = "sporco_paper", "sklearn"


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = lay_out(settings, stage)
    start = bench.examiner(bench.d)
    stage["start"] = {"value": start.value, "gap": start.worst_gap}
    stage["curves"] = {}
    neighbours = Neighbours()

    def enter(key: str, label: str, curve: dict) -> None:
        stage["curves"][key] = {"label": label} | curve
        stage["cores_busy_elsewhere"] = neighbours.busy()
        results.save()
        say(f"race: {label}: {in_short(curve)}")

    _run_ours(bench, settings, enter)

    patches = partial(sklearn_patches.learn, n_patches=settings.n_patches, seed=settings.seed)
    sklearn_patches.learn(bench.train[:1], bench.d, penalty=bench.penalty, n_patches=100)
    enter(SKLEARN, "scikit-learn, patches", _rival(patches, bench, settings))

    planned = Hurried(Tuned(), 2)  # FFTW plans its transforms before the clock runs
    sporco_online.learn(bench.train[:1], bench.d, penalty=bench.penalty, setting=planned)
    enter(SPORCO, "SPORCO, paper's settings", _rival(sporco_online.learn, bench, settings))

    paper = stage["curves"][SPORCO].get("points")
    if paper:
        stage["target"] = paper[-1]["value"]
        stage["search"] = find_fastest(bench, settings, stage["target"], paper, results.save, enter)


def _run_ours(bench: Bench, settings: Settings, enter) -> None:
    """All repeats of all entrants in turn: what slows the machine for a while slows them all."""
    runs: dict[str, list[Course | str]] = {entrant.key: [] for entrant in ENTRANTS}
    for repeat in range(settings.repeats):
        for entrant in ENTRANTS:
            if repeat and (entrant.slow or isinstance(runs[entrant.key][0], str)):
                continue
            course = _one_pass(entrant, bench, settings, warm=not repeat)
            runs[entrant.key].append(course)
            say(f"race: {entrant.label}, run {repeat + 1}: {_length(course)}")
    for entrant in ENTRANTS:
        enter(entrant.key, entrant.label, _curve(entrant, runs[entrant.key], bench, settings))
    for entrant in ENTRANTS:
        if entrant.further and settings.passes > 1:
            course = attempt(bench.ours(**entrant.told, n_epochs=settings.passes))
            label = f"{entrant.label}, {settings.passes} passes"
            looks = [len(bench.train) * p for p in range(1, settings.passes + 1)]
            total = float(looks[-1])
            enter(f"{entrant.key}_passes", label, _points(course, total, looks, bench))


def _one_pass(entrant: Entrant, bench: Bench, settings: Settings, *, warm: bool) -> Course | str:
    budget = settings.slow_budget if entrant.slow else None
    try:
        if warm:
            warm_up(bench, **entrant.told)
    except Exception as error:  # then the run itself says what is wrong
        say(f"warming up {entrant.label}: {error!r}")
    return attempt(bench.ours(**entrant.told), budget)


def _curve(entrant: Entrant, runs: list[Course | str], bench: Bench, settings: Settings) -> dict:
    """Values of the first run; at every step the median time over all runs."""
    first = runs[0]
    if isinstance(first, str):
        return {"failed": first}
    whole = [run for run in runs if not isinstance(run, str) and len(run) == len(first)]
    if not first.ended_early:
        total = float(len(bench.train))
    else:
        per_image = learner.steps_per_image(settings.size, **{"split": "auto"} | entrant.told)
        if per_image is None:
            return {"failed": f"not through in {settings.slow_budget:g} s"}
        total = len(first) / per_image
    last = [run.dictionaries[-1] for run in whole]
    spread = max(float(np.abs(d - last[0]).max()) for d in last)
    middle = Course(
        [median(times) for times in zip(*(run.seconds for run in whole), strict=True)],
        first.dictionaries,
        first.ended_early,
    )
    looks = [*settings.looks, *(every(settings.fine, total) if entrant.further else [total])]
    curve = _points(middle, total, looks, bench)
    curve |= {"total_seconds": [run.seconds[-1] for run in whole], "runs_differ_by": spread}
    if first.ended_early:
        curve["stopped"] = f"after {total:.3g} images: {settings.slow_budget:g} s were spent"
    return curve


def _rival(learn: Learn, bench: Bench, settings: Settings) -> dict:
    course = attempt(partial(learn, bench.train, bench.d, penalty=bench.penalty))
    total = float(len(bench.train))
    return _points(course, total, [*settings.looks, total], bench)


def _points(course: Course | str, total: float, looks: list[float], bench: Bench) -> dict:
    if isinstance(course, str) or not len(course):
        return {"failed": course if isinstance(course, str) else "not a single step"}
    per_image = len(course) / total
    steps = nearest_steps(len(course), per_image, looks)
    return {
        "steps": len(course),
        "points": judged(course, steps, per_image, bench.examiner),
    }


def _length(course: Course | str) -> str:
    return course if isinstance(course, str) else f"{course.seconds[-1]:.3g} s"
