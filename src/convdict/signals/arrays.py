"""Images at the door: checked once, then floating point with the channels in front."""

from __future__ import annotations

import math
import warnings
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ConversionWarning, InputError

Array = NDArray[Any]


class Channels(NamedTuple):
    """A signal as the solvers want it."""

    s: Array  # (C, *grid), zero where W is zero
    w: Array | None  # (C, *grid), float64, non-negative; None means all ones


def as_image(image: ArrayLike) -> Array:
    """The image in float32 or float64, the same array if it is so already; masked is NaN."""
    hidden = np.ma.getmaskarray(image) if isinstance(image, np.ma.MaskedArray) else None
    image = _as_real(image, "image")
    if image.size == 0:
        raise InputError(f"image has shape {image.shape}, so it is empty: give at least one pixel")
    dtype = image.dtype.newbyteorder("=")
    target = np.dtype(np.float64 if dtype.kind == "f" and dtype.itemsize >= 8 else np.float32)
    if dtype not in (np.float32, np.float64):
        warnings.warn(
            f"image is of dtype {dtype} and was converted to {target}: values are not rescaled, "
            "convert it yourself to choose another scale",
            ConversionWarning,
            stacklevel=3,
        )
    image = image.astype(target, copy=False)
    if hidden is not None:
        image = np.where(hidden, target.type(np.nan), image)
    if np.isinf(image).any():
        raise InputError("image holds infinities: mark missing pixels with NaN or with a mask")
    return image


def as_channels(image: Array, mask: ArrayLike | None, channel_axis: int | None) -> Channels:
    """Channels in front, weights beside them; NaN is a pixel that was not observed."""
    s = channels_first(image, channel_axis)
    if not 1 <= s.ndim - 1 <= 3:
        raise InputError(
            f"image has shape {image.shape} and channel_axis is {channel_axis}, which leaves "
            f"{s.ndim - 1} axes of space: give 1 to 3, and name the channels with channel_axis"
        )
    w = np.where(np.isnan(s), 0.0, 1.0)
    if mask is not None:
        w *= _as_weights(mask, image, channel_axis)
    observed = w > 0.0
    for c, channel in enumerate(observed):
        if not channel.any():
            where = "" if channel_axis is None else f" of channel {c}"
            raise InputError(f"every pixel{where} is hidden or NaN: leave at least one to be seen")
    return Channels(np.where(observed, s, 0), None if (w == 1.0).all() else w)


def channels_first(image: Array, channel_axis: int | None) -> Array:
    """(C, *grid), with C = 1 where there are no channels."""
    if channel_axis is None:
        return image[np.newaxis]
    try:
        return np.moveaxis(image, index(channel_axis), 0)
    except (TypeError, np.exceptions.AxisError):
        raise InputError(
            f"channel_axis is {channel_axis!r} but image has {image.ndim} axes: give a whole "
            f"number from {-image.ndim} to {image.ndim - 1}, or None if there are no channels"
        ) from None


def channels_back(s: Array, channel_axis: int | None) -> Array:
    """Undoes `channels_first`."""
    return s[0] if channel_axis is None else np.moveaxis(s, 0, channel_axis)


def as_number(value: Any, name: str) -> float:
    """A finite number that is not negative."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not real or not math.isfinite(value) or value < 0:
        raise InputError(f"{name} is {value!r}: give a finite number, zero or more")
    return float(value)


def _as_weights(mask: ArrayLike, image: Array, channel_axis: int | None) -> Array:
    """W, one value per pixel or one for all channels of it; W² must be a number, too."""
    w = _as_real(mask, "mask").astype(np.float64)
    grid = channels_first(image, channel_axis).shape[1:]
    if w.shape == image.shape:
        w = channels_first(w, channel_axis)
    elif w.shape != grid:
        alike = "" if image.shape == grid else f", in shape {grid} for all channels alike"
        raise InputError(
            f"mask has shape {w.shape} but image has shape {image.shape}: "
            f"give one value per pixel{alike}"
        )
    with np.errstate(all="ignore"):
        usable = (w == 0) | ((w > 0) & (w * w > 0) & (w * w < np.inf))
    if not usable.all():
        raise InputError(f"mask holds the weight {w[~usable][0]}: 0 hides a pixel, 1 shows it")
    return w


def _as_real(values: ArrayLike, name: str) -> Array:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} is not an array: {error}") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} is of dtype {array.dtype}: give real numbers")
    return array
