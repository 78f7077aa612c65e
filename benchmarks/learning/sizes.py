"""Stage `sizes`: the same pixels in small and large pieces and batches, nothing retuned."""

from __future__ import annotations

from math import isqrt

import numpy as np

from ..results import Results
from ..timing import say
from .bench import attempt, lay_out, warm_up
from .course import Course
from .settings import Settings

METHODS = {
    "surrogate, lag": {"method": "surrogate", "domain": "lag"},
    "SGD, sparse": {"method": "sgd", "domain": "sparse"},
}
SPLITS = {"split as by default": {}, "whole pieces": {"split": None}}


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = lay_out(settings, stage)
    largest = isqrt(len(bench.train)) * settings.size  # where the images are few
    piece_sizes = [size for size in settings.piece_sizes if size <= largest]
    large = sheets(bench.train, max(piece_sizes))
    stage |= {"pixels": int(large.size), "rows": []}
    for label, told in METHODS.items():
        warm_up(bench, **told)
        for split, how in SPLITS.items():
            for size in piece_sizes:
                images = pieces(large, size)
                for batch in settings.batch_sizes:
                    if batch > len(images):
                        continue
                    asked = told | how | {"batch_size": batch}
                    found = {"label": label, "split": split, "size": size, "batch": batch}
                    course = attempt(bench.ours(images=images, **asked))
                    if isinstance(course, Course):
                        mark = bench.examiner(course.dictionaries[-1])
                        found |= {"value": mark.value, "gap": mark.worst_gap}
                        found |= {"seconds": course.seconds[-1], "steps": len(course)}
                    else:
                        found["failed"] = course
                    stage["rows"].append(found)
                    results.save()
                    say(f"sizes: {list(found.values())}")


def sheets(images: list[np.ndarray], size: int) -> np.ndarray:
    """As many size × size sheets as the images fill, side by side; the rest is left out."""
    extent = images[0].shape[0]
    across = max(size // extent, 1)
    count = len(images) // across**2
    if not count:
        raise ValueError(f"{len(images)} images of {extent}×{extent} do not fill {size}×{size}")
    grid = np.stack(images[: count * across**2]).reshape(count, across, across, extent, extent)
    whole = grid.swapaxes(2, 3).reshape(count, across * extent, across * extent)
    return whole[:, :size, :size]


def pieces(large: np.ndarray, size: int) -> list[np.ndarray]:
    return [
        np.ascontiguousarray(sheet[i : i + size, j : j + size])
        for sheet in large
        for i in range(0, sheet.shape[0], size)
        for j in range(0, sheet.shape[1], size)
    ]
