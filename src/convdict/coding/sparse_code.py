"""The door: an image and a dictionary in, certified sparse codes out."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import ConvergenceWarning, InputError
from ..kernels.compile import announced, undivided
from ..model.arrays import dictionary_array
from ..model.codes import Codes, certified
from ..model.duality import certify
from ..model.pose import Frame, check_fit, pose
from ..model.problem import Array, Memory, Problem, Progress, Solution, Triplets
from ..model.residual import synthesis, weighted_residual
from ..model.scan import Scan, atoms
from .admm import ADMM
from .fista import FISTA
from .settings import between
from .working_set import WorkingSet

AUTO_SHARE = 0.1  # penalty="auto" is this share of the smallest penalty that codes to zero
ALMOST = 0.99
LARGE = 1 << 22  # samples from which memory counts for more than the time of a certificate
KEPT = 1 << 18  # samples up to which codes take along what was seen: they may be many
FLOAT32_FLOOR = 1e-5  # below this gap rounding in float32 decides, so float64 is used


class Solver(Protocol):
    """Settings that know how to solve a problem."""

    def solve(
        self,
        problem: Problem,
        *,
        start: Triplets | None,
        tol: float,
        callback: Callable[[Progress], None] | None,
    ) -> Solution: ...


SOLVERS: dict[str, Callable[[], Solver]] = {
    "working_set": WorkingSet,
    "admm": ADMM,
    "fista": FISTA,
}


def sparse_code(
    image: Any,
    dictionary: Any,
    penalty: Any = 0.1,
    mask: Any = None,
    *,
    solver: str | Solver = "working_set",
    tol: float = 1e-3,
    boundary: str = "circular",
    channel_axis: int | None = None,
    nonnegative: bool = False,
    init: Codes | None = None,
    device: str = "cpu",
    dtype: Any = None,
    callback: Callable[[Progress], None] | None = None,
) -> Codes:
    """Write an image as a sum of few shifted kernels.

    The codes minimise ½‖W⊙(Σ_m d_m * x_m − s)‖² + Σ_m λ_m‖x_m‖₁ up to a certified accuracy:
    `codes.objective` and the relative duality gap `codes.gap` are recomputed in float64 from
    the codes, and the optimum lies between (1 − gap)·objective and objective.

    Parameters
    ----------
    image : array of 1 to 3 spatial axes, plus one of channels if `channel_axis` says so.
        NaN (or masked entries of a masked array) are missing pixels. Whole numbers are
        converted with a warning, never rescaled.
    dictionary : array (n_kernels, *kernel), with channels (n_kernels, n_channels, *kernel).
        Kernels may have any norm; one that is zero is never used.
    penalty : λ, a positive number, one per kernel, or "auto": a tenth of the `lambda_max`
        from which on the codes are zero.
    mask : W, like the image (or without its channels): False or 0 is missing, True or 1 is
        observed; other weights enter the loss squared.
    solver : "working_set", "admm" or "fista", or one of the classes behind these names with
        settings of your own.
    tol : the relative duality gap to reach. Falling short of it warns.
    boundary : "circular" (kernels wrap around) or "free" (kernels may start before the image
        and end behind it, and nothing wraps).
    channel_axis : where the channels are, if there are any. A kernel spans all of them.
    nonnegative : allow no negative coefficients.
    init : codes to start from, say those of the same image and an older dictionary.
    device : "cpu".
    dtype : float32 or float64 for the work; by default float32, and float64 where `tol` is
        below what float32 can reach. Certificates are always computed in float64.
    callback : called with a `Progress` record every round or few iterations.
    """
    if device != "cpu":
        raise InputError(f"device is {device!r}: this release runs on 'cpu'")
    between(0, 1, tol=tol)
    if callback is not None and not callable(callback):
        raise InputError(f"callback is {callback!r}: give a function of one record, or None")
    auto = isinstance(penalty, str) and penalty == "auto"
    exact, into = pose(
        image,
        dictionary,
        1.0 if auto else penalty,
        mask,
        boundary=boundary,
        channel_axis=channel_axis,
        nonnegative=nonnegative,
    )
    settings = _settings(solver)
    number = _dtype(dtype, tol)
    prepare(number)
    if auto:
        exact = replace(exact, lmbda=exact.lmbda * (AUTO_SHARE * _largest(exact) or 1.0))
    start = None
    if init is not None:
        start = _start(init, exact, into, number)
        if start is not None:
            exact = replace(exact, memory=init.memory)
    found = _solve(settings, exact, start, number, tol, callback)
    n_iter = found.n_iter
    if found.reason == "precision" and dtype is None and number == np.float32:
        number = np.dtype(np.float64)
        prepare(number)
        start = found.codes._replace(value=found.codes.value.astype(number))
        found = _solve(settings, exact, start, number, tol, callback)
        n_iter += found.n_iter
    result = certified(
        Codes.of(found.codes, exact.n_kernels, exact.grid, into),
        objective=found.objective,
        gap=found.gap,
        tol=tol,
        n_iter=n_iter,
    )
    if not result.converged:
        warnings.warn(
            f"{result.status} Give more iterations, a looser tol, or dtype='float64'.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return replace(result, memory=found.memory if exact.s.size <= KEPT else None)


def reconstruct(codes: Codes, dictionary: Any) -> Array:
    """Σ_m d_m * x_m, in the shape of the signal that was coded."""
    if not isinstance(codes, Codes):
        raise InputError(f"codes is a {type(codes).__name__}: give Codes, as sparse_code returns")
    into = codes.signal
    d = dictionary_array(
        dictionary, n_axes=len(into.spatial), has_channels=into.channel_axis is not None
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_fit(d, into)
    kernel = d.shape[2:]
    if (d.shape[0], *into.grid(kernel)) != codes.shape:
        raise InputError(
            f"codes have shape {codes.shape} but {d.shape[0]} kernels of shape {kernel} on this "
            f"signal call for {(d.shape[0], *into.grid(kernel))}: use the dictionary they were "
            "made with"
        )
    signal = synthesis(np.ascontiguousarray(d), codes.triplets(), codes.shape[1:])
    return into.channels_back(into.extract(signal, kernel)).astype(codes.value.dtype)


def lambda_max(
    dictionary: Any,
    image: Any,
    mask: Any = None,
    *,
    boundary: str = "circular",
    channel_axis: int | None = None,
    nonnegative: bool = False,
) -> float:
    """The smallest penalty for which the image's codes are all zero: max |d_mᵀW²s|."""
    exact, _ = pose(
        image,
        dictionary,
        1.0,
        mask,
        boundary=boundary,
        channel_axis=channel_axis,
        nonnegative=nonnegative,
    )
    return _largest(exact)


