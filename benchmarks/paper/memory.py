"""Result `memory`: the most that every method of the main result needs, in fresh processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..child import run_apart
from ..learning.bench import lay_out
from ..resident import forget_peak, megabytes, resident
from ..results import Results
from ..timing import say
from . import online
from .curves import batch_methods, online_methods
from .runs import Run
from .settings import Settings

LIMIT = 1800.0
FEW = 2  # images for online methods: more change nothing


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = lay_out(settings, stage)
    stage.setdefault("rows", [])
    done = {row["key"] for row in stage["rows"]}
    for one in entrants(settings):
        if one.key in done:
            continue
        n = one.n_images if one.batch else FEW
        told = one.told | ({"n_iter": settings.memory_iterations} if one.batch else {})
        job = {"module": "paper.memory", "told": told, "batch": one.batch}
        job |= {"penalty": bench.penalty, "cores": settings.cores}
        found = run_apart(job, limit=LIMIT, images=np.stack(bench.train[:n]), d=bench.d)
        stage["rows"].append({"key": one.key, "label": one.label} | found)
        results.save()
        say(f"memory: {one.label}: {found}")


def entrants(settings: Settings) -> list[Run]:
    ours = [one for one in online_methods(settings) if not one.key.endswith("-ours")]
    return ours + batch_methods(settings)


def work(job: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict:
    """In a process of its own: the peak above the imports, the images loaded."""
    import convdict

    _ = convdict.ConvDictLearner, convdict.BatchDictLearner  # imports belong before the baseline
    images, d = list(arrays["images"]), arrays["d"]
    told = {k: tuple(v) if isinstance(v, list) else v for k, v in job["told"].items()}
    told |= {} if job["batch"] else {"n_epochs": 1}
    learn = online.learn_batch if job["batch"] else online.learn
    forget_peak()
    before = resident()
    learn(images, d, penalty=job["penalty"], facts={}, **told)
    return {"memory_mb": megabytes(resident("VmHWM"), before)}
