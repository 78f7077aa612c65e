"""Kernels and codes as pixels, and pixels as PNG: no plotting library is needed."""

from __future__ import annotations

from base64 import b64encode
from colorsys import hsv_to_rgb
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BACKGROUND, DEAD = (24, 26, 32), (214, 69, 65)
UNUSED = 0.01  # of the mean usage: less counts as dead
FRAME = 1  # pixels around every kernel
TRACE = 40, 80  # pixels of a kernel of one axis
NOTEBOOK = 360  # pixels of a picture in a notebook


def by_use(usage: Array | None, n: int) -> tuple[Array, Array]:
    """Kernels in the order of their use, and which of them are dead."""
    if usage is None:
        return np.arange(n), np.zeros(n, bool)
    return np.argsort(-usage, kind="stable"), usage < UNUSED * usage.mean()


def tiles(kernels: Array, *, has_channels: bool) -> Array:
    """Every kernel as RGB in [0, 1], its largest value black or white: (n, height, width, 3)."""
    kernels = kernels.astype(np.float64)
    if not has_channels:
        kernels = kernels[:, np.newaxis]
    peak = np.abs(kernels).reshape(len(kernels), -1).max(axis=1)
    peak[peak == 0] = 1.0
    kernels = 0.5 + 0.5 * kernels / peak.reshape(-1, *(1,) * (kernels.ndim - 1))
    if kernels.ndim == 5:
        kernels = kernels[:, :, kernels.shape[2] // 2]  # the slice in the middle
    if kernels.ndim == 3:
        return np.stack([_trace(kernel.mean(axis=0)) for kernel in kernels])
    if kernels.shape[1] != 3:
        kernels = np.repeat(kernels.mean(axis=1, keepdims=True), 3, axis=1)
    return np.moveaxis(kernels, 1, -1)


def _trace(kernel: Array) -> Array:
    """A kernel of one axis as a curve; values are in [0, 1]."""
    height, width = TRACE
    picture = np.ones((height, width, 3))
    picture[height // 2] = 0.85
    level = np.interp(np.linspace(0, len(kernel) - 1, width), np.arange(len(kernel)), kernel)
    rows = np.clip(np.rint((1 - level) * (height - 1)), 0, height - 1).astype(int)
    for x in range(width):
        low, high = sorted((rows[x], rows[max(x - 1, 0)]))
        picture[low : high + 1, x] = (0.1, 0.3, 0.6)
    return picture


def mosaic(
    kernels: Array,
    *,
    has_channels: bool = False,
    usage: Array | None = None,
    order: Array | None = None,
    columns: int | None = None,
) -> Array:
    """All kernels in rows, the most used first, dead ones framed in red: (h, w, 3) of bytes."""
    sorted_by_use, dead = by_use(usage, len(kernels))
    pictures = tiles(kernels, has_channels=has_channels)
    n, height, width, _ = pictures.shape
    columns = columns or max(1, int(np.ceil(np.sqrt(n * height / width))))
    tall, wide = height + 2 * FRAME, width + 2 * FRAME
    canvas = np.empty((-(-n // columns) * tall, columns * wide, 3), np.uint8)
    canvas[:] = BACKGROUND
    for place, m in enumerate(sorted_by_use if order is None else order):
        i, j = (place // columns) * tall, (place % columns) * wide
        cell = canvas[i : i + tall, j : j + wide]
        if dead[m]:
            cell[:] = DEAD
        inside = cell[FRAME : FRAME + height, FRAME : FRAME + width]
        inside[:] = np.rint(255 * np.clip(pictures[m], 0, 1))
    return canvas


def fired(kernel: Array, position: Array, value: Array, shape: tuple[int, ...]) -> Array:
    """Where kernels fire: a pixel for each position, a colour for each kernel: (h, w, 3).

    shape : (n_kernels, *positions). Kernels are the rows where there is one axis; of three axes,
    the first is looked along. A pixel of a picture that would be too large is several positions.
    """
    size: tuple[int, ...]
    if position.shape[1] == 1:
        place, size = np.stack([kernel, position[:, 0]], axis=1), (shape[0], shape[1])
    else:
        place, size = position[:, -2:], shape[-2:]
    shrink = max(1, -(-max(size) // (2 * NOTEBOOK)))
    canvas = np.zeros((-(-size[0] // shrink), -(-size[1] // shrink), 3))
    hues = np.array([hsv_to_rgb(m / max(shape[0], 1), 0.75, 1.0) for m in range(shape[0])])
    strength = np.sqrt(np.abs(value) / max(np.abs(value).max(initial=0), 1e-12))
    at = tuple((place // (shrink, shrink)).T)
    np.maximum.at(canvas, at, hues[kernel] * strength[:, np.newaxis])
    return np.rint(255 * canvas).astype(np.uint8)


def grey(image: Array, low: float, high: float) -> Array:
    """Values as bytes, from black at `low` to white at `high`."""
    level = np.clip((image - low) / max(high - low, 1e-12), 0, 1)
    found: Array = np.rint(255 * level).astype(np.uint8)
    return found


def data_url(pixels: Array, *, least: int = 0) -> str:
    """A PNG inside a link; small pictures are enlarged, pixel by pixel, to `least` a side."""
    from PIL import Image

    picture = Image.fromarray(pixels)
    times = max(1, -(-least // max(picture.size)))
    if times > 1:
        size = picture.width * times, picture.height * times
        picture = picture.resize(size, Image.Resampling.NEAREST)
    file = BytesIO()
    picture.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + b64encode(file.getvalue()).decode()


def for_notebook(pixels: Array, caption: str) -> str:
    """HTML of a picture with what it shows."""
    return (
        f'<figure style="margin:0"><img src="{data_url(pixels, least=NOTEBOOK)}" alt="" '
        f'style="max-width:100%;image-rendering:pixelated"><figcaption>{escape(caption)}'
        "</figcaption></figure>"
    )
