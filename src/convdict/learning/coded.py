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


def _code(solver: Solver, problem: Problem, begin: Triplets | None, tol: float) -> Coded:
    handy, unit, _, energy = in_handy_units(problem)
    handy, unit = handy.astype(problem.dtype), unit.astype(problem.dtype)
    if begin is not None:
        begin = begin._replace(value=begin.value / unit[begin.kernel])
    records: list[Progress] = []
    found = solver.solve(handy, start=begin, tol=tol, callback=records.append)
    codes = found.codes._replace(value=found.codes.value * unit[found.codes.kernel])
    return Coded(problem, codes, records[-1].objective * energy, records[-1].gap)
