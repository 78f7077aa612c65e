"""Photographs to code: a folder of files, or the images that scikit-image brings.

Every photograph becomes grey, in [0, 1], is cropped in the middle and loses its low
frequencies (Tikhonov, strength 5, as in the paper); what remains, in float32, is the signal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, product, zip_longest
from pathlib import Path

import numpy as np

SUFFIXES = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp"}
# All of these lie inside scikit-image's wheel: nothing is downloaded.
BUNDLED = ("camera", "astronaut", "coffee", "chelsea", "rocket", "coins", "brick", "gravel")
STRENGTH = 5.0


@dataclass(frozen=True, eq=False)
class Photo:
    name: str
    grey: np.ndarray  # (rows, columns), in [0, 1]

    @cached_property
    def s(self) -> np.ndarray:
        """The signal: high-passed, in float32."""
        return high_pass(self.grey)


def photographs(folder: Path | None, *, n: int, size: int) -> list[Photo]:
    """The first `n` photographs with at least `size` × `size` pixels, by file name."""
    photos = []
    for name, grey in _greys(folder):
        if min(grey.shape) >= size:
            photos.append(Photo(name, central(grey, size)))
        if len(photos) == n:
            break
    if not photos:
        raise ValueError(f"no photograph of {size}×{size} pixels or more in {source(folder)}")
    return photos


def train_and_test(
    folder: Path | None, *, n_train: int, n_test: int, size: int
) -> tuple[list[Photo], list[Photo]]:
    """From subfolders of these names; else of the photographs the first two thirds, and the rest.

    Where photographs are few but large, more than one piece is cut from each.
    """
    if folder is not None and (folder / "train").is_dir() and (folder / "test").is_dir():
        parts = (folder / "train", n_train), (folder / "test", n_test)
        train, test = (photographs(part, n=n, size=size) for part, n in parts)
        return train, test
    greys = [(k, g) for k, g in _greys(folder, most=n_train + n_test) if min(g.shape) >= size]
    if len(greys) < 2:
        raise ValueError(f"fewer than two photographs of {size}×{size} in {source(folder)}")
    first = min(max(1, round(2 * len(greys) / 3)), len(greys) - 1)
    return _pieces(greys[:first], n_train, size), _pieces(greys[first:], n_test, size)


def _pieces(greys: list[tuple[str, np.ndarray]], n: int, size: int) -> list[Photo]:
    """The first piece of every photograph, then the second of every one that has it, ..."""
    rounds = zip_longest(*([*_cut(name, grey, size)] for name, grey in greys))
    found = [piece for one_round in rounds for piece in one_round if piece is not None]
    return [Photo(name, grey) for name, grey in found[:n]]


def _cut(name: str, grey: np.ndarray, size: int):
    """Yields (name, piece) from the corner on, side by side."""
    rows, columns = (extent // size for extent in grey.shape)
    for k, (i, j) in enumerate(product(range(rows), range(columns))):
        yield f"{name}-{k}", grey[i * size : (i + 1) * size, j * size : (j + 1) * size]


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


def central(image: np.ndarray, size: int) -> np.ndarray:
    top, left = ((extent - size) // 2 for extent in image.shape[:2])
    return image[top : top + size, left : left + size]


def channel_axis(image: np.ndarray) -> int | None:
    """Where the channels are, if there are any."""
    return -1 if image.ndim == 3 else None


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
