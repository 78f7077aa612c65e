"""Looks at validation images now and then: which dictionary is best, and when to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.problem import Array

if TYPE_CHECKING:
    from .learner import ConvDictLearner

IMPROVEMENT = 1e-4  # of the value, relative: less does not count
TOL = 1e-2  # duality gap of the values
ROUNDING = 1e-6  # of a count of images that was added up from parts


class Looks:
    """The values seen, and the best dictionary among those looked at."""

    def __init__(self) -> None:
        self.values: list[tuple[int, float]] = []  # step, mean functional value
        self.best, self.since = np.inf, 0
        self.best_d: Array | None = None

    def due(self, learner: ConvDictLearner) -> bool:
        """Whether `validation_interval` images have passed since the last look."""
        awaited = learner.validation_interval * (len(self.values) + 1)
        return learner.n_images_ > awaited - ROUNDING

    def look(self, learner: ConvDictLearner, images: Any) -> None:
        """Evaluate the dictionary as it is, and remember it if it is the best."""
        value = learner.evaluate(images, tol=TOL).value
        self.values.append((learner.n_steps_, value))
        self.since += 1
        if value < (1 - IMPROVEMENT) * self.best:
            self.best, self.best_d, self.since = value, learner._run.d.copy(), 0

    def enough(self, learner: ConvDictLearner) -> bool:
        """Whether `patience` looks brought nothing better; if so, back to the best."""
        if self.since < learner.patience:
            return False
        self._keep_best(learner)
        return True

    def finish(self, learner: ConvDictLearner, images: Any) -> None:
        """A last look at the end of all epochs, and back to the best."""
        if not self.values or self.values[-1][0] < learner.n_steps_:
            self.look(learner, images)
        self._keep_best(learner)

    def _keep_best(self, learner: ConvDictLearner) -> None:
        if self.best_d is not None:
            learner._run.d = self.best_d.copy()

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that has to be kept: plain values, and arrays."""
        about = {"values": self.values, "best": self.best, "since": self.since}
        return about, {} if self.best_d is None else {"best_d": self.best_d}

    @classmethod
    def of(cls, about: dict[str, Any], arrays: dict[str, Array]) -> Looks:
        """From what `state` gave."""
        looks = cls()
        looks.values = [(int(step), float(value)) for step, value in about["values"]]
        looks.best, looks.since = float(about["best"]), int(about["since"])
        looks.best_d = arrays.get("best_d")
        return looks
