"""Stage `steps`: ten thousand steps on small tiles, whose time and memory must not grow."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from ..child import run_apart
from ..resident import megabytes, resident
from ..results import Results
from ..rivals import learner
from ..timing import say
from .bench import lay_out
from .settings import Settings

BLOCKS = 100
LEARNERS = {
    "surrogate, lag": {"method": "surrogate", "domain": "lag", "split": None},
    "SGD, sparse": {"method": "sgd", "domain": "sparse", "split": None},
}


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = lay_out(settings, stage)
    tiles = cut(bench.train, settings.tile, settings.seed)
    stage |= {"tiles": len(tiles), "rows": []}
    for label, told in LEARNERS.items():
        job = {"module": "learning.steps", "told": told, "penalty": bench.penalty}
        job |= {"cores": settings.cores, "n_steps": settings.n_steps}
        found = run_apart(job, tiles=tiles, d=bench.d, limit=3600.0)
        stage["rows"].append({"label": label} | found)
        results.save()
        last = {key: values[-1] for key, values in found.items() if isinstance(values, list)}
        say(f"steps: {label}: {last or found}")


def cut(images: list[np.ndarray], tile: int, seed: int) -> np.ndarray:
    """All tiles of all images, side by side, in a seeded random order."""
    found = [
        s[i : i + tile, j : j + tile]
        for s in images
        for i in range(0, s.shape[0] - tile + 1, tile)
        for j in range(0, s.shape[1] - tile + 1, tile)
    ]
    return np.stack(found)[np.random.default_rng(seed).permutation(len(found))]


def work(job: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict:
    """In a process of its own: one tile a step; the median time and the memory by blocks."""
    tiles, n_steps = arrays["tiles"], job["n_steps"]
    learning = learner.make(arrays["d"], penalty=job["penalty"], **job["told"])
    learning.partial_fit([tiles[-1]])  # compiled, or fetched from the disk
    base = resident()
    found: dict[str, list] = {"step": [], "ms": [], "memory_mb": []}
    times: list[float] = []
    ends = {round(n_steps * (block + 1) / BLOCKS) for block in range(BLOCKS)}
    for step in range(1, n_steps + 1):
        start = perf_counter()
        learning.partial_fit([tiles[step % len(tiles)]])
        times.append(perf_counter() - start)
        if step in ends:
            found["step"].append(step)
            found["ms"].append(1e3 * median(times))
            found["memory_mb"].append(megabytes(resident(), base))
            times.clear()
    return found
