"""One run of one learner, followed and judged: what nearly every result of the paper is made of."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..learning.bench import Bench
from ..learning.course import evenly, follow, judged
from ..timing import say
from . import online


@dataclass(frozen=True)
class Run:
    """What a learner is told, beside what is its default; `method` says which learner."""

    key: str
    label: str
    told: dict[str, Any] = field(default_factory=dict)
    batch: bool = False  # all images at once
    n_images: int | None = None  # None: all there are
    budget: float | None = None  # seconds
    every: int = 1  # steps from one dictionary that is kept to the next


PAPER = {"lookahead": 0.0, "constraint": "ball", "window": 1}  # as the paper has the surrogate
ADMM_CODING = {"solver": "paper"}  # coded as in the paper


def carry_out(
    run: Run,
    bench: Bench,
    looks: int,
    images: Sequence[np.ndarray] | None = None,
    mask: Sequence[np.ndarray] | None = None,
) -> dict[str, Any]:
    """The course of a run on these or the training images, or one line on why there is none."""
    images = list(bench.train if images is None else images)[: run.n_images]
    facts: dict[str, Any] = {}
    told = {
        "penalty": bench.penalty,
        "facts": facts,
        "mask": None if mask is None else list(mask),
    } | run.told
    learn = partial(online.learn_batch if run.batch else online.learn, images, bench.d, **told)
    about = {"label": run.label, "told": {k: str(v) for k, v in run.told.items()}}
    try:
        course = follow(learn, budget=run.budget, every=run.every)
    except Exception as error:  # a long experiment must not end for one entrant
        say(f"{run.label}: failed: {error!r}")
        return about | {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
    if not len(course):
        return about | {"failed": "not a single step"}
    per_image = facts["steps"] / facts["images"]
    steps = evenly(len(course), looks)
    points = judged(course, steps, per_image / run.every, bench.examiner)
    say(f"{run.label}: {points[-1]['seconds']:.3g} s, value {points[-1]['value']:.3f}")
    found = {"points": points, "facts": facts, "ended_early": course.ended_early}
    return about | found | {"kernels": stored(course.dictionaries[-1])}


def stored(d: np.ndarray) -> dict[str, Any]:
    """Kernels to look at, in bytes: each from −127 to 127 by its largest value."""
    largest = np.abs(d).reshape(len(d), -1).max(axis=1).reshape(-1, *(1,) * (d.ndim - 1))
    scaled = np.rint(127 * d / np.maximum(largest, 1e-30)).astype(np.int8)
    return {"shape": list(d.shape), "bytes": base64.b64encode(scaled.tobytes()).decode()}


def kernels(found: dict[str, Any]) -> np.ndarray:
    """The inverse of `stored`, in [−1, 1]."""
    told = found["kernels"]
    scaled = np.frombuffer(base64.b64decode(told["bytes"]), np.int8)
    return scaled.reshape(told["shape"]) / 127
