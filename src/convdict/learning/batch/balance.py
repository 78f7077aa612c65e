"""The penalty parameter of ADMM, adapted until both its residuals fall alike."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

LARGEST = 2.0  # change at once
UNBALANCED = 1.2  # residuals that differ by more call for one
PERIOD = 10  # steps from one change to the next


@dataclass
class Balance:
    """ρ⁺ = ρ √(r / ξs) for normalised residuals r, primal, and s, dual (Wohlberg, 2017)."""

    rho: float
    target: float = 1.0  # ξ
    steps: int = 0

    def factor(self, primal: float, dual: float) -> float:
        """Count a step; what ρ has now been multiplied by."""
        self.steps += 1
        if self.steps % PERIOD or not (primal > 0 and dual > 0):
            return 1.0
        ratio = primal / (self.target * dual)
        if 1 / UNBALANCED < ratio < UNBALANCED:
            return 1.0
        factor = min(max(sqrt(ratio), 1 / LARGEST), LARGEST)
        self.rho *= factor
        return factor
