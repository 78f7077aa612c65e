"""What is done to a signal before it is coded, and undone once it is restored.

A step takes a signal with its weights and gives another, and what it takes to go back:

    s, w ↦ s′, w′   and   s′ ↦ s

Steps are small frozen records, so that a list of them can be written down beside a dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from ..errors import InputError
from .lowpass import lowpass_split, lowpass_split_tv

Array = NDArray[Any]
Undo = Callable[[Array], Array]


class Prepared(NamedTuple):
    """A signal that is ready to be coded."""

    s: Array
    w: Array | None
    undo: Undo


class Step(Protocol):
    name: ClassVar[str]

    def __call__(self, s: Array, w: Array | None, channel_axis: int | None) -> Prepared: ...


@dataclass(frozen=True)
class Scale:
    """Whole numbers to [0, 1] (signed ones to [−1, 1]) by the range of their type, or by a factor.

    Floating point is left as it is unless there is a factor.
    """

    name: ClassVar[str] = "scale"
    factor: float | None = None

    def __call__(self, s: Array, w: Array | None, channel_axis: int | None) -> Prepared:
        number: Any = np.float64 if s.dtype == np.float64 else np.float32
        factor = self.factor or 1 / full_range(s.dtype)
        return Prepared(s.astype(number) * number(factor), w, lambda r: r / number(factor))


def full_range(dtype: np.dtype[Any]) -> float:
    """What counts as one: the largest value of a type of whole numbers."""
    return float(np.iinfo(dtype).max) if dtype.kind in "iu" else 1.0


@dataclass(frozen=True)
class Lowpass:
    """Leaves the details; the smooth rest comes back in the end."""

    name: ClassVar[str] = "lowpass"
    strength: float = 5.0
    total_variation: bool = False

    def __call__(self, s: Array, w: Array | None, channel_axis: int | None) -> Prepared:
        split = lowpass_split_tv if self.total_variation else lowpass_split
        s = _floating(s)
        low, high = split(s, self.strength, mask=w, channel_axis=channel_axis)
        return Prepared(high, w, lambda r: low + r)


@dataclass(frozen=True)
class Contrast:
    """Divides by the local strength of details, √(G ∗ s²) + floor, G a Gaussian of that size."""

    name: ClassVar[str] = "contrast"
    size: float = 16.0
    floor: float = 0.02

    def __call__(self, s: Array, w: Array | None, channel_axis: int | None) -> Prepared:
        s = _floating(s)
        n_axes = s.ndim - (channel_axis is not None)
        local = local_strength(s, w, [self.size] * n_axes, channel_axis) + s.dtype.type(self.floor)
        return Prepared(s / local, w, lambda r: r * local)


def local_strength(
    s: Array, w: Array | None, size: Iterable[float], channel_axis: int | None
) -> Array:
    """√(G ∗ s²) over what is seen, G a Gaussian of that size along every axis of space."""
    sigma = list(size)
    if channel_axis is not None:
        sigma.insert(channel_axis % s.ndim, 0.0)
    seen = np.isfinite(s) if w is None else np.isfinite(s) & np.broadcast_to(w > 0, s.shape)
    energy = gaussian_filter(np.where(seen, s * s, 0), sigma)
    share = gaussian_filter(seen.astype(s.dtype), sigma)
    found: Array = np.sqrt(np.maximum(energy, 0) / np.maximum(share, 1e-6))
    return found


@dataclass(frozen=True)
class Crop:
    """Leaves `margin` samples out at every side of every axis; in the end they come back."""

    name: ClassVar[str] = "crop"
    margin: int = 0

    def __call__(self, s: Array, w: Array | None, channel_axis: int | None) -> Prepared:
        inside = [slice(self.margin, n - self.margin) for n in s.shape]
        if channel_axis is not None:
            inside[channel_axis] = slice(None)
        at = tuple(inside)
        if s[at].size == 0:
            raise InputError(f"crop leaves nothing of an image of shape {s.shape}")

        def undo(r: Array) -> Array:
            whole = s.astype(r.dtype)
            whole[at] = r
            return whole

        of_mask = at if w is None or w.ndim == s.ndim else _without(at, channel_axis)
        return Prepared(s[at], None if w is None else w[of_mask], undo)


@dataclass(frozen=True)
class Saturated:
    """Hides values from `high` on, by default the largest of their type, and up to `low`."""

    name: ClassVar[str] = "saturated"
    low: float | None = None
    high: float | None = None

    def __call__(self, s: Array, w: Array | None, channel_axis: int | None) -> Prepared:
        high = self.high
        if high is None and s.dtype.kind in "iu":
            high = full_range(s.dtype)
        hidden = np.zeros(s.shape, bool)
        if high is not None:
            hidden |= s >= high
        if self.low is not None:
            hidden |= s <= self.low
        return Prepared(s, _hide(hidden, w, channel_axis, s.ndim), lambda r: r)


@dataclass(frozen=True)
class Mask:
    """Hides what is dark in a picture, or zero in an array, of the same size."""

    name: ClassVar[str] = "mask"
    file: str = ""

    def __call__(self, s: Array, w: Array | None, channel_axis: int | None) -> Prepared:
        values = _mask(self.file, s.ndim - (channel_axis is not None))
        spatial = s.shape if channel_axis is None else _without(s.shape, channel_axis)
        if values.shape != spatial:
            raise InputError(f"the mask {self.file} has shape {values.shape}, not {spatial}")
        hidden = ~values
        if channel_axis is not None:
            hidden = np.broadcast_to(np.expand_dims(hidden, channel_axis), s.shape)
        return Prepared(s, _hide(hidden, w, channel_axis, s.ndim), lambda r: r)


@lru_cache(maxsize=4)
def _mask(file: str, n_axes: int) -> Array:
    """Where a file is bright, in any channel."""
    from .files import open_signals

    seen = open_signals(Path(file), n_axes, None).read(0)
    found = visible(seen.values)
    return np.asarray(found.any(axis=-1) if seen.channels_last else found)


def visible(mask: Array) -> Array:
    """What the picture of a mask shows: all that is brighter than half of its white.

    Compression leaves no black quite black. In arrays of small numbers all but zero counts.
    """
    white = mask.max(initial=0) if mask.dtype.kind in "iu" else 0
    return np.asarray(mask > (white // 2 if white >= PICTURE else 0))


def full_weights(mask: Any, shape: tuple[int, ...], channel_axis: int | None) -> Array:
    """One weight per sample, from one per sample or one for all channels of it."""
    w = np.asarray(mask)
    if w.dtype.kind not in "biuf":
        raise InputError(f"mask holds {w.dtype} values: give real numbers")
    if w.shape == shape:
        return w
    if channel_axis is not None and w.shape == _without(shape, channel_axis):
        return np.broadcast_to(np.expand_dims(w, channel_axis), shape)
    raise InputError(
        f"mask has shape {w.shape} but the image has shape {shape}: give one value per pixel"
    )


def _floating(s: Array) -> Array:
    """The same values, in a type that has fractions."""
    return s if s.dtype in (np.float32, np.float64) else s.astype(np.float32)


def _hide(hidden: Array, w: Array | None, channel_axis: int | None, n_axes: int) -> Array | None:
    if w is None:
        return None if not hidden.any() else (~hidden).astype(np.float32)
    if w.ndim < n_axes and channel_axis is not None:
        w = np.expand_dims(w, channel_axis)
    return np.where(hidden, 0, w)


def _without(items: tuple[Any, ...], axis: int | None) -> tuple[Any, ...]:
    if axis is None:
        return items
    axis %= len(items)
    return items[:axis] + items[axis + 1 :]


PICTURE = 128  # whole numbers from which on a mask is held to be a picture

KINDS: tuple[type[Any], ...] = (Scale, Lowpass, Contrast, Crop, Saturated, Mask)
STEPS = {kind.name: kind for kind in KINDS}


def steps_of(told: Any, n_axes: int) -> tuple[Step, ...]:
    """Steps by name, as records, or as records have been written down.

    "auto" scales, and takes the smooth part out of what has two axes or more: that of a sound
    or a sensor's trace would be most of it.
    """
    if isinstance(told, str) and told == "auto":
        return (Scale(),) if n_axes == 1 else (Scale(), Lowpass())
    if told is None:
        return ()
    if isinstance(told, str | Mapping) or hasattr(told, "name"):
        told = [told]
    if not isinstance(told, Iterable):
        raise InputError(f"preprocess is {told!r}: give 'auto', None, or a list of steps")
    return tuple(_step(one) for one in told)


def _step(told: Any) -> Step:
    if type(told) in KINDS:
        return told  # type: ignore[no-any-return]
    about = {"step": told} if isinstance(told, str) else told
    if not isinstance(about, Mapping) or about.get("step") not in STEPS:
        name = about.get("step", told) if isinstance(about, Mapping) else told
        raise InputError(f"preprocess has the step {name!r}: there are {', '.join(STEPS)}")
    name = about["step"]
    kind = STEPS[name]
    settings = {name: value for name, value in about.items() if name != "step"}
    known = [field.name for field in fields(kind)]
    if not settings.keys() <= set(known):
        raise InputError(f"the step {told!r} has settings of {', '.join(known) or 'no name'}")
    for field in fields(kind):
        _check_setting(name, field, settings.get(field.name, field.default))
    return kind(**settings)  # type: ignore[no-any-return]


def _check_setting(step: str, field: Any, value: Any) -> None:
    """Of the type that its annotation names."""
    wanted, _, optional = field.type.partition(" | ")
    if value is None and optional:
        return
    kinds = {"float": (int, float), "int": (int,), "bool": (bool,), "str": (str,)}[wanted]
    if not isinstance(value, kinds) or (isinstance(value, bool) and wanted != "bool"):
        words = {"float": "a number", "int": "a whole number", "bool": "true or false"}
        raise InputError(
            f"the step {step} has {field.name} = {value!r}: give {words.get(wanted, 'text')}"
        )


def written(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """As JSON or TOML can hold them; `steps_of` reads them."""
    return [{"step": step.name, **asdict(step)} for step in steps]  # type: ignore[call-overload]


def prepare(
    s: Array, steps: Iterable[Step], *, w: Array | None = None, channel_axis: int | None = None
) -> Prepared:
    """All steps, one after the other; `undo` goes all the way back."""
    undos: list[Undo] = []
    for step in steps:
        s, w, undo = step(s, w, channel_axis)
        undos.append(undo)

    def back(r: Array) -> Array:
        for undo in reversed(undos):
            r = undo(r)
        return r

    return Prepared(_floating(s), w, back)
