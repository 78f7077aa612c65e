"""The Hessian per frequency of the signals' grid: the paper's Option II."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.problem import Array, Problem
from .spectral import Spectral
from .terms import Terms


class Frequency:
    """Â = Σ conj(x̂) x̂ᵀ at every frequency: M²/2 complex numbers for every second sample."""

    exact_weights = False

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._shape, self._dtype = shape, dtype
        self.spectral: Spectral | None = None  # once the grid is known

    def admit(self, problem: Problem) -> None:
        """Complain of a signal on another grid than those before."""
        if self.spectral is not None and self.spectral.box != problem.grid:
            raise InputError(
                f"the frequency domain keeps a Hessian for signals of shape {self.spectral.box} "
                f"and cannot take one of shape {problem.grid}: give signals of one size, a "
                "`split` that divides them evenly, or domain='lag'"
            )

    def scale(self, factor: float) -> None:
        """Â ← factor · Â"""
        if self.spectral:
            self.spectral.a *= self._dtype.type(factor)

    def add(self, parts: Iterable[tuple[Problem, Terms, float]]) -> None:
        """Â += weight · ω² · conj(x̂) x̂ᵀ for each signal's codes."""
        for problem, terms, weight in parts:
            if self.spectral is None:
                self.spectral = Spectral(self._shape, problem.grid, self._dtype)
            x = terms.codes.to_dense(problem.n_kernels, problem.grid)
            self.spectral.add_outer(x.astype(self._dtype), weight * terms.curvature)

    def apply(self, d: Array) -> Array:
        """crop F⁻¹(Â F(pad d))"""
        return np.zeros_like(d) if self.spectral is None else self.spectral.apply(d)

    def forget(self, kernel: int) -> None:
        """Â_mn = 0 wherever m or n is `kernel`."""
        if self.spectral:
            self.spectral.forget(kernel)

    def state(self) -> dict[str, Array]:
        """All that has to be kept."""
        if self.spectral is None:
            return {}
        return {"a": self.spectral.a, "box": np.array(self.spectral.box)}

    def restore(self, state: dict[str, Array]) -> None:
        if state:
            box = tuple(int(n) for n in state["box"])
            self.spectral = Spectral(self._shape, box, self._dtype)
            self.spectral.a[:] = state["a"]
