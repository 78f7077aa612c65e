"""What the two algorithms have in common, and what they report."""

from __future__ import annotations

from typing import NamedTuple

from ..model.problem import Array

PAPER_SIZE = 256.0**2  # samples of the paper's signals, which its step size was made for


class Update(NamedTuple):
    d: Array
    n_iter: int  # of FISTA, or gradient steps
    residual: float  # of the fixed point
    forgetting: float  # α: the share of the past that was kept
    surrogate: float  # F(d) after the update
