"""A learner's whole state in a file, and back."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np

from .. import archive
from ..coding.admm import ADMM
from ..coding.fista import FISTA
from ..coding.sparse_code import prepare
from ..coding.working_set import WorkingSet
from ..errors import FileFormatError, InputError
from ..model.problem import Array
from .learner import ConvDictLearner
from .run import Run
from .settings import settings

FORMAT = "convdict-learner"
VERSION = 1
WHAT = "a convdict learner"
KNOWN_SOLVERS = {kind.__name__: kind for kind in (WorkingSet, ADMM, FISTA)}
DAMAGED = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)


def save(learner: ConvDictLearner, path: str | os.PathLike[str]) -> None:
    """Write everything that learning goes on from, all or nothing, without pickle."""
    about, arrays = _state(learner)
    archive.write(path, about, arrays)


def load(path: str | os.PathLike[str]) -> ConvDictLearner:
    """The learner that `save` wrote; anything else is refused with a sentence."""
    about, arrays = archive.read(path, WHAT)
    archive.check_format(about, path, name=FORMAT, version=VERSION, what=WHAT)
    try:
        return _restored(about, arrays)
    except DAMAGED as error:
        raise FileFormatError(f"{path} is damaged: {error!r}") from error


def copy(learner: ConvDictLearner) -> ConvDictLearner:
    """One that goes its own way from here."""
    about, arrays = _state(learner)
    return _restored(about, {name: array.copy() for name, array in arrays.items()})


def _state(learner: ConvDictLearner) -> tuple[dict[str, Any], dict[str, Array]]:
    run = learner._learned()
    parameters = learner.get_params()
    about: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    about["run"], arrays = run.state()
    arrays = dict(arrays)
    for name in ("init", "penalty"):
        if isinstance(parameters[name], np.ndarray | list | tuple):
            arrays[f"parameter_{name}"] = np.asarray(parameters.pop(name))
    about["parameters"] = {name: _plain(name, value) for name, value in parameters.items()}
    about["validation"] = getattr(learner, "validation_", None)
    return about, arrays


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON has it."""
    if name == "random_state" and not isinstance(value, int | np.integer):
        return None  # the run has drawn its seed, which is all that matters
    if name == "dtype":
        return np.dtype(value).name
    if name == "solver" and not isinstance(value, str):
        if type(value).__name__ not in KNOWN_SOLVERS:
            raise InputError(f"solver is {value!r}: only convdict's own can be saved")
        return {"solver": type(value).__name__, **asdict(value)}
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value


def _restored(about: dict[str, Any], arrays: dict[str, Array]) -> ConvDictLearner:
    parameters: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in about["parameters"].items()
    }
    solver = parameters["solver"]
    if isinstance(solver, dict):
        fields = dict(solver)
        parameters["solver"] = KNOWN_SOLVERS[fields.pop("solver")](**fields)
    for name in ("init", "penalty"):
        if f"parameter_{name}" in arrays:
            parameters[name] = arrays.pop(f"parameter_{name}")
    learner = ConvDictLearner(**parameters)
    chosen = settings(learner.get_params())
    d = arrays["d"]
    if d.dtype != chosen.dtype or d.shape[0] != chosen.n_kernels or d.shape[2:] != chosen.kernel:
        raise ValueError("the dictionary does not fit the parameters")
    prepare(chosen.dtype)
    learner._run = Run(chosen, d=d, seed=int(about["run"]["seed"]))
    learner._run.restore(about["run"], arrays)
    if about["validation"] is not None:
        learner.validation_ = [tuple(look) for look in about["validation"]]
    return learner
