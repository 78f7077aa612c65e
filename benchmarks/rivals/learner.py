"""convdict's learner: everything that the benchmarks know of it.

`told` is what a user would give to `ConvDictLearner`; what is not told stays at its default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Watch = Callable[[np.ndarray], bool]


def make(d: np.ndarray, *, penalty: float, **told: Any) -> Any:
    """A learner that starts from `d`."""
    import convdict

    told = {"random_state": 0} | told
    return convdict.ConvDictLearner(
        n_kernels=len(d), kernel_size=d.shape[1:], penalty=penalty, init=d, **told
    )


def learn(
    images: Sequence[np.ndarray],
    d: np.ndarray,
    *,
    penalty: float,
    watch: Watch | None = None,
    mask: Sequence[np.ndarray] | None = None,
    **told: Any,
) -> np.ndarray:
    """One pass in the order given, or `n_epochs` in orders drawn by `fit`; the last dictionary.

    `watch(dictionary)` is called after every step. Tiles are mixed in either case, if at all.
    """
    learner = make(d, penalty=penalty, **told)

    def after_a_step(learner: Any) -> bool:
        """True ends the run."""
        return watch is not None and bool(watch(learner.dictionary_))

    go = learner.fit if told.get("n_epochs", 1) > 1 else learner.partial_fit
    go(list(images), mask=mask, callback=after_a_step)
    return np.array(learner.dictionary_)


def learn_all(images: Any, *, d: np.ndarray, penalty: float) -> None:
    """One pass over arrays, or a folder, in the order of `fit`."""
    make(d, penalty=penalty).fit(images)


def steps_per_image(size: int, split: Any = None, batch_size: int = 1, **_: Any) -> float | None:
    """How many steps one image of `size` × `size` makes; None where the learner decides."""
    if split == "auto":
        return None
    tiles = 1 if split is None else (-(-size // split)) ** 2
    return tiles / batch_size
