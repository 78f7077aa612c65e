"""Stage `masked`: learning from photographs of which a share of the pixels is hidden."""

from __future__ import annotations

import numpy as np

from ..results import Results
from ..timing import say
from .bench import Bench, attempt, lay_out, warm_up
from .course import Course
from .settings import Settings

METHODS = {
    "surrogate, lag": {"method": "surrogate", "domain": "lag"},
    "SGD, sparse": {"method": "sgd", "domain": "sparse"},
}


def run(settings: Settings, stage: dict, results: Results) -> None:
    bench = lay_out(settings, stage)
    stage["rows"] = []
    for label, told in METHODS.items():
        warm_up(bench, **told)
        clean = _one_pass(bench, bench.train, None, told)
        for seed in (None, *settings.mask_seeds):
            found = clean if seed is None else _masked(bench, seed, settings.hidden, told)
            stage["rows"].append({"label": label, "seed": seed} | found)
            results.save()
            say(f"masked: {label}, mask {seed}: {found}")


def hide(s: np.ndarray, hidden: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The image with a share of its pixels gone, and which ones are left."""
    mask = rng.random(s.shape) >= hidden
    return np.where(mask, s, np.float32(0.0)), mask


def _masked(bench: Bench, seed: int, hidden: float, told: dict) -> dict:
    rng = np.random.default_rng(seed)
    images, masks = zip(*(hide(s, hidden, rng) for s in bench.train), strict=True)
    return _one_pass(bench, list(images), list(masks), told)


def _one_pass(
    bench: Bench, images: list[np.ndarray], masks: list[np.ndarray] | None, told: dict
) -> dict:
    course = attempt(bench.ours(images=images, mask=masks, **told))
    if not isinstance(course, Course):
        return {"failed": course}
    mark = bench.examiner(course.dictionaries[-1])
    return {"seconds": course.seconds[-1], "value": mark.value, "gap": mark.worst_gap}
