"""Where the dictionary is going: old codes hold it back, and this makes up for some of it."""

from __future__ import annotations

from collections.abc import Callable

from ..model.problem import Array

WHOLE = 5.0  # signals of the paper's size in the memory from which on all of ω is used


class Lookahead:
    """d̄ ← αd̄ + (1 − α)d, and the next signals are coded with Proj_C(d + ω(d − d̄)).

    The surrogate is made of codes that earlier dictionaries asked for, so that its minimum d
    trails behind. d̄ averages the minima of the past as the surrogate averages codes, and d − d̄
    is about the way from the dictionaries that the codes belong to, to the latest. With ω = 0
    this is the paper's Algorithm 2. While the memory holds few signals, d is noise for the most
    part, and ω is less in proportion.
    """

    def __init__(self, strength: float, constraint: Callable[[Array], Array]) -> None:
        self.strength = strength
        self.mean: Array | None = None  # d̄
        self._constraint = constraint

    def follow(self, d: Array, alpha: float) -> None:
        """d̄ ← αd̄ + (1 − α)d"""
        if self.strength > 0:
            alpha = 0.0 if self.mean is None else alpha
            mean = d if self.mean is None else self.mean
            self.mean = mean + d.dtype.type(1 - alpha) * (d - mean)

    def __call__(self, d: Array, memory: float) -> Array:
        """Proj_C(d + ω(d − d̄)), `memory` in signals of the paper's size."""
        if self.mean is None:
            return d
        omega = self.strength * min(1.0, memory / WHOLE)
        return self._constraint(d + d.dtype.type(omega) * (d - self.mean))

    def restart(self, kernel: int, d: Array) -> None:
        """A kernel that was seeded anew has no past."""
        if self.mean is not None:
            self.mean = self.mean.copy()
            self.mean[kernel] = d[kernel]

    def state(self) -> dict[str, Array]:
        return {} if self.mean is None else {"mean": self.mean}

    def restore(self, state: dict[str, Array]) -> None:
        self.mean = state.get("mean")
