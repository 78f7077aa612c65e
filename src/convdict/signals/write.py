"""A signal into a file, by the file's suffix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

Array = NDArray[Any]

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".gif")
WRITABLE = (*PICTURES, ".tif", ".tiff", ".npy", ".wav", ".csv")


def write_signal(path: Path, values: Array, *, channels_last: bool = False, rate: int = 0) -> None:
    """Write in the type of the values, where the file can hold it.

    Pictures hold eight bits, and PNG sixteen; floating point becomes these, 1 being white. TIFF
    and NumPy files hold whatever there is. `rate` is a sound's, in samples a second.
    """
    kind = path.suffix.lower()
    if kind not in WRITABLE:
        raise InputError(f"{path.name}: files to write end in {', '.join(WRITABLE)}")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} to")
    if kind == ".npy":
        np.save(path, values)
    elif kind in (".tif", ".tiff"):
        import tifffile

        tifffile.imwrite(path, values, photometric="rgb" if channels_last else "minisblack")
    elif kind == ".wav":
        from scipy.io import wavfile

        wavfile.write(path, rate or 44100, _sound(values))
    elif kind == ".csv":
        np.savetxt(path, values, delimiter=",")
    else:
        from PIL import Image

        deep = kind == ".png" and values.dtype == np.uint16 and not channels_last
        Image.fromarray(values if deep else _bytes(values)).save(path)


def _sound(values: Array) -> Array:
    """In a type that such files hold; their bytes lie around 128."""
    if values.dtype == np.int8:
        return (values.astype(np.int16) + 128).astype(np.uint8)
    return values if values.dtype in (np.int16, np.int32) else values.astype(np.float32)


def _bytes(values: Array) -> Array:
    if values.dtype == np.uint8:
        return values
    if values.dtype.kind in "iu":
        top = np.iinfo(values.dtype).max
        values = values / top
    found: Array = np.rint(np.clip(values.astype(np.float64), 0, 1) * 255).astype(np.uint8)
    return found
