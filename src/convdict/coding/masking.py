"""Weights in ADMM: a signal i beside the maps, so that D̂D̂ᴴ stays diagonal in frequency.

Additive mask simulation asks for Dx + i = s, with i free where W is zero and zero where it is
one: the map of an impulse kernel that carries no penalty (Wohlberg 2016, "Boundary
handling"). Mask decoupling asks for i = Dx − s and charges ½‖W⊙i‖² (Heide et al. 2015).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..errors import InputError
from ..model.problem import Array

MaskMethod = Literal["auto", "ams", "decoupling"]


def sizes(h: Array, y_old: Array, y: Array, u: Array) -> Array:
    """‖x − y‖², ‖x‖², ‖y‖², ‖y − y_old‖² and ‖u‖² after a step, h being x − y_old."""
    x, moved = h + y_old, y - y_old
    return np.array([float(np.square(a).sum()) for a in (x - y, x, y, moved, u)])


def simulates(method: MaskMethod, w2: Array) -> bool:
    """Whether the mask is to be simulated by an impulse kernel, rather than decoupled."""
    binary = bool(np.all((w2 == 0) | (w2 == 1)))
    if method == "ams" and not binary:
        raise InputError(
            "mask_method is 'ams' but the weights are not all 0 or 1: give 'decoupling' or 'auto'"
        )
    return binary and method != "decoupling"


@dataclass
class Side:
    """i, split like the maps: v = y + u, where u is scaled by ρ / κ instead of ρ."""

    w2: Array
    simulated: bool
    kappa: float  # squared norm of the impulse kernel, or of its likeness in decoupling
    rho: float
    v: Array

    @classmethod
    def of(cls, w2: Array, simulated: bool, kappa: float, rho: float, r: Array) -> Side:
        """As it stands at a solution with s − Dx = r."""
        side = cls(w2, simulated, kappa, rho, r)
        u = w2 * r * r.dtype.type(kappa / rho)
        side.v = (1 - w2) * r + u if simulated else -r - u
        return side

    def split(self) -> tuple[Array, Array]:
        """y = v where W is zero, elsewhere 0; or y = v / (1 + κW²/ρ). And u = v − y."""
        ratio = self.v.dtype.type(self.kappa / self.rho)
        y = self.v * (1 - self.w2) if self.simulated else self.v / (1 + ratio * self.w2)
        return y, self.v - y

    def system(self) -> tuple[float, Array]:
        """What is added to D̂D̂ᴴ, and to s − Dz, where the maps are z + Dᵀq for some q."""
        y, u = self.split()
        return (self.rho + self.kappa, u - y) if self.simulated else (self.kappa, y - u)

    def step(self, q: Array, alpha: float) -> Array:
        """x − y = ±κq − u, v⁺ = v + α(x − y); returns the `sizes`."""
        y_old, u = self.split()
        kappa = q.dtype.type(self.kappa)
        h = (kappa * q if self.simulated else -kappa * q) - u
        self.v += q.dtype.type(alpha) * h
        return sizes(h, y_old, *self.split())

    def change(self, rho: float) -> None:
        """u⁺ = uρ / ρ⁺."""
        y, u = self.split()
        self.v = y + u * u.dtype.type(self.rho / rho)
        self.rho = rho
