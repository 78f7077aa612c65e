"""A line on the terminal that says how far learning is."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from .learner import ConvDictLearner

OVERWRITE = "\x1b[F\x1b[K"  # up to the line before, and clear it


class ProgressLine:
    """A callback for `fit`: steps, images, value and time, every second on standard error.

    On a terminal the line is written over; elsewhere, in a log file say, lines follow each
    other, and a longer interval suits better. Tell it the `total` of images in all epochs to
    read how long is left.
    """

    def __init__(
        self, total: float | None = None, *, interval: float = 1.0, file: TextIO | None = None
    ) -> None:
        self.total, self.interval, self._file = total, interval, file
        self._last: float | None = None
        self._mean = 0.0

    def __call__(self, learner: ConvDictLearner) -> None:
        """Learning has made a step."""
        history = learner.history_
        if len(history) == 1:
            self._last = None
        value = history[-1].value
        self._mean = value if self._last is None else 0.9 * self._mean + 0.1 * value
        now = monotonic()
        complete = self.total is not None and abs(learner.n_images_ - self.total) < 1e-6
        if self._last is not None and now - self._last < self.interval and not complete:
            return
        file = sys.stderr if self._file is None else self._file
        over = OVERWRITE if self._last is not None and file.isatty() else ""
        file.write(f"{over}{self._line(learner)}\n")
        file.flush()
        self._last = now

    def _line(self, learner: ConvDictLearner) -> str:
        seconds, images = learner.history_[-1].time, learner.n_images_
        of = left = ""
        if self.total is not None:
            of = f" of {self.total:g}"
            left = f", {_duration(seconds * max(self.total / images - 1, 0))} left"
        steps = f"{learner.n_steps_} step" + ("" if learner.n_steps_ == 1 else "s")
        return (
            f"{steps}, {images:.1f}{of} images, value {self._mean:.4g}, {_duration(seconds)}{left}"
        )


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
