"""The online learner: images stream in, a dictionary comes out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Self

import numpy as np

from ..coding.sparse_code import prepare, reconstruct
from ..errors import ArtefactWarning, ConvdictWarning, InputError
from ..model.arrays import dictionary_array
from ..model.codes import Codes
from ..model.problem import Array
from .evaluate import Evaluation, code_images, evaluate
from .history import History
from .parameters import Parameters
from .run import Run
from .second_order import SecondOrder
from .settings import Settings, settings
from .signals import Piece
from .stream import Source, stream

Callback = Callable[["ConvDictLearner"], Any]
IMPROVEMENT = 1e-4  # of the validation value, relative: less does not count


class ConvDictLearner(Parameters):
    """Learn a convolutional dictionary online.

    Each step codes a few signals with the current dictionary and improves the dictionary by
    what their codes say. Nothing of the size of the data is kept, so any number of images may
    stream past.

    Parameters
    ----------
    n_kernels, kernel_size : how many kernels, and their shape (one to three axes).
    penalty : λ, a positive number, one per kernel, or "auto": a tenth of what codes the first
        signals to zero.
    method : "surrogate" (second order, the paper's Algorithm 2) or "sgd" (first order, its
        Algorithm 1).
    domain : how statistics or gradients are computed: "lag" (exact, small and fast),
        "frequency", "sparse" or "dense". All give the same dictionaries up to rounding;
        "lag" with "sgd", which keeps no statistics, means "sparse".
    forgetting : p of the surrogate's weights (t′/t)^p for what was seen at t′.
    step_size : of "sgd": (a, b) for a / (b + t), or a fixed number; t counts 256² samples.
    tolerance : (τ0, α) of the surrogate's stopping rule τ0 / (1 + αt), t counting steps.
    split : the side of tiles that images are cut into, None for whole images, or "auto":
        at least 8 kernels wide.
    sampling : "tiles" (every sample in one tile) or "regions" (as many at random places).
    window : images whose tiles are mixed, where `shuffle` is set.
    boundary : "circular" or "free", of every signal.
    channel_axis : where the channels are; a kernel spans all of them.
    nonnegative : codes only, kernels by `nonnegative_kernels`.
    constraint : "sphere" (‖d_m‖ = 1; never worse) or "ball" (‖d_m‖ ≤ 1, the paper's).
    zero_mean, nonnegative_kernels : further constraints on kernels.
    init : a dictionary to start from; otherwise Gaussian noise from `random_state`.
    batch_size : signals that are coded with one dictionary, several at once.
    n_epochs, shuffle : passes of `fit`, and whether each has an order of its own.
    revisit : what becomes of a signal's contribution when it comes again: "replace" it, so
        that nothing stale remains, or let the "forget"ting factor fade it.
    codes_memory : bytes that codes may take between epochs; they warm-start the next visit.
    coding_tol : relative duality gap of codes while learning; rough ones are good enough.
    solver : for the codes, as in `sparse_code`.
    repair : seed unused and duplicate kernels anew from the worst explained patch.
    validation_interval, patience : images between two looks at `fit`'s validation images, and
        looks without improvement before it stops.
    dtype : float32 or float64, of all the work.
    random_state : an integer, a NumPy generator, or None.
    device : "cpu".

    Attributes
    ----------
    dictionary_ : (n_kernels, *kernel_size), or (n_kernels, n_channels, *kernel_size).
    history_ : one record a step; `history_.value` is a column.
    validation_ : (step, mean functional value) of every look at validation images.
    penalty_ : λ of every kernel.
    n_steps_ : updates so far.
    """

    def __init__(
        self,
        n_kernels: int = 64,
        kernel_size: int | tuple[int, ...] = (12, 12),
        penalty: Any = 0.1,
        *,
        method: str = "surrogate",
        domain: str = "lag",
        forgetting: float = 10.0,
        step_size: float | tuple[float, float] = (10.0, 5.0),
        tolerance: tuple[float, float] = (0.03, 1.0),
        split: Any = "auto",
        sampling: str = "tiles",
        window: int = 8,
        boundary: str = "circular",
        channel_axis: int | None = None,
        nonnegative: bool = False,
        constraint: str = "sphere",
        zero_mean: bool = False,
        nonnegative_kernels: bool = False,
        init: Any = None,
        batch_size: int = 1,
        n_epochs: int = 1,
        shuffle: bool = True,
        revisit: str = "replace",
        codes_memory: float = 2.0**30,
        coding_tol: float = 0.2,
        solver: Any = "working_set",
        repair: bool = False,
        validation_interval: int = 40,
        patience: int = 5,
        dtype: Any = "float32",
        random_state: Any = None,
        device: str = "cpu",
    ) -> None:
        self.n_kernels = n_kernels
        self.kernel_size = kernel_size
        self.penalty = penalty
        self.method = method
        self.domain = domain
        self.forgetting = forgetting
        self.step_size = step_size
        self.tolerance = tolerance
        self.split = split
        self.sampling = sampling
        self.window = window
        self.boundary = boundary
        self.channel_axis = channel_axis
        self.nonnegative = nonnegative
        self.constraint = constraint
        self.zero_mean = zero_mean
        self.nonnegative_kernels = nonnegative_kernels
        self.init = init
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.shuffle = shuffle
        self.revisit = revisit
        self.codes_memory = codes_memory
        self.coding_tol = coding_tol
        self.solver = solver
        self.repair = repair
        self.validation_interval = validation_interval
        self.patience = patience
        self.dtype = dtype
        self.random_state = random_state
        self.device = device

    # Learning

    def fit(
        self,
        images: Any,
        y: Any = None,
        *,
        mask: Any = None,
        validation: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from scratch, `n_epochs` times through the images.

        images : an array (of one image, or of several along its first axis), a list of images
            of any sizes, or any iterable; NaN is missing.
        mask : one for all images, or one for each: 0 is missing, 1 observed, other weights
            enter the loss squared.
        validation : images to look at every so often; learning stops when the dictionary no
            longer improves on them, and the best one is kept.
        callback : called with the learner after every step; learning stops if it returns True.
        """
        self._forget()
        return self.resume(images, mask=mask, validation=validation, callback=callback)

    def resume(
        self,
        images: Any,
        *,
        mask: Any = None,
        validation: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Go on with a `fit` that was stopped, on the same images, from where it was.

        Bit for bit, the result is that of the run that was never stopped.
        """
        s = settings(self.get_params())
        source = self._source(images, mask, s)
        if s.n_epochs > 1 and not source.can_repeat:
            raise InputError(
                f"n_epochs is {s.n_epochs} but the images can be gone through only once: give a "
                "list, an array or an object that can be iterated again"
            )
        looks = _Looks(self, validation)
        first = self._run.epoch if self._has_run() else 0
        for epoch in range(first, s.n_epochs):
            seed = self._seed()
            order = stream(source, s, seed=seed, epoch=epoch, first=0, permute=True)
            order = islice(order, self._run.consumed if self._has_run() else 0, None)
            for batch in _batches(order, s.batch_size):
                self._step(batch, s, keep=s.n_epochs > 1 and not s.random_regions)
                self._run.consumed += len(batch)
                if _stops(callback, self) or looks.stop(batch):
                    return self
            if not self._has_run():
                raise InputError("images is empty: give at least one")
            self._run.epoch, self._run.consumed = epoch + 1, 0
        self._warn_if_blank()
        return self

    def partial_fit(
        self,
        images: Any,
        y: Any = None,
        *,
        mask: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from some more images, once, in the order they come; arguments as in `fit`."""
        s = self._run.settings if self._has_run() else settings(self.get_params())
        source = self._source(images, mask, s)
        seen = self._run.n_images if self._has_run() else 0
        order = stream(source, s, seed=self._seed(), epoch=0, first=seen, permute=False)
        n_steps = 0
        try:
            for batch in _batches(order, s.batch_size):
                self._step(batch, s, keep=False)
                n_steps += 1
                if _stops(callback, self):
                    break
        finally:
            if self._has_run():
                self._run.n_images = seen + source.given
        if not n_steps:
            raise InputError("images is empty: give at least one")
        return self

    # What has been learned

    @property
    def dictionary_(self) -> Array:
        """The kernels, as a copy."""
        d: Array = self._learned().d.copy()
        return d[:, 0] if self.channel_axis is None else d

    @property
    def history_(self) -> History:
        return self._learned().history

    @property
    def penalty_(self) -> Array:
        lmbda = self._learned().lmbda
        assert lmbda is not None  # every step sets it
        return lmbda.copy()

    @property
    def n_steps_(self) -> int:
        return len(self._learned().history)

    def transform(self, images: Any, *, mask: Any = None, tol: float = 1e-3) -> list[Codes]:
        """The certified codes of every image."""
        return code_images(self.dictionary_, images, mask, tol=tol, **self._coding())

    def fit_transform(self, images: Any, y: Any = None, *, mask: Any = None) -> list[Codes]:
        """`fit`, then `transform` of the same images."""
        return self.fit(images, mask=mask).transform(images, mask=mask)

    def inverse_transform(self, codes: Any) -> list[Array]:
        """Images from codes."""
        many = [codes] if isinstance(codes, Codes) else codes
        return [reconstruct(one, self.dictionary_) for one in many]

    def evaluate(self, images: Any, *, mask: Any = None, tol: float = 1e-3) -> Evaluation:
        """The mean functional value on images, with gaps."""
        return evaluate(self.dictionary_, images, mask=mask, tol=tol, **self._coding())

    def score(self, images: Any, y: Any = None, *, mask: Any = None) -> float:
        """Minus the mean functional value: higher is better."""
        return -self.evaluate(images, mask=mask).value

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state, all or nothing: learning goes on from it exactly."""
        from .storage import save

        save(self, path)

    # Inside

    _run: Run
    validation_: list[tuple[int, float]]

    def _has_run(self) -> bool:
        return "_run" in self.__dict__

    def _learned(self) -> Run:
        if not self._has_run():
            raise NotFittedError(
                "this learner has learned nothing yet: call fit or partial_fit first"
            )
        return self._run

    def __sklearn_is_fitted__(self) -> bool:
        return self._has_run()

    def _forget(self) -> None:
        for name in ("_run", "_entropy", "validation_"):
            self.__dict__.pop(name, None)

    def _seed(self) -> int:
        """The number that all randomness of a run follows from."""
        if self._has_run():
            return self._run.seed
        if "_entropy" not in self.__dict__:
            self._entropy = _seed(self.random_state)
        return self._entropy

    def _source(self, images: Any, mask: Any, s: Settings) -> Source:
        return Source(images, mask, len(s.kernel), s.channel_axis)

    def _coding(self) -> dict[str, Any]:
        return {
            "penalty": self.penalty_,
            "boundary": self.boundary,
            "channel_axis": self.channel_axis,
            "nonnegative": self.nonnegative,
            "solver": self.solver,
        }

    def _step(self, batch: list[Piece], s: Settings, *, keep: bool) -> None:
        channels = len(batch[0].s)
        if not self._has_run():
            prepare(s.dtype)
            self._run = Run(s, d=self._first_dictionary(s, channels), seed=self._seed())
            _warn_of_artefacts(batch[0], s)
        for piece in batch:
            if len(piece.s) != self._run.d.shape[1]:
                raise InputError(
                    f"image {piece.key[0]}: it has {len(piece.s)} channels but the dictionary has "
                    f"{self._run.d.shape[1]}: all images must have as many"
                )
        self._run.step(batch, keep=keep)

    def _first_dictionary(self, s: Settings, channels: int) -> Array:
        shape = (s.n_kernels, channels, *s.kernel)
        if self.init is None:
            d = np.random.default_rng([self._seed(), 0]).standard_normal(shape)
            return s.constraint(np.abs(d) if s.constraint.nonnegative else d).astype(s.dtype)
        d = dictionary_array(
            self.init, n_axes=len(s.kernel), has_channels=self.channel_axis is not None
        )
        if d.shape != shape:
            wanted = (s.n_kernels, *(s.kernel if self.channel_axis is None else shape[1:]))
            raise InputError(
                f"init has shape {np.shape(self.init)} but n_kernels, channels and kernel_size "
                f"call for {wanted}"
            )
        return s.constraint(d).astype(s.dtype)

    def _warn_if_blank(self) -> None:
        if not self._run.watch.usage.any():
            warnings.warn(
                "every code was zero, so nothing was learned: the penalty is too large for these "
                "images (penalty='auto' chooses one), or they are constant",
                ConvdictWarning,
                stacklevel=4,
            )


class NotFittedError(InputError, AttributeError):
    """A learner was asked for what it has not learned yet."""


class _Looks:
    """Looks at validation images every so often, and says when to stop."""

    def __init__(self, learner: ConvDictLearner, images: Any) -> None:
        self._learner, self._images = learner, images
        self._seen: set[tuple[int, int]] = set()
        self._best, self._since = np.inf, 0
        self._best_d: Array | None = None
        if images is not None:
            learner.validation_ = []

    def stop(self, batch: list[Piece]) -> bool:
        if self._images is None:
            return False
        learner = self._learner
        self._seen |= {(learner._run.epoch, piece.key[0]) for piece in batch}
        if len(self._seen) < learner.validation_interval * (len(learner.validation_) + 1):
            return False
        value = learner.evaluate(self._images, tol=1e-2).value
        learner.validation_.append((learner.n_steps_, value))
        if value < (1 - IMPROVEMENT) * self._best:
            self._best, self._best_d, self._since = value, learner._run.d, 0
        else:
            self._since += 1
        if self._since < learner.patience or self._best_d is None:
            return False
        learner._run.d = self._best_d
        return True


def merge(a: ConvDictLearner, b: ConvDictLearner) -> ConvDictLearner:
    """A learner that knows what two of method "surrogate" have seen of different signals.

    Their statistics are added, which is right as far as kernel m of one is kernel m of the
    other: let both start from the same dictionary.
    """
    from .storage import copy

    for learner in (a, b):
        if not isinstance(learner, ConvDictLearner) or learner.method != "surrogate":
            raise InputError("merge adds statistics: give two learners of method 'surrogate'")
    one, other = a._learned(), b._learned()
    if one.d.shape != other.d.shape:
        raise InputError(
            f"these learners have dictionaries of shapes {one.d.shape} and {other.d.shape}: "
            "they must agree"
        )
    merged = copy(a)
    algorithm = merged._run.algorithm
    assert isinstance(algorithm, SecondOrder)
    assert isinstance(other.algorithm, SecondOrder)
    merged._run.d = algorithm.merge(other.algorithm, one.d, other.d)
    merged._run.n_images += other.n_images
    return merged


def _batches(order: Iterator[Piece], size: int) -> Iterator[list[Piece]]:
    """`size` pieces at a time; the last may be fewer."""
    while batch := list(islice(order, size)):
        yield batch


def _stops(callback: Callback | None, learner: ConvDictLearner) -> bool:
    return callback is not None and callback(learner) is True


def _seed(random_state: Any) -> int:
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    raise InputError(
        f"random_state is {random_state!r}: give a whole number, a NumPy generator, or None"
    )


def _warn_of_artefacts(piece: Piece, s: Settings) -> None:
    shape = piece.s.shape[1:]
    if s.boundary == "circular" and any(
        k > 1 and n < 2 * k for n, k in zip(shape, s.kernel, strict=True)
    ):
        warnings.warn(
            f"signals of shape {shape} are smaller than twice the kernels' shape {s.kernel}: the "
            "circular boundary will leave artefacts; boundary='free' has none",
            ArtefactWarning,
            stacklevel=5,
        )
