"""Arrays as users bring them: checked once, copied, never modified."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import ConversionWarning, InputError
from .problem import Array

SMALLEST, LARGEST = 1e-30, 1e30  # of what comes in: all that follows then fits float64


def real_array(value: Any, name: str) -> Array:
    """`value` as an array of real numbers, whole numbers and booleans included."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from error
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} holds {array.dtype} values: give real numbers")
    if array.size == 0:
        raise InputError(f"{name} is empty: its shape is {array.shape}")
    return array


def image_array(value: Any) -> tuple[Array, Array]:
    """The samples in float64, zero where missing, and which are missing (NaN or masked)."""
    image = real_array(value, "image")
    if image.dtype.kind != "f":
        warnings.warn(
            f"image holds {image.dtype} values: they are converted to floating point and not "
            "rescaled; divide by 255, say, to work with values from 0 to 1",
            ConversionWarning,
            stacklevel=5,
        )
    missing = np.isnan(image)
    if np.ma.isMaskedArray(value):
        missing |= np.ma.getmaskarray(value)
    samples = image.astype(np.float64)
    samples[missing] = 0.0
    return samples, missing


def dictionary_array(value: Any, *, n_axes: int, has_channels: bool) -> Array:
    """Kernels in float64 as (M, C, *kernel)."""
    d = real_array(value, "dictionary")
    wanted = n_axes + (2 if has_channels else 1)
    if d.ndim != wanted:
        names = "n_kernels, " + ("n_channels, " if has_channels else "") + "*kernel"
        hint = "" if has_channels else "; for an image with channels say which axis they are on"
        raise InputError(
            f"dictionary has shape {d.shape} but the image has {n_axes} spatial "
            f"{'axis' if n_axes == 1 else 'axes'}: give {wanted} axes, ({names}){hint}"
        )
    if not np.isfinite(d).all():
        raise InputError("dictionary holds NaN or infinite values: every kernel must be finite")
    d = d.astype(np.float64)
    check_size(d, "dictionary")
    return d if has_channels else d[:, np.newaxis]


def weight_array(value: Any, *, shape: tuple[int, ...], spatial: tuple[int, ...]) -> Array:
    """A mask in float64, of the image's shape or of its spatial shape: ones are observed."""
    w = real_array(value, "mask")
    if w.shape not in (shape, spatial):
        raise InputError(
            f"mask has shape {w.shape} but the image has shape {shape}: give one value per pixel"
        )
    w = w.astype(np.float64)
    if not np.isfinite(w).all() or (w < 0).any():
        raise InputError(
            "mask holds negative, NaN or infinite values: give 1 (or a positive weight) for "
            "observed pixels and 0 for missing ones"
        )
    check_size(w, "mask")
    return w


def check_size(array: Array, name: str) -> None:
    """Squares, and sums and quotients of them, must stay within floating point."""
    size = np.abs(array)
    largest = size.max(initial=0.0)
    if not np.isfinite(largest):
        largest = size[np.isfinite(size)].max(initial=0.0)
    if largest > 0 and not SMALLEST < largest < LARGEST:
        raise InputError(
            f"the largest value of {name} is {largest:.1e}: choose units in which it is between "
            f"{SMALLEST:.0e} and {LARGEST:.0e}"
        )


def penalty_array(value: Any, n_kernels: int) -> Array:
    """One positive penalty per kernel, in float64."""
    try:
        lmbda = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"penalty is {value!r}: give a positive number, one per kernel, or 'auto'"
        ) from error
    if lmbda.shape not in ((), (n_kernels,)):
        raise InputError(
            f"penalty has shape {lmbda.shape} but the dictionary has {n_kernels} kernels: "
            "give one number, or one per kernel"
        )
    if not (np.isfinite(lmbda).all() and (lmbda > 0).all()):
        raise InputError(f"penalty is {value!r}: it must be positive and finite")
    return np.array(np.broadcast_to(lmbda, n_kernels))
