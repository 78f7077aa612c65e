"""Stage `update`: one update of the lag statistics, and one iteration of FISTA.

`time_updates` is the one place here that reaches inside the library: it times the very
functions that a step of the learner calls, on the codes of one image.
"""

from __future__ import annotations

from statistics import median

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
    """For each image: its nonzeros, and the milliseconds of an update and of an iteration."""
    from convdict.learning.constraint import Constraint
    from convdict.learning.quadratic import minimise
    from convdict.model.pose import pose
    from convdict.statistics.surrogate import Surrogate

    rows = []
    for s in images:
        codes = ours.solve(Problem(s, dictionary, penalty), tol=CODING_GAP)
        problem = pose(s, dictionary, penalty)[0].astype(np.float32)
        triplets = codes.triplets()
        triplets = triplets._replace(value=triplets.value.astype(np.float32))
        statistics = Surrogate(problem.d.shape, "lag", np.dtype(np.float32))

        def update(statistics=statistics, problem=problem, triplets=triplets) -> None:
            """A ← αA + XᵀX, b ← αb + Xᵀs"""
            statistics.scale(0.9)
            statistics.add([(problem, statistics.terms(problem, triplets), 1.0)])

        def iterate(n_iter: int, statistics=statistics, problem=problem) -> None:
            minimise(
                apply=statistics.hessian.apply,
                linear=statistics.linear,
                start=problem.d,
                project=Constraint(),
                tolerance=0.0,
                max_iter=n_iter,
            )

        update()
        iterate(1)
        few, many = (
            median(timed(lambda n=n: iterate(n))[0] for _ in range(repeats)) for n in (FEW, MANY)
        )
        spent = median(timed(update)[0] for _ in range(repeats))
        rows.append(
            {
                "nnz": codes.nnz,
                "update_ms": 1e3 * spent,
                "iteration_ms": 1e3 * (many - few) / (MANY - FEW),
            }
        )
    return rows
