"""Stage `memory`: the most that learning needs, over few images and over more."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..child import run_apart
from ..resident import forget_peak, megabytes, resident
from ..results import Results
from ..rivals import learner
from ..timing import say, timed
from .bench import lay_out
from .settings import Settings

LEARNERS = {  # label: what the learner is told, and the most it may need, in MB
    "SGD, whole images": ({"method": "sgd", "domain": "sparse", "split": None}, 100.0),
    "surrogate, lag, whole images": ({"split": None}, 120.0),
    "default": ({}, None),
}


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = lay_out(settings, stage)
    stage["rows"] = []
    for label, (told, target) in LEARNERS.items():
        job = {"module": "learning.memory", "told": told, "penalty": bench.penalty}
        job |= {"cores": settings.cores}
        first = np.stack(bench.train[:1])  # so that compiled kernels lie on the disk
        run_apart(job, images=first, d=bench.d, limit=600.0)
        for n in settings.memory_images:
            images = np.stack(bench.train[:n])
            found = run_apart(job, images=images, d=bench.d, limit=1200.0)
            row = {"label": label, "images": len(images), "target": target}
            stage["rows"].append(row | found)
            results.save()
            say(f"memory: {label}, {len(images)} images: {found}")


def work(job: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict:
    """In a process of its own: one pass; the peak above the imports, the input loaded."""
    import convdict  # noqa: F401  (imports belong before the baseline)

    images, d = list(arrays["images"]), arrays["d"]
    learner.make(d, penalty=job["penalty"], **job["told"])
    forget_peak()
    imported = resident()
    seconds, _ = timed(lambda: learner.learn(images, d, penalty=job["penalty"], **job["told"]))
    return {
        "seconds": seconds,
        "memory_mb": megabytes(resident("VmHWM"), imported),
        "imports_mb": megabytes(imported, 0),
    }
