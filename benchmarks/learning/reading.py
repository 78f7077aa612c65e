"""Stage `reading`: learning from files against learning from the same signals in memory."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ..results import Results
from ..rivals import learner
from ..timing import say, timed
from .bench import lay_out, warm_up
from .settings import Settings

KINDS = {"PNG": ".png", "JPEG": ".jpg", "TIFF": ".tif", "NumPy": ".npy"}


def run(settings: Settings, stage: dict, results: Results) -> None:
    """Turn by turn, so that a slow minute is slow for both."""
    from convdict.signals.folder import SignalFiles

    bench = lay_out(settings, stage)
    stage["rows"] = []
    warm_up(bench)
    images = [as_bytes(s) for s in bench.train]
    learn = partial(learner.learn_all, d=bench.d, penalty=bench.penalty)
    for label, suffix in KINDS.items():
        with TemporaryDirectory() as place:
            folder = Path(place)
            write(images, folder, suffix)
            files = SignalFiles(folder, n_axes=2)
            arrays = [files[i] for i in range(len(files))]
            seconds: dict[str, list[float]] = {"files": [], "arrays": []}
            for _ in range(settings.repeats):
                seconds["arrays"].append(timed(partial(learn, arrays))[0])
                seconds["files"].append(timed(partial(learn, folder))[0])
        stage["rows"].append({"label": label, **seconds})
        results.save()
        say(f"reading: {label}: {seconds}")


def as_bytes(s: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(128 + 127 * s / np.abs(s).max()), 0, 255).astype(np.uint8)


def write(images: list[np.ndarray], folder: Path, suffix: str) -> None:
    from convdict.signals.write import write_signal

    for i, image in enumerate(images):
        write_signal(folder / f"{i:04}{suffix}", image)
