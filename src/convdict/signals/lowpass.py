"""Splitting an image into a smooth part and the detail that kernels are good at."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ConvergenceWarning, InputError
from ..threads import parallel_map
from . import tikhonov, total_variation
from .arrays import as_channels, as_image, as_number, channels_back

Array = NDArray[Any]
Solve = Callable[[Array, Array | None], tuple[Array, float]]  # (s, W²) to (low, error)

_TOL = 1e-10  # of conjugate gradients


def lowpass_split(
    image: ArrayLike,
    strength: float = 5.0,
    *,
    mask: ArrayLike | None = None,
    channel_axis: int | None = None,
) -> tuple[Array, Array]:
    """low = argmin ½‖W⊙(low − image)‖² + (strength/2)‖∇low‖² and high = image − low.

    ∇ takes forward differences along 1 to 3 axes of space and none over the border; every
    channel is filtered by itself. The larger the strength, the more goes into high.

    `mask` is W: 1 where a pixel was observed, 0 where not, or any weight that is not negative.
    Give one value per pixel or, with channels, one for all channels of it. NaN in the image
    counts as not observed. There low goes on smoothly; high is NaN where the image is.
    """

    def solve(s: Array, w2: Array | None) -> tuple[Array, float]:
        if w2 is None:
            return tikhonov.smooth(s, mu), 0.0
        return tikhonov.smooth_masked(s, w2, mu, tol=_TOL, max_iter=2000)

    mu = as_number(strength, "strength")
    image = as_image(image)
    low, error = _solve_channels(solve, image, mu, mask, channel_axis)
    if error > _TOL:
        warnings.warn(
            f"lowpass_split stopped at a relative residual of {error:.1e}, not {_TOL:.0e}: "
            "hidden regions may not be smooth yet, a larger strength converges faster",
            ConvergenceWarning,
            stacklevel=2,
        )
    return low, image - low


def lowpass_split_tv(
    image: ArrayLike,
    strength: float = 0.2,
    *,
    mask: ArrayLike | None = None,
    channel_axis: int | None = None,
    tol: float = 1e-3,
    max_iter: int = 2000,
) -> tuple[Array, Array]:
    """low = argmin ½‖W⊙(low − image)‖² + strength·Σ_p ‖∇low(p)‖₂ and high = image − low.

    Total variation keeps strong edges in low, where `lowpass_split` leaves halos of them in high.
    The default strength suits values from 0 to 1; twice the values want twice the strength.
    It stops once the objective is proven to be within `tol` of its minimum, relatively.
    The other arguments are those of `lowpass_split`.
    """

    def solve(s: Array, w2: Array | None) -> tuple[Array, float]:
        w2 = np.ones(s.shape) if w2 is None else w2
        return total_variation.flatten(s, w2, mu, tol=tol, max_iter=max_iter)

    mu, tol = as_number(strength, "strength"), as_number(tol, "tol")
    if isinstance(max_iter, bool) or not isinstance(max_iter, int | np.integer) or max_iter < 1:
        raise InputError(f"max_iter is {max_iter!r}: give a positive whole number")
    image = as_image(image)
    low, gap = _solve_channels(solve, image, mu, mask, channel_axis)
    if gap > tol:
        warnings.warn(
            f"lowpass_split_tv stopped at a duality gap of {gap:.1e}, not {tol:.1e}, after "
            f"{max_iter} iterations: raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    return low, image - low


def _solve_channels(
    solve: Solve,
    image: Array,
    strength: float,
    mask: ArrayLike | None,
    channel_axis: int | None,
) -> tuple[Array, float]:
    """Every channel by itself; low in the shape and precision of the image, and the worst error."""
    s, w = as_channels(image, mask, channel_axis)
    if strength == 0.0:
        if w is not None and not w.all():
            raise InputError("strength is 0 but pixels are hidden: only smoothness can fill them")
        return image.copy(), 0.0
    w2 = [None] * len(s) if w is None else list(w * w)
    solved = parallel_map(lambda c: solve(s[c], w2[c]), range(len(s)))
    low = np.stack([u for u, _ in solved]).astype(image.dtype, copy=False)
    return channels_back(low, channel_axis), max(error for _, error in solved)
