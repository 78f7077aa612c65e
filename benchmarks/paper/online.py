"""convdict's learners as the paper's experiments call them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..rivals.learner import make

Watch = Callable[[np.ndarray], bool]


def learn(
    images: Sequence[np.ndarray],
    d: np.ndarray,
    *,
    penalty: float,
    facts: dict[str, Any],
    watch: Watch | None = None,
    mask: Sequence[np.ndarray] | None = None,
    solver: str = "working_set",
    **told: Any,
) -> np.ndarray:
    """`fit` from d; `facts` is told of what the history says."""
    learner = make(d, penalty=penalty, solver=coder(solver), **told)
    learner.fit(list(images), mask, callback=lambda at: bool(watch and watch(at.dictionary_)))
    history = learner.history_
    facts |= {
        "steps": learner.n_steps_,
        "images": learner.n_images_,
        "density": float(history.density.mean()),
        "fista_per_step": float(history.n_iter.mean()),
        "fista_at_the_end": float(history.n_iter[-max(1, len(history) // 10) :].mean()),
        "moves_at_the_end": float(history.change[-max(1, len(history) // 10) :].mean()),
    }
    return np.array(learner.dictionary_)


def learn_batch(
    images: Sequence[np.ndarray],
    d: np.ndarray,
    *,
    penalty: float,
    facts: dict[str, Any],
    watch: Watch | None = None,
    mask: Sequence[np.ndarray] | None = None,
    **told: Any,
) -> np.ndarray:
    """All images at once, for as long as `watch` lets it."""
    import convdict

    told = {"n_iter": 100_000, "constraint": "ball"} | told
    learner = convdict.BatchDictLearner(len(d), d.shape[1:], penalty, init=d, **told)
    learner.fit(list(images), mask, callback=lambda at: bool(watch and watch(at.dictionary_)))
    facts |= {"steps": learner.n_iter_, "images": float(learner.n_iter_ * len(images))}
    facts |= {"training_value": float(learner.history_.value[-1])}
    return np.array(learner.dictionary_)


def coder(solver: str) -> Any:
    """ "paper": ADMM to normalised residuals of 1e-3, with an adaptive penalty parameter."""
    import convdict

    if solver != "paper":
        return solver
    return convdict.ADMM(stop="residuals", residual_tol=1e-3, max_iter=500)
