"""Stage `update`: one update of the lag statistics, and one iteration of FISTA.

`time_updates` is the one place here that reaches inside the library: it times the very
functions that a step of the learner calls, on the codes of one image.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from ..judge import Problem
from ..results import Results
from ..rivals import ours
from ..timing import say, timed
from .bench import attempt, lay_out
from .course import Course
from .settings import Settings

CODING_GAP = 1e-2
FEW, MANY = 10, 60  # iterations of FISTA: the difference in time is what iterations cost


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = lay_out(settings, stage)
    images = bench.train[: 2 if settings.quick else 5]
    learned = attempt(bench.ours(images=images))  # codes of noise would be unlike any in use
    d = learned.dictionaries[-1] if isinstance(learned, Course) else bench.d
    try:
        stage["rows"] = time_updates(images, d, bench.penalty, 3 * settings.repeats)
    except (ImportError, AttributeError, TypeError) as error:
        stage["failed"] = f"the library has changed inside: {error}"
    results.save()
    say(f"updates: {stage.get('failed') or stage['rows']}")


def time_updates(
    images: list[np.ndarray], dictionary: np.ndarray, penalty: float, repeats: int
) -> list[dict]:
    """For each image: its nonzeros, and the milliseconds of an update and of an iteration.

    An update ends when A can be applied, so it is timed with the first application after it,
    less a further one.
    """
    from convdict.learning.coded import Coded
    from convdict.learning.constraint import Constraint
    from convdict.learning.second_order import SecondOrder
    from convdict.model.pose import pose

    number = np.dtype(np.float32)

    def milliseconds(work: Callable[[], Any]) -> float:
        work()
        return 1e3 * median(timed(work)[0] for _ in range(repeats))

    rows = []
    for s in images:
        codes = ours.solve(Problem(s, dictionary, penalty), tol=CODING_GAP)
        if not codes.nnz:
            continue
        problem = pose(s, dictionary, penalty)[0].astype(number)
        triplets = codes.triplets()
        triplets = triplets._replace(value=triplets.value.astype(number))
        coded = Coded(problem, triplets, codes.objective, codes.gap)
        learning = SecondOrder(
            shape=problem.d.shape,
            dtype=number,
            domain="lag",
            forgetting=10.0,
            tolerance=(0.0, 1.0),  # as many iterations as are allowed
            constraint=Constraint(),
        )

        def apply(learning=learning, d=problem.d) -> None:
            learning.statistics.hessian.apply(d)

        def update(statistics=learning.statistics, coded=coded, apply=apply) -> None:
            """A ← αA + XᵀX, b ← αb + Xᵀs"""
            statistics.scale(0.9)
            terms = statistics.terms(coded.problem, coded.codes)
            statistics.add([(coded.problem, terms, 1.0)])
            apply()

        def step(n_iter: int, learning=learning, coded=coded) -> None:
            learning.MAX_ITER = n_iter
            learning.update(coded.problem.d, [coded], [None])

        update_ms = milliseconds(update) - milliseconds(apply)
        few, many = (milliseconds(partial(step, n_iter)) for n_iter in (FEW, MANY))
        iteration_ms = (many - few) / (MANY - FEW)
        rows.append({"nnz": codes.nnz, "update_ms": update_ms, "iteration_ms": iteration_ms})
    return rows
