"""Result `large`: one pass over a thousand images, a hundred kernels; time, memory and value."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from ..datasets import Photo, photographs, source, train_and_test
from ..dictionaries import noise
from ..learning.bench import Bench
from ..learning.examiner import Examiner
from ..results import Results
from .curves import begun, once
from .runs import PAPER, Run, carry_out
from .settings import Settings

KEPT = 100  # dictionaries to look at


def run(settings: Settings, stage: dict, results: Results) -> None:
    train, test = large_sets(settings)
    stage["photographs"] = source(settings.photos)
    stage["n_train"], stage["n_test"] = len(train), len(test)
    signals = [photo.s for photo in test]
    examiner = Examiner(signals, settings.penalty, settings.certificate)
    d = noise(settings.large_kernels, settings.kernel, settings.seed)
    bench = begun(
        Bench([photo.s for photo in train], signals, d, settings.penalty, examiner), stage
    )
    for one in ways(settings, len(train)):
        once(stage, one, results, partial(carry_out, one, bench, settings.looks))


def large_sets(settings: Settings) -> tuple[list[Photo], list[Photo]]:
    """From subfolders of these names, or as many photographs as there are."""
    counts = {"n_train": settings.large_train, "n_test": settings.large_test}
    folder: Path | None = settings.photos
    if folder is not None and (folder / "large_train").is_dir():
        return (
            photographs(folder / "large_train", n=settings.large_train, size=settings.size),
            photographs(folder / "large_test", n=settings.large_test, size=settings.size),
        )
    return train_and_test(folder, size=settings.size, **counts)


def ways(settings: Settings, n_images: int) -> list[Run]:
    sgd = {"method": "sgd", "domain": "sparse", "split": None, "constraint": "ball"}
    lags = PAPER | {"tolerance": (1e-2, 1.0), "split": settings.size // 2}
    found = [
        Run("sgd", "Algorithm 1", sgd),
        Run("surrogate", "Algorithm 2, as lags", lags),
        Run("default", "convdict's default"),
    ]
    return [replace(one, every=max(1, n_images // KEPT)) for one in found]
