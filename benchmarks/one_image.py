"""What a child process does for `coding`: one signal, by one solver, watched for its memory."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np

from .judge import Problem, judge
from .resident import forget_peak, megabytes, resident
from .rivals import ours
from .timing import timed


def work(job: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict:
    """Seconds, memory and the judge's word for one signal.

    Memory is the most ever held, less what was held after the imports and with the input loaded.
    """
    if job["solver"] == "sporco":
        from sporco.admm import cbpdn  # noqa: F401

        from .rivals import sporco_admm

        def solve(problem):
            return sporco_admm.paper(problem)
    else:
        import convdict  # noqa: F401  (imports belong before the baseline)

        def solve(problem):
            return ours.solve(problem, tol=job["tol"], solver=job["solver"])

    s, d = arrays["s"], arrays["d"]
    problem = Problem(s, d, job["penalty"])
    forget_peak()
    imported = resident()
    corner = job.get("warm_up")  # a small corner first: compiled kernels come off the disk
    if corner:
        solve(Problem(np.ascontiguousarray(s[:corner, :corner]), d, job["penalty"]))
    warmed = resident()
    seconds, codes = timed(lambda: solve(problem))
    times = [seconds]
    peak = resident("VmHWM")
    while len(times) < job.get("repeats", 1) and sum(times) < 3.0:
        times.append(timed(lambda: solve(problem))[0])
    found = {
        "seconds": median(times),
        "memory_mb": megabytes(peak, imported),
        "memory_after_warm_up_mb": megabytes(peak, warmed) if corner else None,
        "imports_mb": megabytes(imported, 0),
    }
    if job.get("judge", True):
        seen = judge(problem, codes if job["solver"] == "sporco" else ours.readable(codes))
        found |= {"objective": seen.objective, "gap": seen.gap}
        found |= {"nnz": seen.nnz, "density": seen.density}
    return found
