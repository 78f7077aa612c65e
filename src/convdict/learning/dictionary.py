"""A dictionary with all that is needed to use it: how its signals were prepared and coded."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import archive
from ..errors import FileFormatError, InputError
from ..model.arrays import dictionary_array
from ..model.pose import BOUNDARIES
from ..model.problem import Array
from ..pictures import for_notebook, mosaic
from ..signals.steps import Step, steps_of, written
from .learner import ConvDictLearner
from .storage import FORMAT as LEARNER
from .storage import restored

FORMAT = "convdict-dictionary"
VERSION = 1
WHAT = "a convdict dictionary"


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Kernels, and how the signals they describe are prepared and coded."""

    kernels: Array  # (n_kernels, *kernel), with channels (n_kernels, n_channels, *kernel)
    penalty: Array  # λ of every kernel
    channel_axis: int | None = None
    boundary: str = "circular"
    nonnegative: bool = False
    steps: tuple[Step, ...] = ()
    usage: Array | None = None  # how often each kernel was used while learning, if that is known
    about: dict[str, Any] = field(default_factory=dict)  # where it comes from, for people

    @property
    def kernel(self) -> tuple[int, ...]:
        """The kernels' axes of space or time."""
        return self.kernels.shape[1 if self.channel_axis is None else 2 :]

    @property
    def n_axes(self) -> int:
        return len(self.kernel)

    def __len__(self) -> int:
        return len(self.kernels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.kernels, dtype, copy=copy)

    def __repr__(self) -> str:
        size = "×".join(map(str, self.kernel))
        steps = ", ".join(step.name for step in self.steps) or "as they are"
        return f"<Dictionary: {len(self)} kernels of {size}; signals: {steps}>"

    def mosaic(self, *, columns: int | None = None, order: Array | None = None) -> Array:
        """All kernels in one picture of bytes, the most used first: (height, width, 3)."""
        return mosaic(
            self.kernels,
            has_channels=self.channel_axis is not None,
            usage=self.usage,
            order=order,
            columns=columns,
        )

    def _repr_html_(self) -> str:
        return for_notebook(self.mosaic(), repr(self)[1:-1])

    @classmethod
    def of(cls, learner: ConvDictLearner, **about: Any) -> Dictionary:
        """What a learner has learned."""
        run = learner._learned()
        s = run.settings
        return cls(
            learner.dictionary_,
            learner.penalty_,
            channel_axis=s.channel_axis,
            boundary=s.boundary,
            nonnegative=s.nonnegative,
            steps=s.steps,
            usage=run.watch.usage.copy(),
            about={"images": round(learner.n_images_, 3), "steps": learner.n_steps_, **about},
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a compressed NumPy archive, all or nothing; no pickle."""
        about = {
            "format": FORMAT,
            "version": VERSION,
            "channel_axis": self.channel_axis,
            "boundary": self.boundary,
            "nonnegative": self.nonnegative,
            "steps": written(self.steps),
            "about": self.about,
        }
        arrays = {"kernels": self.kernels, "penalty": self.penalty}
        if self.usage is not None:
            arrays["usage"] = self.usage
        archive.write(path, about, arrays, compress=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dictionary:
        """From what `save` wrote, a saved learner, a run's folder, or kernels in a .npy file."""
        path = Path(path)
        if path.is_dir():
            path = _inside(path)
        if path.suffix.lower() == ".npy":
            return cls.of_array(_kernels(path))
        about, arrays = archive.read(path, WHAT)
        if about.get("format") == LEARNER:
            return cls.of(restored(about, arrays, path))
        archive.check_format(about, path, name=FORMAT, version=VERSION, what=WHAT)
        return _checked(about, arrays, path)

    @classmethod
    def given(cls, told: Any, *, n_axes: int | None = None) -> Dictionary:
        """Whatever stands for one: itself, a learner, a path, or an array of kernels.

        n_axes : of space or time, that tell channels from these in an array.
        """
        if isinstance(told, Dictionary):
            return told
        if isinstance(told, ConvDictLearner):
            return cls.of(told)
        if isinstance(told, str | os.PathLike):
            return cls.load(told)
        has_channels = n_axes is not None and np.ndim(told) == n_axes + 2
        return cls.of_array(told, channel_axis=-1 if has_channels else None)

    @classmethod
    def of_array(
        cls, kernels: Any, *, penalty: float = 0.1, channel_axis: int | None = None
    ) -> Dictionary:
        """Kernels from elsewhere, for signals that are prepared as files are by default."""
        n_axes = _axes_of(kernels, channel_axis)
        d = dictionary_array(kernels, n_axes=n_axes, has_channels=channel_axis is not None)
        d = (d if channel_axis is not None else d[:, 0]).astype(np.float32)
        steps = steps_of("auto", n_axes)
        return cls(d, np.full(len(d), penalty, np.float32), channel_axis, steps=steps)


def _inside(folder: Path) -> Path:
    """The dictionary of a run, or a sentence on why there is none."""
    found = folder / "dictionary.npz"
    if found.is_file():
        return found
    saved = sorted((folder / "checkpoints").glob("[0-9]*.npz"))
    if saved:
        raise InputError(
            f"{folder} is a run that has not ended: convdict resume {folder} goes on, and "
            f"{saved[-1]} is the state it was saved in"
        )
    raise InputError(f"{folder} holds no dictionary.npz: it is not the folder of a run that ended")


def _axes_of(kernels: Any, channel_axis: int | None) -> int:
    n_axes = np.ndim(kernels) - (1 if channel_axis is None else 2)
    if not 1 <= n_axes <= 3:
        raise InputError(
            f"kernels have shape {np.shape(kernels)}: give (n_kernels, *kernel), with one to "
            "three axes for a kernel"
        )
    return n_axes


def _kernels(path: Path) -> Array:
    try:
        kernels: Array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FileFormatError(f"{path} is not a file of kernels: {error}") from error
    return kernels


def _checked(about: dict[str, Any], arrays: dict[str, Array], path: Path) -> Dictionary:
    """A dictionary from a file's content, if it is whole and consistent."""
    try:
        found = Dictionary(
            arrays["kernels"],
            arrays["penalty"],
            channel_axis=about["channel_axis"],
            boundary=about["boundary"],
            nonnegative=bool(about["nonnegative"]),
            usage=arrays.get("usage"),
            about=dict(about["about"]),
        )
        if found.channel_axis is not None and type(found.channel_axis) is not int:
            raise ValueError(f"channel_axis is {found.channel_axis!r}")
        if found.boundary not in BOUNDARIES:
            raise ValueError(f"boundary is {found.boundary!r}")
        n_axes = _axes_of(found.kernels, found.channel_axis)
        dictionary_array(found.kernels, n_axes=n_axes, has_channels=found.channel_axis is not None)
        steps = steps_of(about["steps"], n_axes)
        each = (len(found.kernels),)
        if found.penalty.shape != each or not (found.penalty > 0).all():
            raise ValueError("its penalties do not fit its kernels")
        if found.usage is not None and found.usage.shape != each:
            raise ValueError("its usage does not fit its kernels")
    except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
        raise FileFormatError(f"{path} is damaged: {error!r}") from error
    return Dictionary(**{**found.__dict__, "steps": steps})
