"""The online learner: images stream in, a dictionary comes out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Self

import numpy as np

from ..coding.sparse_code import prepare, reconstruct
from ..errors import ConvdictWarning, InputError
from ..model.codes import Codes
from ..model.problem import Array
from .evaluate import Evaluation, code_images, evaluate
from .history import History
from .looks import Looks
from .parameters import Parameters, not_fitted
from .run import Run
from .settings import Settings, settings
from .signals import Piece
from .source import Source
from .start import first_dictionary, seed_from
from .stream import stream

Callback = Callable[["ConvDictLearner"], Any]
LEARNED = ("_run", "_looks", "_begun_with", "_entropy")
PEEKED, PEEKED_BYTES = 16, 1 << 25  # signals that penalty="auto" looks at, and when it stops


class ConvDictLearner(Parameters):
    """Learn a convolutional dictionary online.

    Each step codes a few signals with the current dictionary and improves the dictionary by
    what their codes say. Nothing of the size of the data is kept, so any number of images may
    stream past.

    Parameters
    ----------
    n_kernels, kernel_size : how many kernels, and their shape (one to three axes).
    penalty : λ, a positive number, one per kernel, or "auto": a tenth of what codes the first
        signals to zero, the mean over 16 of them.
    method : "surrogate" (second order, the paper's Algorithm 2) or "sgd" (first order, its
        Algorithm 1).
    domain : how statistics or gradients are computed: "lag" (exact, small and fast),
        "frequency", "sparse" or "dense". All give the same dictionaries up to rounding;
        "lag" with "sgd", which keeps no statistics, means "sparse".
    forgetting : p of the surrogate's weights (t′/t)^p for what was seen at t′.
    lookahead : ω: signals are coded with where the dictionary is going, as far as its past tells;
        0 codes with the surrogate's minimum, as the paper does.
    rule : how the surrogate's minimum is found: "fista", or "coordinates", kernel by kernel.
    step_size : of "sgd": (a, b) for a / (b + t), or a fixed number; t counts 256² samples.
    tolerance : (τ0, α) of the surrogate's stopping rule τ0 / (1 + αt), t counting steps.
    split : the side of tiles that images are cut into, None for whole images, or "auto":
        at least 8 kernels wide.
    sampling : "tiles" (every sample in one tile) or "regions" (as many at random places).
    window : images whose tiles are mixed, where `shuffle` is set; "auto" takes 64, or fewer if
        they would need more than 32 MB.
    boundary : "circular" or "free", of every signal.
    channel_axis : where the channels are; a kernel spans all of them.
    nonnegative : codes only, kernels by `nonnegative_kernels`.
    constraint : "sphere" (‖d_m‖ = 1; never worse) or "ball" (‖d_m‖ ≤ 1, the paper's).
    zero_mean, nonnegative_kernels : further constraints on kernels.
    init : a dictionary to start from; otherwise Gaussian noise from `random_state`.
    batch_size : signals that are coded with one dictionary, several at once.
    n_epochs, shuffle : passes of `fit`, and whether each has an order of its own.
    revisit : what becomes of a signal's contribution when it comes again: the "forget"ting
        factor fades it, or "replace" takes it back exactly, so that nothing stale remains.
    codes_memory : bytes that codes may take between epochs; they warm-start the next visit.
    coding_tol : relative duality gap of codes while learning; rough ones are good enough.
    solver : for the codes, as in `sparse_code`.
    repair : seed unused and duplicate kernels anew from the worst explained patch.
    preprocess : what is done to images that come from files, by name or as records (see
        `convdict.signals.steps`): "auto" scales them and, for two axes or more, takes the
        smooth part out. Arrays are taken as they are.
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
    n_images_ : images learned from so far.
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
        lookahead: float = 0.75,
        rule: str = "fista",
        step_size: float | tuple[float, float] = (10.0, 5.0),
        tolerance: tuple[float, float] = (0.1, 1.0),
        split: Any = "auto",
        sampling: str = "tiles",
        window: int | str = "auto",
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
        revisit: str = "forget",
        codes_memory: float = 2.0**30,
        coding_tol: float = 0.1,
        solver: Any = "working_set",
        repair: bool = False,
        preprocess: Any = "auto",
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
        self.lookahead = lookahead
        self.rule = rule
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
        self.preprocess = preprocess
        self.validation_interval = validation_interval
        self.patience = patience
        self.dtype = dtype
        self.random_state = random_state
        self.device = device
        self._looks = Looks()

    # Learning

    def fit(
        self,
        images: Any,
        mask: Any = None,
        *,
        validation: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from scratch, `n_epochs` times through the images.

        images : an array (of one image, or of several along its first axis), a list of images
            of any sizes, or any iterable; NaN is missing. Or files: a folder, a glob, a list of
            paths; they are read while others are learned from.
        mask : one for all images, or one for each: 0 is missing, 1 observed, other weights
            enter the loss squared.
        validation : images to look at every so often; learning stops when the dictionary no
            longer improves on them, and the best one is kept.
        callback : called with the learner after every step; learning stops if it returns True.
        """
        before = {name: self.__dict__.pop(name) for name in LEARNED if name in self.__dict__}
        self._looks = Looks()
        try:
            return self._go_on(images, mask, validation, callback)
        finally:
            if not self._has_run():  # it failed before there was anything new
                self.__dict__.update(before)

    def resume(
        self,
        images: Any,
        mask: Any = None,
        *,
        validation: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Go on with a `fit` that was stopped, on the same images, from where it was.

        Bit for bit, the result is that of the run that was never stopped. If `n_epochs` has
        been raised since, a `fit` that was complete goes on too.
        """
        return self._go_on(images, mask, validation, callback)

    def _go_on(self, images: Any, mask: Any, validation: Any, callback: Callback | None) -> Self:
        check_callback(callback)
        wish = settings(self.get_params())
        s = self._run.settings if self._has_run() else wish
        source = Source(images, mask, len(s.kernel), s.channel_axis, s.steps)
        if wish.n_epochs > 1 and not source.can_repeat:
            raise InputError(
                f"n_epochs is {wish.n_epochs} but the images can be gone through only once: give "
                "a list, an array or an object that can be iterated again"
            )
        if isinstance(validation, Iterator):
            validation = list(validation)
        looks = self._looks
        for epoch in range(self._run.place[0] if self._has_run() else 0, wish.n_epochs):
            seed = self._seed()
            order = stream(source, s, seed=seed, epoch=epoch, first=0, permute=True)
            consumed = self._run.place[1] if self._has_run() else 0
            order = islice(order, consumed, None)
            for batch in self._batches(order, s):
                keep = wish.n_epochs > 1 and not s.random_regions
                self._step(batch, keep=keep, advance=len(batch))
                if validation is not None and looks.due(self):
                    looks.look(self, validation)
                done = validation is not None and looks.enough(self)
                if _stops(callback, self) or done:
                    return self
            if not self._has_run():
                raise InputError("images is empty: give at least one")
            self._run.place = epoch + 1, 0
        if validation is not None:
            looks.finish(self, validation)
        self._warn_if_blank(stacklevel=4)
        return self

    def partial_fit(
        self,
        images: Any,
        mask: Any = None,
        *,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from some more images, once, in the order they come; arguments as in `fit`."""
        check_callback(callback)
        s = self._run.settings if self._has_run() else settings(self.get_params())
        source = Source(images, mask, len(s.kernel), s.channel_axis, s.steps)
        first = self._run.n_images if self._has_run() else 0
        order = stream(source, s, seed=self._seed(), epoch=0, first=first, permute=False)
        learned = False
        for batch in self._batches(order, s):
            self._step(batch, keep=False, advance=0)
            learned = True
            if _stops(callback, self):
                break
        if not learned:
            raise InputError("images is empty: give at least one")
        self._warn_if_blank(stacklevel=3)
        return self

    # What has been learned

    @property
    def dictionary_(self) -> Array:
        """The kernels, as a copy."""
        run = self._learned()
        d: Array = run.d.copy()
        return d[:, 0] if run.settings.channel_axis is None else d

    @property
    def history_(self) -> History:
        return self._learned().history

    @property
    def validation_(self) -> list[tuple[int, float]]:
        self._learned()
        return list(self._looks.values)

    @property
    def penalty_(self) -> Array:
        lmbda = self._learned().lmbda
        assert lmbda is not None  # every step sets it
        return lmbda.copy()

    @property
    def n_steps_(self) -> int:
        return len(self._learned().history)

    @property
    def n_images_(self) -> float:
        """Images learned from so far; tiles and regions count as parts of one."""
        return self._learned().images

    def transform(self, images: Any, mask: Any = None, *, tol: float = 1e-3) -> list[Codes]:
        """The certified codes of every image."""
        return list(code_images(self.dictionary_, images, mask, tol=tol, **self._coding()))

    def fit_transform(self, images: Any, mask: Any = None, **fit_options: Any) -> list[Codes]:
        """`fit`, then `transform` of the same images."""
        if isinstance(images, Iterator):
            images = list(images)
        if isinstance(mask, Iterator):
            mask = list(mask)
        return self.fit(images, mask, **fit_options).transform(images, mask)

    def inverse_transform(self, codes: Codes | Iterable[Codes]) -> list[Array]:
        """Images from codes."""
        d = self.dictionary_
        return [reconstruct(one, d) for one in ([codes] if isinstance(codes, Codes) else codes)]

    def evaluate(self, images: Any, mask: Any = None, *, tol: float = 1e-3) -> Evaluation:
        """The mean functional value on images, with gaps."""
        return evaluate(self.dictionary_, images, mask=mask, tol=tol, **self._coding())

    def score(self, images: Any, mask: Any = None) -> float:
        """Minus the mean functional value: higher is better."""
        return -self.evaluate(images, mask=mask).value

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state, all or nothing: learning goes on from it exactly."""
        from .storage import save

        save(self, path)

    # Inside

    _run: Run
    _begun: Run  # until its first step has been made
    _looks: Looks
    _begun_with: dict[str, Any]  # parameters: those of now count from the next fit on

    def _has_run(self) -> bool:
        return "_run" in self.__dict__

    def _learned(self) -> Run:
        if not self._has_run():
            raise not_fitted("this learner has learned nothing yet: call fit or partial_fit first")
        return self._run

    def __sklearn_is_fitted__(self) -> bool:
        return self._has_run()

    def _n_axes(self) -> int:
        return int(np.size(self.kernel_size)) + (self.channel_axis is not None)

    def _seed(self) -> int:
        """The number that all randomness of a run follows from."""
        if self._has_run():
            return self._run.seed
        if "_entropy" not in self.__dict__:
            self._entropy = seed_from(self.random_state)
        return self._entropy

    def _coding(self) -> dict[str, Any]:
        s = self._learned().settings
        return {
            "penalty": self.penalty_,
            "boundary": s.boundary,
            "channel_axis": s.channel_axis,
            "nonnegative": s.nonnegative,
            "solver": s.solver,
            "preprocess": s.steps,
        }

    def _batches(self, order: Iterator[Piece], s: Settings) -> Iterator[list[Piece]]:
        """As many signals as are coded at once; the first ones also say what is to be learned."""
        if self._has_run():
            yield from _batches(order, s.batch_size)
            return
        first, order = _peek(order, PEEKED if isinstance(s.penalty, str) else 1)
        if first:
            prepare(s.dtype)
            seed = self._seed()
            d = first_dictionary(self.init, s, len(first[0].s), seed)
            self._begun = Run(s, d=d, seed=seed)
            self._begun.choose_penalty(first)
        yield from _batches(order, s.batch_size)

    def _step(self, batch: list[Piece], *, keep: bool, advance: int) -> None:
        run = self._run if self._has_run() else self._begun
        for piece in batch:
            if len(piece.s) != run.d.shape[1]:
                raise InputError(
                    f"image {piece.key[0]}: it has {len(piece.s)} channels but the dictionary has "
                    f"{run.d.shape[1]}: all images must have as many"
                )
        run.step(batch, keep=keep, advance=advance)
        if not self._has_run():  # only now is there anything to be asked for
            self._run, self._begun_with = self.__dict__.pop("_begun"), self.get_params()

    def _warn_if_blank(self, stacklevel: int) -> None:
        if not self._run.watch.usage.any():
            warnings.warn(
                "every code was zero, so nothing was learned: the penalty is too large for these "
                "images (penalty='auto' chooses one), or they are constant",
                ConvdictWarning,
                stacklevel=stacklevel,
            )


def _peek(order: Iterator[Piece], most: int) -> tuple[list[Piece], Iterator[Piece]]:
    """The first signals, and then all of them; an error comes after what came before it."""
    first: list[Piece] = []
    broken: Exception | None = None
    held = 0
    try:
        for piece in order:
            first.append(piece)
            held += piece.s.nbytes
            if len(first) == most or held >= PEEKED_BYTES:
                break
    except Exception as error:
        broken = error

    def everything() -> Iterator[Piece]:
        yield from first
        if broken is not None:
            raise broken
        yield from order

    return first, everything()


def _batches(order: Iterator[Piece], size: int) -> Iterator[list[Piece]]:
    """`size` pieces at a time; the last may be fewer, and so may those before an error."""
    batch: list[Piece] = []
    try:
        for piece in order:
            batch.append(piece)
            if len(batch) == size:
                yield batch
                batch = []
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _stops(callback: Callback | None, learner: ConvDictLearner) -> bool:
    return callback is not None and says_stop(callback(learner))


def says_stop(said: Any) -> bool:
    """True, also NumPy's; whatever else a callback happens to return means nothing."""
    return isinstance(said, bool | np.bool_) and bool(said)


def check_callback(callback: Any) -> None:
    if callback is not None and not callable(callback):
        raise InputError(f"callback is {callback!r}: give a function of the learner, or None")
