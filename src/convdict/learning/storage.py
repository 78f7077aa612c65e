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
from ..signals.steps import steps_of, written
from .learner import ConvDictLearner
from .looks import Looks
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
    return restored(about, arrays, path)


def restored(
    about: dict[str, Any], arrays: dict[str, Array], path: str | os.PathLike[str]
) -> ConvDictLearner:
    """The learner that a file's content stands for, if it is whole and consistent."""
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
    about: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    about["run"], run_arrays = run.state()
    about["looks"], looks_arrays = learner._looks.state()
    about["parameters"], arrays = _parted(learner.get_params(), "parameter_")
    about["begun_with"], begun_arrays = _parted(learner._begun_with, "begun_with_")
    return about, {**arrays, **begun_arrays, **run_arrays, **looks_arrays}


def _parted(parameters: dict[str, Any], prefix: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Parameters as JSON has them, and those that are arrays."""
    told, arrays = {}, {}
    for name, value in parameters.items():
        if name in ("init", "penalty") and (np.ndim(value) or hasattr(value, "__array__")):
            arrays[prefix + name] = np.asarray(value)
        else:
            told[name] = plain(name, value)
    return told, arrays


def _joined(told: dict[str, Any], arrays: dict[str, Array], prefix: str) -> dict[str, Any]:
    """The inverse of `_parted`, apart from what stands for random numbers."""
    told = {"lookahead": 0.0, "rule": "fista"} | told  # older files do not name these
    parameters: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in told.items()
    }
    solver = parameters["solver"]
    if isinstance(solver, dict):
        fields = dict(solver)
        parameters["solver"] = KNOWN_SOLVERS[fields.pop("solver")](**fields)
    for name in ("init", "penalty"):
        if prefix + name in arrays:
            parameters[name] = arrays[prefix + name]
    return parameters


def plain(name: str, value: Any) -> Any:
    """A parameter as JSON has it."""
    if name == "random_state" and not isinstance(value, int | np.integer):
        return None  # the run has drawn its seed, which is all that matters
    if name == "dtype":
        return np.dtype(value).name
    if name == "preprocess" and value is not None and value != "auto":
        return written(steps_of(value, 0))
    if name == "solver" and not isinstance(value, str):
        if type(value).__name__ not in KNOWN_SOLVERS:
            raise InputError(f"solver is {value!r}: only convdict's own can be saved")
        return {"solver": type(value).__name__, **asdict(value)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain("", v) for v in value] if isinstance(value, tuple | list) else value


def _restored(about: dict[str, Any], arrays: dict[str, Array]) -> ConvDictLearner:
    learner = ConvDictLearner(**_joined(about["parameters"], arrays, "parameter_"))
    settings(learner.get_params())
    learner._begun_with = learner.get_params() | _joined(about["begun_with"], arrays, "begun_with_")
    chosen = settings(learner._begun_with)
    d = arrays["d"]
    if d.dtype != chosen.dtype or d.shape[0] != chosen.n_kernels or d.shape[2:] != chosen.kernel:
        raise ValueError("the dictionary does not fit the parameters")
    prepare(chosen.dtype)
    learner._run = Run(chosen, d=d, seed=int(about["run"]["seed"]))
    learner._run.restore(about["run"], arrays)
    learner._looks = Looks.of(about["looks"], arrays)
    _check(learner._run, arrays, _state(learner)[1])
    return learner


def _check(run: Run, arrays: dict[str, Array], again: dict[str, Array]) -> None:
    """What was read is what would be written, and indices point at what is there."""
    for name in arrays.keys() | again.keys():
        if arrays[name].shape != again[name].shape or arrays[name].dtype != again[name].dtype:
            raise ValueError(f"{name} has another form than it should")
    each = (len(run.d),)
    codes = [kept.terms.codes for kept in run.kept.values()]
    at = [run.watch.duplicates, *(c.kernel for c in codes)]
    lmbda = np.ones(each) if run.lmbda is None else run.lmbda
    sound = (
        bool(np.isfinite(run.d).all())
        and run.watch.usage.shape == lmbda.shape == each
        and bool((lmbda > 0).all())
        and min(*run.place, run.n_images) >= 0
        and all(((kernel >= 0) & (kernel < len(run.d))).all() for kernel in at)
        and all(c.kernel.shape == c.position.shape == c.value.shape for c in codes)
        and all((c.position >= 0).all() for c in codes)
        and all(k.terms.linear.shape in ((0,), run.d.shape) for k in run.kept.values())
    )
    if not sound:
        raise ValueError("its arrays do not fit together")
