"""A learner's parameters, checked once and made plain."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, log2, prod
from typing import Any

import numpy as np

from ..coding.settings import between, whole
from ..coding.sparse_code import SOLVERS, Solver
from ..errors import InputError
from ..model.pose import BOUNDARIES
from ..signals.steps import Step, steps_of
from .constraint import Constraint

METHODS = {
    "surrogate": ("lag", "frequency", "sparse", "dense"),
    "sgd": ("lag", "sparse", "frequency", "dense"),
}
TILE_IN_KERNELS, LEAST_TILE = 8, 1 << 14  # along every axis, and samples in all


@dataclass(frozen=True)
class Settings:
    """What a run needs to know; everything in it has been checked."""

    n_kernels: int
    kernel: tuple[int, ...]
    penalty: Any
    method: str
    domain: str
    forgetting: float
    lookahead: float
    rule: str
    step_size: float | tuple[float, float]
    tolerance: tuple[float, float]
    split: tuple[int, ...] | None
    random_regions: bool
    window: int | None  # None: as many as memory is no concern for
    boundary: str
    channel_axis: int | None
    nonnegative: bool
    constraint: Constraint
    batch_size: int
    n_epochs: int
    shuffle: bool
    replace: bool
    codes_memory: float
    coding_tol: float
    solver: Solver
    repair: bool
    steps: tuple[Step, ...]
    dtype: np.dtype[Any]


def settings(p: dict[str, Any]) -> Settings:
    """From the parameters as the user gave them."""
    whole(1, n_kernels=p["n_kernels"], batch_size=p["batch_size"])
    whole(1, n_epochs=p["n_epochs"], patience=p["patience"])
    whole(1, validation_interval=p["validation_interval"])
    between(0, 1, coding_tol=p["coding_tol"])
    _not_negative(
        forgetting=p["forgetting"], lookahead=p["lookahead"], codes_memory=p["codes_memory"]
    )
    if p["device"] != "cpu":
        raise InputError(f"device is {p['device']!r}: this release runs on 'cpu'")
    kernel = sizes_of_kernel(p["kernel_size"])
    method = one_of("method", p["method"], tuple(METHODS))
    constraint = Constraint(
        one_of("constraint", p["constraint"], ("ball", "sphere")),
        bool(p["zero_mean"]),
        bool(p["nonnegative_kernels"]),
    )
    if constraint.zero_mean and constraint.nonnegative:
        raise InputError(
            "zero_mean and nonnegative_kernels together leave only kernels of zeros: choose one"
        )
    return Settings(
        n_kernels=int(p["n_kernels"]),
        kernel=kernel,
        penalty=p["penalty"],
        method=method,
        domain=one_of("domain", p["domain"], METHODS[method]),
        forgetting=float(p["forgetting"]),
        lookahead=float(p["lookahead"]),
        rule=one_of("rule", p["rule"], ("fista", "coordinates")),
        step_size=_step_size(p["step_size"]),
        tolerance=_pair("tolerance", p["tolerance"]),
        split=_split(p["split"], kernel),
        random_regions=one_of("sampling", p["sampling"], ("tiles", "regions")) == "regions",
        window=_window(p["window"]),
        boundary=one_of("boundary", p["boundary"], BOUNDARIES),
        channel_axis=p["channel_axis"],
        nonnegative=bool(p["nonnegative"]),
        constraint=constraint,
        batch_size=int(p["batch_size"]),
        n_epochs=int(p["n_epochs"]),
        shuffle=bool(p["shuffle"]),
        replace=one_of("revisit", p["revisit"], ("replace", "forget")) == "replace",
        codes_memory=float(p["codes_memory"]),
        coding_tol=float(p["coding_tol"]),
        solver=_solver(p["solver"]),
        repair=bool(p["repair"]),
        steps=steps_of(p["preprocess"], len(kernel)),
        dtype=real_dtype(p["dtype"]),
    )


def _not_negative(**named: Any) -> None:
    for name, value in named.items():
        real = isinstance(value, int | float | np.integer | np.floating)
        if isinstance(value, bool) or not real or not value >= 0:
            raise InputError(f"{name} is {value!r}: give a number, 0 or more")


def one_of(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} is {value!r}: give one of {', '.join(choices)}")
    return value


def sizes_of_kernel(size: Any) -> tuple[int, ...]:
    sizes = (size,) if isinstance(size, int | np.integer) else size
    try:
        kernel = tuple(int(k) for k in sizes)
        fits = 1 <= len(kernel) <= 3 and min(kernel) >= 1 and kernel == tuple(sizes)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise InputError(f"kernel_size is {size!r}: give one to three whole numbers, say (12, 12)")
    return kernel


def _split(split: Any, kernel: tuple[int, ...]) -> tuple[int, ...] | None:
    """The largest tile, along every axis."""
    if split is None:
        return None
    if isinstance(split, str) and split == "auto":
        tile = tuple(1 << ceil(log2(TILE_IN_KERNELS * k)) for k in kernel)
        while prod(tile) < LEAST_TILE:
            tile = tuple(2 * n for n in tile)
        return tile
    sizes = (split,) * len(kernel) if isinstance(split, int | np.integer) else split
    if (
        not isinstance(sizes, tuple | list)
        or len(sizes) != len(kernel)
        or not all(isinstance(n, int | np.integer) and n >= 1 for n in sizes)
    ):
        raise InputError(
            f"split is {split!r}: give None, 'auto', the side of a tile, or one per axis"
        )
    return tuple(int(n) for n in sizes)


def _window(window: Any) -> int | None:
    if isinstance(window, str) and window == "auto":
        return None
    whole(1, window=window)
    return int(window)


def _step_size(value: Any) -> float | tuple[float, float]:
    if isinstance(value, tuple | list):
        return _pair("step_size", value)
    between(0, inf, step_size=value)
    return float(value)


def _pair(name: str, value: Any) -> tuple[float, float]:
    try:
        a, b = (float(x) for x in value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is {value!r}: give two numbers") from error
    if not (0 < a < inf and 0 <= b < inf):
        raise InputError(f"{name} is {value!r}: give a positive number, and one not negative")
    return a, b


def _solver(value: Any) -> Solver:
    if isinstance(value, str):
        return SOLVERS[one_of("solver", value, tuple(SOLVERS))]()
    if isinstance(value, type) or not hasattr(value, "solve"):
        raise InputError(f"solver is {value!r}: give a name, or settings such as ADMM()")
    return value  # type: ignore[no-any-return]


def real_dtype(value: Any) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = np.dtype(value)
    except TypeError as error:
        raise InputError(f"dtype is {value!r}: give float32 or float64") from error
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputError(f"dtype is {value!r}: give float32 or float64")
    return dtype