def _largest(problem: Problem) -> float:
    g = weighted_residual(problem, Triplets.empty(problem.dtype))
    return float(Scan(problem)(g)[0].max())


def _settings(solver: str | Solver) -> Solver:
    if not isinstance(solver, str):
        if isinstance(solver, type) or not hasattr(solver, "solve"):
            raise InputError(f"solver is {solver!r}: give a name, or settings such as ADMM()")
        return solver
    if solver not in SOLVERS:
        raise InputError(f"solver is {solver!r}: give one of {', '.join(SOLVERS)}")
    return SOLVERS[solver]()


def _dtype(dtype: Any, tol: float) -> np.dtype[Any]:
    if dtype is None:
        return np.dtype(np.float32 if tol >= FLOAT32_FLOOR else np.float64)
    try:
        number: np.dtype[Any] | None = np.dtype(dtype)
    except TypeError:
        number = None
    if number is not None and number in (np.float32, np.float64):
        return number
    raise InputError(f"dtype is {dtype!r}: give float32 or float64")


def _start(init: Codes, problem: Problem, into: Frame, dtype: np.dtype[Any]) -> Triplets | None:
    """Earlier codes, unless their penalty alone exceeds the objective of no codes at all."""
    if not isinstance(init, Codes):
        raise InputError(f"init is a {type(init).__name__}: give Codes from an earlier call")
    if init.shape != (problem.n_kernels, *problem.grid) or init.boundary != into.boundary:
        raise InputError(
            f"init has shape {init.shape} and a {init.boundary} boundary, but this problem has "
            f"{(problem.n_kernels, *problem.grid)} and a {into.boundary} one"
        )
    kernel, position, value = init.triplets()
    keep = value > 0 if problem.nonnegative else value != 0
    kernel, value = kernel[keep], value[keep].astype(np.float64)
    ws = problem.s if problem.w is None else problem.w * problem.s
    if np.sum(problem.lmbda[kernel] * np.abs(value)) > 0.5 * np.sum(ws * ws):
        return None
    return Triplets(kernel, position[keep], value.astype(dtype))


