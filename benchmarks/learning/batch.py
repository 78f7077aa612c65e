"""Stage `batch`: a few passes against a long batch run, and how to go on after the first pass.

The batch run codes all training images and then fits the dictionary to these codes alone, over
and over: our own learner with all images in one step, where every visit replaces what an image
contributed before. Once it starts where everybody starts, once where our passes ended; the
lower of the two values is the reference.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..results import Results
from ..rivals import learner
from ..timing import say
from .bench import Bench, attempt, lay_out, warm_up
from .course import Course, evenly, in_short, judged, nearest_steps
from .settings import Settings

WAYS = [
    {"constraint": constraint, "revisit": revisit, "lookahead": lookahead}
    for constraint in ("sphere", "ball")
    for revisit, lookahead in (("replace", 0.0), ("forget", 0.0), ("forget", 0.75))
]
N_LOOKS = 8
CODING_GAP = 1e-2  # of the batch run


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = lay_out(settings, stage)
    stage |= {"default": {}, "ways": [], "references": []}
    warm_up(bench)

    course = attempt(bench.ours(n_epochs=settings.passes))
    stage["default"] = _by_pass(course, bench, settings)
    results.save()
    for told in WAYS:
        found = attempt(bench.ours(**told, n_epochs=settings.passes))
        stage["ways"].append(told | _by_pass(found, bench, settings))
        results.save()
        say(f"batch: {told}: {in_short(stage['ways'][-1])}")

    starts = {"the common start": bench.d}
    if isinstance(course, Course):
        starts["our last pass"] = course.dictionaries[-1]
    for name, d in starts.items():
        found = _long_run(d, bench, settings.batch_seconds / len(starts))
        stage["references"].append({"from": name} | found)
        results.save()
        say(f"batch: from {name}: {in_short(found)}")


def _by_pass(course: Course | str, bench: Bench, settings: Settings) -> dict:
    if isinstance(course, str):
        return {"failed": course}
    per_image = len(course) / (settings.passes * len(bench.train))
    ends = [p * len(bench.train) for p in range(1, settings.passes + 1)]
    steps = nearest_steps(len(course), per_image, ends)
    return {"points": judged(course, steps, per_image, bench.examiner)}


def _long_run(d: np.ndarray, bench: Bench, budget: float) -> dict:
    told = {"batch_size": len(bench.train), "split": None, "shuffle": False}
    told |= {"revisit": "replace", "n_epochs": 100_000, "coding_tol": CODING_GAP}
    learn = partial(learner.learn, bench.train, d, penalty=bench.penalty, **told)
    course = attempt(learn, budget)
    if isinstance(course, str):
        return {"failed": course}
    points = judged(course, evenly(len(course), N_LOOKS), 1 / len(bench.train), bench.examiner)
    return {"steps": len(course), "points": points}
