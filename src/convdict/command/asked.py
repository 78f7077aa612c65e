"""What a run is asked for: defaults, a file of settings and the command line, in this order."""

from __future__ import annotations

import json
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .runs import read_toml

if TYPE_CHECKING:
    from ..learning.learner import ConvDictLearner
    from ..signals.folder import SignalFiles

SIZES = {1: (128,), 2: (12, 12), 3: (8, 8, 8)}
DEFAULTS: dict[str, Any] = {  # of what is not the learner's
    "images": [],
    "mask": [],
    "validation": [],
    "colour": False,
    "max_bad": 0.1,
    "every_steps": 1000,
    "every_minutes": 5.0,
}
PATHS = ("images", "mask", "validation")
NONE = "none"  # TOML has no null


def asked_for(
    images: tuple[str, ...], settings: Path | None, told: dict[str, Any]
) -> dict[str, Any]:
    """All settings of a run, by the learner's names and those of `DEFAULTS`."""
    asked: dict[str, Any] = {"penalty": "auto", **DEFAULTS}
    if settings is not None:
        asked |= read_toml(settings)
    asked |= {name: value for name, value in told.items() if value is not None and value != ()}
    if images:
        asked["images"] = images
    _check(asked)
    for name in PATHS:
        paths = asked[name]
        asked[name] = [absolute(p) for p in ([paths] if isinstance(paths, str) else paths)]
    if told["preprocess"]:
        asked["preprocess"] = _steps(told["preprocess"])
    if asked.get("init") is not None:
        asked["init"] = absolute(asked["init"])
    if not asked["images"]:
        raise click.UsageError("give images to learn from: a folder, a glob, or files")
    return asked


def _check(asked: dict[str, Any]) -> None:
    """What is not the learner's is of the type, and in the range, that it should be."""
    for name in PATHS:
        paths = [asked[name]] if isinstance(asked[name], str) else asked[name]
        if not isinstance(paths, list | tuple) or not all(isinstance(p, str) for p in paths):
            raise InputError(f"{name} is {asked[name]!r}: give paths as text")
    for name, least, most in (
        ("max_bad", 0, 1), ("every_steps", 1, inf), ("every_minutes", 0, inf)
    ):  # fmt: skip
        value = asked[name]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{name} is {value!r}: give a number")
        if not least <= value <= most:
            raise InputError(f"{name} is {value!r}: give a number from {least} to {most}")


def absolute(path: Any) -> str:
    """So that a run goes on from wherever it is resumed."""
    return str(Path(path).expanduser().absolute())


def _steps(texts: tuple[str, ...]) -> Any:
    return NONE if texts == (NONE,) else [_step(text) for text in texts]


def _step(text: str) -> dict[str, Any]:
    """lowpass:strength=5 as a record."""
    name, _, rest = text.partition(":")
    step: dict[str, Any] = {"step": name}
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise click.UsageError(f"--step {text}: give name:setting=value")
        try:
            step[key] = json.loads(value)
        except json.JSONDecodeError:
            step[key] = absolute(value) if key == "file" else value
    return step


def learner_for(asked: dict[str, Any]) -> ConvDictLearner:
    """The learner that was asked for, its kernels as many axes as the files have."""
    from ..learning.dictionary import Dictionary
    from ..learning.learner import ConvDictLearner
    from ..learning.settings import settings

    names = set(ConvDictLearner._names())
    unknown = asked.keys() - names - DEFAULTS.keys()
    if unknown:
        known = sorted(names | DEFAULTS.keys())
        near = get_close_matches(min(unknown), known, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise InputError(
            f"there is no setting {', '.join(sorted(unknown))}{meant}: there are {', '.join(known)}"
        )
    told = {name: _plain(value) for name, value in asked.items() if name in names}
    told["kernel_size"] = _kernel_size(told.get("kernel_size"), asked["images"])
    if asked["colour"]:
        told["channel_axis"] = -1
    if told.get("init") is not None:
        told["init"] = Dictionary.load(told["init"]).kernels
    learner = ConvDictLearner(**told)
    settings(learner.get_params())  # complain before anything is read or written
    return learner


def _plain(value: Any) -> Any:
    """From TOML to Python."""
    if isinstance(value, str) and value == NONE:
        return None
    numbers = isinstance(value, list) and not any(isinstance(v, dict | str) for v in value)
    return tuple(value) if numbers else value


def _kernel_size(size: Any, images: list[str]) -> tuple[int, ...]:
    """One number is a side along all axes that the files have."""
    from ..signals.folder import axes_of_files

    if size is None:
        return SIZES[axes_of_files(images)]
    sizes = (size,) if isinstance(size, int) else tuple(size)
    return sizes * axes_of_files(images) if len(sizes) == 1 else sizes


def in_toml(asked: dict[str, Any], learner: ConvDictLearner) -> dict[str, Any]:
    """All that a run has to be told to be this one."""
    from ..learning.storage import plain

    told = {name: plain(name, value) for name, value in learner.get_params().items()}
    told = {name: NONE if value is None else value for name, value in told.items()}
    del told["init"], told["channel_axis"]  # `init` is a path, and `colour` says the other
    return {**asked, **told}


def files_for(
    asked: dict[str, Any], learner: ConvDictLearner
) -> tuple[SignalFiles, Any, SignalFiles | None]:
    """Images, their masks, and images to stop by."""
    from ..learning.settings import settings
    from ..signals.folder import SignalFiles

    s = settings(learner.get_params())

    def opened(paths: list[str]) -> SignalFiles:
        return SignalFiles(
            paths,
            n_axes=len(s.kernel),
            channel_axis=s.channel_axis,
            steps=s.steps,
            most_bad=asked["max_bad"],
        )

    validation = opened(asked["validation"]) if asked["validation"] else None
    return opened(asked["images"]), list(asked["mask"]) or None, validation
