"""Photographs to code: a folder of files, or the images that scikit-image brings.

Every photograph becomes grey, in [0, 1], is cropped in the middle and loses its low
frequencies (Tikhonov, strength 5, as in the paper); what remains, in float32, is the signal.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np

SUFFIXES = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp"}
# All of these lie inside scikit-image's wheel: nothing is downloaded.
BUNDLED = ("camera", "astronaut", "coffee", "chelsea", "rocket", "coins", "brick", "gravel")
STRENGTH = 5.0


@dataclass(frozen=True, eq=False)
class Photo:
    name: str
    s: np.ndarray  # (rows, columns), float32, high-passed


def photographs(folder: Path | None, *, n: int, size: int) -> list[Photo]:
    """The first `n` photographs with at least `size` × `size` pixels, by file name."""
    photos = []
    for name, grey in _greys(folder):
        if min(grey.shape) >= size:
            photos.append(Photo(name, high_pass(central(grey, size))))
        if len(photos) == n:
            break
    if not photos:
        raise ValueError(f"no photograph of {size}×{size} pixels or more in {source(folder)}")
    return photos


def mosaic(folder: Path | None, size: int, tile: int = 256) -> np.ndarray:
    """One `size` × `size` signal: photographs side by side, turned on every second use.

    The seams are edges like any other. The high-pass runs over the whole, last.
    """
    tile = min(tile, size)
    tiles = [central(grey, tile) for _, grey in _greys(folder, most=64) if min(grey.shape) >= tile]
    if not tiles:
        raise ValueError(f"no photograph of {tile}×{tile} pixels or more in {source(folder)}")
    across = -(-size // tile)
    whole = np.empty((across * tile, across * tile), np.float32)
    supply = cycle(range(len(tiles)))
    for place, which in zip(range(across * across), supply, strict=False):
        turns = place // len(tiles)  # the first time through: as they are
        row, column = divmod(place, across)
        picture = np.rot90(tiles[which], turns % 4)
        picture = picture[:, ::-1] if (turns // 4) % 2 else picture
        whole[row * tile : (row + 1) * tile, column * tile : (column + 1) * tile] = picture
    return high_pass(whole[:size, :size])


def high_pass(grey: np.ndarray) -> np.ndarray:
    import convdict

    _, high = convdict.lowpass_split(grey, STRENGTH)
    return np.ascontiguousarray(high, dtype=np.float32)


def central(grey: np.ndarray, size: int) -> np.ndarray:
    top, left = ((extent - size) // 2 for extent in grey.shape)
    return grey[top : top + size, left : left + size]


def source(folder: Path | None) -> str:
    """What to call the photographs in a report: never a path of somebody's machine."""
    return f"folder `{folder.name}`" if folder else "images that scikit-image brings"


def _greys(folder: Path | None, most: int | None = None):
    """Yields (name, grey in [0, 1])."""
    if folder is None:
        from skimage import data

        for name in BUNDLED[:most]:
            yield name, _grey(getattr(data, name)())
        return
    from skimage import io

    files = sorted(f for f in Path(folder).iterdir() if f.suffix.lower() in SUFFIXES)
    for file in files[:most]:
        yield file.stem, _grey(io.imread(file))


def _grey(image: np.ndarray) -> np.ndarray:
    from skimage.color import rgb2gray

    scale = np.iinfo(image.dtype).max if image.dtype.kind == "u" else 1.0
    image = np.asarray(image, dtype=np.float64) / scale
    return rgb2gray(image[..., :3]) if image.ndim == 3 else image
