"""`convdict learn` and `resume`: a run in its folder, from the first step to the report."""

from __future__ import annotations

import json
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from .asked import DEFAULTS, asked_for, files_for, in_toml, learner_for
from .display import Display, duration
from .options import learner_options
from .runs import RunFolder

if TYPE_CHECKING:
    from ..learning.learner import ConvDictLearner
    from ..signals.folder import SignalFiles


@click.command()
@click.argument("images", nargs=-1)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The run's folder "
              "(default: run-1, run-2, …).")  # fmt: skip
@click.option("--settings", type=click.Path(path_type=Path), help="A TOML file with any of these "
              "settings by the learner's names, say that of another run.")  # fmt: skip
@click.option("--mask", multiple=True, help="One picture for all images, or a folder with one "
              "for each: black is missing.")  # fmt: skip
@click.option("--validation", multiple=True, help="Images to stop by, once the dictionary no "
              "longer improves on them.")  # fmt: skip
@click.option("--colour/--grey", default=None, help="Kernels of red, green and blue.")
@click.option("--step", "preprocess", multiple=True, help="What to do to images first, in order: "
              "scale, lowpass, contrast, crop, saturated, mask, none; lowpass:strength=5 sets "
              "how strong it is.")  # fmt: skip
@click.option("--init", type=click.Path(path_type=Path), help="A dictionary to start from.")
@click.option("--max-bad", type=float, default=None, help="The share of images that may be "
              "unreadable (default 0.1).")  # fmt: skip
@click.option("--checkpoint-steps", "every_steps", type=int, default=None,
              help="Save after so many steps (default 1000) …")  # fmt: skip
@click.option("--checkpoint-minutes", "every_minutes", type=float, default=None,
              help="… and after so many minutes (default 5).")  # fmt: skip
