"""Two learners made one: their statistics add."""

from __future__ import annotations

from ..errors import InputError
from .learner import ConvDictLearner
from .run import Run
from .second_order import SecondOrder
from .storage import copy

ALIKE = ("kernel", "dtype", "domain", "boundary", "channel_axis", "nonnegative", "constraint")


def merge(a: ConvDictLearner, b: ConvDictLearner) -> ConvDictLearner:
    """A learner that knows what two of method "surrogate" have seen of different signals.

    Their statistics are added, which is right as far as kernel m of one is kernel m of the
    other: let both start from the same dictionary. Parameters and history are those of `a`.
    """
    one, other = (_statistics_of(learner) for learner in (a, b))
    if one.d.shape != other.d.shape:
        raise InputError(
            f"these learners have dictionaries of shapes {one.d.shape} and {other.d.shape}: "
            "they must agree"
        )
    for name in ALIKE:
        mine, theirs = getattr(one.settings, name), getattr(other.settings, name)
        if mine != theirs:
            raise InputError(f"{name} of these learners is {mine} and {theirs}: they must agree")
    merged = copy(a)
    run = merged._run
    assert isinstance(run.algorithm, SecondOrder)
    assert isinstance(other.algorithm, SecondOrder)
    before = run.algorithm.seen
    run.d = run.algorithm.merge(other.algorithm, one.d, other.d)
    later = run.algorithm.seen / max(before, 1e-300)  # contributions keep their weight (t′/t)^p
    run.kept = {key: kept._replace(seen=kept.seen * later) for key, kept in run.kept.items()}
    run.n_images += other.n_images
    run.images += other.images
    run.watch.usage = run.watch.usage + other.watch.usage
    return merged


def _statistics_of(learner: ConvDictLearner) -> Run:
    if isinstance(learner, ConvDictLearner):
        run = learner._learned()
        if isinstance(run.algorithm, SecondOrder):
            return run
    raise InputError("merge adds statistics: give two learners of method 'surrogate'")
