"""Noise out, holes filled: what sparse codes explain of an image is what is true of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coding.sparse_code import reconstruct, sparse_code
from ..errors import InputError
from ..learning.dictionary import Dictionary
from ..signals.steps import Prepared, Scale, Step, full_weights, prepare
from .adapted import n_codings, without_noise
from .noise import impulses, noise_level
from .photographs import default_dictionary
from .work import Work

Array = NDArray[Any]

NOISELESS = 0.01  # λ where there is no noise, as a share of the image's range …
TOGETHER = 2.0  # … and so much more with channels coded together: less than 0.1 dB, half the time
LARGE = 1 << 20  # samples up to which an image is coded several times
TOL = 0.05  # a gap of 0.01 changes PSNRs by hundredths of a dB


def denoise(
    image: Any,
    dictionary: Any = None,
    *,
    sigma: float | None = None,
    impulse: Any = None,
    penalty: Any = None,
    channel_axis: int | None = None,
    tol: float = TOL,
    thorough: bool | None = None,
    callback: Callable[[float], Any] | None = None,
) -> Array:
    """An image, or a signal, without its noise; of the same type, and within its range.

    dictionary : a `Dictionary`, a learner, kernels, or a path to any of these; by default one
        for photographs that comes with convdict.
    sigma : standard deviation of Gaussian noise in units of the image; estimated by default.
    impulse : where impulses have ruined samples (True or 1), or "detect": those are filled in
        by what is around them. Then `sigma` is 0 unless it is given.
    penalty : λ, the same everywhere, instead of what `sigma` calls for.
    channel_axis : where the channels are. With kernels without channels, brightness and colours
        are restored one by one.
    thorough : code an image five times and take the mean, or once. By default images of up to a
        million samples are worth the time.
    callback : called with the share of the work that is done, now and then.
    """
    values = _values(image)
    seen = _seen(image, values)
    if impulse is not None:
        detect = isinstance(impulse, str)
        if detect and impulse != "detect":
            raise InputError(f"impulse is {impulse!r}: give 'detect', or where impulses are")
        ruined = _detected(values, channel_axis) if detect else np.asarray(impulse) > 0
        seen = seen & (full_weights(~ruined, values.shape, channel_axis) > 0)
        sigma = 0.0 if sigma is None else sigma
    return _result(values, seen, dictionary, sigma, penalty, channel_axis, tol, thorough, callback)


def inpaint(
    image: Any,
    mask: Any = None,
    dictionary: Any = None,
    *,
    sigma: float | None = 0.0,
    penalty: Any = None,
    channel_axis: int | None = None,
    tol: float = TOL,
    thorough: bool | None = None,
    callback: Callable[[float], Any] | None = None,
) -> Array:
    """An image with what is missing filled in; of the same type, and within its range.

    mask : True or 1 where a sample was observed, False or 0 where it is missing, with or
        without channels. NaN is missing, too, and so is what a masked array hides.
    sigma : noise of what was observed, None to estimate it: then that is restored, too. With 0
        it stays as it is.
    The other arguments are those of `denoise`.
    """
    values = _values(image)
    seen = _seen(image, values)
    if mask is not None:
        seen = seen & (full_weights(mask, values.shape, channel_axis) > 0)
    return _result(values, seen, dictionary, sigma, penalty, channel_axis, tol, thorough, callback)


def _dictionary(told: Any, values: Array, channel_axis: int | None) -> Dictionary:
    """The dictionary that is meant, if it fits the image."""
    n_axes = values.ndim - (channel_axis is not None)
    if told is None:
        if n_axes != 2:
            raise InputError(
                f"the image has {n_axes} axes of space: the dictionary that comes with convdict is "
                "for pictures, so give one that was learned from signals like this"
            )
        return default_dictionary()
    d = Dictionary.given(told, n_axes=n_axes)
    if d.n_axes != n_axes:
        raise InputError(
            f"the image has {n_axes} axes of space but the dictionary's kernels have {d.n_axes}"
        )
    if d.channel_axis is not None and channel_axis is None:
        raise InputError("the dictionary has channels: say where those of the image are")
    return d


def _result(
    values: Array,
    seen: Array,
    dictionary: Any,
    sigma: float | None,
    penalty: Any,
    channel_axis: int | None,
    tol: float,
    thorough: bool | None,
    callback: Callable[[float], Any] | None,
) -> Array:
    """What the codes explain; without noise, only where nothing was seen."""
    if not seen.any():
        raise InputError("mask (or NaN) hides everything: there is nothing to go by")
    if sigma is not None and not (np.isfinite(sigma) and sigma >= 0):
        raise InputError(f"sigma is {sigma!r}: give a number, 0 or more, or None to estimate it")
    if callback is not None and not callable(callback):
        raise InputError(f"callback is {callback!r}: give a function of one number, or None")
    d = _dictionary(dictionary, values, channel_axis)
    whole = bool(seen.all())
    if whole and sigma == 0 and penalty is None:
        return values.copy()  # nothing is missing, and nothing is wrong
    w = None if whole else seen
    found = _restored(values, w, d, sigma, penalty, channel_axis, tol, thorough, callback)
    if sigma == 0 and not whole:
        found = np.where(seen, values, found)
    return like(found, values, seen)


def _restored(
    values: Array,
    seen: Array | None,
    d: Dictionary,
    sigma: float | None,
    penalty: Any,
    channel_axis: int | None,
    tol: float,
    thorough: bool | None,
    callback: Callable[[float], Any] | None,
) -> Array:
    """What the codes explain, in the units of the image."""
    scaling, rest = _parted(d.steps)
    scaled = prepare(values, scaling, w=seen, channel_axis=channel_axis)
    s, w = scaled.s, scaled.w
    gain = _gain(scaled)
    visible = s if w is None else s[w > 0]
    contrast = float(np.ptp(visible)) or 1.0

    n_axes = values.ndim - (channel_axis is not None)
    n_channels = 1 if channel_axis is None else values.shape[channel_axis]
    thorough = values.size <= LARGE * n_channels if thorough is None else thorough
    n_each = n_codings(n_axes, thorough) if penalty is None and sigma != 0 else 1
    work = Work(n_each, tol, callback)

    def explained(
        s: Array, w: Array | None, axis: int | None, kernels: Array, share: float = NOISELESS
    ) -> Array:
        ready = prepare(s, rest, w=w, channel_axis=axis)
        level = (noise_level(s, w) if sigma is None else sigma * gain) * _gain(ready)
        if penalty is None and level > 0:
            told: dict[str, Any] = {"channel_axis": axis, "nonnegative": d.nonnegative, "tol": tol}
            told |= {"thorough": thorough, "work": work}
            return ready.undo(without_noise(ready.s, ready.w, kernels, level, **told))
        lmbda = share * contrast if penalty is None else penalty
        codes = sparse_code(
            ready.s,
            kernels,
            lmbda,
            ready.w,
            boundary="free",
            channel_axis=axis,
            nonnegative=d.nonnegative,
            tol=tol,
            callback=work.inside,
        )
        work.done(n_each)
        return ready.undo(reconstruct(codes, kernels))

    if channel_axis is None or d.channel_axis is not None:
        return scaled.undo(explained(s, w, channel_axis, d.kernels))
    planes = np.moveaxis(s, channel_axis, 0)
    mixing = _opponents(len(planes)).astype(s.dtype)
    seen_of = None if w is None else np.moveaxis(w, channel_axis, 0)
    if seen_of is not None and not (seen_of == seen_of[:1]).all():
        coloured = _in_colours(d.kernels, mixing)
        return scaled.undo(explained(s, w, channel_axis, coloured, TOGETHER * NOISELESS))
    mixed = np.tensordot(mixing, np.where(np.isfinite(planes), planes, 0), 1)
    shared = None if seen_of is None else np.ascontiguousarray(seen_of[0])
    work.total *= len(planes)
    clean = [explained(plane, shared, None, d.kernels) for plane in mixed]
    back = np.tensordot(mixing.T, np.stack(clean), 1)
    return scaled.undo(np.moveaxis(back, 0, channel_axis))


def _parted(steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """What is done to values as they are stored, and what is done to the signal they mean."""
    last = max((i for i, step in enumerate(steps) if isinstance(step, Scale)), default=-1)
    return steps[: last + 1], steps[last + 1 :]


def _gain(ready: Prepared) -> float:
    """What a unit of the image has become, in the middle of all samples."""
    step = ready.undo(np.ones_like(ready.s)) - ready.undo(np.zeros_like(ready.s))
    return float(1 / np.median(step[step > 0]))


def _opponents(n: int) -> Array:
    """Brightness, and differences of channels: the orthonormal cosines of n points."""
    k, i = np.arange(n)[:, None], np.arange(n)
    rows = np.cos(np.pi * (i + 0.5) * k / n)
    found: Array = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found


def _in_colours(kernels: Array, mixing: Array) -> Array:
    """Every kernel in brightness, and in every difference of channels: (M·n, n, *kernel).

    Where some channels of a pixel are seen and others not, brightness and differences cannot be
    told apart beforehand, and are coded together.
    """
    each = mixing.reshape(len(mixing), 1, len(mixing), *(1,) * (kernels.ndim - 1))
    return (each * kernels[:, np.newaxis]).reshape(-1, len(mixing), *kernels.shape[1:])


def _values(image: Any) -> Array:
    values = np.asarray(image)
    if values.dtype.kind not in "biuf" or values.size == 0:
        raise InputError(
            f"image has type {values.dtype} and shape {values.shape}: give real numbers"
        )
    return values


def _seen(image: Any, values: Array) -> Array:
    """Where there is a value: not NaN, and not masked."""
    seen = np.isfinite(values) if values.dtype.kind == "f" else np.ones(values.shape, bool)
    return seen & ~np.ma.getmaskarray(image) if np.ma.isMaskedArray(image) else seen


def _detected(values: Array, channel_axis: int | None) -> Array:
    """Impulses, found in each channel by itself."""
    if channel_axis is None:
        return impulses(values)
    planes = np.moveaxis(values, channel_axis, 0)
    return np.moveaxis(np.stack([impulses(plane) for plane in planes]), 0, channel_axis)


def like(result: Array, values: Array, seen: Any = True) -> Array:
    """In the type of the image, and within the range of what was seen, or what its type allows."""
    kind = values.dtype
    if kind.kind == "b":
        return result > 0.5
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return np.clip(np.rint(result), limits.min, limits.max).astype(kind)
    if values.size:
        visible = values[np.broadcast_to(seen, values.shape)]
        result = np.clip(result, np.nanmin(visible), np.nanmax(visible))
    return result.astype(kind)