class _Found(NamedTuple):
    """A solution and its certificate, in the units of the exact problem."""

    codes: Triplets
    n_iter: int
    reason: str
    objective: float
    gap: float
    memory: Memory | None


def _solve(
    settings: Solver,
    exact: Problem,
    start: Triplets | None,
    dtype: np.dtype[Any],
    tol: float,
    callback: Callable[[Progress], None] | None,
) -> _Found:
    """Solve in `dtype`, judge in float64, and go on while the solver thinks it is done."""
    handy, unit, force, energy = in_handy_units(exact)
    problem = handy.astype(dtype)

    def report(record: Progress) -> None:
        if callback:
            callback(record._replace(objective=record.objective * energy))

    if start is not None:
        start = _times(start, 1 / unit, dtype)
    aim, total = ALMOST * tol, 0  # rounding must not spoil what the solver takes for done
    while True:
        found = settings.solve(problem, start=start, tol=aim, callback=report)
        if exact.s.size > LARGE:
            found = found._replace(seen=None)
        reason, total = found.reason, total + found.n_iter
        result = _times(found.codes, unit, dtype)
        told = _times(result, 1 / unit, np.float64)  # what the user gets, rounding and all
        objective, gap = certify(handy, told, found.scale, found.seen)
        if found.seen is not None:
            memory = Memory(found.seen, atoms(problem), exact.nonnegative, force)
            problem = replace(problem, memory=memory)
        if reason == "gap" and gap > tol and aim < tol / 8:
            reason = "precision"
        if reason != "gap" or gap <= tol:
            return _Found(result, total, reason, objective * energy, gap, problem.memory)
        start, aim = found.codes, aim / 2


def _times(codes: Triplets, unit: Array, dtype: Any) -> Triplets:
    return codes._replace(value=(codes.value * unit[codes.kernel]).astype(dtype))


def in_handy_units(problem: Problem) -> tuple[Problem, Array, float, float]:
    """The same problem with everything of size about 1; the units of x, g and the objective.

    With powers of two nothing is rounded: s = σ s′, d = ν d′, W = ω W′, x = (σ / ν) x′,
    λ = σνω² λ′.
    """
    sigma = _power_of_two(np.abs(problem.s).max())
    nu = _power_of_two(np.sqrt(np.sum(problem.d**2, axis=tuple(range(1, problem.d.ndim)))))
    d = problem.d / nu.reshape(-1, *(1,) * (problem.d.ndim - 1))
    w, omega = problem.w, 1.0
    if w is not None:
        omega = float(_power_of_two(w.max()))
        w = w / omega
    force = float(sigma) * omega**2
    lmbda = problem.lmbda / (force * nu)
    memory = None if problem.memory is None else problem.memory.in_unit(force)
    handy = replace(problem, d=d, s=problem.s / sigma, lmbda=lmbda, w=w, memory=memory)
    return handy, sigma / nu, force, float(sigma * omega) ** 2


def _power_of_two(size: Any) -> Array:
    """The nearest power of two, and 1 for zero."""
    return np.exp2(np.round(np.log2(np.where(size > 0, size, 1.0))))


_prepared: set[np.dtype[Any]] = set()
_preparing = threading.Lock()


def _forget_lock() -> None:
    """In a forked child: whoever held it is not there."""
    global _preparing
    _preparing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


def prepare(dtype: np.dtype[Any]) -> None:
    """Compile the kernels, or load them from disk, before anything is timed or reported."""
    with _preparing:
        if dtype in _prepared:
            return
        what = f"convdict compiles its {dtype} kernels: once after an install, some seconds"
        with announced(what), undivided():
            ones = np.ones((1, 1, 4))
            tiny = Problem(d=ones[..., :2], s=ones[0], lmbda=np.array([0.1])).astype(dtype)
            found = WorkingSet().solve(tiny, start=None, tol=1e-2, callback=None)
            certify(tiny, found.codes, found.scale, found.seen)
        _prepared.add(dtype)
