"""One file as the signals in it: pictures, stacks, arrays, sound, tables; by its suffix."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

Array = NDArray[Any]

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".pgm", ".ppm", ".pnm")
STACKS = (".tif", ".tiff")
ARRAYS = (".npy", ".npz")
STORES = (".h5", ".hdf5", ".zarr")
SOUNDS = (".wav",)
TABLES = (".csv", ".tsv")
INSIDE = re.compile(r"(?P<store>.+\.(h5|hdf5|zarr)):(?P<name>.+)", re.IGNORECASE)
KNOWN = PICTURES + STACKS + ARRAYS + STORES + SOUNDS + TABLES


class Unreadable(InputError):
    """A file cannot be read, or holds nothing that can be learned from."""


class Signal(NamedTuple):
    """What a file holds, as it is stored."""

    values: Array
    channels_last: bool | None  # None: an array, whose axes mean what the user says they do
    note: str = ""  # what was left out on the way
    rate: int = 0  # samples a second, of sounds


@dataclass(frozen=True)
class Opened:
    """A file's signals: how many, and how to read each."""

    count: int
    read: Callable[[int], Signal]


def suffix(path: Path) -> str:
    """The one that says how to read a file."""
    return parted(path)[0].suffix.lower()


def parted(path: Path) -> tuple[Path, str]:
    """The file, and what is meant inside it: `store.h5:name` names an array in a store."""
    found = INSIDE.fullmatch(str(path))
    return (Path(found["store"]), found["name"]) if found else (path, "")


def n_axes_of(path: Path) -> int | None:
    """The axes of space and time of signals in such a file; None where any may be meant."""
    kind = suffix(path)
    if kind in PICTURES + STACKS:
        return 2
    return 1 if kind in SOUNDS + TABLES else None


def open_signals(path: Path, n_axes: int, channel_axis: int | None) -> Opened:
    """The signals in a file, for kernels of `n_axes` axes. What goes wrong is `Unreadable`."""
    kind = suffix(path)
    try:
        if kind in PICTURES:
            _has(2, n_axes, path)
            return _picture(path)
        if kind in STACKS:
            return _stack(path, n_axes)
        if kind in SOUNDS:
            _has(1, n_axes, path)
            return _sound(path, channel_axis)
        if kind in TABLES:
            _has(1, n_axes, path)
            return _table(path, channel_axis)
        if kind in ARRAYS:
            return _along_first(_array(path), n_axes + (channel_axis is not None), path)
        if kind in STORES:
            return _along_first(_store(path), n_axes + (channel_axis is not None), path)
    except Unreadable:
        raise
    except Exception as error:
        raise _unreadable(path, error) from error
    raise Unreadable(f"{path.name} is none of the files that can be read ({', '.join(KNOWN)})")


def _unreadable(path: Path, error: Exception) -> Unreadable:
    reason = str(error).strip().partition("\n")[0] or type(error).__name__
    if isinstance(error, ImportError):
        return Unreadable(f"{path.name}: {reason}")
    return Unreadable(f"{path.name} cannot be read: {reason}")


def _guarded(path: Path, read: Callable[[int], Signal]) -> Callable[[int], Signal]:
    def guarded(index: int) -> Signal:
        try:
            return read(index)
        except Unreadable:
            raise
        except Exception as error:
            raise _unreadable(path, error) from error

    return guarded


def _has(has: int, n_axes: int, path: Path) -> None:
    if has != n_axes:
        raise Unreadable(
            f"{path.name} has {has} ax{'i' if has == 1 else 'e'}s but kernels have {n_axes}: give "
            f"kernel_size as many"
        )


# Pictures


def _picture(path: Path) -> Opened:
    def read(_: int) -> Signal:
        from PIL import Image

        with Image.open(path) as picture:
            frames = getattr(picture, "n_frames", 1)
            note = f"is animated: the first of its {frames} frames was used" * (frames > 1)
            return _pixels(picture)._replace(note=note)

    return Opened(1, _guarded(path, read))


def _pixels(picture: Any) -> Signal:
    """Grey or RGB, upright as its camera was held; what is transparent loses its transparency."""
    from PIL import ImageOps

    deep = picture.mode == "I" and picture.format in ("PNG", "PPM")  # 16 bits, read into 32
    picture = ImageOps.exif_transpose(picture)
    mode = picture.mode
    if deep:
        return Signal(np.asarray(picture).astype(np.uint16), False)
    if mode in ("1", "L", "F", "I", "I;16", "I;16L", "I;16B"):
        return Signal(np.asarray(picture), False)
    if mode == "LA":
        return Signal(np.asarray(picture.getchannel(0)), False)
    return Signal(np.asarray(picture.convert("RGB")), True)


# Stacks of pictures, and volumes


def _stack(path: Path, n_axes: int) -> Opened:
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        if not tiff.pages:
            raise Unreadable(f"{path.name} holds no picture")
        if n_axes == 3:
            axes = tiff.series[0].axes
            return Opened(1, _guarded(path, lambda _: _volume(path, axes)))
        _has(2, n_axes, path)
        count = len(tiff.pages)
    return Opened(count, _guarded(path, lambda index: _page(path, index)))


