"""What a dictionary is worth: the least objective of photographs that it never saw.

The value is the mean over the test images of min over x of ½‖Σ_m d_m * x_m − s‖² + λ‖x‖₁.
convdict finds the codes, from those of the dictionary before; the judge recomputes objective
and gap in float64, and a minimum lies at most that gap below what is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..environment import cores_at_hand
from ..judge import Judgement, Problem, judge
from ..rivals import ours

FAR = 0.5  # of its norm: from a dictionary that moved more, no codes are taken over


@dataclass(frozen=True)
class Mark:
    value: float
    worst_gap: float


class Examiner:
    """Marks dictionaries, everybody's alike."""

    def __init__(self, test: Sequence[np.ndarray], penalty: float, tol: float):
        self.test, self.penalty, self.tol = test, penalty, tol
        self._codes: list[Any] = [None] * len(test)
        self._d = np.zeros(0, np.float32)  # the dictionary of these codes

    def __call__(self, d: np.ndarray) -> Mark:
        d = np.ascontiguousarray(d, dtype=np.float32)
        if not np.isfinite(d).all():
            return Mark(float("inf"), float("inf"))
        if self._d.shape != d.shape or np.linalg.norm(d - self._d) > FAR * np.linalg.norm(d):
            self._codes = [None] * len(self.test)
        self._d = d

        def mark(i: int) -> Judgement:
            problem = Problem(self.test[i], d, self.penalty)
            self._codes[i] = ours.solve(problem, tol=self.tol, init=self._codes[i])
            return judge(problem, ours.readable(self._codes[i]))

        with ThreadPoolExecutor(cores_at_hand()) as pool:
            found = list(pool.map(mark, range(len(self.test))))
        mean = float(np.mean([judgement.objective for judgement in found]))
        return Mark(mean, max(judgement.gap for judgement in found))
