"""How far a restoration is: several codings, and how far each of them is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

from ..model.problem import Progress


@dataclass
class Work:
    """Counts codings, and tells somebody the share of the work that is done."""

    total: int
    tol: float
    callback: Callable[[float], Any] | None
    finished: int = 0
    told: float = 0.0

    def inside(self, now: Progress) -> None:
        """A coding has come so far: gaps fall about geometrically from one to `tol`."""
        gap = min(max(now.gap, self.tol), 1.0)
        self._tell(self.finished + log(gap) / log(self.tol))

    def done(self, n: int = 1) -> None:
        """So many codings are finished."""
        self.finished += n
        self._tell(self.finished)

    def _tell(self, codings: float) -> None:
        self.told = max(self.told, min(codings / self.total, 1.0))
        if self.callback is not None:
            self.callback(self.told)
