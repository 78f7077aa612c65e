"""What the three experiments share: a stream of crops of photographs, and a place for results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from skimage import data

import convdict as cd
from benchmarks.drawing import save

HERE = Path(__file__).parent
PENALTY = 0.1
TOLERANCE = 0.1, 1.0  # of updates


@cache
def photographs() -> list[np.ndarray]:
    """The details of three photographs that come with scikit-image."""
    images = [data.camera(), data.coins(), data.moon()]
    return [cd.lowpass_split(image.astype(np.float32) / 255)[1] for image in images]


def crops(n: int, size: int, seed: int) -> Iterator[np.ndarray]:
    """`n` independent draws: a photograph, and a place in it."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        image = photographs()[rng.integers(3)]
        row, column = (rng.integers(0, side - size + 1) for side in image.shape)
        yield image[row : row + size, column : column + size]


def spaced(first: int, last: int, n: int) -> list[int]:
    """About `n` whole numbers, the same ratio apart."""
    return np.unique(np.geomspace(first, last, n).round().astype(int)).tolist()


def write(name: str, result: dict[str, Any], figure: Figure, folder: Path = HERE) -> None:
    """The numbers, and the figure that was drawn from them."""
    text = json.dumps({"convdict": cd.__version__, **result}, indent=1)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    save(figure, folder, f"{name}.png")
