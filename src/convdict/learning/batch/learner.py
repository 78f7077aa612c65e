"""Batch learning: all images at once, over and over; what online learning is measured against."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from math import ceil, log2, nan, prod
from time import perf_counter
from typing import Any, Protocol, Self

import numpy as np

from ...coding.settings import between, whole
from ...coding.sparse_code import prepare, reconstruct
from ...errors import InputError
from ...model.codes import Codes
from ...model.pose import observe
from ...model.problem import Array
from ...signals.steps import steps_of
from ...threads import undisturbed
from ..constraint import Constraint
from ..evaluate import Evaluation, code_images, evaluate
from ..history import History, Record
from ..learner import check_callback, says_stop
from ..parameters import Parameters, not_fitted
from ..settings import one_of, real_dtype, sizes_of_kernel
from ..source import Source
from ..start import first_kernels, seed_from
from .consensus import BatchStep, Consensus
from .decoupled import Decoupled
from .slices import Slices


class Method(Protocol):
    """All signals, their codes and a dictionary; a step improves both."""

    takes_masks: bool

    def step(self) -> BatchStep: ...


METHODS: dict[str, Any] = {
    "consensus": Consensus,
    "slices": Slices,
    "decoupled": Decoupled,
}


class BatchDictLearner(Parameters):
    """Learn a convolutional dictionary from all images at once.

    Everything is in memory together and every iteration goes through all of it. These are the
    methods that the online ones replace, for comparison; `ConvDictLearner` takes a small part
    of their time and memory.

    Parameters
    ----------
    n_kernels, kernel_size : how many kernels, and their shape (one to three axes).
    penalty : λ, a positive number.
    method : "consensus" (ADMM, a dictionary for each image and all agree), "slices" (spatial
        domain, K-SVD) or "decoupled" (masks; iterated Sherman–Morrison).
    n_iter : iterations; one goes once through all images.
    tol : stop when the residual of the dictionary is below, relative to it.
    constraint : "sphere" or "ball"; "slices" has unit kernels always.
    init : a dictionary to start from; otherwise Gaussian noise from `random_state`.
    preprocess : what is done to images that come from files, as for `ConvDictLearner`.
    dtype : float32 or float64.
    random_state : an integer, a NumPy generator, or None.

    Attributes
    ----------
    dictionary_ : (n_kernels, *kernel_size).
    history_ : one record an iteration, with the columns of `ConvDictLearner.history_` that apply.
    n_iter_ : iterations so far.
    """

    def __init__(
        self,
        n_kernels: int = 64,
        kernel_size: int | tuple[int, ...] = (12, 12),
        penalty: float = 0.1,
        *,
        method: str = "consensus",
        n_iter: int = 200,
        tol: float = 0.0,
        constraint: str = "ball",
        init: Any = None,
        preprocess: Any = "auto",
        dtype: Any = "float32",
        random_state: Any = None,
    ) -> None:
        self.n_kernels = n_kernels
        self.kernel_size = kernel_size
        self.penalty = penalty
        self.method = method
        self.n_iter = n_iter
        self.tol = tol
        self.constraint = constraint
        self.init = init
        self.preprocess = preprocess
        self.dtype = dtype
        self.random_state = random_state

    def fit(
        self,
        images: Any,
        mask: Any = None,
        *,
        callback: Callable[[BatchDictLearner], Any] | None = None,
    ) -> Self:
        """Learn from images of one size and one channel; boundaries are circular.

        mask : as for `ConvDictLearner`, for the method "decoupled".
        callback : called with the learner after every iteration; learning stops if it returns
            True.
        """
        check_callback(callback)
        whole(1, n_kernels=self.n_kernels, n_iter=self.n_iter)
        between(0, np.inf, penalty=self.penalty)
        between(-1e-300, np.inf, tol=self.tol)
        kernel, dtype = sizes_of_kernel(self.kernel_size), real_dtype(self.dtype)
        kind = METHODS[one_of("method", self.method, tuple(METHODS))]
        constraint = Constraint(one_of("constraint", self.constraint, ("sphere", "ball")))
        s, w = _gathered(self._source(images, mask, kernel), kernel, dtype)
        if w is not None and not kind.takes_masks:
            raise InputError(f"method {self.method!r} takes no masks: use 'decoupled'")
        self._check_memory(s, kernel)
        seed = seed_from(self.random_state)
        d = first_kernels(self.init, (self.n_kernels, 1, *kernel), constraint, seed, dtype)[:, 0]
        prepare(dtype)
        unit = 2.0 ** ceil(log2(float(np.abs(s).max()) or 1.0))  # ADMM's parameters are for [−1, 1]
        run = kind(s / dtype.type(unit), w, d.copy(), float(self.penalty) / unit, constraint)
        history, seconds = History(), 0.0
        for _ in range(self.n_iter):
            begun = perf_counter()
            found = undisturbed(run.step)
            seconds += perf_counter() - begun
            if not np.isfinite(found.d).all():
                raise InputError("the dictionary is no longer finite: choose moderate units")
            density = found.nnz / (len(d) * s.size)
            history.append(_record(found, len(history) + 1, seconds, density, d, unit))
            d = found.d.copy()
            self._d, self._history, self._lmbda = d, history, float(self.penalty)
            settled = found.nnz > 0 and found.residual <= self.tol
            if settled or (callback is not None and says_stop(callback(self))):
                break
        return self

    _d: Array
    _history: History
    _lmbda: float  # that was learned with

    def _check_memory(self, s: Array, kernel: tuple[int, ...]) -> None:
        """What cannot end should not begin."""
        needed = memory_estimate(self.method, s, self.n_kernels, prod(kernel))
        there = physical_memory()
        if there is not None and needed > there:
            raise InputError(
                f"{len(s)} images at once call for {needed / 1e9:.1f} GB, but this machine has "
                f"{there / 1e9:.1f}: give fewer images, or use ConvDictLearner"
            )

    def _source(self, images: Any, mask: Any, kernel: tuple[int, ...]) -> Source:
        return Source(images, mask, len(kernel), None, steps_of(self.preprocess, len(kernel)))

    @property
    def dictionary_(self) -> Array:
        """The kernels, as a copy."""
        return self._learned().copy()

    @property
    def history_(self) -> History:
        self._learned()
        return self._history

    @property
    def n_iter_(self) -> int:
        return len(self.history_)

    def transform(self, images: Any, mask: Any = None, *, tol: float = 1e-3) -> list[Codes]:
        """The certified codes of every image."""
        d = self._learned()
        told: dict[str, Any] = {"penalty": self._lmbda, "channel_axis": None}
        told["preprocess"] = self.preprocess
        return list(code_images(d, images, mask, tol=tol, **told))

    def inverse_transform(self, codes: Codes | Iterable[Codes]) -> list[Array]:
        """Images from codes."""
        d = self._learned()
        return [reconstruct(one, d) for one in ([codes] if isinstance(codes, Codes) else codes)]

    def evaluate(self, images: Any, mask: Any = None, *, tol: float = 1e-3) -> Evaluation:
        """The mean functional value on images, with gaps."""
        d = self._learned()
        told: dict[str, Any] = {"penalty": self._lmbda, "preprocess": self.preprocess}
        return evaluate(d, images, mask=mask, tol=tol, **told)

    def score(self, images: Any, mask: Any = None) -> float:
        """Minus the mean functional value: higher is better."""
        return -self.evaluate(images, mask=mask).value

    def _learned(self) -> Array:
        if "_d" not in self.__dict__:
            raise not_fitted("this learner has learned nothing yet: call fit first")
        return self._d

    def __sklearn_is_fitted__(self) -> bool:
        return "_d" in self.__dict__

    def _n_axes(self) -> int:
        return int(np.size(self.kernel_size))


def _gathered(
    source: Source, kernel: tuple[int, ...], dtype: np.dtype[Any]
) -> tuple[Array, Array | None]:
    """All images as one array, and their weights unless all are one."""
    signals: list[Array] = []
    weights: list[Array] = []
    for index, image, mask in source:
        try:
            seen = observe(image, mask, boundary="circular", channel_axis=None)
            s = seen.s[0]
            if signals and s.shape != signals[0].shape:
                raise InputError(
                    f"it has shape {s.shape} but the first has {signals[0].shape}: batch methods "
                    "need images of one size"
                )
            if s.ndim != len(kernel) or any(n < k for n, k in zip(s.shape, kernel, strict=True)):
                raise InputError(f"kernels of shape {kernel} do not fit on its shape {s.shape}")
        except InputError as error:
            raise InputError(f"image {index}: {error}") from error
        signals.append(s.astype(dtype))
        weights.append(np.ones_like(signals[-1]) if seen.w is None else seen.w[0].astype(dtype))
    if not signals:
        raise InputError("images is empty: give at least one")
    w = np.stack(weights)
    return np.stack(signals), None if (w == 1).all() else w


def _record(
    found: BatchStep, step: int, seconds: float, density: float, before: Array, unit: float
) -> Record:
    told = {
        "step": step,
        "time": seconds,
        "value": found.value * unit**2,
        "density": density,
        "residual": found.residual,
        "change": float(np.linalg.norm(found.d - before)),
    }
    return Record(**{**dict.fromkeys(Record._fields, nan), **told})


def memory_estimate(method: str, s: Array, n_kernels: int, length: int) -> int:
    """Bytes that a method holds for images s, kernels having so many samples."""
    maps, slices = s.nbytes * n_kernels, s.nbytes * length
    return {"consensus": 2 * maps, "decoupled": 3 * maps, "slices": maps + 3 * slices}[method]


def physical_memory() -> int | None:
    """Bytes, where the system tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
