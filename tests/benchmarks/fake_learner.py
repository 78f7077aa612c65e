"""A learner with the interface that the benchmarks ask for, and as little else as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.judge import Problem
from benchmarks.rivals import ours
from benchmarks.warm_start import gradient, project


class FakeLearner:
    """One small step down the gradient for every image."""

    def __init__(self, *, init: np.ndarray, penalty: float, n_epochs: int = 1, **told: object):
        self.dictionary_, self.penalty, self.n_epochs, self.told = init, penalty, n_epochs, told
        self.t = 0

    def fit(self, images: Sequence[np.ndarray], **told: object) -> FakeLearner:
        return self.partial_fit([*images] * self.n_epochs, **told)

    def partial_fit(
        self,
        images: Sequence[np.ndarray],
        mask: Sequence[np.ndarray] | None = None,
        callback: Callable[[FakeLearner], bool] | None = None,
    ) -> FakeLearner:
        for image in images:
            problem = Problem(image, self.dictionary_, self.penalty)
            codes = ours.readable(ours.solve(problem, tol=0.1))
            self.t += 1
            self.dictionary_ = project(problem.d - 10 / (5 + self.t) * gradient(problem, codes))
            if callback is not None and callback(self):
                break
        return self
