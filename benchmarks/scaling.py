"""Stage `scaling`: time and memory against pixels, kernels, kernel size and density."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .child import run_apart
from .datasets import mosaic, photographs, source
from .dictionaries import gabor, load
from .results import Results
from .settings import Settings
from .timing import say


@dataclass(frozen=True, eq=False)
class Cell:
    """One point of one sweep."""

    sweep: str
    value: float
    s: np.ndarray
    d: np.ndarray
    penalty: float


def cells(settings: Settings) -> Iterator[Cell]:
    d, penalty = load(settings.dictionary), settings.penalty
    for size in settings.sizes:
        yield Cell("pixels", size * size, mosaic(settings.photos, size), d, penalty)
    s = photographs(settings.photos, n=1, size=settings.size)[0].s
    for count in settings.kernel_counts:
        yield Cell("kernels", count, s, gabor(count, d.shape[1], settings.seed), penalty)
    for extent in settings.kernel_sizes:
        yield Cell("kernel size", extent, s, gabor(d.shape[0], extent, settings.seed), penalty)
    for lmbda in settings.penalties:
        yield Cell("penalty", lmbda, s, d, lmbda)


def run(settings: Settings, stage: dict, results: Results) -> None:
    stage["photographs"] = source(settings.photos)
    stage["rows"] = []
    gave_up: set[tuple[str, str]] = set()
    compiled: set[tuple[Any, ...]] = set()
    for cell in cells(settings):
        for solver in settings.solvers:
            if (cell.sweep, solver) in gave_up or _too_large(cell, solver, settings):
                continue
            job = {"solver": solver, "penalty": cell.penalty, "tol": settings.scaling_tol}
            job |= {"module": "one_image", "cores": settings.cores, "repeats": 3}
            corner = min(min(cell.s.shape), max(64, 3 * max(cell.d.shape[1:])))
            if (solver, cell.d.shape[1:]) not in compiled:  # then its kernels lie on the disk
                compiled.add((solver, cell.d.shape[1:]))
                part = np.ascontiguousarray(cell.s[:corner, :corner])
                run_apart(job | {"judge": False, "repeats": 1}, s=part, d=cell.d, limit=600.0)
            job["warm_up"] = corner
            found = run_apart(job, s=cell.s, d=cell.d, limit=settings.time_limit)
            if "failed" in found:
                gave_up.add((cell.sweep, solver))
            row = {"sweep": cell.sweep, "value": cell.value, "solver": solver}
            stage["rows"].append(row | {"penalty": cell.penalty} | found)
            results.save()
            say(f"scaling: {cell.sweep} {cell.value:g}, {solver}: {_in_short(found)}")


def _too_large(cell: Cell, solver: str, settings: Settings) -> bool:
    return solver != "working_set" and cell.s.shape[0] > settings.fft_size_limit


def _in_short(found: dict) -> str:
    if "failed" in found:
        return found["failed"]
    return f"{found['seconds']:.3g} s, {found['memory_mb']} MB, gap {found['gap']:.2g}"
