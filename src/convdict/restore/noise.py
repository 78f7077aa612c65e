"""How much noise there is, and which samples it has ruined."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter

Array = NDArray[Any]

MAD = 0.6744897501960817  # of a standard normal variable
UNLIKE = 0.1  # of the range: how far an impulse is from its neighbours


def noise_level(image: Array, seen: Array | None = None) -> float:
    """σ̂ = median |Δ²image| / 0.6745, with Δ² the second difference along all axes, of norm 1.

    Δ² hardly sees the image, whose edges are few, and white noise keeps its size under it
    (after J. Immerkær, Computer Vision and Image Understanding 64(2), 1996).
    """
    detail, whole = image.astype(np.float64), np.isfinite(image)
    whole = whole if seen is None else whole & (seen > 0)
    for axis in range(image.ndim):
        if image.shape[axis] < 3:
            continue
        a, b, c = (_part(detail, axis, i) for i in range(3))
        detail = (a - 2 * b + c) / np.sqrt(6)
        whole = np.logical_and.reduce([_part(whole, axis, i) for i in range(3)])
    if not whole.any():
        return 0.0
    return float(np.median(np.abs(detail[whole])) / MAD)


def impulses(image: Array) -> Array:
    """Where salt and pepper has fallen: extreme values that are unlike what is around them."""
    values = image.astype(np.float64)
    lowest, highest = np.nanmin(values), np.nanmax(values)
    spread = highest - lowest
    extreme = (values <= lowest + 1e-3 * spread) | (values >= highest - 1e-3 * spread)
    around = median_filter(values, size=5, mode="mirror")
    found: Array = extreme & (np.abs(values - around) > UNLIKE * spread)
    return found


def _part(values: Array, axis: int, start: int) -> Array:
    at = [slice(None)] * values.ndim
    at[axis] = slice(start, values.shape[axis] - 2 + start)
    return values[tuple(at)]
