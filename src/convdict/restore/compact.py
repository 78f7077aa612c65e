"""An image as few bytes: sparse codes, and the smooth rest, both rounded and packed."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from math import log10, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dctn, idctn

from ..coding.sparse_code import reconstruct, sparse_code
from ..errors import FileFormatError, InputError
from ..learning.dictionary import Dictionary
from ..model.codes import Codes
from ..model.pose import BOUNDARIES, frame
from ..model.problem import Triplets
from ..signals.steps import Prepared
from .packing import from_bytes, pack, signed, to_bytes, unpack, unsigned
from .restored import like

Array = NDArray[Any]

VERSION = 1
COARSE = 0.5  # coefficients are rounded to multiples of so many λ
SMOOTH = 0.01  # and cosines of what is smooth to multiples of this share of its range
DTYPES = ("uint8", "uint16", "int8", "int16", "int32", "float32", "float64", "bool")


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rounded codes of one image, and its base and gain: image = base + gain · Σ d_m * x_m.

    Base and gain are what preparation has taken out. They are smooth, so that few of their
    cosines are worth keeping.
    """

    shape: tuple[int, ...]
    dtype: str
    boundary: str
    channel_axis: int | None
    kernels: tuple[int, ...]  # shape of the dictionary's array
    unit: float  # of the coefficients
    place: Array  # raveled (kernel, position), ascending
    value: Array  # in units
    base: Smooth
    gain: Smooth
    psnr: float = float("nan")
    rate: int = 0  # samples a second, of a sound
    of_kernels: int | None = None  # their checksum; None in files of older releases

    @property
    def nnz(self) -> int:
        return len(self.place)

    @property
    def n_samples(self) -> int:
        """Pixels; the channels of one count once."""
        return prod(n for axis, n in enumerate(self.shape) if axis != self.channel_axis)

    @classmethod
    def of(
        cls,
        values: Array,
        ready: Prepared,
        d: Dictionary,
        *,
        penalty: float | None = None,
        tol: float = 1e-2,
        rate: int = 0,
    ) -> Encoded:
        """An image in the type it is stored in, and what preparation has made of it."""
        told = d.penalty if penalty is None else penalty
        codes = sparse_code(
            ready.s,
            d.kernels,
            told,
            ready.w,
            boundary="free",
            channel_axis=d.channel_axis,
            nonnegative=d.nonnegative,
            tol=tol,
        )
        unit = COARSE * float(np.mean(told))
        flat = codes.triplets()
        whole = np.rint(flat.value / unit).astype(np.int64)
        keep = whole != 0
        base = ready.undo(np.zeros_like(ready.s))
        gain = ready.undo(np.ones_like(ready.s)) - base
        draft = cls(
            values.shape,
            values.dtype.name,
            "free",
            None if d.channel_axis is None else d.channel_axis % values.ndim,
            d.kernels.shape,
            unit,
            (flat.kernel.astype(np.int64) * prod(codes.shape[1:]) + flat.position)[keep],
            whole[keep],
            Smooth.of(base, base),
            Smooth.of(gain, base),
            of_kernels=_checksum(d),
        )
        return cls(**{**draft.__dict__, "psnr": _psnr(draft.image(d), values), "rate": rate})

    def image(self, d: Dictionary) -> Array:
        """The image again, as well as it was encoded."""
        if d.kernels.shape != self.kernels:
            raise InputError(
                f"the dictionary has kernels {d.kernels.shape} but the image was encoded with "
                f"{self.kernels}: use the same one"
            )
        if self.of_kernels is not None and self.of_kernels != _checksum(d):
            raise InputError(
                "the dictionary is another one than the image was encoded with, of the same size: "
                "use the same one"
            )
        into = frame(self.shape, channel_axis=self.channel_axis, boundary=self.boundary)
        grid = into.grid(d.kernel)
        kernel, position = np.divmod(self.place, prod(grid))
        value = (self.value * self.unit).astype(np.float32)
        codes = Codes.of(Triplets(kernel.astype(np.int32), position, value), len(d), grid, into)
        detail = reconstruct(codes, d.kernels)
        smooth = self.base.field(self.shape) + self.gain.field(self.shape) * detail
        return like(smooth, np.zeros(0, self.dtype))

    def save(self, path: str | os.PathLike[str]) -> None:
        about = {
            "version": VERSION,
            "shape": self.shape,
            "dtype": self.dtype,
            "boundary": self.boundary,
            "channel_axis": self.channel_axis,
            "kernels": self.kernels,
            "unit": self.unit,
            "base": [self.base.unit, self.base.box],
            "gain": [self.gain.unit, self.gain.box],
            "psnr": round(self.psnr, 3) if np.isfinite(self.psnr) else None,
            "rate": self.rate,
            "of_kernels": self.of_kernels,
        }
        steps = np.diff(self.place, prepend=0)
        blocks = {
            "place": to_bytes(steps),
            "value": to_bytes(unsigned(self.value)),
            "base": to_bytes(unsigned(self.base.cosines)),
            "gain": to_bytes(unsigned(self.gain.cosines)),
        }
        Path(path).write_bytes(pack(about, blocks))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Encoded:
        """From what `save` wrote; anything else is refused with a sentence."""
        try:
            about, blocks = unpack(Path(path).read_bytes())
            if about["version"] != VERSION:
                raise FileFormatError(
                    f"it has version {about['version']} but this release reads {VERSION}"
                )
            numbers = {
                name: from_bytes(blocks[name]) for name in ("place", "value", "base", "gain")
            }
            shape = tuple(about["shape"])
            found = cls(
                shape,
                about["dtype"],
                about["boundary"],
                about["channel_axis"],
                tuple(about["kernels"]),
                float(about["unit"]),
                np.cumsum(numbers["place"].astype(np.int64)),
                signed(numbers["value"]),
                Smooth.read(about["base"], signed(numbers["base"])),
                Smooth.read(about["gain"], signed(numbers["gain"])),
                float("inf") if about["psnr"] is None else float(about["psnr"]),
                int(about["rate"]),
                None if about.get("of_kernels") is None else int(about["of_kernels"]),
            )
            found._check()
        except (FileFormatError, InputError, KeyError, TypeError, ValueError, OverflowError) as e:
            raise FileFormatError(f"{path} is not an image that convdict has encoded: {e}") from e
        return found

    def _check(self) -> None:
        """Whole and consistent: everything points at what is there."""
        if not (
            self.shape and self.kernels and all(type(n) is int for n in self.shape + self.kernels)
        ):
            raise ValueError("its shapes are not whole numbers")
        if min(self.shape) < 1 or prod(self.shape) > 1 << 34 or self.dtype not in DTYPES:
            raise ValueError("there is no such image")
        if self.boundary not in BOUNDARIES or not 0 < self.unit < np.inf:
            raise ValueError("its numbers make no sense")
        into = frame(self.shape, channel_axis=self.channel_axis, boundary=self.boundary)
        kernel = self.kernels[1 if self.channel_axis is None else 2 :]
        if len(kernel) != len(into.spatial) or min(self.kernels) < 1:
            raise ValueError("its kernels do not fit")
        most = self.kernels[0] * prod(into.grid(kernel))
        if len(self.place) != len(self.value):
            raise ValueError("places and values do not fit")
        if len(self.place) and not (self.place.min() >= 0 and self.place.max() < most):
            raise ValueError("its codes lie outside")
        for smooth in (self.base, self.gain):
            if len(smooth.box) != len(self.shape) or any(
                b > n for b, n in zip(smooth.box, self.shape, strict=True)
            ):
                raise ValueError("its smooth part does not fit")