def _page(path: Path, index: int) -> Signal:
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        page = tiff.pages[index]
        samples = page.axes.endswith("S")
        try:
            values = page.asarray()
        except ValueError as error:  # a compression that needs a library of its own
            if "imagecodecs" not in str(error):
                raise
            return _page_by_pillow(path, index)
        if page.axes == "SYX":
            values, samples = np.moveaxis(values, 0, -1), True
        if page.photometric == tifffile.PHOTOMETRIC.PALETTE or values.ndim != 2 + samples:
            return _page_by_pillow(path, index)
        if page.photometric == tifffile.PHOTOMETRIC.MINISWHITE and values.dtype.kind == "u":
            values = np.iinfo(values.dtype).max - values
    if samples and values.shape[-1] in (1, 2):
        return Signal(values[..., 0], False)
    return Signal(values[..., :3] if samples else values, samples)


def _page_by_pillow(path: Path, index: int) -> Signal:
    from PIL import Image

    with Image.open(path) as picture:
        picture.seek(index)
        return _pixels(picture)


def _volume(path: Path, axes: str) -> Signal:
    import tifffile

    values = tifffile.imread(path)
    if axes.endswith("S") and values.ndim == 4:
        return Signal(values[..., :3], True)
    if values.ndim != 3:
        raise Unreadable(f"{path.name} has axes {axes} (shape {values.shape}): not one volume")
    return Signal(values, False)


# Arrays


def _array(path: Path) -> Any:
    if suffix(path) == ".npy":
        return np.load(path, mmap_mode="r", allow_pickle=False)
    with np.load(path, allow_pickle=False) as archive:
        names = archive.files
        if len(names) != 1:
            raise Unreadable(
                f"{path.name} holds {len(names)} arrays ({', '.join(names[:5])}): give files of one"
            )
        return archive[names[0]]


def _store(path: Path) -> Any:
    """An array on disk, of which only what is indexed is read."""
    store, inside = parted(path)
    if store.suffix.lower() == ".zarr":
        try:
            import zarr
        except ImportError as error:
            raise ImportError("Zarr stores need: pip install 'convdict[zarr]'") from error
        found: Any = zarr.open(str(store), mode="r")
    else:
        try:
            import h5py
        except ImportError as error:
            raise ImportError("HDF5 files need: pip install 'convdict[hdf5]'") from error
        found = h5py.File(store, "r")
    if inside:
        return found[inside]
    if hasattr(found, "shape"):
        return found
    names = sorted(name for name in found if hasattr(found[name], "shape"))
    if len(names) != 1:
        raise Unreadable(
            f"{path.name} holds {len(names)} arrays ({', '.join(names[:5])}): name one as "
            f"{path.name}:{names[0] if names else 'name'}"
        )
    return found[names[0]]


def _along_first(values: Any, wanted: int, path: Path) -> Opened:
    """One signal, or several along the first axis."""
    if np.dtype(values.dtype).kind not in "biuf":
        raise Unreadable(f"{path.name} holds {values.dtype}, which are not real numbers")
    if values.ndim == wanted:
        return Opened(1, _guarded(path, lambda _: Signal(np.asarray(values[...]), None)))
    if values.ndim == wanted + 1:
        return Opened(
            values.shape[0], _guarded(path, lambda i: Signal(np.asarray(values[i]), None))
        )
    raise Unreadable(
        f"{path.name} has shape {values.shape}: for these kernels give one signal of {wanted} "
        "axes, or several along a first axis"
    )


# Sounds and tables


def _sound(path: Path, channel_axis: int | None) -> Opened:
    from scipy.io import wavfile

    try:
        rate, values = wavfile.read(path, mmap=True)
    except ValueError:  # of 24 bits, say
        rate, values = wavfile.read(path)
    if values.dtype == np.uint8:  # eight bits are stored around 128, all others around zero
        values = (values.astype(np.int16) - 128).astype(np.int8)
    return _columns(path, np.asarray(values), channel_axis, rate)


def _table(path: Path, channel_axis: int | None) -> Opened:
    return _columns(path, _numbers(path), channel_axis)


def _columns(path: Path, values: Array, channel_axis: int | None, rate: int = 0) -> Opened:
    """Columns are channels where there are channels, and signals of their own where not."""
    if values.size == 0:
        raise Unreadable(f"{path.name} holds no samples")
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if channel_axis is not None:
        return Opened(1, lambda _: Signal(values, True, rate=rate))

    def column(i: int) -> Signal:
        return Signal(np.ascontiguousarray(values[:, i]), False, rate=rate)

    return Opened(values.shape[1], column)


def _numbers(path: Path) -> Array:
    """Rows of numbers, perhaps under a line of names; an empty cell is missing."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        dialect = "\t" if suffix(path) == ".tsv" else ","
        rows = [row for row in csv.reader(file, delimiter=dialect) if any(map(str.strip, row))]
    if rows and _row(rows[0]) is None:
        rows = rows[1:]
    numbers = [_row(row) for row in rows]
    for line, row in enumerate(numbers, 1):
        if row is None:
            raise Unreadable(f"{path.name}: row {line} is not all numbers")
        if len(row) != len(numbers[0] or ()):
            raise Unreadable(f"{path.name}: row {line} has {len(row)} cells, not as many as before")
    return np.array(numbers, np.float64)


def _row(cells: Sequence[str]) -> list[float] | None:
    try:
        return [float(cell) if cell.strip() else float("nan") for cell in cells]
    except ValueError:
        return None
