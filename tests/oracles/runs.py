"""Small runs of learning, one of every kind, and whether two of them ended in the same state."""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy.signal

import convdict as cd
from convdict.learning import storage

CLOCKS = ("time", "seconds")  # of a history, and of a run

SURROGATE = {"n_kernels": 3, "kernel_size": (4, 3), "penalty": 0.3, "random_state": 7}
KINDS = {
    "surrogate": {"n_epochs": 2, "split": None, "revisit": "replace"},
    "sgd": {"n_epochs": 2, "method": "sgd", "batch_size": 2, "dtype": "float64"},
    "tiles": {"n_epochs": 2, "split": 12, "window": 2, "batch_size": 3, "lookahead": 300.0},
    "regions": {
        "n_epochs": 2,
        "split": 12,
        "sampling": "regions",
        "shuffle": False,
        "batch_size": 5,
    },
    "masked": {"n_epochs": 2, "split": 14, "batch_size": 2, "revisit": "replace"},
    "masked, exact": {"n_epochs": 2, "domain": "sparse", "split": None},
    "free boundary": {"n_epochs": 2, "boundary": "free", "split": (13, 18), "dtype": "float64"},
    "channels": {"channel_axis": -1, "n_epochs": 2, "split": (25, 9), "batch_size": 3},
    "1-D": {"kernel_size": 6, "n_epochs": 3, "revisit": "forget"},
    "3-D": {"kernel_size": (2, 3, 2), "n_epochs": 2, "codes_memory": 3000.0},
    "frequency": {"domain": "frequency", "penalty": "auto", "constraint": "ball"},
    "dense": {"domain": "dense", "nonnegative": True, "nonnegative_kernels": True},
    "repaired": {"penalty": [0.3, 0.3, 1e3], "repair": True, "zero_mean": True, "lookahead": 300.0},
}


def signals(shape, n, kernel, seed, *, channels=0):
    """Sparse sums of three random kernels with some noise: something can be learned."""
    rng = np.random.default_rng(seed)
    d = rng.standard_normal((3, *kernel))
    found = rng.standard_normal((n, *shape)) * 0.05
    for image, kernel_of in product(found, d):
        x = rng.standard_normal(shape) * (rng.random(shape) < 0.02)
        image += scipy.signal.fftconvolve(x, kernel_of, mode="same")
    if channels:
        return found[..., None] * rng.uniform(0.5, 1.5, channels)
    return found


def make(kind, **changes):
    """(a new learner, its images, their masks)"""
    settings = {**SURROGATE, **KINDS[kind], **changes}
    masks = None
    if kind == "1-D":
        images = signals((70,), 6, (6,), 1)
    elif kind == "3-D":
        images = signals((9, 8, 10), 4, (2, 3, 2), 2)
    else:
        images = signals((25, 18), 4, (4, 3), 3, channels=2 * (kind == "channels"))
    if kind.startswith("masked"):
        masks = np.random.default_rng(4).random(images.shape) < 0.8
    return cd.ConvDictLearner(**settings), images, masks


def state(learner):
    """All there is to a learner, but not what its clock said: {name: array or plain value}."""
    about, arrays = storage._state(learner)
    about, arrays = {**about, "run": dict(about["run"])}, dict(arrays)
    keep = [name not in CLOCKS for name in about["run"].pop("columns")]
    arrays["history"] = arrays["history"][:, keep]
    for clock in CLOCKS:
        about["run"].pop(clock, None)
    return {**about.pop("run"), **about, **arrays}


def check_same(a, b, *, but=()):
    """Two learners are in the same state, bit for bit."""
    one, other = state(a), state(b)
    assert one.keys() == other.keys()
    for name in one.keys() - set(but):
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
        assert getattr(one[name], "dtype", None) == getattr(other[name], "dtype", None), name
