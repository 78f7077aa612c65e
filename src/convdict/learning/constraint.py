"""Which dictionaries are allowed, and the nearest of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.problem import Array


@dataclass(frozen=True)
class Constraint:
    """C: the ball ‖d_m‖ ≤ 1 or the sphere ‖d_m‖ = 1, perhaps with Σ d_m = 0 or d_m ≥ 0."""

    shape: str = "sphere"
    zero_mean: bool = False
    nonnegative: bool = False

    def __call__(self, d: Array) -> Array:
        """Proj_C(d). The mean, or what is negative, goes first: that keeps it exact."""
        axes = tuple(range(2, d.ndim))
        if self.zero_mean:  # in every channel
            d = d - d.mean(axis=axes, keepdims=True, dtype=np.float64).astype(d.dtype)
        if self.nonnegative:
            d = self._nonnegative(d)
        norm = np.sqrt(np.sum(np.square(d, dtype=np.float64), axis=(1, *axes), keepdims=True))
        least = 1.0 if self.shape == "ball" else np.finfo(np.float64).tiny
        result: Array = (d / np.maximum(norm, least)).astype(d.dtype)
        return result

    def _nonnegative(self, d: Array) -> Array:
        """max(d, 0); the point of the sphere next to kernels without a positive entry is that
        of their largest one."""
        kept = np.maximum(d, 0).reshape(len(d), -1)
        if self.shape == "sphere":
            blank = np.flatnonzero(~kept.any(axis=1))
            kept[blank, d.reshape(len(d), -1)[blank].argmax(axis=1)] = 1
        return kept.reshape(d.shape)
