"""Result `noisy`: learning from images of which impulses have ruined some pixels.

Salt and pepper falls on the photographs themselves. Their smooth part is that of total variation
with the ruined pixels masked, as in the paper, for whoever is told of the mask and who is not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..datasets import train_and_test
from ..learning.bench import lay_out
from ..results import Results
from ..timing import say
from .curves import begun, once
from .runs import PAPER, Run, carry_out
from .settings import Settings

STRENGTH = 0.05  # of the total variation
SMALL_TILE = 2  # tiles are so many times smaller than images, along every axis


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = begun(lay_out(settings, stage), stage)
    photos = train_and_test(
        settings.photos, n_train=settings.n_train, n_test=1, size=settings.size
    )[0]
    for share in settings.shares:
        runs = ways(share, settings)
        if all(one.key in stage["curves"] for one, _ in runs):
            continue
        say(f"noisy: impulses on {100 * share:g} % of the pixels")
        rng = np.random.default_rng(settings.seed)
        pairs = [spoiled(photo.grey, share, rng) for photo in photos]
        images, masks = zip(*pairs, strict=True)
        for one, told in runs:
            work = partial(carry_out, one, bench, settings.looks, images)
            once(stage, one, results, partial(work, masks) if told else work)


def spoiled(
    grey: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """An image with salt and pepper, high-passed, and where it is still itself."""
    import convdict

    ruined = rng.random(grey.shape) < share
    impulses = (rng.random(grey.shape) < 0.5).astype(np.float32)
    noisy = np.where(ruined, impulses, grey).astype(np.float32)
    _, high = convdict.lowpass_split_tv(noisy, STRENGTH, mask=~ruined)
    return np.ascontiguousarray(high, np.float32), ~ruined


def ways(share: float, settings: Settings) -> list[tuple[Run, bool]]:
    """Each learner, and whether it is told which pixels are ruined."""
    sgd = {"method": "sgd", "domain": "sparse", "split": None, "constraint": "ball"}
    exact = PAPER | {"tolerance": (1e-2, 1.0), "domain": "sparse"}
    exact |= {"split": settings.size // SMALL_TILE}
    learners = {
        "plain": ("Algorithm 1, not told", sgd, False),
        "sgd": ("Algorithm 1, masked", sgd, True),
        "surrogate": ("Algorithm 2, masked, exact", exact, True),
        "default": ("convdict's default, masked", {}, True),
    }
    found = [
        (Run(f"{key}-{share:g}", f"{label}, {100 * share:g} %", told), masked)
        for key, (label, told, masked) in learners.items()
    ]
    label = f"batch, mask decoupling, {100 * share:g} %"
    found.append((Run(f"batch-{share:g}", label, {"method": "decoupled"}, batch=True), True))
    return [(replace(one, budget=settings.budget), masked) for one, masked in found]
