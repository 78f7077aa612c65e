"""The folder of a run: what was asked for, how it went, and all that is needed to go on.

settings.toml    everything the run was told; `convdict learn --settings` reads it again
checkpoints/     whole states, the last few: learning goes on from them exactly
snapshots/       kernels as they were at some steps
history.jsonl    one record a step
log.txt          what was said
dictionary.npz   the result, and dictionary.npy, its kernels alone
summary.json     the result in a few numbers
report.html      the result as a page
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO
from uuid import uuid4

from ..errors import ConvdictError, InputError
from ..signals.marks import RUN_MARK

if TYPE_CHECKING:
    from ..learning.learner import ConvDictLearner
    from ..signals.folder import SignalFiles

KEPT = 3
ROOM = 1 << 26  # bytes that should be free at least, beside checkpoints


class RunFolder:
    """Writes a run while it is going on; every file whole or not at all."""

    def __init__(self, path: Path, *, every_steps: int, every_minutes: float) -> None:
        self.path = path
        self.every_steps, self.every_minutes = every_steps, every_minutes
        self._saved_at, self._saved_step = monotonic(), 0
        self._lock: int | None = None
        self._history: TextIO | None = None
        self.log: TextIO | None = None

    # Beginning

    def create(self, settings: Mapping[str, Any], bytes_needed: int) -> None:
        """Make the folder and write into it: what cannot work should fail before learning."""
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise InputError(
                f"{self.path} is there already: give another folder with --out, or go on with "
                f"convdict resume {self.path}"
            )
        try:
            for folder in ("checkpoints", "snapshots"):
                (self.path / folder).mkdir(parents=True, exist_ok=True)
            (self.path / RUN_MARK).touch()
            self.write_settings(settings)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written to: {error.strerror}") from error
        free = shutil.disk_usage(self.path).free
        wanted = (KEPT + 1) * bytes_needed + ROOM
        if free < wanted:
            self.discard()
            raise InputError(
                f"{self.path} is on a disk with {free >> 20} MB left, but checkpoints call for "
                f"{wanted >> 20} MB: make room, or choose another place with --out"
            )
        self.open()

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        _write(self.path / "settings.toml", as_toml(settings))

    def open(self) -> None:
        """Be the only one who writes here."""
        self._lock = _locked(self.path / "lock")
        self.log = (self.path / "log.txt").open("a", encoding="utf-8")

    def close(self) -> None:
        for file in (self.log, self._history):
            if file is not None:
                file.close()
        if self._lock is not None:
            os.close(self._lock)
        self.log = self._history = self._lock = None

    def discard(self) -> None:
        """Take away a folder that was made for a run that never began."""
        shutil.rmtree(self.path, ignore_errors=True)

    # Going on

    def settings(self) -> dict[str, Any]:
        path = self.path / "settings.toml"
        if not path.is_file():
            raise InputError(f"{self.path} is not the folder of a run: it has no settings.toml")
        return read_toml(path)

    def latest(self) -> tuple[ConvDictLearner | None, list[str]]:
        """The newest state that can be read, and what could not be."""
        from ..learning.storage import load

        complaints: list[str] = []
        for path in reversed(self._checkpoints()):
            try:
                return load(path), complaints
            except (ConvdictError, OSError) as error:
                complaints.append(str(error))
        return None, complaints

    def go_on_from(self, learner: ConvDictLearner | None) -> None:
        """Forget what came after the state that is gone on from."""
        steps = 0 if learner is None else learner.n_steps_
        for path in self.snapshots():
            if int(path.stem) > steps:
                path.unlink()
        if self._history is not None:
            self._history.close()
        records = [] if learner is None else list(learner.history_)
        _write(self.path / "history.jsonl", "".join(_line(record) for record in records))
        self._history = (self.path / "history.jsonl").open("a", encoding="utf-8")
        self._saved_step = steps

    # While it is going on

    def step(self, learner: ConvDictLearner) -> None:
        """Write down a step, and from time to time everything."""
        import numpy as np

        step = learner.n_steps_
        if self._history is None:
            self.go_on_from(None)
        assert self._history is not None
        self._history.write(_line(learner.history_[-1]))
        if _is_shown(step):
            _write_bytes(
                self.path / "snapshots" / f"{step:09}.npy",
                lambda file: np.save(file, learner.dictionary_),
            )
        minutes = (monotonic() - self._saved_at) / 60
        if step - self._saved_step >= self.every_steps or minutes >= self.every_minutes:
            self.save(learner)

    def save(self, learner: ConvDictLearner) -> None:
        """A checkpoint; the oldest ones go."""
        if self._history is not None:
            self._history.flush()
        learner.save(self.path / "checkpoints" / f"{learner.n_steps_:09}.npz")
        self._saved_at, self._saved_step = monotonic(), learner.n_steps_
        for path in self._checkpoints()[:-KEPT]:
            path.unlink(missing_ok=True)

    def finish(self, learner: ConvDictLearner, summary: Mapping[str, Any]) -> None:
        import numpy as np

        from ..learning.dictionary import Dictionary

        Dictionary.of(learner).save(self.path / "dictionary.npz")
        _write_bytes(self.path / "dictionary.npy", lambda file: np.save(file, learner.dictionary_))
        _write(self.path / "summary.json", json.dumps(summary, indent=2) + "\n")

    def write_report(
        self, learner: ConvDictLearner, images: SignalFiles, *, complete: bool
    ) -> None:
        import numpy as np

        from ..report.html import report

        shown = [(int(path.stem), np.load(path)) for path in self.snapshots()]
        status = "complete" if complete else f"stopped: convdict resume {self.path} goes on"
        settings = self.settings()
        page = report(learner, snapshots=shown, images=images, settings=settings, status=status)
        _write(self.path / "report.html", page)

    def snapshots(self) -> list[Path]:
        return sorted((self.path / "snapshots").glob("[0-9]*.npy"))

    def _checkpoints(self) -> list[Path]:
        return sorted((self.path / "checkpoints").glob("[0-9]*.npz"))


def _is_shown(step: int) -> bool:
    """Twelve steps of every decade: 1, 2, 3 … 10, 12, 15 …"""
    last = round(10 ** (round(12 * _log10(step)) / 12))
    return step == last


def _log10(n: int) -> float:
    from math import log10

    return log10(n)


def _line(record: Any) -> str:
    from math import isfinite

    told = {name: value if isfinite(value) else None for name, value in record._asdict().items()}
    return json.dumps(told) + "\n"


def _locked(path: Path) -> int:
    """A file that only one process at a time holds; it is let go of even by a killed one."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        import fcntl
    except ImportError:  # Windows: nothing keeps two runs apart there
        return handle
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise InputError(f"{path.parent} is being written to by another run") from None
    return handle


def _write(path: Path, text: str) -> None:
    _write_bytes(path, lambda file: file.write(text.encode()))


def _write_bytes(path: Path, write: Any) -> None:
    """All or nothing, as archives are written."""
    partial = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with open(partial, "xb") as file:
            write(file)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read as TOML: {error}") from error


def as_toml(settings: Mapping[str, Any]) -> str:
    """Plain values, lists of them, and lists of tables; None is left out."""
    plain = [f"{key} = {_toml(value)}" for key, value in settings.items() if value is not None]
    return "\n".join(plain) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = (f"{key} = {_toml(v)}" for key, v in value.items() if v is not None)
        return "{ " + ", ".join(inside) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return json.dumps(value, ensure_ascii=False)
