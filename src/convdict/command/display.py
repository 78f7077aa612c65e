"""How far learning is: a live line on a terminal, plain lines in a pipe, and a log."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from ..learning.learner import ConvDictLearner

LINES_EVERY, LIVE_EVERY = 10.0, 0.1  # seconds
WIDE, NARROW = 110, ("images", "value", "left")  # columns of a terminal, and what others show
MEMORY = 0.95  # share of the mean value that stays at a step


class Display:
    """Tells of every step, as often as there is somebody to read it, and of what else happens."""

    def __init__(self, total: float, *, quiet: bool = False, log: TextIO | None = None) -> None:
        self.total, self.log, self.quiet = total, log, quiet
        self._live = None if quiet or not sys.stderr.isatty() else _live(total)
        self._begun, self._from = monotonic(), 0.0
        self._told = -LINES_EVERY
        self._value: float | None = None

    def start(self, images: float = 0.0) -> None:
        """Learning begins, perhaps where it was stopped."""
        self._begun, self._from = monotonic(), images
        if self._live is not None:
            self._live.start()

    def step(self, learner: ConvDictLearner) -> None:
        record = learner.history_[-1]
        old = self._value
        self._value = record.value if old is None else MEMORY * old + (1 - MEMORY) * record.value
        seconds = monotonic() - self._begun
        if seconds - self._told < (LIVE_EVERY if self._live is not None else LINES_EVERY):
            return
        self._told = seconds
        told = self._fields(learner, seconds)
        if self._live is not None:
            self._live.update(self._live.task_ids[0], completed=learner.n_images_, **told)
        else:
            self._line(_as_text(told))

    def last(self, learner: ConvDictLearner) -> None:
        """Learning has ended."""
        told = self._fields(learner, monotonic() - self._begun)
        if self._live is not None:
            self._live.update(self._live.task_ids[0], completed=learner.n_images_, **told)
            self._write_log(_as_text(told))
        else:
            self._line(_as_text(told))

    def say(self, text: str) -> None:
        """A sentence for people, and for the log."""
        self._write_log(text)
        if self.quiet:
            return
        if self._live is not None:
            self._live.console.print(text, highlight=False, markup=False, soft_wrap=True)
        else:
            self._print(text)

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()

    def _print(self, text: str) -> None:
        """To standard error, while somebody reads it; the run and its log go on in any case."""
        try:
            print(text, file=sys.stderr, flush=True)
        except OSError:
            self.quiet = True
            silence(sys.stderr)

    def _fields(self, learner: ConvDictLearner, seconds: float) -> dict[str, Any]:
        record, images = learner.history_[-1], learner.n_images_
        rate = (images - self._from) / max(seconds, 1e-9)
        return {
            "step": learner.n_steps_,
            "images": images,
            "total_images": self.total,
            "value": self._value if self._value is not None else record.value,
            "gap": record.gap,
            "density": record.density,
            "rate": rate,
            "left": max(self.total - images, 0) / rate if rate > 0 else 0.0,
        }

    def _line(self, text: str) -> None:
        self._write_log(text)
        if not self.quiet:
            self._print(text)

    def _write_log(self, text: str) -> None:
        if self.log is not None:
            self.log.write(f"{datetime.now().isoformat(' ', 'seconds')}  {text}\n")
            self.log.flush()


FIELDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "step": lambda f: f"step {f['step']}",
    "images": lambda f: f"{f['images']:.1f} of {f['total_images']:g} images",
    "value": lambda f: f"value {f['value']:.4g}",
    "gap": lambda f: f"gap {f['gap']:.0e}",
    "density": lambda f: f"density {100 * f['density']:.2g} %",
    "rate": lambda f: f"{f['rate']:.3g} images/s",
    "left": lambda f: f"{duration(f['left'])} left",
}


def _as_text(fields: dict[str, Any]) -> str:
    return "  ".join(form(fields) for form in FIELDS.values())


def _live(total: float) -> Any:
    """rich's progress, with our fields beside its bar."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    class Field(TextColumn):
        def __init__(self, form: Callable[[dict[str, Any]], str]) -> None:
            super().__init__("")
            self._form = form

        def render(self, task: Any) -> Any:
            from rich.text import Text

            return Text(self._form(task.fields) if "value" in task.fields else "")

    console = Console(stderr=True)
    fields = FIELDS if console.width >= WIDE else {name: FIELDS[name] for name in NARROW}
    columns = [Field(form) for form in fields.values()]
    progress = Progress(BarColumn(20 if console.width >= WIDE else 8), *columns, console=console)
    progress.add_task("learn", total=total)
    return progress


def silence(stream: TextIO) -> None:
    """Nobody reads it any more: what is still written, at the end too, goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def share_done(what: str) -> Iterator[Callable[[float], Any] | None]:
    """A bar on a terminal that a share of the work moves; it goes away in the end."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def duration(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
