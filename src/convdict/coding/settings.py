"""Checks of what solvers are told, in sentences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError


def whole(least: int, **named: Any) -> None:
    """Every value must be a whole number, `least` or more."""
    for name, value in named.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise InputError(f"{name} is {value!r}: give a whole number, {least} or more")


def between(low: float, high: float, **named: Any) -> None:
    """Every value must be a number above `low` and below `high`."""
    for name, value in named.items():
        real = isinstance(value, int | float | np.integer | np.floating)
        if isinstance(value, bool) or not real or not low < value < high:
            limits = f"above {low:g}" + (f" and below {high:g}" if math.isfinite(high) else "")
            raise InputError(f"{name} is {value!r}: give a number {limits}")