@click.option("--quiet", is_flag=True, help="Say nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@learner_options
def learn(
    images: tuple[str, ...],
    out: Path | None,
    settings: Path | None,
    quiet: bool,
    as_json: bool,
    **told: Any,
) -> int:
    """Learn a dictionary from files.

    IMAGES are folders, globs or files: PNG, JPEG, TIFF, NumPy, HDF5, Zarr; WAV and CSV for
    kernels of one axis. They are read while others are learned from, so there may be any number.

    \b
    Examples:
      convdict learn photos/
      convdict learn photos/ -n 100 -k 8 -e 3 -o my-run
      convdict learn stack.tif --split 128 --penalty 0.05
      convdict learn 'sounds/*.wav' -k 200 -n 32
      convdict learn --settings my-run/settings.toml --seed 2

    Ctrl-C finishes the step and saves: convdict resume RUN goes on as if nothing had happened.
    """
    asked = asked_for(images, settings, told)
    folder = RunFolder(
        out or _next_folder(),
        every_steps=asked["every_steps"],
        every_minutes=asked["every_minutes"],
    )
    with _warnings_said() as said:
        learner = learner_for(asked)
        files = files_for(asked, learner)
        asked["random_state"] = learner.random_state = learner._seed()
        folder.create(in_toml(asked, learner), _bytes_of(learner))
    try:
        return _run(folder, learner, files, quiet=quiet, as_json=as_json, said=said)
    finally:
        folder.close()
        if not learner._has_run():  # nothing to go on with, and the name is free again
            folder.discard()


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("-e", "--epochs", type=int, help="Go on to so many epochs.")
@click.option("--quiet", is_flag=True, help="Say nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def resume(run: Path, epochs: int | None, quiet: bool, as_json: bool) -> int:
    """Go on with a run that was stopped, or killed, from its last checkpoint.

    The result is, bit for bit, that of a run that was never stopped.

    \b
    Examples:
      convdict resume my-run
      convdict resume my-run --epochs 5
    """
    folder = RunFolder(run, every_steps=1000, every_minutes=5.0)
    asked = {**DEFAULTS, **folder.settings()}
    folder.every_steps, folder.every_minutes = asked["every_steps"], asked["every_minutes"]
    folder.open()
    try:
        learner, complaints = folder.latest()
        with _warnings_said() as said:
            if learner is None:
                learner = learner_for(asked)
            epochs = asked["n_epochs"] if epochs is None else epochs
            learner.set_params(n_epochs=epochs)
            files = files_for(asked, learner)
            folder.write_settings({**asked, "n_epochs": epochs})
        said += complaints
        return _run(folder, learner, files, quiet=quiet, as_json=as_json, said=said)
    finally:
        folder.close()


def _bytes_of(learner: ConvDictLearner) -> int:
    """About what a checkpoint takes: kernels and lags."""
    size = learner.kernel_size
    kernel = (size,) if isinstance(size, int) else tuple(size)
    lags = prod(2 * k - 1 for k in kernel) if learner.method == "surrogate" else 0
    return 8 * learner.n_kernels * (prod(kernel) + learner.n_kernels * lags)


def _next_folder() -> Path:
    n = 1
    while Path(f"run-{n}").exists():
        n += 1
    return Path(f"run-{n}")


class _Watcher:
    """Sees every step: tells of it, saves it, and stops after it when asked to."""

    def __init__(self, folder: RunFolder, display: Display) -> None:
        self.folder, self.display = folder, display
        self.asked_to_stop: int | None = None
        self.stopped: int | None = None

    def __call__(self, learner: ConvDictLearner) -> bool:
        self.folder.step(learner)
        self.display.step(learner)
        self.stopped = self.asked_to_stop
        if self.stopped is not None:
            self.display.say(f"stopping after step {learner.n_steps_}: saving, and the report")
        return self.stopped is not None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Ctrl-C, SIGTERM and SIGHUP end the run after the step; a second Ctrl-C at once."""

        def stop(number: int, frame: FrameType | None) -> None:
            if self.asked_to_stop is not None and number == signal.SIGINT:
                raise KeyboardInterrupt
            self.asked_to_stop = number

        names = ("SIGINT", "SIGTERM", "SIGHUP")  # the last: a terminal that was closed
        numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
        before = [signal.signal(number, stop) for number in numbers]
        try:
            yield
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)


def _run(
    folder: RunFolder,
    learner: ConvDictLearner,
    files: tuple[SignalFiles, Any, SignalFiles | None],
    *,
    quiet: bool,
    as_json: bool,
    said: list[str],
) -> int:
    images, mask, validation = files
    begun = learner.n_images_ if learner._has_run() else 0.0
    display = Display(len(images) * learner.n_epochs, quiet=quiet, log=folder.log)
    watcher = _Watcher(folder, display)
    for text in dict.fromkeys(said):
        display.say(text)
    size = "×".join(str(k) for k in _as_tuple(learner.kernel_size))
    go = "go on at image" if begun else "learn"
    display.say(
        f"{go} {f'{begun:g} of' if begun else ''} {learner.n_kernels} kernels of {size} from "
        f"{images.summary()} into {folder.path}".replace("  ", " ")
    )
    folder.go_on_from(learner if begun else None)
    with watcher.listening(), _warnings_to(display):
        display.start(begun)
        try:
            learner.resume(images, mask, validation=validation, callback=watcher)
            display.last(learner)
        finally:
            display.close()
            if learner._has_run():
                _save(folder, learner, display)
        summary = _summary(learner, images, folder, complete=watcher.stopped is None)
        folder.finish(learner, summary)
        folder.write_report(learner, images, complete=watcher.stopped is None)
    if images.bad:
        display.say(f"{len(images.bad)} left out: " + ", ".join(sorted(images.bad)[:10]))
    if as_json:
        print(json.dumps(summary))
    if watcher.stopped is not None:
        display.say(f"stopped after step {learner.n_steps_}: convdict resume {folder.path}")
        return 128 + watcher.stopped
    if not learner._run.watch.usage.any():
        return 1  # it has been said why
    display.say(
        f"{learner.n_steps_} steps in {duration(summary['seconds'])}: "
        f"{folder.path / 'dictionary.npz'}; look at it with convdict show {folder.path}"
    )
    return 0


def _save(folder: RunFolder, learner: ConvDictLearner, display: Display) -> None:
    try:
        folder.save(learner)
    except OSError as error:
        display.say(f"the last checkpoint could not be written: {error.strerror}")
        if sys.exc_info()[0] is None:
            raise


def _summary(
    learner: ConvDictLearner, images: Any, folder: RunFolder, *, complete: bool
) -> dict[str, Any]:
    history = learner.history_
    last = max(1, len(history) // 10)
    return {
        "run": str(folder.path),
        "complete": complete,
        "steps": learner.n_steps_,
        "images": learner.n_images_,
        "left_out": images.bad,
        "seconds": history[-1].time,
        "value": float(history.value[-last:].mean()),
        "density": float(history.density[-last:].mean()),
        "penalty": float(learner.penalty_.mean()),
        "seed": learner._seed(),
    }


def _as_tuple(size: Any) -> tuple[int, ...]:
    return (size,) if isinstance(size, int) else tuple(size)


@contextmanager
def _warnings_said() -> Iterator[list[str]]:
    """What convdict warns of, as sentences."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said += dict.fromkeys(str(warning.message) for warning in caught)


@contextmanager
def _warnings_to(display: Display) -> Iterator[None]:
    """Warnings become sentences, each said once."""
    before, said = warnings.showwarning, set()

    def show(message: Warning | str, *rest: Any, **named: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            display.say(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        try:
            yield
        finally:
            warnings.showwarning = before
