"""Signals coded against the current dictionary, several at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coding.sparse_code import Solver, in_handy_units
from ..model.problem import Problem, Progress, Triplets
from ..threads import parallel_map


class Coded(NamedTuple):
    """A signal with its codes, and what the solver says of them in its own precision."""

    problem: Problem
    codes: Triplets
    objective: float
    gap: float

    @property
    def size(self) -> float:
        """How many samples the signal shows."""
        w = self.problem.w
        if w is None:
            return float(self.problem.s.size // len(self.problem.s))
        return float(np.count_nonzero(w)) / len(w)


def code_all(
    solver: Solver, problems: list[Problem], begin: list[Triplets | None], tol: float
) -> list[Coded]:
    """Each signal's codes, from those it had before if there are any."""
    return parallel_map(
        lambda pair: _code(solver, *pair, tol), list(zip(problems, begin, strict=True))
    )


LEAST_TOL = 1e-3  # of a gap, where codes explain next to nothing


def _code(solver: Solver, problem: Problem, begin: Triplets | None, tol: float) -> Coded:
    handy, unit, _, energy = in_handy_units(problem)
    handy, unit = handy.astype(problem.dtype), unit.astype(problem.dtype)
    if begin is not None:
        begin = begin._replace(value=begin.value / unit[begin.kernel])
    records: list[Progress] = []
    found = solver.solve(handy, start=begin, tol=tol, callback=records.append)
    while not _tells(handy, records[-1]) and tol > LEAST_TOL:
        tol /= 4
        found = solver.solve(handy, start=found.codes, tol=tol, callback=records.append)
    codes = found.codes._replace(value=found.codes.value * unit[found.codes.kernel])
    return Coded(problem, codes, records[-1].objective * energy, records[-1].gap)


def _tells(problem: Problem, last: Progress) -> bool:
    """Whether codes gain at least half of what they could gain over having none.

    A gap is relative to the whole objective. Of signals that are mostly noise codes explain so
    little that none at all would have a small one, and nothing would ever be learned.
    """
    s = problem.s if problem.w is None else problem.w * problem.s
    without = 0.5 * float(np.sum(np.square(s, dtype=np.float64)))
    return without - last.objective >= last.gap * last.objective
