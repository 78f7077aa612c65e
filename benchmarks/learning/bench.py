"""What every stage starts from: the photographs, the first dictionary, and the examiner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..datasets import source, train_and_test
from ..dictionaries import noise
from ..rivals import learner
from ..timing import say, timed
from .course import Course, Learn, follow
from .examiner import Examiner
from .settings import Settings


@dataclass(frozen=True, eq=False)
class Bench:
    train: list[np.ndarray]
    test: list[np.ndarray]
    d: np.ndarray  # where everybody starts
    penalty: float
    examiner: Examiner

    def ours(self, images: Sequence[np.ndarray] | None = None, **told: Any) -> Learn:
        """Our learner on these or the training images, ready to be followed."""
        images = self.train if images is None else images
        return partial(learner.learn, images, self.d, penalty=self.penalty, **told)


def lay_out(settings: Settings, stage: dict) -> Bench:
    train, test = train_and_test(
        settings.photos, n_train=settings.n_train, n_test=settings.n_test, size=settings.size
    )
    stage["photographs"] = source(settings.photos)
    stage["n_train"], stage["n_test"] = len(train), len(test)
    d = noise(settings.n_kernels, settings.kernel, settings.seed)
    signals = [photo.s for photo in test]
    examiner = Examiner(signals, settings.penalty, settings.certificate)
    return Bench([photo.s for photo in train], signals, d, settings.penalty, examiner)


def warm_up(bench: Bench, **told: Any) -> None:
    """Compile, or fetch what is compiled, on a corner: before any clock runs."""
    extent = 4 * bench.d.shape[1]
    corner = [np.ascontiguousarray(bench.train[0][:extent, :extent])]
    seconds, _ = timed(partial(learner.learn, corner, bench.d, penalty=bench.penalty, **told))
    if seconds > 2.0:
        say(f"a first call took {seconds:.1f} s, compiling included")


def attempt(learn: Learn, budget: float | None = None) -> Course | str:
    """The course of a run, or one line on why there is none."""
    try:
        return follow(learn, budget=budget)
    except Exception as error:  # a long experiment must not end for one entrant
        say(f"failed: {error!r}")
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