def _checksum(d: Dictionary) -> int:
    return zlib.crc32(np.ascontiguousarray(d.kernels, "<f4").data)


def _psnr(image: Array, truth: Array) -> float:
    """10 log₁₀(peak² / mean squared error), the peak being the largest there can be, or is."""
    seen = np.isfinite(truth)
    error = float(np.mean((image[seen].astype(np.float64) - truth[seen]) ** 2)) if seen.any() else 0
    whole = truth.dtype.kind in "iu"
    peak = float(np.iinfo(truth.dtype).max if whole else np.ptp(truth[seen]) or 1.0)
    return 10 * log10(peak**2 / error) if error > 0 else float("inf")


@dataclass(frozen=True, eq=False)
class Smooth:
    """A field as the lowest of its cosines, in whole units."""

    unit: float
    box: tuple[int, ...]  # how many along each axis
    cosines: Array

    @classmethod
    def of(cls, field: Array, like: Array) -> Smooth:
        """Rounded to a share of the range that the image's smooth part has."""
        spectrum = dctn(field.astype(np.float64), norm="ortho")
        scale = max(float(np.ptp(like)), float(np.abs(like).max()), float(np.abs(field).max()))
        unit = SMOOTH * (scale or 1.0)
        whole = np.rint(spectrum / unit).astype(np.int64)
        some = np.nonzero(whole)
        box = tuple(int(at.max()) + 1 if len(at) else 1 for at in some)
        return cls(unit, box, whole[tuple(slice(n) for n in box)].ravel())

    @classmethod
    def read(cls, told: Any, cosines: Array) -> Smooth:
        unit, box = told
        sizes = tuple(box)
        if not all(type(n) is int and n > 0 for n in sizes) or prod(sizes) != len(cosines):
            raise ValueError("its smooth part breaks off")
        return cls(float(unit), sizes, cosines)

    def field(self, shape: tuple[int, ...]) -> Array:
        spectrum = np.zeros(shape)
        spectrum[tuple(slice(n) for n in self.box)] = self.unit * self.cosines.reshape(self.box)
        found: Array = idctn(spectrum, norm="ortho")
        return found
