"""What a learner remembers of the signals it has seen: F(d) = (½dᵀAd − bᵀd + e) / Λ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from ..errors import InputError
from ..model.problem import Array, Problem, Triplets
from .frequency import Frequency
from .lag import Lag
from .matrix import DenseMatrix, Matrix
from .terms import Terms, terms

Part = tuple[Problem, Terms, float]  # a signal, what it says, and with what weight


class Hessian(Protocol):
    """A, in whatever form."""

    exact_weights: bool

    def admit(self, problem: Problem) -> None: ...
    def scale(self, factor: float) -> None: ...
    def add(self, parts: Iterable[Part]) -> None: ...
    def apply(self, d: Array) -> Array: ...
    def forget(self, kernel: int) -> None: ...
    def state(self) -> dict[str, Array]: ...
    def restore(self, state: dict[str, Array]) -> None: ...


HESSIANS: dict[str, Any] = {
    "lag": Lag,
    "frequency": Frequency,
    "sparse": Matrix,
    "dense": DenseMatrix,
}


class Surrogate:
    """A, b, e and Λ: additive over signals, whoever coded them, wherever."""

    def __init__(self, shape: tuple[int, ...], domain: str, dtype: np.dtype[Any]) -> None:
        self.domain = domain
        self.hessian: Hessian = HESSIANS[domain](shape, dtype)
        self.linear = np.zeros(shape, dtype)  # b
        self.energy = np.zeros(shape[0])  # Σ ω²‖x_m‖², the diagonal of A for every m
        self.constant = 0.0  # e
        self.total = 0.0  # Λ, the sum of weights

    def terms(self, problem: Problem, codes: Triplets) -> Terms:
        """What a signal says, for `add`; an error if it cannot be added to what is there."""
        self.hessian.admit(problem)
        return terms(problem, codes, exact_weights=self.hessian.exact_weights)

    def scale(self, factor: float) -> None:
        """A, b, e, Λ ← α·A, α·b, α·e, α·Λ"""
        if factor == 1:
            return
        self.hessian.scale(factor)
        self.linear *= self.linear.dtype.type(factor)
        self.energy *= factor
        self.constant *= factor
        self.total *= factor

    def add(self, parts: list[Part]) -> None:
        """A += Σ w·XᵀX, b += Σ w·Xᵀs, e += …, Λ += Σ w; a negative weight takes back."""
        self.hessian.add(parts)
        for _, term, weight in parts:
            self.linear += self.linear.dtype.type(weight) * term.linear
            self.energy += weight * term.energy(len(self.energy))
            self.constant += weight * term.constant
            self.total += weight

    def merge(self, other: Surrogate) -> None:
        """The statistics of all signals that either has seen."""
        mine, theirs = self.hessian.state(), other.hessian.state()
        same = {name: a.shape for name, a in mine.items()} == {
            name: a.shape for name, a in theirs.items()
        }
        if self.domain != other.domain or (mine and theirs and not same):
            raise InputError(
                "these learners keep their statistics in different forms and cannot be merged: "
                "use the same domain, kernels and, for 'frequency', signals of one size"
            )
        if theirs:
            sums = {n: a + mine[n] if mine and n != "box" else a for n, a in theirs.items()}
            self.hessian.restore(sums)
        self.linear += other.linear
        self.energy += other.energy
        self.constant += other.constant
        self.total += other.total

    def forget(self, kernel: int) -> None:
        """As if this kernel had never been used."""
        self.hessian.forget(kernel)
        self.linear[kernel] = 0
        self.energy[kernel] = 0

    def state(self) -> dict[str, Array]:
        """All that has to be kept."""
        sums = np.array([self.constant, self.total])
        numbers = {"linear": self.linear, "energy": self.energy, "sums": sums}
        return numbers | {f"hessian_{name}": a for name, a in self.hessian.state().items()}

    def restore(self, state: dict[str, Array]) -> None:
        self.linear[:] = state["linear"]
        self.energy[:] = state["energy"]
        self.constant, self.total = (float(x) for x in state["sums"])
        prefix = "hessian_"
        self.hessian.restore(
            {name.removeprefix(prefix): a for name, a in state.items() if name.startswith(prefix)}
        )
