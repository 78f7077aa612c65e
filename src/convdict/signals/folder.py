"""Folders, globs and lists of files as a sequence of signals: read late, and read ahead."""

from __future__ import annotations

import os
import threading
import warnings
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ConvdictWarning, InputError
from .files import (
    KNOWN,
    STORES,
    Opened,
    Signal,
    Unreadable,
    n_axes_of,
    open_signals,
    parted,
    suffix,
)
from .marks import RUN_MARK
from .steps import Prepared, full_weights, prepare, steps_of

Array = NDArray[Any]

OPEN_FILES = 8  # stacks and stores that stay open
AHEAD, AHEAD_BYTES = 6, 1 << 26  # signals that are read before they are needed, and their bytes
LUMA = (0.299, 0.587, 0.114)  # of red, green and blue: ITU-R BT.601


class SkippedFile(ConvdictWarning):
    """A file was left out; the message names it and says why."""


class ReadNote(ConvdictWarning):
    """A file was read, but not all there is in it, or not as it is."""


class SignalFiles:
    """The signals in files, by their number; nothing is read before it is asked for.

    paths : a file, a folder (with the folders in it), a glob, or a list of these.
    n_axes, channel_axis : of the kernels. Without channels, colours become grey.
    steps : what is done to every signal, see `convdict.signals.steps`.
    most_bad : the share of signals that may be unreadable; each is left out with a warning.
    """

    def __init__(
        self,
        paths: Any,
        *,
        n_axes: int,
        channel_axis: int | None = None,
        steps: Any = "auto",
        most_bad: float = 0.1,
    ) -> None:
        self.n_axes, self.channel_axis = n_axes, channel_axis
        self.steps = steps_of(steps, n_axes)
        self.most_bad = most_bad
        self.bad: dict[str, str] = {}  # what was left out, and why
        self._noted: set[str] = set()
        self._lock = threading.Lock()
        self._open = lru_cache(maxsize=OPEN_FILES)(self._open_file)
        self.files = files_of(paths)
        self._counted: list[Path] = []
        self._ends: list[int] = []
        for path in self.files:
            try:
                count = self._open(path).count if suffix(path) in _MANY else 1
            except Unreadable as error:
                self._skip(str(path), str(error))
                continue
            self._counted.append(path)
            self._ends.append(count + (self._ends[-1] if self._ends else 0))
        if not self._counted:
            raise InputError(_nothing(paths, self.bad))
        self._complain_of_too_many(len(self.files), next(iter(self.bad.values()), ""))

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, index: int) -> Array:
        """The signal, prepared; hidden samples are NaN."""
        s, w = self.learnable(index)
        return s if w is None else np.where(w > 0, s, s.dtype.type(np.nan))

    def name(self, index: int) -> str:
        """The file, and which signal in it if it holds several."""
        path, inside = self._place(index)
        count = self._count(path)
        return str(path) if count == 1 else f"{path}[{inside}]"

    def stored(self, index: int) -> Array:
        """A signal in the type in which it is stored, with channels where the kernels have them."""
        path, inside = self._place(index)
        signal = self._open(path).read(inside)
        if signal.note:
            self._note(path, signal.note)
        return self._arranged(signal, path)

    def rate(self, index: int) -> int:
        """Samples a second, of a sound; else 0."""
        path, inside = self._place(index)
        return self._open(path).read(inside).rate

    def prepared(self, index: int, mask: Any = None) -> Prepared:
        """A signal with its weights, and the way back; `mask` hides more than the steps do."""
        values, axis = self.stored(index), self.channel_axis
        w = None if mask is None else full_weights(mask, values.shape, axis)
        return prepare(values, self.steps, w=w, channel_axis=axis)

    def learnable(self, index: int, mask: Any = None) -> tuple[Array, Array | None]:
        """A signal and its weights."""
        s, w, _ = self.prepared(index, mask)
        return s, w

    def ahead(
        self, order: Iterable[int], mask_of: Callable[[int], Any] = lambda index: None
    ) -> Iterator[tuple[int, Array, Array | None]]:
        """(index, signal, weights) in this order, read in the background while others are in use.

        What cannot be read is left out with a warning; too much of it is an error.
        """

        def read(index: int) -> tuple[Array, Array | None]:
            return self.learnable(index, mask_of(index))

        with ThreadPoolExecutor(1, thread_name_prefix="convdict-read") as reader:
            waiting: deque[tuple[int, Future[tuple[Array, Array | None]]]] = deque()
            depth = 1
            try:
                for index in order:
                    waiting.append((index, reader.submit(read, index)))
                    while len(waiting) > depth:
                        found = self._arrived(*waiting.popleft())
                        if found is not None:
                            depth = max(1, min(AHEAD, AHEAD_BYTES // max(found[1].nbytes, 1)))
                            yield found
                for one in waiting:
                    found = self._arrived(*one)
                    if found is not None:
                        yield found
            finally:
                reader.shutdown(wait=False, cancel_futures=True)

    def _arrived(
        self, index: int, future: Future[tuple[Array, Array | None]]
    ) -> tuple[int, Array, Array | None] | None:
        try:
            return index, *future.result()
        except InputError as error:
            self.leave_out(index, error)
            return None

    def leave_out(self, index: int, error: InputError) -> None:
        """A signal is of no use: say so once, and stop where that becomes the rule."""
        name = self.name(index)
        if name not in self.bad:
            reason = str(error)
            self._skip(name, reason if Path(name).name in reason else f"{name}: {reason}")
        if len(self) == 1:
            raise InputError(f"there is nothing to learn from: {self.bad[name]}")
        self._complain_of_too_many(len(self), self.bad[name])

    def _complain_of_too_many(self, of: int, reason: str) -> None:
        """One may always be left out, and then a share of all."""
        if len(self.bad) > max(self.most_bad * of, 1):
            raise InputError(
                f"{len(self.bad)} of {of} signals are of no use, more than the "
                f"{100 * self.most_bad:g} % that may be left out; one of them: {reason}"
            )

    def summary(self) -> str:
        """How many signals there are, and what was left out."""
        files = f"{len(self._counted)} file" + "s" * (len(self._counted) != 1)
        text = f"{len(self)} signals in {files}" if len(self) != len(self._counted) else files
        return text + (f", {len(self.bad)} left out" if self.bad else "")

    # Inside

    def _open_file(self, path: Path) -> Opened:
        return open_signals(path, self.n_axes, self.channel_axis)

    def _place(self, index: int) -> tuple[Path, int]:
        n = len(self)
        if not -n <= index < n:
            raise IndexError(f"signal {index} of {n}")
        index %= n
        which = bisect_right(self._ends, index)
        return self._counted[which], index - (self._ends[which - 1] if which else 0)

    def _count(self, path: Path) -> int:
        which = self._counted.index(path)
        return self._ends[which] - (self._ends[which - 1] if which else 0)

    def _arranged(self, signal: Signal, path: Path) -> Array:
        """With channels where the kernels have them, or without."""
        values = signal.values
        if values.dtype.kind == "b":
            values = values.astype(np.uint8) * np.uint8(255)
        if signal.channels_last is None:
            return values
        if self.channel_axis is None:
            if signal.channels_last:
                self._note(path, "is in colour and was made grey")
                return _grey(values)
            return values
        if not signal.channels_last:
            self._note(path, "is grey: red, green and blue are the same")
            values = np.stack([values] * 3, axis=-1)
        return np.ascontiguousarray(np.moveaxis(values, -1, self.channel_axis))

    def _note(self, path: Path, what: str) -> None:
        """Once for every kind of note: the first file stands for all."""
        with self._lock:
            if what in self._noted:
                return
            self._noted.add(what)
        others = "; so are others like it" if len(self) > 1 else ""
        warnings.warn(f"{path.name} {what}{others}", ReadNote, stacklevel=2)

    def _skip(self, name: str, reason: str) -> None:
        self.bad[name] = reason
        warnings.warn(f"left out: {reason}", SkippedFile, stacklevel=2)


_MANY = (".tif", ".tiff", ".npy", ".npz", ".wav", ".csv", ".tsv", *STORES)


def _grey(values: Array) -> Array:
    """Luma, in the type of the values."""
    grey = values.astype(np.float32) @ np.array(LUMA, np.float32)
    return np.rint(grey).astype(values.dtype) if values.dtype.kind in "iu" else grey


def files_of(paths: Any) -> list[Path]:
    """Every file that is meant and can be read, sorted within each folder."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    found: list[Path] = []
    for told in paths:
        text = os.fspath(told)
        path = Path(text).expanduser()
        if path.is_dir() and path.suffix.lower() != ".zarr":
            found += _inside(path)
        elif path.exists() or parted(path)[0].exists():
            found.append(path)
        elif has_magic(text):
            matches = sorted(Path(match) for match in glob(text, recursive=True))
            found += [match for match in matches if suffix(match) in KNOWN]
        else:
            raise InputError(f"there is no file or folder {text}")
    return list(dict.fromkeys(found))


def _inside(folder: Path) -> list[Path]:
    """Files of a folder and of the folders in it, apart from hidden ones and those of runs."""
    found = []
    for root, folders, files in os.walk(folder):
        if RUN_MARK in files:  # kernels and histories are not what runs learn from
            folders.clear()
            continue
        stores = [name for name in folders if name.lower().endswith(".zarr")]
        folders[:] = sorted(n for n in folders if n not in stores and not n.startswith("."))
        names = [n for n in files if suffix(Path(n)) in KNOWN and not n.startswith(".")]
        found += [Path(root, name) for name in sorted(names + stores)]
    return found


def _nothing(paths: Any, bad: dict[str, str]) -> str:
    told = os.fspath(paths) if isinstance(paths, str | os.PathLike) else "the list"
    if bad:
        return f"nothing in {told} can be read; the first: {next(iter(bad.values()))}"
    return f"{told} holds no file that can be read: those are {', '.join(KNOWN)}"


def axes_of_files(paths: Any) -> int:
    """How many axes of space and time the first file of a known kind has; two if none tells."""
    for path in files_of(paths):
        axes = n_axes_of(path)
        if axes is not None:
            return axes
    return 2
