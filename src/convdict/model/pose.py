"""From what the user has to a problem on a circular grid, and the way back."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArtefactWarning, InputError
from .arrays import check_size, dictionary_array, image_array, penalty_array, weight_array
from .problem import Array, Problem

BOUNDARIES = ("circular", "free")


@dataclass(frozen=True)
class Frame:
    """How the user's signal lies in the grid of a problem."""

    shape: tuple[int, ...]  # of the signal, channels where the user has them
    channel_axis: int | None
    boundary: str

    @property
    def spatial(self) -> tuple[int, ...]:
        return tuple(n for axis, n in enumerate(self.shape) if axis != self.channel_axis)

    @property
    def n_channels(self) -> int:
        return 1 if self.channel_axis is None else self.shape[self.channel_axis]

    def margin(self, kernel: tuple[int, ...]) -> tuple[int, ...]:
        """How far before the signal the first coefficient sits, along every axis."""
        return tuple(k - 1 if self.boundary == "free" else 0 for k in kernel)

    def grid(self, kernel: tuple[int, ...]) -> tuple[int, ...]:
        """The positions of coefficients: the signal's samples, and those before them."""
        return tuple(n + m for n, m in zip(self.spatial, self.margin(kernel), strict=True))

    def channels_first(self, signal: Array) -> Array:
        """(C, *spatial)"""
        if self.channel_axis is None:
            return signal[np.newaxis]
        return np.moveaxis(signal, self.channel_axis, 0)

    def channels_back(self, signal: Array) -> Array:
        """The inverse of `channels_first`."""
        if self.channel_axis is None:
            return signal.reshape(signal.shape[1:])
        return np.ascontiguousarray(np.moveaxis(signal, 0, self.channel_axis))

    def embed(self, signal: Array, kernel: tuple[int, ...]) -> Array:
        """(C, *grid): under a free boundary kernel − 1 zeros come before the signal.

        A coefficient there reaches into the signal; one near the end wraps around into
        these samples. As their weight is zero too, neither sees anything but the signal.
        """
        margin = [(0, 0), *((m, 0) for m in self.margin(kernel))]
        return np.ascontiguousarray(np.pad(signal, margin))

    def extract(self, signal: Array, kernel: tuple[int, ...]) -> Array:
        """The inverse of `embed`."""
        return signal[(slice(None), *(slice(m, None) for m in self.margin(kernel)))]


class Observed(NamedTuple):
    """An image as it was seen: samples, weights (None means all ones) and its frame."""

    s: Array  # (C, *spatial), zero where it is missing
    w: Array | None
    frame: Frame


def frame(shape: tuple[int, ...], *, channel_axis: int | None, boundary: str) -> Frame:
    """A frame for signals of a shape, or a sentence why there is none."""
    if boundary not in BOUNDARIES:
        raise InputError(f"boundary is {boundary!r}: give one of {', '.join(BOUNDARIES)}")
    if channel_axis is not None:
        if isinstance(channel_axis, bool) or not isinstance(channel_axis, int | np.integer):
            raise InputError(f"channel_axis is {channel_axis!r}: give a whole number, or None")
        if not -len(shape) <= channel_axis < len(shape):
            raise InputError(f"channel_axis is {channel_axis} but the image has {len(shape)} axes")
        channel_axis %= len(shape)
        channel_axis = int(channel_axis)
    result = Frame(shape, channel_axis, boundary)
    if not 1 <= len(result.spatial) <= 3:
        raise InputError(
            f"image has shape {shape}, that is {len(result.spatial)} spatial axes: give 1 to 3 "
            "(for an image with channels say which axis they are on: channel_axis=-1)"
        )
    return result


def pose(
    image: Any,
    dictionary: Any,
    penalty: Any,
    mask: Any = None,
    *,
    boundary: str = "circular",
    channel_axis: int | None = None,
    nonnegative: bool = False,
) -> tuple[Problem, Frame]:
    """The problem in float64, and how the user's signal lies in it."""
    seen = observe(image, mask, boundary=boundary, channel_axis=channel_axis)
    into = seen.frame
    d = dictionary_array(
        dictionary, n_axes=len(into.spatial), has_channels=channel_axis is not None
    )
    check_fit(d, into)
    lmbda = penalty_array(penalty, d.shape[0])
    return on_grid(seen.s, seen.w, d=d, lmbda=lmbda, into=into, nonnegative=nonnegative), into


def observe(image: Any, mask: Any, *, boundary: str, channel_axis: int | None) -> Observed:
    """What is seen of an image, in float64, channels first."""
    s, missing = image_array(image)
    into = frame(s.shape, channel_axis=channel_axis, boundary=boundary)
    s, w = _observed(s, missing, mask, into)
    return Observed(s, w, into)


def on_grid(
    s: Array, w: Array | None, *, d: Array, lmbda: Array, into: Frame, nonnegative: bool
) -> Problem:
    """The problem of a signal (C, *spatial) and kernels (M, C, *kernel)."""
    kernel = d.shape[2:]
    if w is None and into.boundary == "free":
        w = np.ones_like(s)
    return Problem(
        d=np.ascontiguousarray(d),
        s=into.embed(s, kernel),
        lmbda=lmbda,
        w=None if w is None else into.embed(w, kernel),
        nonnegative=bool(nonnegative),
    )


def check_fit(d: Array, into: Frame) -> None:
    """Complain where kernels (M, C, *kernel) and signal do not fit together."""
    kernel = d.shape[2:]
    if d.shape[1] != into.n_channels:
        raise InputError(
            f"dictionary has {d.shape[1]} channels but the image has {into.n_channels} "
            f"(shape {into.shape}, channel_axis={into.channel_axis}): they must agree"
        )
    if into.boundary == "free":
        return
    if any(k > n for k, n in zip(kernel, into.spatial, strict=True)):
        raise InputError(
            f"kernels of shape {kernel} do not fit on an image of shape {into.spatial} under a "
            "circular boundary: use smaller kernels, or boundary='free'"
        )
    if any(k > 1 and n < 2 * k for k, n in zip(kernel, into.spatial, strict=True)):
        warnings.warn(
            f"an image of shape {into.spatial} is smaller than twice the kernels' shape "
            f"{kernel}: the circular boundary will leave artefacts; boundary='free' has none",
            ArtefactWarning,
            stacklevel=4,
        )


def _observed(s: Array, missing: Array, mask: Any, into: Frame) -> tuple[Array, Array | None]:
    """Samples and weights, channels first; no weights when every one of them is 1."""
    if mask is None and np.isfinite(s).all() and not missing.any():
        check_size(s, "image")
        return into.channels_first(s), None
    w = (~missing).astype(np.float64)
    if mask is not None:
        given = weight_array(mask, shape=into.shape, spatial=into.spatial)
        if given.shape != into.shape and into.channel_axis is not None:
            given = np.expand_dims(given, into.channel_axis)
        w *= given
    if not w.any():
        raise InputError("the mask (or NaN) hides every pixel: there is nothing to code")
    infinite = int(np.isinf(s[w > 0]).sum())
    if infinite:
        raise InputError(
            f"image holds {infinite} infinite values: set them to NaN, or hide them by a mask, "
            "if they are missing"
        )
    s = into.channels_first(np.where(w > 0, s, 0.0))
    check_size(s, "image")
    return s, None if (w == 1).all() else into.channels_first(w)
